#include "link.h"

/* A signal that arrives right before the poll() is seen at the end of this time. */
#define SLICE_MS 250

/* Runs in the heartbeat's thread. PHP checks this flag at its next jump or call. */
static void wake(void *interrupt) { zend_atomic_bool_store_ex(interrupt, true); }

static void warn(const dueq_php_loop *loop) {
    char text[DUEQ_MAX_WARNING];

    while (dueq_consumer_warning(loop->consumer, text)) {
        dueq_php_log("dueq: %s", text);
    }
}

void dueq_php_loops_warn(void) {
    for (const dueq_php_loop *loop = DUEQ_G(open); loop; loop = loop->next) {
        warn(loop);
    }
}

static void take_off(const dueq_php_loop *loop) {
    dueq_php_loop **at = &DUEQ_G(open);

    while (*at && *at != loop) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = loop->next;
    }
}

dueq_php_loop *dueq_php_loop_open(const dueq_php_source *source,
                                  const dueq_consumer_options *options) {
    dueq_php_link *link = dueq_php_link_take(source);
    dueq_php_loop *loop;
    dueq_status status;

    if (!link) {
        return NULL;
    }
    loop = ecalloc(1, sizeof *loop);
    loop->client = source->client;
    loop->client->holders++;
    loop->link = link;
    loop->pid = getpid();
    loop->holders = 1;
    status = dueq_consumer_open(link->queues, link->count, options, &loop->consumer);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(link->client));
        dueq_php_loop_release(loop);
        return NULL;
    }
    dueq_consumer_on_warning(loop->consumer, wake, &EG(vm_interrupt));
    loop->next = DUEQ_G(open);
    DUEQ_G(open) = loop;
    return loop;
}

void dueq_php_loop_release(dueq_php_loop *loop) {
    if (!loop || --loop->holders) {
        return;
    }
    take_off(loop);
    if (loop->consumer) {
        dueq_php_loop_settle(loop);
        warn(loop);
    }
    dueq_consumer_close(loop->consumer);
    dueq_php_link_give(loop->client, loop->link);
    dueq_php_client_release(loop->client);
    efree(loop);
}

/* A child process has no requests in progress, and begins with a new one. */
static dueq_status submit(dueq_php_loop *loop, int64_t timeout_ms) {
    loop->pid = getpid();
    return dueq_consumer_submit(loop->consumer, timeout_ms);
}

dueq_status dueq_php_loop_await(dueq_php_loop *loop, int64_t timeout_ms, const bool *stopped,
                                const dueq_message **message, size_t *queue) {
    dueq_status status = submit(loop, timeout_ms);

    if (status < 0) {
        return status;
    }
    while ((status = dueq_consumer_take(loop->consumer, message, queue)) == DUEQ_PENDING) {
        dueq_php_wait(loop->link->client, SLICE_MS);
        if (dueq_php_interrupts() || *stopped || loop->pid != getpid()) {
            return DUEQ_EMPTY;
        }
    }
    return status;
}

dueq_status dueq_php_loop_try(dueq_php_loop *loop, const dueq_message **message, size_t *queue) {
    bool under_way = loop->under_way && loop->pid == getpid();
    dueq_status status = DUEQ_EMPTY;

    loop->under_way = false;
    while (status == DUEQ_EMPTY) {
        if (!under_way && (status = submit(loop, DUEQ_FOREVER)) < 0) {
            return status;
        }
        under_way = false;
        do {
            if (status != DUEQ_OK && dueq_php_pump(loop->link->client) == DUEQ_PENDING) {
                loop->under_way = true;
                return DUEQ_PENDING;
            }
            status = dueq_consumer_take(loop->consumer, message, queue);
        } while (status == DUEQ_PENDING);
    }
    return status;
}

dueq_status dueq_php_loop_settle(dueq_php_loop *loop) {
    dueq_status status = DUEQ_OK;

    loop->under_way = false;
    if (loop->pid == getpid()) {
        do {
            status = dueq_consumer_stop(loop->consumer);
        } while (status == DUEQ_INTERRUPTED);
    }
    return status;
}

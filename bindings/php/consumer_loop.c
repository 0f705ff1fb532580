#include "link.h"

#include <inttypes.h>

#include "zend_exceptions.h"
#include "zend_observer.h"

/* The rest of the lease of a message whose handler called exit(), where that counts as a crash. */
#define CRASHED_MS 1

bool dueq_php_delivery_begin(dueq_php_consumer *consumer) {
    if (consumer->loop->looping || consumer->loop->under_way) {
        zend_throw_error(NULL, "This Dueq\\Consumer is in a loop already");
        return false;
    }
    consumer->loop->looping = true;
    consumer->position = -1;
    consumer->outer = DUEQ_G(loops);
    DUEQ_G(loops) = consumer;
    return true;
}

static void leave(dueq_php_consumer *consumer) {
    dueq_php_consumer **at = &DUEQ_G(loops);

    while (*at && *at != consumer) {
        at = &(*at)->outer;
    }
    if (*at) {
        *at = consumer->outer;
    }
    consumer->loop->looping = false;
}

bool dueq_php_is_end(const zend_object *error) {
    return error && (zend_is_unwind_exit(error) || zend_is_graceful_exit(error));
}

static void drop_current(dueq_php_consumer *consumer) {
    zval_ptr_dtor(&consumer->current);
    ZVAL_UNDEF(&consumer->current);
}

/*
 * Whether the program works on a message that it has not settled. Messages of a parent process do
 * not count.
 */
static bool is_at_work(const dueq_php_consumer *consumer) {
    return Z_TYPE(consumer->current) != IS_UNDEF && consumer->loop->pid == getpid() &&
           !dueq_php_message_is_settled(Z_OBJ(consumer->current));
}

/*
 * Gives the current message back, as exit() in a handler is no failure of the message. If exits
 * count, ends its lease now, which is a crash.
 */
static void give_back(const dueq_php_consumer *consumer) {
    dueq_php_link *link = consumer->loop->link;
    zend_object *message = Z_OBJ(consumer->current);
    const dueq_bytes ticket = dueq_php_message_ticket(message);

    if (!dueq_php_message_left(message)) {
        dueq_queue *queue = dueq_php_link_queue(link, consumer->queue);

        dueq_php_link_finish(link, consumer->counts_exits
                                       ? dueq_extend_submit(queue, &ticket, 1, CRASHED_MS)
                                       : dueq_release_submit(queue, &ticket, 1, 0));
        dueq_php_message_settled(message);
    }
}

dueq_status dueq_php_delivery_settle(dueq_php_consumer *consumer, const dueq_bytes *error) {
    zend_object *message = Z_OBJ(consumer->current);
    dueq_bytes ticket;
    dueq_status status;

    /*
     * The outcome of a settling method that failed may not be known, so an ack now could lose the
     * message.
     */
    if (dueq_php_message_is_settled(message) || (!error && dueq_php_message_left(message))) {
        return DUEQ_OK;
    }
    ticket = dueq_php_message_ticket(message);
    status = error ? dueq_consumer_retry(consumer->loop->consumer, ticket, DUEQ_BY_POLICY, *error)
                   : dueq_consumer_ack(consumer->loop->consumer, ticket);
    dueq_php_message_detach(message);
    return status;
}

/* Fatal errors, which end the script in the middle of a handler */

/* The text is allocated by the C library, as PHP's memory may be exhausted. */
static void note_fatal(int type, zend_string *file, uint32_t line, zend_string *text) {
    if (!(type & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR)) ||
        !DUEQ_G(loops)) {
        return;
    }
    free(DUEQ_G(fatal));
    if (asprintf(&DUEQ_G(fatal), "Fatal error: %s in %s on line %" PRIu32, ZSTR_VAL(text),
                 file ? ZSTR_VAL(file) : "Unknown", line) < 0) {
        DUEQ_G(fatal) = NULL;
    }
}

/* Whether the noted error ends the script. The program may have handled the error, and gone on. */
static bool has_failed(void) { return DUEQ_G(fatal) && EG(exit_status) == 255; }

/* Retries the current message, with the fatal error as its text. */
static void fail_of_fatal(dueq_php_consumer *consumer) {
    const dueq_bytes error = {DUEQ_G(fatal), strlen(DUEQ_G(fatal))};

    if (is_at_work(consumer)) {
        dueq_php_delivery_settle(consumer, &error);
    }
}

void dueq_php_delivery_shutdown(void) {
    dueq_php_consumer *consumer = DUEQ_G(loops);

    /* After a bailout the loops were not ended. Nothing may throw here. */
    for (; consumer; consumer = consumer->outer) {
        if (has_failed()) {
            fail_of_fatal(consumer);
        }
        consumer->loop->looping = false;
    }
    DUEQ_G(loops) = NULL;
    free(DUEQ_G(fatal));
    DUEQ_G(fatal) = NULL;
}

/*
 * Some fatal errors end the script as exit() does, and then this runs. Others end it by a bailout,
 * and this does not run.
 */
dueq_status dueq_php_delivery_end(dueq_php_consumer *consumer) {
    bool ends = dueq_php_is_end(EG(exception));
    dueq_status status;

    if (ends && has_failed()) {
        fail_of_fatal(consumer);
    }
    leave(consumer);
    status = dueq_php_loop_settle(consumer->loop);
    /* Released after the prefetched messages, so that this message comes before them. */
    if (ends && is_at_work(consumer)) {
        give_back(consumer);
    }
    drop_current(consumer);
    return status;
}

void dueq_php_delivery_make(zval *out, const dueq_php_consumer *consumer,
                            const dueq_message *message, size_t queue) {
    const dueq_php_source *source = &consumer->source;

    dueq_php_message_of_part(out, source->queues[source->count > 1 ? queue : 0], queue, message);
    dueq_php_message_attach(Z_OBJ_P(out), consumer->loop);
}

bool dueq_php_delivery_advance(dueq_php_consumer *consumer) {
    const dueq_message *message = NULL;
    size_t queue = 0;
    dueq_status status;

    drop_current(consumer);
    if (dueq_php_interrupts() || consumer->stopped) {
        return false;
    }
    status = dueq_php_loop_await(consumer->loop, consumer->timeout_ms, &consumer->stopped, &message,
                                 &queue);
    if (status < 0) {
        dueq_php_throw(status, dueq_error_text(consumer->loop->link->client));
    }
    if (status != DUEQ_OK) {
        return false;
    }
    dueq_php_delivery_make(&consumer->current, consumer, message, queue);
    consumer->queue = queue;
    consumer->position++;
    return true;
}

void dueq_php_delivery_startup(void) { zend_observer_error_register(note_fatal); }

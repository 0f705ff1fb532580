#include "link.h"

#include <fcntl.h>

static void throw_error(const dueq_php_link *link, dueq_status status) {
    dueq_php_throw(status, link->client ? dueq_error_text(link->client) : NULL);
}

/* False: it threw. */
static bool open_queues(dueq_php_link *link, const dueq_php_source *source) {
    link->queues = safe_emalloc(source->count, sizeof *link->queues, 0);
    for (; link->count < source->count; link->count++) {
        dueq_status status = dueq_php_queue_handle(source->queues[link->count], link->client,
                                                   &link->queues[link->count]);

        if (status != DUEQ_OK) {
            throw_error(link, status);
            return false;
        }
        dueq_queue_durability(link->queues[link->count], &source->queues[link->count]->durability);
        dueq_queue_keep(link->queues[link->count], source->queues[link->count]->keep_ms);
    }
    return true;
}

/* False: it threw. */
static bool open_interop(dueq_php_link *link, const dueq_php_source *source) {
    dueq_status status = source->interop->open(source->object, link->client, &link->queue);

    link->interop = source->interop;
    if (status != DUEQ_OK) {
        throw_error(link, status);
    }
    return status == DUEQ_OK;
}

static void close_queues(dueq_php_link *link) {
    while (link->count) {
        dueq_queue_close(link->queues[--link->count]);
    }
    if (link->queues) {
        efree(link->queues);
        link->queues = NULL;
    }
    if (link->queue) {
        link->interop->close(link->queue);
        link->queue = NULL;
    }
}

/* NULL: it threw. */
static dueq_php_link *open_link(const dueq_php_client *client) {
    const zend_string *url = client->url;
    dueq_php_link *link = ecalloc(1, sizeof *link);
    dueq_status status = dueq_open(url ? ZSTR_VAL(url) : NULL, &link->client);

    link->pid = getpid();
    if (status != DUEQ_OK) {
        throw_error(link, status);
        dueq_php_link_close(link);
        return NULL;
    }
    return link;
}

/* Finds a spare link, or opens one. Closes links of a parent process. NULL: it threw. */
static dueq_php_link *find_link(dueq_php_client *client) {
    dueq_php_link *link;

    while ((link = client->spare)) {
        client->spare = link->next;
        if (link->pid == getpid()) {
            return link;
        }
        dueq_php_link_close(link);
    }
    return open_link(client);
}

dueq_php_link *dueq_php_link_take(const dueq_php_source *source) {
    dueq_php_link *link = find_link(source->client);

    if (!link || (source->interop ? open_interop(link, source) : open_queues(link, source))) {
        return link;
    }
    dueq_php_link_close(link);
    return NULL;
}

void dueq_php_link_give(dueq_php_client *client, dueq_php_link *link) {
    dueq_result_free(link->result);
    link->result = NULL;
    close_queues(link);
    link->next = client->spare;
    client->spare = link;
}

void dueq_php_link_close(dueq_php_link *link) {
    dueq_result_free(link->result);
    close_queues(link);
    dueq_close(link->client);
    efree(link);
}

/* A queue with partitions is the only queue of a link, and finds the partition by the ticket. */
dueq_queue *dueq_php_link_queue(const dueq_php_link *link, size_t place) {
    return link->queues[link->count > 1 ? place : 0];
}

dueq_status dueq_php_link_await(dueq_php_link *link) {
    dueq_status status;

    do {
        status = dueq_php_wait(link->client, -1);
    } while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED);
    return status;
}

dueq_status dueq_php_link_finish(dueq_php_link *link, dueq_status submitted) {
    if (submitted != DUEQ_PENDING) {
        return submitted;
    }
    dueq_php_link_await(link);
    dueq_result_free(link->result);
    return dueq_take(link->client, &link->result);
}

bool dueq_php_link_stream(zval *out, dueq_php_link *link) {
    int descriptor = dueq_descriptor(link->client);
    php_stream *stream = NULL;

    if (Z_TYPE_P(out) == IS_RESOURCE && Z_RES_TYPE_P(out) >= 0) {
        return true;
    }
    zval_ptr_dtor(out);
    ZVAL_UNDEF(out);
    descriptor = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor >= 0) {
        stream = php_stream_fopen_from_fd(descriptor, "r", NULL);
    }
    if (stream) {
        php_stream_to_zval(stream, out);
        return true;
    }
    dueq_php_throw_format(DUEQ_NO_MEMORY, "there is no descriptor left to wait on: %s",
                          strerror(errno));
    if (descriptor >= 0) {
        close(descriptor);
    }
    return false;
}

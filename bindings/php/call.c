#include "php_dueq.h"

/*
 * A signal can come between the check for it and the poll(), and be handled in another thread: at the
 * end of a slice it is seen at the latest.
 */
#define SLICE_MS 250

static bool interrupt_pending(void) { return zend_atomic_bool_load_ex(&EG(vm_interrupt)); }

static dueq_status take(dueq_php_queue *queue) {
    dueq_result_free(queue->result);
    queue->result = NULL;
    return dueq_take(queue->client, &queue->result);
}

static void throw_failure(const dueq_php_queue *queue, dueq_status status) {
    dueq_php_throw(status, dueq_error_text(queue->client));
}

dueq_status dueq_php_finish(dueq_php_queue *queue, dueq_status submitted) {
    dueq_status status = submitted;

    if (submitted == DUEQ_PENDING) {
        do {
            status = dueq_wait(queue->client, -1);
        } while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED);
        status = take(queue);
    }
    if (status < 0) {
        throw_failure(queue, status);
    }
    return status;
}

dueq_status dueq_php_finish_wait(dueq_php_queue *queue, dueq_status submitted) {
    dueq_status status = submitted;

    while (status == DUEQ_PENDING) {
        status = dueq_wait(queue->client, SLICE_MS);
        if (status == DUEQ_INTERRUPTED || (status == DUEQ_PENDING && interrupt_pending())) {
            /* What has arrived by now is delivered; giving it up would cost its lease. */
            status = dueq_pump(queue->client);
            if (status == DUEQ_PENDING) {
                dueq_abandon(queue->client);
                return DUEQ_INTERRUPTED;
            }
        }
    }
    if (submitted == DUEQ_PENDING) {
        status = take(queue);
    }
    if (status < 0) {
        /* PHP drops the signals that are pending when an internal method throws. The failure is not
           lost: if it lasts, the next call meets it. */
        if (submitted == DUEQ_PENDING && interrupt_pending()) {
            return DUEQ_INTERRUPTED;
        }
        throw_failure(queue, status);
    }
    return status;
}

dueq_status dueq_php_finish_held(dueq_php_queue *queue, dueq_status submitted) {
    dueq_status status = dueq_php_finish(queue, submitted);

    if (status == DUEQ_LEASE_LOST) {
        dueq_php_throw(status, NULL);
    }
    return status;
}

void dueq_php_each(dueq_php_queue *queue, dueq_php_submit submit, const dueq_bytes *items,
                   size_t count, zval *out) {
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += DUEQ_MAX_BATCH) {
        size_t step = MIN(count - done, DUEQ_MAX_BATCH);

        if (dueq_php_finish(queue, submit(queue->queue, items + done, step)) < 0) {
            return;
        }
        for (size_t i = 0; i < step; i++) {
            add_next_index_bool(out, dueq_result_status(queue->result, i) == DUEQ_OK);
        }
    }
}

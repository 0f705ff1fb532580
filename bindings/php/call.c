#include "php_dueq.h"

/*
 * A signal may arrive between the check for it and the poll(), or be handled in another thread. It
 * is then seen at the end of this time.
 */
#define SLICE_MS 250

static bool interrupt_pending(void) { return zend_atomic_bool_load_ex(&EG(vm_interrupt)); }

bool dueq_php_interrupts(void) {
    if (interrupt_pending()) {
        zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
        if (zend_atomic_bool_load_ex(&EG(timed_out))) {
            zend_timeout();
        }
        if (zend_interrupt_function) {
            zend_interrupt_function(EG(current_execute_data));
        }
    }
    return EG(exception) != NULL;
}

static dueq_status take(dueq_php_client *client) {
    dueq_php_client_forget(client);
    return dueq_take(client->client, &client->result);
}

static void throw_failure(const dueq_php_client *client, dueq_status status) {
    dueq_php_throw_result(status, dueq_error_text(client->client), client->result);
}

/* Not an E_WARNING: an error handler that throws would discard the result of a call. */
void dueq_php_warn(dueq_client *client) {
    const char *warning = dueq_warning(client);

    if (warning) {
        dueq_php_log("dueq: %s", warning);
    }
}

dueq_status dueq_php_wait(dueq_client *client, int64_t at_most_ms) {
    dueq_status status = dueq_wait(client, at_most_ms);

    dueq_php_warn(client);
    return status;
}

dueq_status dueq_php_pump(dueq_client *client) {
    dueq_status status = dueq_pump(client);

    dueq_php_warn(client);
    return status;
}

dueq_status dueq_php_finish(dueq_php_client *client, dueq_status submitted) {
    dueq_status status = submitted;

    if (submitted == DUEQ_PENDING) {
        do {
            status = dueq_php_wait(client->client, -1);
        } while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED);
        status = take(client);
    }
    if (status < 0) {
        throw_failure(client, status);
    }
    return status;
}

/*
 * Takes the result of a wait. PHP drops pending signals when an internal method throws. So after a
 * signal a failure is not thrown. If the failure lasts, the next call throws it.
 */
static dueq_status end_wait(dueq_php_client *client, dueq_status submitted, dueq_status status) {
    if (submitted == DUEQ_PENDING) {
        status = take(client);
    }
    if (status < 0) {
        if (submitted == DUEQ_PENDING && interrupt_pending()) {
            return DUEQ_INTERRUPTED;
        }
        throw_failure(client, status);
    }
    return status;
}

dueq_status dueq_php_finish_wait(dueq_php_client *client, dueq_status submitted) {
    dueq_status status = submitted;

    while (status == DUEQ_PENDING) {
        status = dueq_php_wait(client->client, SLICE_MS);
        if (status == DUEQ_INTERRUPTED || (status == DUEQ_PENDING && interrupt_pending())) {
            /*
             * Messages that have arrived by now are delivered. To drop them would delay them until
             * their leases end.
             */
            status = dueq_php_pump(client->client);
            if (status == DUEQ_PENDING) {
                dueq_abandon(client->client);
                return DUEQ_INTERRUPTED;
            }
        }
    }
    return end_wait(client, submitted, status);
}

dueq_status dueq_php_finish_soon(dueq_php_client *client, dueq_status submitted) {
    dueq_status status = submitted;
    bool stopped = false;

    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_php_wait(client->client, stopped ? -1 : SLICE_MS);
        if (!stopped &&
            (status == DUEQ_INTERRUPTED || (status == DUEQ_PENDING && interrupt_pending()))) {
            dueq_stop_wait(client->client);
            stopped = true;
        }
    }
    return end_wait(client, submitted, status);
}

void dueq_php_first(zval *out, const dueq_php_source *source, dueq_status status,
                    dueq_php_item make) {
    if (status == DUEQ_OK) {
        make(out, source, source->client->result, 0);
        dueq_php_client_forget(source->client);
    }
}

void dueq_php_list(zval *out, const dueq_php_source *source, dueq_status status,
                   dueq_php_item make) {
    size_t count = status == DUEQ_OK ? dueq_result_count(source->client->result) : 0;

    if (EG(exception)) {
        return;
    }
    array_init_size(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        zval item;

        make(&item, source, source->client->result, i);
        zend_hash_next_index_insert_new(Z_ARRVAL_P(out), &item);
    }
    dueq_php_client_forget(source->client);
}

dueq_status dueq_php_finish_held(dueq_php_client *client, dueq_status submitted, const char *text) {
    dueq_status status = dueq_php_finish(client, submitted);

    if (status == DUEQ_LEASE_LOST) {
        dueq_php_throw(status, text);
    }
    return status;
}

void dueq_php_outcome_done(zval *out, const dueq_result *result, size_t index) {
    ZVAL_BOOL(out, dueq_result_status(result, index) == DUEQ_OK);
}

void dueq_php_outcome_state(zval *out, const dueq_result *result, size_t index) {
    dueq_state state = dueq_result_state(result, index);

    if (state) {
        dueq_php_case_make(out, &dueq_php_state, (int)state);
    } else {
        ZVAL_NULL(out);
    }
}

void dueq_php_one(dueq_php_queue *queue, dueq_php_submit submit, const zend_string *item,
                  dueq_php_outcome make, zval *out) {
    const dueq_bytes bytes = dueq_php_bytes(item);

    if (dueq_php_finish(queue->client, submit(queue->queue, &bytes, 1)) >= 0) {
        make(out, queue->client->result, 0);
    }
}

/* Reads the bytes of each item. The caller frees the list. NULL: it threw. */
static dueq_bytes *read_items(const dueq_php_many *many, HashTable *table) {
    dueq_bytes *items = safe_emalloc(zend_hash_num_elements(table), sizeof *items, 0);
    zend_long count = 0;
    zval *value;

    ZEND_HASH_FOREACH_VAL(table, value) {
        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) == IS_STRING) {
            items[count] = dueq_php_bytes(Z_STR_P(value));
        } else if (!many->read(many->verb, value, count, &items[count])) {
            efree(items);
            return NULL;
        }
        count++;
    }
    ZEND_HASH_FOREACH_END();
    return items;
}

bool dueq_php_many_run(const dueq_php_many *many, HashTable *table, zval *out) {
    size_t count = zend_hash_num_elements(table), step;
    dueq_bytes *items = read_items(many, table);

    if (!items) {
        return false;
    }
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += step) {
        step = MIN(count - done, DUEQ_MAX_BATCH);
        if (dueq_php_finish(many->client, many->submit(many->verb, items + done, step)) < 0) {
            break;
        }
        for (size_t i = 0; i < step; i++) {
            zval made;

            many->make(&made, many->client->result, i);
            zend_hash_next_index_insert_new(Z_ARRVAL_P(out), &made);
        }
    }
    efree(items);
    return true;
}

/* A verb on many messages of a Dueq\Queue. */
struct each {
    dueq_php_queue *queue;
    dueq_php_submit submit;
    bool tickets;
};

static dueq_status submit_each(const void *verb, const dueq_bytes *items, size_t count) {
    const struct each *each = verb;

    return each->submit(each->queue->queue, items, count);
}

static bool read_message(const void *verb, zval *value, zend_long number, dueq_bytes *item) {
    const struct each *each = verb;
    const dueq_php_place place = {1, number, each->tickets ? "message" : "id"};

    if (!each->tickets || Z_TYPE_P(value) != IS_OBJECT || Z_OBJCE_P(value) != dueq_php_message_ce) {
        dueq_php_type_error(&place, each->tickets ? "Dueq\\Message|string" : "string", value);
        return false;
    }
    *item = dueq_php_message_ticket(Z_OBJ_P(value));
    if (!dueq_php_message_is_of(Z_OBJ_P(value), each->queue)) {
        dueq_php_throw_format(DUEQ_INVALID, "message " ZEND_LONG_FMT " is of another queue",
                              number);
        return false;
    }
    return true;
}

/* Marks the first `count` messages of the table as settled: their outcomes are known. */
static void settled(HashTable *table, uint32_t count) {
    zval *value;

    ZEND_HASH_FOREACH_VAL(table, value) {
        if (!count--) {
            return;
        }
        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) == IS_OBJECT) {
            dueq_php_message_settled(Z_OBJ_P(value));
        }
    }
    ZEND_HASH_FOREACH_END();
}

void dueq_php_each(dueq_php_queue *queue, dueq_php_submit submit, HashTable *table, bool tickets,
                   dueq_php_outcome make, zval *out) {
    const struct each each = {queue, submit, tickets};
    const dueq_php_many many = {queue->client, read_message, submit_each, &each, make};

    if (dueq_php_many_run(&many, table, out) && tickets) {
        settled(table, zend_hash_num_elements(Z_ARRVAL_P(out)));
    }
}

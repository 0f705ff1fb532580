#include "fields.h"

#include "link.h"

/* Batches: Dueq\Queue's openBatch(), findBatch(), batches(), cancelBatch() and pushTo(). */

enum { CALLBACKS = 3 };

static const char *const callback_names[CALLBACKS] = {"then", "catch", "finally"};

/* Reads the draft of a callback, which may be an array or a string. NULL: there is none, or it is
 * wrong, and an exception was thrown. */
static const dueq_draft *read_callback(const char *name, HashTable *fields, zend_string *body,
                                       zend_arena **arena) {
    const dueq_draft *draft;
    zval list;

    if (!fields && !body) {
        return NULL;
    }
    dueq_php_draft_list(&list, fields, body);
    draft = dueq_php_drafts_read(name, Z_ARRVAL(list), arena);
    /* The caller's arguments hold what the draft points to. */
    zval_ptr_dtor(&list);
    return draft;
}

ZEND_METHOD(Dueq_Queue, openBatch) {
    const dueq_php_place open_place = {8, -1, "open"}, keep_place = {9, -1, "keep"};
    dueq_batch_options options = DUEQ_BATCH;
    zend_string *id, *bodies[CALLBACKS] = {NULL}, *queues[CALLBACKS] = {NULL};
    HashTable *fields[CALLBACKS] = {NULL};
    zval *open = NULL, *keep = NULL;
    dueq_status status = DUEQ_INVALID;

    ZEND_PARSE_PARAMETERS_START(1, 9)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(fields[0], bodies[0])
        Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(fields[1], bodies[1])
        Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(fields[2], bodies[2])
        Z_PARAM_STR_OR_NULL(queues[0])
        Z_PARAM_STR_OR_NULL(queues[1])
        Z_PARAM_STR_OR_NULL(queues[2])
        Z_PARAM_ZVAL(open)
        Z_PARAM_ZVAL(keep)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if ((open && !dueq_php_limit(&open_place, open, &options.open_ms)) ||
        (keep && !dueq_php_duration(&keep_place, keep, &options.keep_ms))) {
        RETURN_THROWS();
    }
    zend_arena *arena = zend_arena_create(1024);
    const dueq_draft *drafts[CALLBACKS];
    for (int i = 0; i < CALLBACKS; i++) {
        drafts[i] =
            EG(exception) ? NULL : read_callback(callback_names[i], fields[i], bodies[i], &arena);
    }
    if (!EG(exception)) {
        options.id = dueq_php_bytes(id);
        options.then_job = drafts[0];
        options.catch_job = drafts[1];
        options.finally_job = drafts[2];
        options.then_queue = dueq_php_bytes(queues[0]);
        options.catch_queue = dueq_php_bytes(queues[1]);
        options.finally_queue = dueq_php_bytes(queues[2]);
        status = dueq_php_finish(queue->client, dueq_open_batch_submit(queue->queue, &options));
    }
    zend_arena_destroy(arena);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(status == DUEQ_OK);
}

static void make_batch(zval *out, const dueq_batch *from) {
    MAKE_OBJECT(out, dueq_php_batch_status_ce, DUEQ_BATCH_FIELDS);
}

ZEND_METHOD(Dueq_Queue, findBatch) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (dueq_php_finish(queue->client, dueq_find_batch_submit(queue->queue, dueq_php_bytes(id))) ==
        DUEQ_OK) {
        make_batch(return_value, dueq_result_batch(queue->client->result, 0));
    }
}

static dueq_bytes make_batch_of(zval *out, const dueq_result *page, size_t index) {
    const dueq_batch *batch = dueq_result_batch(page, index);

    make_batch(out, batch);
    return batch->id;
}

ZEND_METHOD(Dueq_Queue, batches) {
    ZEND_PARSE_PARAMETERS_NONE();

    THIS_QUEUE(queue);
    if (!dueq_php_pages_list(return_value, queue, dueq_batches_submit, make_batch_of)) {
        RETURN_THROWS();
    }
}

ZEND_METHOD(Dueq_Queue, cancelBatch) {
    zend_string *id, *home = NULL;
    dueq_bytes cursor = {NULL, 0};
    zend_long cancelled = 0;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(home)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    do {
        if (dueq_php_finish(queue->client, dueq_cancel_batch_submit(
                                               queue->queue, dueq_php_bytes(id),
                                               dueq_php_bytes(home), cursor, DUEQ_MAX_BATCH)) < 0) {
            RETURN_THROWS();
        }
        cancelled += (zend_long)dueq_result_purged(queue->client->result);
        cursor = dueq_result_cursor(queue->client->result);
    } while (cursor.size);
    RETURN_LONG(cancelled);
}

/* Pushes members to another queue, in calls of at most DUEQ_MAX_BATCH; `out` gets their ids. */
static void push_to(dueq_php_queue *queue, dueq_queue *target, const dueq_draft *drafts,
                    size_t count, zval *out) {
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += DUEQ_MAX_BATCH) {
        const size_t step = MIN(count - done, DUEQ_MAX_BATCH);

        if (dueq_php_finish(queue->client,
                            dueq_push_to_submit(queue->queue, target, drafts + done, step)) < 0) {
            return;
        }
        dueq_php_ids_append(Z_ARRVAL_P(out), queue->client->result, 0);
    }
}

ZEND_METHOD(Dueq_Queue, pushTo) {
    zend_string *name;
    HashTable *messages;
    dueq_queue *target;
    dueq_draft *drafts;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_STR(name)
        Z_PARAM_ARRAY_HT(messages)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (!dueq_php_target_open(queue, name, &target)) {
        RETURN_THROWS();
    }
    zend_arena *arena = zend_arena_create(16 * 1024);
    drafts = dueq_php_drafts_read("messages", messages, &arena);
    if (drafts) {
        push_to(queue, target, drafts, zend_hash_num_elements(messages), return_value);
    }
    zend_arena_destroy(arena);
}

ZEND_METHOD(Dueq_BatchStatus, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

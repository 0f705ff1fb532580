#include "link.h"

static zend_object_handlers handlers;

static zend_object *create(zend_class_entry *ce) {
    dueq_php_queue *queue = zend_object_alloc(sizeof *queue, ce);

    zend_object_std_init(&queue->std, ce);
    object_properties_init(&queue->std, ce);
    queue->std.handlers = &handlers;
    queue->self = queue;
    return &queue->std;
}

static void release(zend_object *object) {
    dueq_php_queue *queue = dueq_php_queue_of(object);

    dueq_queue_close(queue->queue);
    if (queue->key) {
        zend_string_release(queue->key);
    }
    dueq_php_client_release(queue->client);
    zend_object_std_dtor(object);
}

void dueq_php_queue_startup(void) {
    dueq_php_queue_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(dueq_php_queue, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

static dueq_status open_handle(const dueq_php_queue *queue, dueq_client *client,
                               const zend_string *name, dueq_queue **handle) {
    return queue->partitions
               ? dueq_partitions_open(client, ZSTR_VAL(name), ZSTR_LEN(name),
                                      (size_t)queue->partitions, dueq_php_bytes(queue->key), handle)
               : dueq_queue_open(client, ZSTR_VAL(name), ZSTR_LEN(name), handle);
}

dueq_status dueq_php_queue_handle(const dueq_php_queue *queue, dueq_client *client,
                                  dueq_queue **handle) {
    return open_handle(queue, client, Z_STR_P(OBJ_PROP_NUM(&queue->std, 0)), handle);
}

bool dueq_php_queue_open(dueq_php_queue *queue, dueq_php_client *client, zend_string *name) {
    dueq_status status = open_handle(queue, client->client, name, &queue->queue);

    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(client->client));
        return false;
    }
    client->holders++;
    queue->client = client;
    dueq_queue_durability(queue->queue, &queue->durability);
    dueq_queue_keep(queue->queue, queue->keep_ms);
    ZVAL_STR_COPY(OBJ_PROP_NUM(&queue->std, 0), name);
    return true;
}

dueq_php_queue *dueq_php_this_queue(const zval *this) {
    dueq_php_queue *queue = dueq_php_queue_of(Z_OBJ_P(this));

    if (!queue->queue) {
        zend_throw_error(NULL, "This Dueq\\Queue has not been constructed");
        return NULL;
    }
    return queue;
}

dueq_php_source dueq_php_queue_source(dueq_php_queue *queue) {
    return (dueq_php_source){.object = &queue->std,
                             .client = queue->client,
                             .queues = &queue->self,
                             .count = 1,
                             .order = DUEQ_PREFERENCE};
}

bool dueq_php_partitions_read(const dueq_php_place *place, zend_long count, bool none,
                              zend_long *out) {
    if (!none && (count < 1 || count > DUEQ_MAX_PARTITIONS)) {
        dueq_php_invalid(place, "be from 1 to 1024, or null");
        return false;
    }
    *out = count;
    return true;
}

bool dueq_php_keep_read(const dueq_php_place *place, zval *keep, int64_t *ms) {
    if (keep && !dueq_php_limit(place, keep, ms)) {
        return false;
    }
    if (*ms > UINT32_MAX) {
        dueq_php_invalid(place, "be at most 4294967.295 seconds");
        return false;
    }
    return true;
}

ZEND_METHOD(Dueq_Queue, __construct) {
    dueq_php_queue *queue = dueq_php_queue_of(Z_OBJ_P(ZEND_THIS));
    bool persistent = false, by_default = true;
    const dueq_php_place replicas_place = {4, -1, "replicas"};
    const dueq_php_place partitions_place = {7, -1, "partitions"};
    const dueq_php_place keep_place = {8, -1, "keep"};
    zend_string *name, *url = NULL;
    zval *durable_timeout = NULL, *keep = NULL;
    dueq_php_client *client;
    zend_long replicas = 0, partitions = 0;
    bool disk = false, none = true;

    ZEND_PARSE_PARAMETERS_START(1, 8)
        Z_PARAM_STR(name)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_BOOL_OR_NULL(persistent, by_default)
        Z_PARAM_LONG(replicas)
        Z_PARAM_BOOL(disk)
        Z_PARAM_ZVAL(durable_timeout)
        Z_PARAM_LONG_OR_NULL(partitions, none)
        Z_PARAM_ZVAL(keep)
    ZEND_PARSE_PARAMETERS_END();

    if (queue->queue) {
        zend_throw_error(NULL, "This Dueq\\Queue has been constructed already");
        RETURN_THROWS();
    }
    if (!dueq_php_durability_read(&replicas_place, replicas, disk, durable_timeout,
                                  &queue->durability)) {
        RETURN_THROWS();
    }
    if (!dueq_php_partitions_read(&partitions_place, partitions, none, &queue->partitions) ||
        !dueq_php_keep_read(&keep_place, keep, &queue->keep_ms)) {
        RETURN_THROWS();
    }
    client = dueq_php_client_open(url, DUEQ_PHP_PERSISTENT(persistent, by_default));
    if (client) {
        dueq_php_queue_open(queue, client, name);
        dueq_php_client_release(client);
    }
}

ZEND_METHOD(Dueq_Queue, partitionFor) {
    const dueq_php_place place = {1, -1, "key"};
    dueq_php_queue *one;
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    THIS_QUEUE(queue);
    if (!queue->partitions || !ZSTR_LEN(key)) {
        dueq_php_invalid(&place,
                         queue->partitions ? "not be empty" : "be of a queue with partitions");
        RETURN_THROWS();
    }
    object_init_ex(return_value, dueq_php_queue_ce);
    one = dueq_php_queue_of(Z_OBJ_P(return_value));
    one->partitions = queue->partitions;
    one->durability = queue->durability;
    one->keep_ms = queue->keep_ms;
    one->key = zend_string_copy(key);
    if (!dueq_php_queue_open(one, queue->client, Z_STR_P(OBJ_PROP_NUM(&queue->std, 0)))) {
        zval_ptr_dtor(return_value);
        RETURN_THROWS();
    }
}

ZEND_METHOD(Dueq_Queue, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    RETURN_STRING(dueq_client_url(queue->client->client));
}

ZEND_METHOD(Dueq_Queue, newId) {
    char id[DUEQ_MAX_ID + 1];

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    dueq_new_id(queue->client->client, id);
    RETURN_STRING(id);
}

ZEND_METHOD(Dueq_Queue, push) {
    dueq_php_fields fields = DUEQ_PHP_FIELDS;
    dueq_draft draft;
    dueq_status status = DUEQ_INVALID;

    if (!dueq_php_fields_parse(execute_data, &fields)) {
        RETURN_THROWS();
    }
    THIS_QUEUE(queue);
    zend_arena *arena = zend_arena_create(1024);
    if (dueq_php_draft_fill(&draft, &fields, -1, &arena)) {
        status = dueq_php_finish(queue->client, dueq_push_submit(queue->queue, &draft, 1));
    }
    zend_arena_destroy(arena);
    if (status == DUEQ_DUPLICATE) {
        dueq_php_throw(status, NULL);
    }
    if (EG(exception)) {
        RETURN_THROWS();
    }
    dueq_php_string(return_value, dueq_result_id(queue->client->result, 0));
}

void dueq_php_ids_append(HashTable *list, const dueq_result *result, size_t first) {
    for (size_t i = first; i < dueq_result_count(result); i++) {
        zval id;

        ZVAL_NULL(&id);
        if (dueq_result_status(result, i) == DUEQ_OK) {
            dueq_php_string(&id, dueq_result_id(result, i));
        }
        zend_hash_next_index_insert_new(list, &id);
    }
}

/* Pushes drafts in batches of one call each; `out` becomes the list of their ids. */
static void push_drafts(dueq_php_queue *queue, const dueq_draft *drafts, size_t count, zval *out) {
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += DUEQ_MAX_BATCH) {
        size_t step = MIN(count - done, DUEQ_MAX_BATCH);

        if (dueq_php_finish(queue->client, dueq_push_submit(queue->queue, drafts + done, step)) <
            0) {
            return;
        }
        dueq_php_ids_append(Z_ARRVAL_P(out), queue->client->result, 0);
    }
}

ZEND_METHOD(Dueq_Queue, pushMany) {
    HashTable *messages;
    dueq_draft *drafts;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(messages)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    zend_arena *arena = zend_arena_create(16 * 1024);
    drafts = dueq_php_drafts_read("messages", messages, &arena);
    if (drafts) {
        push_drafts(queue, drafts, zend_hash_num_elements(messages), return_value);
    }
    zend_arena_destroy(arena);
}

static dueq_status reserve(dueq_php_queue *queue, const dueq_reserve_options *options) {
    return dueq_php_finish_wait(queue->client, dueq_reserve_any_submit(&queue->queue, 1, options));
}

ZEND_METHOD(Dueq_Queue, reserve) {
    dueq_reserve_options options = DUEQ_RESERVE;

    THIS_QUEUE(queue);
    if (!dueq_php_reserve_read(execute_data, false, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_first(return_value, &source, reserve(queue, &options), dueq_php_message_item);
}

ZEND_METHOD(Dueq_Queue, reserveStart) {
    THIS_QUEUE(queue);
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_reserve_start(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Queue, pusher) {
    const dueq_php_place place = {1, -1, "most"};
    zend_long most = DUEQ_MAX_PUSHES;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(most)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (most < 1 || most > DUEQ_PHP_MOST_PUSHES) {
        dueq_php_invalid(&place, "be from 1 to 1000000");
        RETURN_THROWS();
    }
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_pusher_make(return_value, &source, (size_t)most);
}

ZEND_METHOD(Dueq_Queue, consume) {
    THIS_QUEUE(queue);
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_consume(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Queue, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_consume(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Queue, reserveMany) {
    dueq_reserve_options options = DUEQ_RESERVE;

    THIS_QUEUE(queue);
    if (!dueq_php_reserve_read(execute_data, true, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_list(return_value, &source, reserve(queue, &options), dueq_php_message_item);
}

ZEND_METHOD(Dueq_Queue, ackMany) {
    HashTable *messages;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(messages)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_each(queue, dueq_ack_submit, messages, true, dueq_php_outcome_done, return_value);
}

#include "message.h"

message_object *dueq_php_message_this(const zval *this) {
    message_object *message = message_of(Z_OBJ_P(this));

    if (!message->queue) {
        zend_throw_error(NULL, "This Dueq\\Message does not come from a queue");
        return NULL;
    }
    if (message->loop) {
        dueq_reached(message->queue->client->client);
    }
    return message;
}

ZEND_METHOD(Dueq_Message, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

dueq_status dueq_php_message_settle(message_object *message, dueq_status submitted) {
    const bool again = message->settled && !message->lost;
    dueq_status status =
        dueq_php_finish_held(message->queue->client, submitted,
                             again ? "this program has settled the message already" : NULL);

    message->lost = message->lost || (status == DUEQ_LEASE_LOST && !again);
    if (status >= 0 || status == DUEQ_NOT_DURABLE) {
        dueq_php_message_settled(&message->std);
    }
    return status;
}

bool dueq_php_target_open(const dueq_php_queue *queue, const zend_string *name,
                          dueq_queue **target) {
    const zend_string *own = Z_STR_P(OBJ_PROP_NUM(&queue->std, 0));
    dueq_php_client *client = queue->client;
    dueq_status status = DUEQ_OK;

    dueq_queue_close(client->target);
    client->target = NULL;
    if (name) {
        status = dueq_queue_open(client->client, ZSTR_VAL(name), ZSTR_LEN(name), &client->target);
    } else if (queue->part_of) {
        const char *mark = zend_memrchr(ZSTR_VAL(own), '#', ZSTR_LEN(own));
        status = dueq_partitions_open(client->client, ZSTR_VAL(own), (size_t)(mark - ZSTR_VAL(own)),
                                      (size_t)queue->part_of, (dueq_bytes){0}, &client->target);
    }
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(client->client));
    }
    *target = client->target;
    return status == DUEQ_OK;
}

/* Acknowledges and pushes successors; `out` becomes the list of their ids. result: NULL: none. */
static void ack_push(message_object *message, HashTable *push, const zend_string *to,
                     const zend_string *result, zval *out) {
    dueq_php_queue *queue = message->queue;
    zend_arena *arena = zend_arena_create(1024);
    dueq_draft *drafts = dueq_php_drafts_read("push", push, &arena);
    dueq_queue *target = NULL;

    if (drafts && dueq_php_target_open(queue, to, &target)) {
        const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
        const size_t count = zend_hash_num_elements(push);

        dueq_php_message_settle(
            message, result
                         ? dueq_ack_push_result_submit(queue->queue, ticket, dueq_php_bytes(result),
                                                       target, drafts, count)
                         : dueq_ack_push_submit(queue->queue, ticket, target, drafts, count));
    }
    zend_arena_destroy(arena);
    if (!EG(exception)) {
        array_init_size(out, zend_hash_num_elements(push));
        dueq_php_ids_append(Z_ARRVAL_P(out), queue->client->result, 1);
    }
}

/*
 * Acknowledges the message with its loop's next request; false: no loop of this process has it. In
 * a forked child the messages are the parent's.
 */
static bool ack_later(message_object *message) {
    if (!message->loop || message->settled || message->loop->pid != getpid()) {
        return false;
    }
    dueq_consumer_ack(message->loop->consumer, dueq_php_message_ticket(&message->std));
    dueq_php_message_detach(&message->std);
    return true;
}

ZEND_METHOD(Dueq_Message, ack) {
    HashTable *push = NULL;
    zend_string *to = NULL, *result = NULL;
    bool wait = true;

    ZEND_PARSE_PARAMETERS_START(0, 4)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT_OR_NULL(push)
        Z_PARAM_STR_OR_NULL(to)
        Z_PARAM_BOOL(wait)
        Z_PARAM_STR_OR_NULL(result)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (!push && to) {
        dueq_php_throw(DUEQ_INVALID, "to: is only for successors, and push has none");
        RETURN_THROWS();
    }
    if ((push || result) && !wait) {
        dueq_php_throw(DUEQ_INVALID,
                       "wait: an ack with successors or a result waits for its answer");
        RETURN_THROWS();
    }
    if (push && zend_hash_num_elements(push)) {
        ack_push(message, push, to, result, return_value);
        return;
    }
    if (!wait && ack_later(message)) {
        return;
    }
    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
    const dueq_status status = dueq_php_message_settle(
        message, result
                     ? dueq_ack_result_submit(message->queue->queue, ticket, dueq_php_bytes(result))
                     : dueq_ack_submit(message->queue->queue, &ticket, 1));
    if (status < 0 && message->loop && !result &&
        dueq_consumer_keep_ack(message->loop->consumer, ticket, status)) {
        dueq_php_message_detach(&message->std);
    }
    if (push && !EG(exception)) {
        RETURN_EMPTY_ARRAY();
    }
}

/* Acknowledges a schedule's message, and pushes its due jobs and its next message. */
static void fire(message_object *message) {
    zend_arena *arena = zend_arena_create(1024);
    HashTable *headers = Z_ARRVAL_P(OBJ_PROP_NUM(&message->std, MESSAGE_headers));
    dueq_draft given = DUEQ_DRAFT;
    dueq_message held = {.id = dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_id))),
                         .ticket = dueq_php_message_ticket(&message->std),
                         .body =
                             dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_body)))};

    if (dueq_php_headers_fill(DUEQ_PHP_PLACE(1, -1, "headers"), headers, &given, &arena)) {
        held.headers = given.headers;
        held.header_count = given.header_count;
        dueq_php_message_settle(message, dueq_fire_submit(message->queue->queue, &held));
    }
    zend_arena_destroy(arena);
}

ZEND_METHOD(Dueq_Message, fire) {
    zval id;

    ZEND_PARSE_PARAMETERS_NONE();
    SETTLE_MESSAGE(message);
    fire(message);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    const dueq_result *result = message->queue->client->result;
    array_init(return_value);
    for (size_t i = 1; i + 1 < dueq_result_count(result); i++) {
        if (dueq_result_status(result, i) == DUEQ_OK) {
            dueq_php_string(&id, dueq_result_id(result, i));
            zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &id);
        }
    }
}

ZEND_METHOD(Dueq_Message, isSchedule) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGE(message);
    const zval *headers = OBJ_PROP_NUM(&message->std, MESSAGE_headers);
    RETURN_BOOL(zend_string_starts_with_literal(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_id)),
                                                "schedule:") &&
                zend_hash_str_exists(Z_ARRVAL_P(headers), ZEND_STRL("schedule")));
}

ZEND_METHOD(Dueq_Message, isSettled) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGE(message);
    RETURN_BOOL(message->settled || message->tried);
}

ZEND_METHOD(Dueq_Message, checkpoint) {
    zend_string *cursor;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(cursor)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    dueq_php_finish_held(message->queue->client,
                         dueq_checkpoint_submit(message->queue->queue,
                                                dueq_php_message_ticket(&message->std),
                                                dueq_php_bytes(cursor)),
                         NULL);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    zval *headers = OBJ_PROP_NUM(&message->std, MESSAGE_headers), value;
    SEPARATE_ARRAY(headers);
    zend_hash_str_del(Z_ARRVAL_P(headers), ZEND_STRL("cursor"));
    if (ZSTR_LEN(cursor)) {
        ZVAL_STR_COPY(&value, cursor);
        zend_hash_str_add(Z_ARRVAL_P(headers), ZEND_STRL("cursor"), &value);
    }
}

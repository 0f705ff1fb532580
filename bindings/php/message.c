#include "link.h"

typedef struct message_object {
    dueq_php_queue *queue; /* counted. It is never part of a cycle (a queue holds nothing), so that
                              the collector does not need to know it */
    dueq_php_loop *loop;   /* NULL: no consumer keeps its lease */
    bool tried;            /* a method was called that settles it */
    bool settled;
    zend_object std;
} message_object;

static zend_object_handlers handlers;
static zend_string *states[DUEQ_OUTBOX + 1]; /* their names, interned */

static message_object *message_of(zend_object *object) {
    return (message_object *)((char *)object - offsetof(message_object, std));
}

static zend_object *message_create(zend_class_entry *ce) {
    message_object *message = zend_object_alloc(sizeof *message, ce);

    zend_object_std_init(&message->std, ce);
    object_properties_init(&message->std, ce);
    message->std.handlers = &handlers;
    return &message->std;
}

/* The properties in the order of the stub. */
enum {
    MESSAGE_QUEUE,
    MESSAGE_ID,
    MESSAGE_BODY,
    MESSAGE_HEADERS,
    MESSAGE_TICKET,
    MESSAGE_ATTEMPT,
    MESSAGE_MAX_ATTEMPTS,
    MESSAGE_CRASHES,
    MESSAGE_MAX_CRASHES,
    MESSAGE_DELIVERIES,
    MESSAGE_PRIORITY,
    MESSAGE_STATE,
    MESSAGE_TIME,
    MESSAGE_CREATED,
    MESSAGE_EXPIRES,
    MESSAGE_ERROR,
    MESSAGE_DROP,
    MESSAGE_DEAD_LETTER
};

static void message_release(zend_object *object) {
    message_object *message = message_of(object);

    if (message->queue) {
        OBJ_RELEASE(&message->queue->std);
    }
    dueq_php_loop_release(message->loop);
    zend_object_std_dtor(object);
}

void dueq_php_message_startup(void) {
    dueq_php_message_ce->create_object = message_create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(message_object, std);
    handlers.free_obj = message_release;
    handlers.clone_obj = NULL;
    for (dueq_state state = DUEQ_READY; state <= DUEQ_OUTBOX; state++) {
        const char *name = dueq_state_name(state);

        states[state] = zend_string_init_interned(name, strlen(name), true);
    }
}

static void make_headers(zval *out, const dueq_message *message) {
    if (!message->header_count) {
        ZVAL_EMPTY_ARRAY(out);
        return;
    }
    array_init_size(out, (uint32_t)message->header_count);
    for (size_t i = 0; i < message->header_count; i++) {
        const dueq_header *header = &message->headers[i];
        zval value;

        dueq_php_string(&value, header->value);
        zend_symtable_str_update(Z_ARRVAL_P(out), header->name.data, header->name.size, &value);
    }
}

void dueq_php_state_make(zval *out, dueq_state state) {
    if (state >= DUEQ_READY && state <= DUEQ_OUTBOX) {
        ZVAL_INTERNED_STR(out, states[state]);
    } else {
        ZVAL_STRING(out, dueq_state_name(state));
    }
}

static void make_count(zval *out, uint32_t count) { ZVAL_LONG(out, (zend_long)count); }

/* 0 stands for no limit. */
static void make_limit(zval *out, uint32_t limit) {
    if (limit) {
        make_count(out, limit);
    } else {
        ZVAL_NULL(out);
    }
}

static void make_name(zval *out, dueq_bytes name) {
    if (name.size) {
        dueq_php_string(out, name);
    } else {
        ZVAL_NULL(out);
    }
}

/* Often it has the bytes of the id. */
static void make_ticket(zend_object *object, const dueq_message *message) {
    zval *id = OBJ_PROP_NUM(object, MESSAGE_ID), *ticket = OBJ_PROP_NUM(object, MESSAGE_TICKET);

    if (zend_string_equals_cstr(Z_STR_P(id), message->ticket.data, message->ticket.size)) {
        ZVAL_COPY(ticket, id);
    } else {
        dueq_php_string(ticket, message->ticket);
    }
}

void dueq_php_message_make(zval *out, dueq_php_queue *queue, const dueq_message *message) {
    zend_object *object;

    object_init_ex(out, dueq_php_message_ce);
    object = Z_OBJ_P(out);
    GC_ADDREF(&queue->std);
    message_of(object)->queue = queue;

    ZVAL_COPY(OBJ_PROP_NUM(object, MESSAGE_QUEUE), OBJ_PROP_NUM(&queue->std, 0));
    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_ID), message->id);
    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_BODY), message->body);
    make_headers(OBJ_PROP_NUM(object, MESSAGE_HEADERS), message);
    make_ticket(object, message);
    make_count(OBJ_PROP_NUM(object, MESSAGE_ATTEMPT), message->attempt);
    make_limit(OBJ_PROP_NUM(object, MESSAGE_MAX_ATTEMPTS), message->max_attempts);
    make_count(OBJ_PROP_NUM(object, MESSAGE_CRASHES), message->crashes);
    make_limit(OBJ_PROP_NUM(object, MESSAGE_MAX_CRASHES), message->max_crashes);
    make_count(OBJ_PROP_NUM(object, MESSAGE_DELIVERIES), message->deliveries);
    ZVAL_LONG(OBJ_PROP_NUM(object, MESSAGE_PRIORITY), message->priority);
    dueq_php_state_make(OBJ_PROP_NUM(object, MESSAGE_STATE), message->state);
    dueq_php_time_make(OBJ_PROP_NUM(object, MESSAGE_TIME), message->time_ms);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, MESSAGE_CREATED), dueq_php_seconds(message->created_ms));
    dueq_php_time_make(OBJ_PROP_NUM(object, MESSAGE_EXPIRES), message->expires_ms);
    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_ERROR), message->error);
    ZVAL_BOOL(OBJ_PROP_NUM(object, MESSAGE_DROP), message->drop);
    make_name(OBJ_PROP_NUM(object, MESSAGE_DEAD_LETTER), message->dead_letter);
}

void dueq_php_message_attach(zend_object *object, dueq_php_loop *loop) {
    loop->holders++;
    message_of(object)->loop = loop;
}

static dueq_bytes ticket_of(message_object *message) {
    return dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_TICKET)));
}

void dueq_php_message_detach(zend_object *object) {
    message_object *message = message_of(object);

    message->settled = true;
    dueq_php_loop_release(message->loop);
    message->loop = NULL;
}

void dueq_php_message_settled(zend_object *object) {
    message_object *message = message_of(object);

    if (message->loop) {
        dueq_consumer_forget(message->loop->consumer, ticket_of(message));
    }
    dueq_php_message_detach(object);
}

bool dueq_php_message_is_settled(zend_object *object) { return message_of(object)->settled; }

bool dueq_php_message_left(zend_object *object) {
    if (!message_of(object)->tried) {
        return false;
    }
    dueq_php_message_settled(object);
    dueq_php_log(
        "dueq: message %s: its handler's call to settle it failed, so it is not acknowledged: "
        "unless that call took effect, it is delivered again when its lease ends",
        Z_STRVAL_P(OBJ_PROP_NUM(object, MESSAGE_ID)));
    return true;
}

void dueq_php_message_of_part(zval *out, dueq_php_queue *queue, size_t partition,
                              const dueq_message *message) {
    char name[DUEQ_MAX_NAME + 1];
    zend_string *text;
    zval part;
    size_t size;

    if (!queue->partitions) {
        dueq_php_message_make(out, queue, message);
        return;
    }
    size =
        dueq_partition_name(dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&queue->std, 0))), partition, name);
    text = zend_string_init(name, size, 0);
    object_init_ex(&part, dueq_php_queue_ce);
    dueq_php_queue_of(Z_OBJ(part))->durability = queue->durability;
    dueq_php_queue_of(Z_OBJ(part))->part_of = queue->partitions;
    if (dueq_php_queue_open(dueq_php_queue_of(Z_OBJ(part)), queue->client, text)) {
        dueq_php_message_make(out, dueq_php_queue_of(Z_OBJ(part)), message);
    }
    zend_string_release(text);
    zval_ptr_dtor(&part);
}

void dueq_php_message_item(zval *out, const dueq_php_source *source, const dueq_result *result,
                           size_t index) {
    size_t place = dueq_result_queue(result);

    dueq_php_message_of_part(out, source->queues[source->count > 1 ? place : 0], place,
                             dueq_result_message(result, index));
}

dueq_bytes dueq_php_message_ticket(zend_object *object) {
    message_object *message = message_of(object);

    return message->queue ? ticket_of(message) : (dueq_bytes){NULL, 0};
}

bool dueq_php_message_is_of(zend_object *object, const dueq_php_queue *queue) {
    const zend_string *name = Z_STR_P(OBJ_PROP_NUM(&queue->std, 0));
    char first[DUEQ_MAX_NAME + 1];
    zend_string *of;

    if (!message_of(object)->queue) {
        return false;
    }
    of = Z_STR_P(OBJ_PROP_NUM(object, MESSAGE_QUEUE));
    /* All but the digit of its first partition's name. */
    dueq_partition_name(dueq_php_bytes(name), 0, first);
    return zend_string_equals(of, name) ||
           (queue->partitions && strncmp(ZSTR_VAL(of), first, ZSTR_LEN(name) + 1) == 0);
}

/* Message's constructor is private, so that each has its queue; other extensions may bypass it. */
static message_object *this_message(const zval *this) {
    message_object *message = message_of(Z_OBJ_P(this));

    if (!message->queue) {
        zend_throw_error(NULL, "This Dueq\\Message does not come from a queue");
        return NULL;
    }
    return message;
}

#define THIS_MESSAGE(message)                                                                      \
    message_object *message = this_message(ZEND_THIS);                                             \
    if (!message) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

/* For the methods that settle it: whether or not they succeed, nobody acknowledges it for the program. */
#define SETTLE_MESSAGE(message)                                                                    \
    THIS_MESSAGE(message);                                                                         \
    message->tried = true;

ZEND_METHOD(Dueq_Message, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

/* Sees a verb through that ends the delivery, unless it fails. */
static dueq_status settle(message_object *message, dueq_status submitted) {
    dueq_status status = dueq_php_finish_held(message->queue->client, submitted, NULL);

    if (status >= 0 || status == DUEQ_NOT_DURABLE) {
        dueq_php_message_settled(&message->std);
    }
    return status;
}

/* The queue that ack() pushes to; false: it threw. NULL: the message's own; of a partition all of them. */
static bool open_target(const dueq_php_queue *queue, const zend_string *name, dueq_queue **target) {
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

/* Acknowledges and pushes successors; `out` becomes the list of their ids. */
static void ack_push(message_object *message, HashTable *push, const zend_string *to, zval *out) {
    dueq_php_queue *queue = message->queue;
    zend_arena *arena = zend_arena_create(1024);
    dueq_draft *drafts = dueq_php_drafts_read("push", push, &arena);
    dueq_queue *target = NULL;

    if (drafts && open_target(queue, to, &target)) {
        settle(message, dueq_ack_push_submit(queue->queue, ticket_of(message), target, drafts,
                                             zend_hash_num_elements(push)));
    }
    zend_arena_destroy(arena);
    if (!EG(exception)) {
        array_init_size(out, zend_hash_num_elements(push));
        dueq_php_ids_append(Z_ARRVAL_P(out), queue->client->result, 1);
    }
}

ZEND_METHOD(Dueq_Message, ack) {
    HashTable *push = NULL;
    zend_string *to = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT_OR_NULL(push)
        Z_PARAM_STR_OR_NULL(to)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (!push && to) {
        dueq_php_throw(DUEQ_INVALID, "to: is only for successors, and push has none");
        RETURN_THROWS();
    }
    if (push && zend_hash_num_elements(push)) {
        ack_push(message, push, to, return_value);
        return;
    }
    const dueq_bytes ticket = ticket_of(message);
    settle(message, dueq_ack_submit(message->queue->queue, &ticket, 1));
    if (push && !EG(exception)) {
        RETURN_EMPTY_ARRAY();
    }
}

/* Acknowledges a schedule's message, and pushes what follows it. */
static void turn(message_object *message) {
    zend_arena *arena = zend_arena_create(1024);
    HashTable *headers = Z_ARRVAL_P(OBJ_PROP_NUM(&message->std, MESSAGE_HEADERS));
    dueq_draft given = DUEQ_DRAFT;
    dueq_message held = {.id = dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_ID))),
                         .ticket = ticket_of(message),
                         .body =
                             dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_BODY)))};

    if (dueq_php_headers_fill(&given, headers, -1, &arena)) {
        held.headers = given.headers;
        held.header_count = given.header_count;
        settle(message, dueq_turn_submit(message->queue->queue, &held));
    }
    zend_arena_destroy(arena);
}

ZEND_METHOD(Dueq_Message, turn) {
    zval id;

    ZEND_PARSE_PARAMETERS_NONE();
    SETTLE_MESSAGE(message);
    turn(message);
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
    const zval *headers = OBJ_PROP_NUM(&message->std, MESSAGE_HEADERS);
    RETURN_BOOL(zend_string_starts_with_literal(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_ID)),
                                                "schedule:") &&
                zend_hash_str_exists(Z_ARRVAL_P(headers), ZEND_STRL("schedule")));
}

ZEND_METHOD(Dueq_Message, isSettled) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGE(message);
    RETURN_BOOL(message->settled || message->tried);
}

ZEND_METHOD(Dueq_Message, retry) {
    const dueq_php_place place = {1, -1, "delay"};
    int64_t delay_ms = DUEQ_BY_POLICY;
    zend_string *error = NULL;
    zval *delay = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_STR(error)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (delay && Z_TYPE_P(delay) != IS_NULL && !dueq_php_duration(&place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(settle(message, dueq_retry_submit(message->queue->queue, ticket_of(message),
                                                  delay_ms, dueq_php_bytes(error))) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Message, release) {
    const dueq_php_place place = {1, -1, "delay"};
    int64_t delay_ms = 0;
    zval *delay = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (delay && !dueq_php_duration(&place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    dueq_bytes ticket = ticket_of(message);
    settle(message, dueq_release_submit(message->queue->queue, &ticket, 1, delay_ms));
}

ZEND_METHOD(Dueq_Message, extend) {
    const dueq_php_place place = {1, -1, "lease"};
    int64_t lease_ms;
    zval *lease;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    if (!dueq_php_duration(&place, lease, &lease_ms)) {
        RETURN_THROWS();
    }
    dueq_bytes ticket = ticket_of(message);
    dueq_php_finish_held(message->queue->client,
                         dueq_extend_submit(message->queue->queue, &ticket, 1, lease_ms), NULL);
}

ZEND_METHOD(Dueq_Message, save) {
    zend_string *cursor;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(cursor)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    dueq_php_finish_held(
        message->queue->client,
        dueq_save_submit(message->queue->queue, ticket_of(message), dueq_php_bytes(cursor)), NULL);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    zval *headers = OBJ_PROP_NUM(&message->std, MESSAGE_HEADERS), value;
    SEPARATE_ARRAY(headers);
    zend_hash_str_del(Z_ARRVAL_P(headers), ZEND_STRL("cursor"));
    if (ZSTR_LEN(cursor)) {
        ZVAL_STR_COPY(&value, cursor);
        zend_hash_str_add(Z_ARRVAL_P(headers), ZEND_STRL("cursor"), &value);
    }
}

ZEND_METHOD(Dueq_Message, bury) {
    zend_string *reason = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(reason)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    settle(message,
           dueq_bury_submit(message->queue->queue, ticket_of(message), dueq_php_bytes(reason)));
}

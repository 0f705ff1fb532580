#include "message.h"

static zend_object_handlers handlers;

static zend_object *message_create(zend_class_entry *ce) {
    message_object *message = zend_object_alloc(sizeof *message, ce);

    zend_object_std_init(&message->std, ce);
    object_properties_init(&message->std, ce);
    message->std.handlers = &handlers;
    return &message->std;
}

static void message_release(zend_object *object) {
    message_object *message = message_of(object);

    if (message->queue) {
        OBJ_RELEASE(&message->queue->std);
    }
    dueq_php_loop_release(message->loop);
    zend_object_std_dtor(object);
}

static dueq_bytes ticket_of(message_object *message) {
    return dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_TICKET)));
}

static bool is_lost(message_object *message) {
    return message->lost ||
           (message->loop && dueq_consumer_has_lost(message->loop->consumer, ticket_of(message)));
}

/* "lost" has no slot, as the heartbeat changes it. */
static zval *read_property(zend_object *object, zend_string *name, int type, void **cache,
                           zval *out) {
    if (!zend_string_equals_literal(name, "lost")) {
        return zend_std_read_property(object, name, type, cache, out);
    }
    ZVAL_BOOL(out, is_lost(message_of(object)));
    return out;
}

static int has_property(zend_object *object, zend_string *name, int kind, void **cache) {
    if (!zend_string_equals_literal(name, "lost")) {
        return zend_std_has_property(object, name, kind, cache);
    }
    return kind != ZEND_PROPERTY_NOT_EMPTY || is_lost(message_of(object));
}

void dueq_php_message_startup(void) {
    dueq_php_message_ce->create_object = message_create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.read_property = read_property;
    handlers.has_property = has_property;
    handlers.offset = offsetof(message_object, std);
    handlers.free_obj = message_release;
    handlers.clone_obj = NULL;
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

static void make_count(zval *out, uint32_t count) { ZVAL_LONG(out, (zend_long)count); }

/* 0 becomes null: no limit. */
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

/* The ticket often has the bytes of the id: then the two share a string. */
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
    dueq_php_case_make(OBJ_PROP_NUM(object, MESSAGE_STATE), &dueq_php_state, (int)message->state);
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
    /* The name of the first partition without its digit. */
    dueq_partition_name(dueq_php_bytes(name), 0, first);
    return zend_string_equals(of, name) ||
           (queue->partitions && strncmp(ZSTR_VAL(of), first, ZSTR_LEN(name) + 1) == 0);
}

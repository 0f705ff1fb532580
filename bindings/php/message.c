#include "message.h"

#include "fields.h"

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
    return dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_ticket)));
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

/* The ticket often has the bytes of the id: then the two share a string. */
static void make_ticket(zval *out, dueq_bytes ticket, const zval *id) {
    if (zend_string_equals_cstr(Z_STR_P(id), ticket.data, ticket.size)) {
        ZVAL_COPY(out, id);
    } else {
        dueq_php_string(out, ticket);
    }
}

void dueq_php_message_make(zval *out, dueq_php_queue *queue, const dueq_message *from) {
    zend_object *object;

    object_init_ex(out, dueq_php_message_ce);
    object = Z_OBJ_P(out);
    GC_ADDREF(&queue->std);
    message_of(object)->queue = queue;
    ZVAL_COPY(OBJ_PROP_NUM(object, MESSAGE_queue), OBJ_PROP_NUM(&queue->std, 0));
#define MAKE_BYTES(out, bytes) dueq_php_string(out, bytes)
#define MAKE_HEADERS(out, ignored) make_headers(out, from)
#define MAKE_TICKET(out, ticket) make_ticket(out, ticket, OBJ_PROP_NUM(object, MESSAGE_id))
#define MAKE_STATE(out, state) dueq_php_case_make(out, &dueq_php_state, (int)(state))
    MAKE_PROPERTIES(object, MESSAGE_queue + 1, DUEQ_MESSAGE_FIELDS);
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
        Z_STRVAL_P(OBJ_PROP_NUM(object, MESSAGE_id)));
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
    dueq_php_queue_of(Z_OBJ(part))->keep_ms = queue->keep_ms;
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
    of = Z_STR_P(OBJ_PROP_NUM(object, MESSAGE_queue));
    /* The name of the first partition without its digit. */
    dueq_partition_name(dueq_php_bytes(name), 0, first);
    return zend_string_equals(of, name) ||
           (queue->partitions && strncmp(ZSTR_VAL(of), first, ZSTR_LEN(name) + 1) == 0);
}

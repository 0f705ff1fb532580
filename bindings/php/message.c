#include "php_dueq.h"

typedef struct message_object {
    dueq_php_queue *queue; /* counted. It is never part of a cycle (a queue holds nothing), so that
                              the collector does not need to know it */
    zend_object std;
} message_object;

static zend_object_handlers handlers;

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

static void message_release(zend_object *object) {
    message_object *message = message_of(object);

    if (message->queue) {
        OBJ_RELEASE(&message->queue->std);
    }
    zend_object_std_dtor(object);
}

void dueq_php_message_startup(void) {
    dueq_php_message_ce->create_object = message_create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(message_object, std);
    handlers.free_obj = message_release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum {
    MESSAGE_ID,
    MESSAGE_BODY,
    MESSAGE_HEADERS,
    MESSAGE_TICKET,
    MESSAGE_ATTEMPT,
    MESSAGE_MAX_ATTEMPTS,
    MESSAGE_STATE,
    MESSAGE_TIME,
    MESSAGE_CREATED_AT,
    MESSAGE_ERROR
};

enum {
    STATS_READY,
    STATS_DELAYED,
    STATS_LEASED,
    STATS_DEAD,
    STATS_ACKED,
    STATS_CANCELLED,
    STATS_PURGED,
    STATS_DAMAGED,
    STATS_NEXT,
    STATS_NOW,
    STATS_PAUSED
};

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

/* 0 stands for no time. */
static void make_time(zval *out, int64_t ms) {
    if (ms) {
        ZVAL_DOUBLE(out, dueq_php_seconds(ms));
    } else {
        ZVAL_NULL(out);
    }
}

void dueq_php_message_make(zval *out, dueq_php_queue *queue, const dueq_message *message) {
    zend_object *object;

    object_init_ex(out, dueq_php_message_ce);
    object = Z_OBJ_P(out);
    GC_ADDREF(&queue->std);
    message_of(object)->queue = queue;

    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_ID), message->id);
    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_BODY), message->body);
    make_headers(OBJ_PROP_NUM(object, MESSAGE_HEADERS), message);
    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_TICKET), message->ticket);
    ZVAL_LONG(OBJ_PROP_NUM(object, MESSAGE_ATTEMPT), (zend_long)message->attempt);
    if (message->max_attempts) {
        ZVAL_LONG(OBJ_PROP_NUM(object, MESSAGE_MAX_ATTEMPTS), (zend_long)message->max_attempts);
    } else {
        ZVAL_NULL(OBJ_PROP_NUM(object, MESSAGE_MAX_ATTEMPTS));
    }
    ZVAL_STRING(OBJ_PROP_NUM(object, MESSAGE_STATE), dueq_state_name(message->state));
    make_time(OBJ_PROP_NUM(object, MESSAGE_TIME), message->time_ms);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, MESSAGE_CREATED_AT), dueq_php_seconds(message->created_ms));
    dueq_php_string(OBJ_PROP_NUM(object, MESSAGE_ERROR), message->error);
}

void dueq_php_stats_make(zval *out, const dueq_counts *counts) {
    zend_object *object;

    object_init_ex(out, dueq_php_stats_ce);
    object = Z_OBJ_P(out);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_READY), (zend_long)counts->ready);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_DELAYED), (zend_long)counts->delayed);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_LEASED), (zend_long)counts->leased);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_DEAD), (zend_long)counts->dead);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_ACKED), (zend_long)counts->acked);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_CANCELLED), (zend_long)counts->cancelled);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_PURGED), (zend_long)counts->purged);
    ZVAL_LONG(OBJ_PROP_NUM(object, STATS_DAMAGED), (zend_long)counts->damaged);
    make_time(OBJ_PROP_NUM(object, STATS_NEXT), counts->next_ms);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, STATS_NOW), dueq_php_seconds(counts->now_ms));
    ZVAL_BOOL(OBJ_PROP_NUM(object, STATS_PAUSED), counts->paused);
}

static dueq_bytes ticket_of(message_object *message) {
    return dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&message->std, MESSAGE_TICKET)));
}

dueq_bytes dueq_php_message_ticket(zend_object *object, const dueq_php_queue *queue) {
    message_object *message = message_of(object);

    return message->queue == queue ? ticket_of(message) : (dueq_bytes){NULL, 0};
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

ZEND_METHOD(Dueq_Message, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Message, ack) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGE(message);
    const dueq_bytes ticket = ticket_of(message);
    dueq_php_finish_held(message->queue, dueq_ack_submit(message->queue->queue, &ticket, 1));
}

ZEND_METHOD(Dueq_Message, retry) {
    const dueq_php_place place = {1, -1, "delay"};
    zval *delay = NULL;
    zend_string *error = NULL;
    int64_t delay_ms = 0;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_STR(error)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    if (delay && !dueq_php_duration(&place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(dueq_php_finish_held(
                    message->queue, dueq_retry_submit(message->queue->queue, ticket_of(message),
                                                      delay_ms, dueq_php_bytes(error))) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Message, extend) {
    const dueq_php_place place = {1, -1, "lease"};
    zval *lease;
    int64_t lease_ms;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    if (!dueq_php_duration(&place, lease, &lease_ms)) {
        RETURN_THROWS();
    }
    dueq_php_finish_held(message->queue,
                         dueq_extend_submit(message->queue->queue, ticket_of(message), lease_ms));
}

ZEND_METHOD(Dueq_Message, bury) {
    zend_string *reason = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(reason)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    dueq_php_finish_held(message->queue, dueq_bury_submit(message->queue->queue, ticket_of(message),
                                                          dueq_php_bytes(reason)));
}

ZEND_METHOD(Dueq_Stats, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

#include "php_dueq.h"

typedef struct messages_object {
    dueq_php_queue *queue; /* counted, as in message.c */
    dueq_state state;
    size_t most;
    dueq_result *page;  /* NULL: none fetched yet */
    size_t at;          /* the message of the page that it stands at; count: at the end */
    zend_long position; /* the same, counted over all pages */
    zend_object std;
} messages_object;

static zend_object_handlers handlers;

static messages_object *messages_of(zend_object *object) {
    return (messages_object *)((char *)object - offsetof(messages_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    messages_object *messages = zend_object_alloc(sizeof *messages, ce);

    zend_object_std_init(&messages->std, ce);
    object_properties_init(&messages->std, ce);
    messages->std.handlers = &handlers;
    return &messages->std;
}

static void release(zend_object *object) {
    messages_object *messages = messages_of(object);

    dueq_result_free(messages->page);
    if (messages->queue) {
        OBJ_RELEASE(&messages->queue->std);
    }
    zend_object_std_dtor(object);
}

void dueq_php_messages_startup(void) {
    dueq_php_messages_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(messages_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

void dueq_php_messages_make(zval *out, dueq_php_queue *queue, dueq_state state, zend_long page) {
    messages_object *messages;

    object_init_ex(out, dueq_php_messages_ce);
    messages = messages_of(Z_OBJ_P(out));
    GC_ADDREF(&queue->std);
    messages->queue = queue;
    messages->state = state;
    messages->most = (size_t)page;
}

/* The current message; NULL: none. */
static const dueq_message *current(const messages_object *messages) {
    return messages->at < dueq_result_count(messages->page)
               ? dueq_result_message(messages->page, messages->at)
               : NULL;
}

/* Skips damaged entries, which have no message. */
static void skip_damaged(messages_object *messages) {
    while (messages->at < dueq_result_count(messages->page) && !current(messages)) {
        messages->at++;
    }
}

/* Fetches the next page. False: it threw. */
static bool turn(messages_object *messages) {
    dueq_php_client *client = messages->queue->client;

    if (dueq_php_finish(client,
                        dueq_peek_submit(messages->queue->queue, messages->state,
                                         dueq_result_cursor(messages->page), messages->most)) < 0) {
        return false;
    }
    dueq_result_free(messages->page);
    messages->page = client->result;
    client->result = NULL;
    messages->at = 0;
    skip_damaged(messages);
    return true;
}

/* Moves to the next message, if there is one. */
static void settle(messages_object *messages) {
    skip_damaged(messages);
    while (!current(messages) && (!messages->page || dueq_result_cursor(messages->page).size) &&
           turn(messages)) {
    }
}

/* NULL: it threw. Messages's constructor is private, but other extensions may bypass it. */
static messages_object *this_messages(const zval *this) {
    messages_object *messages = messages_of(Z_OBJ_P(this));

    if (!messages->queue) {
        zend_throw_error(NULL, "This Dueq\\Messages does not come from a queue");
        return NULL;
    }
    return messages;
}

/* Fetches the first page, if no method has done so yet. */
static messages_object *settled(const zval *this) {
    messages_object *messages = this_messages(this);

    if (messages && !messages->page) {
        settle(messages);
    }
    return EG(exception) ? NULL : messages;
}

#define THIS_MESSAGES(messages, get)                                                               \
    messages_object *messages = get(ZEND_THIS);                                                    \
    if (!messages) {                                                                               \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Messages, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Messages, current) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGES(messages, settled);
    if (current(messages)) {
        dueq_php_message_of_part(return_value, messages->queue, dueq_result_queue(messages->page),
                                 current(messages));
    }
}

ZEND_METHOD(Dueq_Messages, key) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGES(messages, settled);
    if (current(messages)) {
        RETURN_LONG(messages->position);
    }
}

ZEND_METHOD(Dueq_Messages, next) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGES(messages, settled);
    if (current(messages)) {
        messages->at++;
        messages->position++;
    }
    settle(messages);
}

ZEND_METHOD(Dueq_Messages, rewind) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGES(messages, this_messages);
    dueq_result_free(messages->page);
    messages->page = NULL;
    messages->at = 0;
    messages->position = 0;
    settle(messages);
}

ZEND_METHOD(Dueq_Messages, valid) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_MESSAGES(messages, settled);
    RETURN_BOOL(current(messages) != NULL);
}

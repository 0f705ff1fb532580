#include "php_dueq.h"

typedef struct pending_object {
    dueq_php_source source; /* its object is counted, as in message.c */
    dueq_php_link *link;    /* NULL: what it brought is in `status` and what follows */
    zval stream;            /* UNDEF: none asked for */
    dueq_status status;
    zend_string *failure; /* NULL: none */
    zval message;         /* UNDEF: none */
    zend_object std;
} pending_object;

static zend_object_handlers handlers;

static pending_object *pending_of(zend_object *object) {
    return (pending_object *)((char *)object - offsetof(pending_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    pending_object *pending = zend_object_alloc(sizeof *pending, ce);

    zend_object_std_init(&pending->std, ce);
    object_properties_init(&pending->std, ce);
    pending->std.handlers = &handlers;
    ZVAL_UNDEF(&pending->stream);
    ZVAL_UNDEF(&pending->message);
    return &pending->std;
}

/* Ends the wait, and gives back what it brought. Returns a failure to do the latter. */
static dueq_status call_off(dueq_php_link *link) {
    dueq_result *brought;
    dueq_status status;

    dueq_hasten(link->client);
    if (dueq_php_link_finish(link) != DUEQ_OK) {
        return DUEQ_OK;
    }
    brought = link->result;
    link->result = NULL;
    status = dueq_release_submit(link->queues[dueq_result_queue(brought)],
                                 &dueq_result_message(brought, 0)->ticket, 1, 0);
    if (status == DUEQ_PENDING) {
        status = dueq_php_link_finish(link);
    }
    dueq_result_free(brought);
    return MIN(status, DUEQ_OK);
}

/*
 * Ends the wait, and returns a failure to give back what it brought. In a forked child the call is
 * not this process's to end.
 */
static dueq_status end(pending_object *pending) {
    dueq_php_link *link = pending->link;
    dueq_status status = DUEQ_OK;

    pending->link = NULL;
    if (link->pid == getpid()) {
        status = call_off(link);
    }
    dueq_php_link_give(pending->source.client, link);
    return status;
}

static void release(zend_object *object) {
    pending_object *pending = pending_of(object);

    if (pending->link) {
        end(pending);
    }
    if (pending->failure) {
        zend_string_release(pending->failure);
    }
    zval_ptr_dtor(&pending->stream);
    zval_ptr_dtor(&pending->message);
    if (pending->source.object) {
        OBJ_RELEASE(pending->source.object);
    }
    zend_object_std_dtor(object);
}

void dueq_php_pending_startup(void) {
    dueq_php_pending_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(pending_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

static void start(zval *out, const dueq_php_source *source, const dueq_php_patience *patience) {
    dueq_php_link *link = dueq_php_link_take(source);
    pending_object *pending;
    dueq_status status;

    if (!link) {
        return;
    }
    status = dueq_reserve_any_submit(link->queues, link->count, source->order, 1,
                                     patience->timeout_ms, patience->lease_ms);
    if (status != DUEQ_PENDING) {
        dueq_php_throw(status, dueq_error_text(link->client));
        dueq_php_link_give(source->client, link);
        return;
    }
    object_init_ex(out, dueq_php_pending_ce);
    pending = pending_of(Z_OBJ_P(out));
    GC_ADDREF(source->object);
    pending->source = *source;
    pending->link = link;
    dueq_pump(link->client);
}

void dueq_php_reserve_start(zend_execute_data *execute_data, zval *return_value,
                            const dueq_php_source *source) {
    dueq_php_patience patience = {DUEQ_FOREVER, 0};
    zval *timeout = NULL, *lease = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END();

    if (dueq_php_patience_read(timeout, lease, 1, &patience)) {
        start(return_value, source, &patience);
    }
}

/* Pending's constructor is private; other extensions may bypass it. */
static pending_object *this_pending(const zval *this) {
    pending_object *pending = pending_of(Z_OBJ_P(this));

    if (!pending->source.object) {
        zend_throw_error(NULL, "This Dueq\\Pending does not come from a queue");
        return NULL;
    }
    return pending;
}

#define THIS_PENDING(pending)                                                                      \
    pending_object *pending = this_pending(ZEND_THIS);                                             \
    if (!pending) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Pending, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Pending, stream) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PENDING(pending);
    if (!pending->link && Z_TYPE(pending->stream) == IS_UNDEF) {
        zend_throw_error(NULL, "This Dueq\\Pending has ended");
        RETURN_THROWS();
    }
    if (!pending->link || dueq_php_link_stream(&pending->stream, pending->link)) {
        RETURN_COPY(&pending->stream);
    }
}

ZEND_METHOD(Dueq_Pending, poll) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PENDING(pending);
    RETURN_BOOL(!pending->link || dueq_pump(pending->link->client) != DUEQ_PENDING);
}

static void fail(pending_object *pending, dueq_status status, const char *text) {
    pending->status = status;
    pending->failure = zend_string_init(text, strlen(text), false);
}

/* Takes what the final call brought, and frees its link for others. */
static void settle(pending_object *pending) {
    dueq_php_link *link = pending->link;
    dueq_status status;

    if (link->pid != getpid()) {
        fail(pending, DUEQ_CLOSED, "it was under way when the process forked: it is the parent's");
        end(pending);
        return;
    }
    status = dueq_take(link->client, &link->result);
    if (status == DUEQ_OK) {
        dueq_php_message_make(&pending->message,
                              pending->source.queues[dueq_result_queue(link->result)],
                              dueq_result_message(link->result, 0));
    } else if (status < 0) {
        fail(pending, status, dueq_error_text(link->client));
    }
    pending->link = NULL;
    dueq_php_link_give(pending->source.client, link);
}

ZEND_METHOD(Dueq_Pending, result) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PENDING(pending);
    if (pending->link && dueq_pump(pending->link->client) == DUEQ_PENDING) {
        zend_throw_error(
            NULL, "This Dueq\\Pending is under way: there is no result before poll() is true");
        RETURN_THROWS();
    }
    if (pending->link) {
        settle(pending);
    }
    if (pending->failure) {
        dueq_php_throw(pending->status, ZSTR_VAL(pending->failure));
        RETURN_THROWS();
    }
    if (Z_TYPE(pending->message) == IS_OBJECT) {
        RETURN_COPY(&pending->message);
    }
}

ZEND_METHOD(Dueq_Pending, cancel) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PENDING(pending);
    if (pending->link) {
        const dueq_client *client = pending->link->client;
        dueq_status status = end(pending);

        if (status < 0) {
            dueq_php_throw(status, dueq_error_text(client));
        }
    }
}

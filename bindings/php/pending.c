#include "link.h"

typedef struct pending_object {
    dueq_php_source
        source; /* its object is counted, as in message.c; it is a holder of the client */
    const dueq_php_call *call;
    dueq_php_link *link; /* NULL: it has ended, with what follows */
    dueq_status status;
    zend_string *failure; /* NULL: none */
    dueq_result *result;  /* until `made` is made of it */
    zval made;            /* what result() returns; UNDEF: nothing yet */
    zval stream;          /* UNDEF: none asked for */
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
    ZVAL_UNDEF(&pending->made);
    return &pending->std;
}

/* Ends the wait, and gives its messages back. Returns a failure to give them back. */
static dueq_status call_off(const pending_object *pending, dueq_php_link *link) {
    dueq_stop_wait(link->client);
    if (dueq_php_link_await(link) == DUEQ_OK && pending->call->give_back) {
        return MIN(pending->call->give_back(link), DUEQ_OK);
    }
    dueq_abandon(link->client);
    return DUEQ_OK;
}

/*
 * Ends the wait, and returns a failure to give its messages back. In a forked child, leaves the
 * call to the parent.
 */
static dueq_status end(pending_object *pending) {
    dueq_php_link *link = pending->link;
    dueq_status status = DUEQ_OK;

    pending->link = NULL;
    if (link->pid == getpid()) {
        status = call_off(pending, link);
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
    dueq_result_free(pending->result);
    zval_ptr_dtor(&pending->made);
    zval_ptr_dtor(&pending->stream);
    dueq_php_client_release(pending->source.client);
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

dueq_php_link *dueq_php_pending_open(zval *out, const dueq_php_source *source,
                                     const dueq_php_call *call) {
    pending_object *pending;

    object_init_ex(out, dueq_php_pending_ce);
    pending = pending_of(Z_OBJ_P(out));
    GC_ADDREF(source->object);
    source->client->holders++;
    pending->source = *source;
    pending->call = call;
    pending->link = dueq_php_link_take(source);
    if (!pending->link) {
        zval_ptr_dtor(out);
        ZVAL_NULL(out);
        return NULL;
    }
    return pending->link;
}

void dueq_php_pending_start(zval *out, dueq_status submitted) {
    dueq_client *client = pending_of(Z_OBJ_P(out))->link->client;

    if (submitted == DUEQ_PENDING) {
        dueq_php_pump(client);
        return;
    }
    dueq_php_throw(submitted, dueq_error_text(client));
    zval_ptr_dtor(out);
    ZVAL_NULL(out);
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
    RETURN_BOOL(!pending->link || dueq_php_pump(pending->link->client) != DUEQ_PENDING);
}

static void fail(pending_object *pending, dueq_status status, const char *text) {
    pending->status = status;
    pending->failure = zend_string_init(text, strlen(text), false);
}

/* Takes the result of the call, which has ended, and makes its link a spare one. */
static void settle(pending_object *pending) {
    dueq_php_link *link = pending->link;
    dueq_status status;

    if (link->pid != getpid()) {
        fail(pending, DUEQ_CLOSED,
             "the call was in progress when the process forked: it belongs to the parent");
        end(pending);
        return;
    }
    status = dueq_take(link->client, &pending->result);
    if (status < 0) {
        fail(pending, status, dueq_error_text(link->client));
    }
    pending->link = NULL;
    dueq_php_link_give(pending->source.client, link);
}

/* Makes the return value from the result. False: it threw, and the result is kept. */
static bool make(pending_object *pending) {
    zval made;

    pending->call->make(&made, &pending->source, pending->result);
    if (EG(exception)) {
        return false;
    }
    ZVAL_COPY_VALUE(&pending->made, &made);
    dueq_result_free(pending->result);
    pending->result = NULL;
    return true;
}

ZEND_METHOD(Dueq_Pending, result) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PENDING(pending);
    if (pending->link && dueq_php_pump(pending->link->client) == DUEQ_PENDING) {
        zend_throw_error(
            NULL, "This Dueq\\Pending is in progress: there is no result before poll() is true");
        RETURN_THROWS();
    }
    if (pending->link) {
        settle(pending);
    }
    if (pending->failure) {
        dueq_php_throw(pending->status, ZSTR_VAL(pending->failure));
        RETURN_THROWS();
    }
    if (Z_TYPE(pending->made) != IS_UNDEF || make(pending)) {
        RETURN_COPY(&pending->made);
    }
}

ZEND_METHOD(Dueq_Pending, cancel) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PENDING(pending);
    if (pending->link) {
        const dueq_client *client = pending->link->client;
        dueq_status status = end(pending);

        ZVAL_NULL(&pending->made);
        if (status < 0) {
            dueq_php_throw(status, dueq_error_text(client));
        }
    }
}

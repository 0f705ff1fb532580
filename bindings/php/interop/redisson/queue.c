#include "php_redisson.h"

DUEQ_PHP_ENUM(codec, DUEQ_CODEC_KRYO5, DUEQ_CODEC_TYPED_JSON3, "Kryo5", "Bytes", "String", "Long",
              "Jackson", "TypedJson", "Jackson3", "TypedJson3");
DUEQ_PHP_ENUM(layout, DUEQ_LAYOUT_NEW, DUEQ_LAYOUT_OLD, "New", "Old");

static zend_object_handlers handlers;

static zend_object *create(zend_class_entry *ce) {
    dueq_php_redisson *redisson = zend_object_alloc(sizeof *redisson, ce);

    zend_object_std_init(&redisson->std, ce);
    object_properties_init(&redisson->std, ce);
    redisson->std.handlers = &handlers;
    return &redisson->std;
}

static void destroy(dueq_php_redisson *redisson) {
    dueq_redisson_close(redisson->queue);
    dueq_php_client_release(redisson->client);
    redisson->queue = NULL;
    redisson->client = NULL;
}

static void release(zend_object *object) {
    destroy(dueq_php_redisson_of(object));
    zend_object_std_dtor(object);
}

void dueq_php_redisson_startup(void) {
    dueq_php_redisson_queue_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(dueq_php_redisson, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum { DELAYED_DESTINATION, DELAYED_CODEC, DELAYED_LAYOUT };

static dueq_status open_on(dueq_client *client, const dueq_php_redisson *redisson,
                           const zend_string *destination, dueq_redisson **queue) {
    return dueq_redisson_open(client, ZSTR_VAL(destination), ZSTR_LEN(destination), redisson->codec,
                              redisson->layout, queue);
}

/* Opens the queue with a client of its own. False: it threw. */
static bool open_queue(dueq_php_redisson *redisson, const zend_string *destination,
                       const zend_string *url, bool persistent) {
    dueq_status status;

    redisson->client = dueq_php_client_open(url, persistent);
    if (!redisson->client) {
        return false;
    }
    status = open_on(redisson->client->client, redisson, destination, &redisson->queue);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(redisson->client->client));
        destroy(redisson);
        return false;
    }
    return true;
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, __construct) {
    dueq_php_redisson *redisson = dueq_php_redisson_of(Z_OBJ_P(ZEND_THIS));
    zend_string *destination, *url = NULL;
    zend_object *codec = NULL, *layout = NULL;
    bool persistent = false, by_default = true;

    ZEND_PARSE_PARAMETERS_START(1, 5)
        Z_PARAM_STR(destination)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_OBJ_OF_CLASS(codec, dueq_php_codec.ce)
        Z_PARAM_OBJ_OF_CLASS_OR_NULL(layout, dueq_php_layout.ce)
        Z_PARAM_BOOL_OR_NULL(persistent, by_default)
    ZEND_PARSE_PARAMETERS_END();

    if (redisson->constructed) {
        zend_throw_error(NULL, "This Dueq\\Redisson\\DelayedQueue has been constructed already");
        RETURN_THROWS();
    }
    /* The defaults are Kryo5, and the layout of the waiting elements. */
    redisson->codec =
        codec ? (dueq_codec)dueq_php_case_value(&dueq_php_codec, codec) : DUEQ_CODEC_KRYO5;
    redisson->layout =
        layout ? (dueq_layout)dueq_php_case_value(&dueq_php_layout, layout) : DUEQ_LAYOUT_FOUND;
    if (!open_queue(redisson, destination, url, DUEQ_PHP_PERSISTENT(persistent, by_default))) {
        RETURN_THROWS();
    }
    redisson->constructed = true;
    ZVAL_STR_COPY(OBJ_PROP_NUM(&redisson->std, DELAYED_DESTINATION), destination);
    dueq_php_case_make(OBJ_PROP_NUM(&redisson->std, DELAYED_CODEC), &dueq_php_codec,
                       (int)redisson->codec);
    if (layout) {
        ZVAL_OBJ_COPY(OBJ_PROP_NUM(&redisson->std, DELAYED_LAYOUT), layout);
    } else {
        ZVAL_NULL(OBJ_PROP_NUM(&redisson->std, DELAYED_LAYOUT));
    }
}

dueq_php_redisson *dueq_php_this_redisson(const zval *this) {
    dueq_php_redisson *redisson = dueq_php_redisson_of(Z_OBJ_P(this));

    if (!redisson->queue) {
        zend_throw_error(NULL, "This Dueq\\Redisson\\DelayedQueue has %s",
                         redisson->constructed ? "been destroyed" : "not been constructed");
        return NULL;
    }
    return redisson;
}

/* On other clients */

static dueq_status open_again(zend_object *object, dueq_client *client, void **queue) {
    const zend_string *destination = Z_STR_P(OBJ_PROP_NUM(object, DELAYED_DESTINATION));
    dueq_redisson *opened = NULL;
    dueq_status status = open_on(client, dueq_php_redisson_of(object), destination, &opened);

    *queue = opened;
    return status;
}

static void close_again(void *queue) { dueq_redisson_close(queue); }

static dueq_status submit_size(void *queue) { return dueq_redisson_size_submit(queue); }

static dueq_status submit_transfer(void *queue, size_t most, int64_t timeout_ms) {
    return dueq_redisson_transfer_submit(queue, most, timeout_ms);
}

dueq_php_source dueq_php_redisson_source(dueq_php_redisson *redisson) {
    static const dueq_php_interop interop = {open_again, close_again, submit_size, submit_transfer,
                                             "the transfer of"};

    return (dueq_php_source){
        .object = &redisson->std, .client = redisson->client, .interop = &interop};
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_REDISSON(redisson);
    RETURN_STRING(dueq_client_url(redisson->client->client));
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, destroy) {
    ZEND_PARSE_PARAMETERS_NONE();
    destroy(dueq_php_redisson_of(Z_OBJ_P(ZEND_THIS)));
}

/* Transfers */

ZEND_METHOD(Dueq_Redisson_DelayedQueue, transfer) {
    THIS_REDISSON(redisson);
    const dueq_php_source source = dueq_php_redisson_source(redisson);
    dueq_php_move(execute_data, return_value, &source, redisson->queue);
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, transferStart) {
    THIS_REDISSON(redisson);
    const dueq_php_source source = dueq_php_redisson_source(redisson);
    dueq_php_move_start(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, runTransfer) {
    THIS_REDISSON(redisson);
    const dueq_php_source source = dueq_php_redisson_source(redisson);
    dueq_php_move_run(execute_data, &source);
}

/* Counts */

/* NULL: it threw. */
static const dueq_sizes *count(dueq_php_redisson *redisson) {
    return dueq_php_finish(redisson->client, dueq_redisson_size_submit(redisson->queue)) == DUEQ_OK
               ? dueq_result_sizes(redisson->client->result)
               : NULL;
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, size) {
    const dueq_sizes *sizes;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_REDISSON(redisson);
    sizes = count(redisson);
    if (sizes) {
        dueq_php_sizes_make(return_value, sizes);
    }
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, count) {
    const dueq_sizes *sizes;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_REDISSON(redisson);
    sizes = count(redisson);
    if (sizes) {
        RETURN_LONG((zend_long)sizes->delayed);
    }
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, clear) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_REDISSON(redisson);
    if (dueq_php_finish(redisson->client, dueq_redisson_clear_submit(redisson->queue)) >= 0) {
        RETURN_LONG((zend_long)dueq_result_purged(redisson->client->result));
    }
}

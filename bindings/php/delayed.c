#include "foreign.h"

static zend_object_handlers handlers;

static zend_object *create(zend_class_entry *ce) {
    dueq_php_delayed *delayed = zend_object_alloc(sizeof *delayed, ce);

    zend_object_std_init(&delayed->std, ce);
    object_properties_init(&delayed->std, ce);
    delayed->std.handlers = &handlers;
    return &delayed->std;
}

static void destroy(dueq_php_delayed *delayed) {
    dueq_redisson_close(delayed->queue);
    dueq_php_client_release(delayed->client);
    delayed->queue = NULL;
    delayed->client = NULL;
}

static void release(zend_object *object) {
    destroy(dueq_php_delayed_of(object));
    zend_object_std_dtor(object);
}

void dueq_php_delayed_startup(void) {
    dueq_php_delayed_queue_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(dueq_php_delayed, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum { DELAYED_DESTINATION, DELAYED_CODEC, DELAYED_LAYOUT };

/* Their places are their values in C. */
static const char *const codecs[] = {"kryo5",   "bytes",      "string",   "long",
                                     "jackson", "typed json", "jackson3", "typed json3"};
static const char *const layouts[] = {NULL, "new", "old"};

/* The place of a name; `count`: there is none. */
static size_t find(const char *const *names, size_t count, const zend_string *name) {
    size_t i = 0;

    while (i < count && !(names[i] && zend_string_equals_cstr(name, names[i], strlen(names[i])))) {
        i++;
    }
    return i;
}

/* False: it threw, as there is no codec or layout of this name. NULL stands for the default. */
static bool read_names(const zend_string *codec, const zend_string *layout,
                       dueq_php_delayed *delayed) {
    const dueq_php_place codec_place = {3, -1, "codec"}, layout_place = {4, -1, "layout"};
    const size_t codec_count = sizeof codecs / sizeof codecs[0];
    const size_t layout_count = sizeof layouts / sizeof layouts[0];

    delayed->codec = codec ? (dueq_codec)find(codecs, codec_count, codec) : DUEQ_CODEC_KRYO5;
    delayed->layout = layout ? (dueq_layout)find(layouts, layout_count, layout) : DUEQ_LAYOUT_FOUND;
    if ((size_t)delayed->codec == codec_count) {
        return dueq_php_invalid(&codec_place,
                                "be kryo5, bytes, string, long, jackson, typed json, jackson3 or "
                                "typed json3");
    }
    return (size_t)delayed->layout < layout_count ||
           dueq_php_invalid(&layout_place, "be new, old or null");
}

static dueq_status open_on(dueq_client *client, const dueq_php_delayed *delayed,
                           const zend_string *destination, dueq_redisson **queue) {
    return dueq_redisson_open(client, ZSTR_VAL(destination), ZSTR_LEN(destination), delayed->codec,
                              delayed->layout, queue);
}

/* Opens it with a client of its own. False: it threw. */
static bool open_queue(dueq_php_delayed *delayed, const zend_string *destination,
                       const zend_string *url) {
    dueq_status status;

    delayed->client = dueq_php_client_open(url);
    if (!delayed->client) {
        return false;
    }
    status = open_on(delayed->client->client, delayed, destination, &delayed->queue);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(delayed->client->client));
        destroy(delayed);
        return false;
    }
    return true;
}

ZEND_METHOD(Dueq_DelayedQueue, __construct) {
    dueq_php_delayed *delayed = dueq_php_delayed_of(Z_OBJ_P(ZEND_THIS));
    zend_string *destination, *url = NULL, *codec = NULL, *layout = NULL;

    ZEND_PARSE_PARAMETERS_START(1, 4)
        Z_PARAM_STR(destination)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_STR(codec)
        Z_PARAM_STR_OR_NULL(layout)
    ZEND_PARSE_PARAMETERS_END();

    if (delayed->constructed) {
        zend_throw_error(NULL, "This Dueq\\DelayedQueue has been constructed already");
        RETURN_THROWS();
    }
    if (!read_names(codec, layout, delayed) || !open_queue(delayed, destination, url)) {
        RETURN_THROWS();
    }
    delayed->constructed = true;
    ZVAL_STR_COPY(OBJ_PROP_NUM(&delayed->std, DELAYED_DESTINATION), destination);
    ZVAL_STRING(OBJ_PROP_NUM(&delayed->std, DELAYED_CODEC), codecs[delayed->codec]);
    if (layout) {
        ZVAL_STRING(OBJ_PROP_NUM(&delayed->std, DELAYED_LAYOUT), layouts[delayed->layout]);
    } else {
        ZVAL_NULL(OBJ_PROP_NUM(&delayed->std, DELAYED_LAYOUT));
    }
}

dueq_php_delayed *dueq_php_this_delayed(const zval *this) {
    dueq_php_delayed *delayed = dueq_php_delayed_of(Z_OBJ_P(this));

    if (!delayed->queue) {
        zend_throw_error(NULL, "This Dueq\\DelayedQueue has %s",
                         delayed->constructed ? "been destroyed" : "not been constructed");
        return NULL;
    }
    return delayed;
}

/* ---- On other clients ---- */

static dueq_status open_again(zend_object *object, dueq_client *client, void **queue) {
    const zend_string *destination = Z_STR_P(OBJ_PROP_NUM(object, DELAYED_DESTINATION));
    dueq_redisson *opened = NULL;
    dueq_status status = open_on(client, dueq_php_delayed_of(object), destination, &opened);

    *queue = opened;
    return status;
}

static void close_again(void *queue) { dueq_redisson_close(queue); }

static dueq_status submit_size(void *queue) { return dueq_redisson_size_submit(queue); }

static dueq_status submit_transfer(void *queue, size_t most, int64_t timeout_ms) {
    return dueq_redisson_transfer_submit(queue, most, timeout_ms);
}

dueq_php_source dueq_php_delayed_source(dueq_php_delayed *delayed) {
    static const dueq_php_foreign foreign = {open_again, close_again, submit_size, submit_transfer,
                                             "the transfer of"};

    return (dueq_php_source){
        .object = &delayed->std, .client = delayed->client, .foreign = &foreign};
}

ZEND_METHOD(Dueq_DelayedQueue, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_DELAYED(delayed);
    RETURN_STRING(dueq_client_url(delayed->client->client));
}

ZEND_METHOD(Dueq_DelayedQueue, destroy) {
    ZEND_PARSE_PARAMETERS_NONE();
    destroy(dueq_php_delayed_of(Z_OBJ_P(ZEND_THIS)));
}

/* ---- Transfers ---- */

ZEND_METHOD(Dueq_DelayedQueue, transfer) {
    THIS_DELAYED(delayed);
    const dueq_php_source source = dueq_php_delayed_source(delayed);
    dueq_php_move(execute_data, return_value, &source, delayed->queue);
}

ZEND_METHOD(Dueq_DelayedQueue, transferStart) {
    THIS_DELAYED(delayed);
    const dueq_php_source source = dueq_php_delayed_source(delayed);
    dueq_php_move_start(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_DelayedQueue, runTransfer) {
    THIS_DELAYED(delayed);
    const dueq_php_source source = dueq_php_delayed_source(delayed);
    dueq_php_move_run(execute_data, &source);
}

/* ---- Counts ---- */

/* NULL: it threw. */
static const dueq_sizes *count(dueq_php_delayed *delayed) {
    return dueq_php_finish(delayed->client, dueq_redisson_size_submit(delayed->queue)) == DUEQ_OK
               ? dueq_result_sizes(delayed->client->result)
               : NULL;
}

ZEND_METHOD(Dueq_DelayedQueue, size) {
    const dueq_sizes *sizes;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_DELAYED(delayed);
    sizes = count(delayed);
    if (sizes) {
        dueq_php_sizes_make(return_value, sizes);
    }
}

ZEND_METHOD(Dueq_DelayedQueue, count) {
    const dueq_sizes *sizes;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_DELAYED(delayed);
    sizes = count(delayed);
    if (sizes) {
        RETURN_LONG((zend_long)sizes->delayed);
    }
}

ZEND_METHOD(Dueq_DelayedQueue, clear) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_DELAYED(delayed);
    if (dueq_php_finish(delayed->client, dueq_redisson_clear_submit(delayed->queue)) >= 0) {
        RETURN_LONG((zend_long)dueq_result_purged(delayed->client->result));
    }
}

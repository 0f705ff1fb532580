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
static const char *const codecs[] = {"kryo5", "bytes", "string", "long", "jackson", "typed json"};
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
                                "be kryo5, bytes, string, long, jackson or typed json");
    }
    return (size_t)delayed->layout < layout_count ||
           dueq_php_invalid(&layout_place, "be new, old or null");
}

/* Opens it with a client of its own. False: it threw. */
static bool open_queue(dueq_php_delayed *delayed, const zend_string *destination,
                       const zend_string *url) {
    dueq_status status;

    delayed->client = dueq_php_client_open(url);
    if (!delayed->client) {
        return false;
    }
    status =
        dueq_redisson_open(delayed->client->client, ZSTR_VAL(destination), ZSTR_LEN(destination),
                           delayed->codec, delayed->layout, &delayed->queue);
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

static const zend_string *name_of(const dueq_php_delayed *delayed) {
    return Z_STR_P(OBJ_PROP_NUM(&delayed->std, DELAYED_DESTINATION));
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

#define WHAT "the transfer of"

ZEND_METHOD(Dueq_DelayedQueue, transfer) {
    const dueq_php_place place = {1, -1, "timeout"};
    zend_long most = DUEQ_MAX_BATCH;
    int64_t timeout_ms = 0;
    zval *timeout = NULL;
    const dueq_moved *moved;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_LONG(most)
    ZEND_PARSE_PARAMETERS_END();

    if (timeout && !dueq_php_timeout(&place, timeout, &timeout_ms)) {
        RETURN_THROWS();
    }
    THIS_DELAYED(delayed);
    dueq_php_finish_soon(delayed->client, dueq_redisson_transfer_submit(
                                              delayed->queue, (size_t)MAX(most, 0), timeout_ms));
    if (EG(exception)) {
        RETURN_THROWS();
    }
    moved = dueq_result_moved(delayed->client->result);
    dueq_php_damaged(WHAT, name_of(delayed), moved ? moved->damaged : 0);
    dueq_php_moved_make(return_value, moved);
}

static dueq_status submit_step(zend_object *object) {
    return dueq_redisson_transfer_submit(dueq_php_delayed_of(object)->queue, DUEQ_MAX_BATCH,
                                         DUEQ_FOREVER);
}

ZEND_METHOD(Dueq_DelayedQueue, runTransfer) {
    dueq_php_agent agent = {.submit = submit_step, .what = WHAT};
    dueq_php_delayed *twin;
    zval object;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(agent.until, agent.until_cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_DELAYED(delayed);
    /* An object holds the agent's client: PHP frees it after a bailout too. */
    object_init_ex(&object, dueq_php_delayed_queue_ce);
    twin = dueq_php_delayed_of(Z_OBJ(object));
    twin->codec = delayed->codec;
    twin->layout = delayed->layout;
    agent.name = name_of(delayed);
    if (open_queue(twin, agent.name, delayed->client->url)) {
        agent.client = twin->client;
        agent.queue = &twin->std;
        dueq_php_agent_run(&agent);
    }
    zval_ptr_dtor(&object);
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

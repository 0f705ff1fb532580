#include "link.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

static zend_object_handlers handlers;

static dueq_php_consumer *consumer_of(zend_object *object) {
    return (dueq_php_consumer *)((char *)object - offsetof(dueq_php_consumer, std));
}

static zend_object *create(zend_class_entry *ce) {
    dueq_php_consumer *consumer = zend_object_alloc(sizeof *consumer, ce);

    zend_object_std_init(&consumer->std, ce);
    object_properties_init(&consumer->std, ce);
    consumer->std.handlers = &handlers;
    ZVAL_UNDEF(&consumer->stream);
    ZVAL_UNDEF(&consumer->current);
    return &consumer->std;
}

static void release(zend_object *object) {
    dueq_php_consumer *consumer = consumer_of(object);

    zval_ptr_dtor(&consumer->stream);
    zval_ptr_dtor(&consumer->current);
    if (consumer->loop) {
        if (consumer->loop->holders > 1) {
            dueq_php_loop_settle(consumer->loop);
        }
        dueq_php_loop_release(consumer->loop);
    }
    if (consumer->source.object) {
        OBJ_RELEASE(consumer->source.object);
    }
    zend_object_std_dtor(object);
}

/* foreach */

typedef struct walk {
    zend_object_iterator iterator;
    bool begun;
} walk;

static dueq_php_consumer *consumer_of_walk(zend_object_iterator *iterator) {
    return consumer_of(Z_OBJ(iterator->data));
}

static void walk_destroy(zend_object_iterator *iterator) {
    if (((walk *)iterator)->begun) {
        dueq_php_delivery_end(consumer_of_walk(iterator));
    }
    zval_ptr_dtor(&iterator->data);
}

static int walk_valid(zend_object_iterator *iterator) {
    const dueq_php_consumer *consumer = consumer_of_walk(iterator);

    return Z_TYPE(consumer->current) == IS_UNDEF ? FAILURE : SUCCESS;
}

static zval *walk_current(zend_object_iterator *iterator) {
    return &consumer_of_walk(iterator)->current;
}

static void walk_key(zend_object_iterator *iterator, zval *key) {
    ZVAL_LONG(key, consumer_of_walk(iterator)->position);
}

static void walk_next(zend_object_iterator *iterator) {
    dueq_php_delivery_advance(consumer_of_walk(iterator));
}

static void walk_rewind(zend_object_iterator *iterator) {
    walk *this = (walk *)iterator;

    if (this->begun) {
        zend_throw_error(NULL, "A loop over a Dueq\\Consumer cannot be rewound");
    } else if (dueq_php_delivery_begin(consumer_of_walk(iterator))) {
        this->begun = true;
        dueq_php_delivery_advance(consumer_of_walk(iterator));
    }
}

static const zend_object_iterator_funcs walk_functions = {
    .dtor = walk_destroy,
    .valid = walk_valid,
    .get_current_data = walk_current,
    .get_current_key = walk_key,
    .move_forward = walk_next,
    .rewind = walk_rewind,
};

static zend_object_iterator *get_iterator(zend_class_entry *ce, zval *object, int by_reference) {
    walk *made;

    (void)ce;
    if (by_reference) {
        zend_throw_error(NULL, "A Dueq\\Consumer cannot be iterated by reference");
        return NULL;
    }
    if (!consumer_of(Z_OBJ_P(object))->loop) {
        zend_throw_error(NULL, "This Dueq\\Consumer does not come from a queue");
        return NULL;
    }
    made = ecalloc(1, sizeof *made);
    zend_iterator_init(&made->iterator);
    ZVAL_OBJ_COPY(&made->iterator.data, Z_OBJ_P(object));
    made->iterator.funcs = &walk_functions;
    return &made->iterator;
}

/* work */

/* The text that is stored with the message: the class and the text of the exception. */
static zend_string *describe(zend_object *error) {
    const char *name = ZSTR_VAL(error->ce->name);
    zval buffer, *text;

    text = zend_read_property_ex(zend_get_exception_base(error), error,
                                 ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &buffer);
    if (Z_TYPE_P(text) != IS_STRING) {
        return zend_string_init(name, strlen(name), false);
    }
    return zend_string_concat3(name, strlen(name), ": ", 2, Z_STRVAL_P(text), Z_STRLEN_P(text));
}

static void call(zend_fcall_info *info, zend_fcall_info_cache *cache, uint32_t count,
                 zval *arguments) {
    zval result;

    ZVAL_UNDEF(&result);
    info->retval = &result;
    info->params = arguments;
    info->param_count = count;
    zend_call_function(info, cache);
    zval_ptr_dtor(&result);
}

/* Throws a failure, unless an error of the program is thrown already. */
static void throw_failure(const dueq_php_consumer *consumer, dueq_status status) {
    if (status < 0 && !EG(exception)) {
        dueq_php_throw(status, dueq_error_text(consumer->loop->link->client));
    }
}

/* Called when the handler threw. Without on_error the exception stays thrown. */
static void fail(dueq_php_consumer *consumer, zend_fcall_info *on_error,
                 zend_fcall_info_cache *cache) {
    zend_object *error = EG(exception);
    zend_string *text;
    dueq_bytes bytes;

    if (dueq_php_is_end(error)) {
        return;
    }
    GC_ADDREF(error);
    if (ZEND_FCI_INITIALIZED(*on_error)) {
        zval arguments[2];

        zend_clear_exception();
        ZVAL_COPY_VALUE(&arguments[0], &consumer->current);
        ZVAL_OBJ(&arguments[1], error);
        call(on_error, cache, 2, arguments);
    }
    text = describe(error);
    bytes = dueq_php_bytes(text);
    throw_failure(consumer, dueq_php_delivery_settle(consumer, &bytes));
    zend_string_release(text);
    OBJ_RELEASE(error);
}

/* The methods */

void dueq_php_consumer_startup(void) {
    dueq_php_consumer_ce->create_object = create;
    dueq_php_consumer_ce->get_iterator = get_iterator;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(dueq_php_consumer, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

static void make(zval *out, const dueq_php_source *source, const dueq_consumer_options *options,
                 int64_t timeout_ms) {
    dueq_php_loop *loop = dueq_php_loop_open(source, options);
    dueq_php_consumer *consumer;

    if (loop) {
        object_init_ex(out, dueq_php_consumer_ce);
        consumer = consumer_of(Z_OBJ_P(out));
        GC_ADDREF(source->object);
        consumer->source = *source;
        consumer->loop = loop;
        consumer->timeout_ms = timeout_ms;
    }
}

/* Made from core/options.toml by core/verbs.py: the options of consume. */
static bool consume_read(zend_execute_data *execute_data, dueq_consumer_options *options,
                         int64_t *timeout_ms) {
    zend_long prefetch = 1;
    zval *lease = NULL;
    zval *max_run = NULL;
    zval *timeout = NULL;
    zval *slack = NULL;
    dueq_php_bound concurrency = {1, false};
    zend_string *tasks = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 7)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(prefetch)
        Z_PARAM_ZVAL(lease)
        Z_PARAM_ZVAL(max_run)
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(slack)
        Z_PARAM_LONG_OR_NULL(concurrency.number, concurrency.is_null)
        Z_PARAM_STR_OR_NULL(tasks)
    ZEND_PARSE_PARAMETERS_END_EX(return false);

    if (!dueq_php_within(DUEQ_PHP_PLACE(1, -1, "prefetch"), prefetch, 1, DUEQ_MAX_BATCH,
                         "be from 1 to 200")) {
        return false;
    }
    options->prefetch = (size_t)prefetch;
    if (!dueq_php_limit(DUEQ_PHP_PLACE(2, -1, "lease"), lease, &options->lease_ms)) {
        return false;
    }
    if (!dueq_php_optional_duration(DUEQ_PHP_PLACE(3, -1, "maxRun"), max_run,
                                    &options->max_run_ms)) {
        return false;
    }
    if (!dueq_php_timeout(DUEQ_PHP_PLACE(4, -1, "timeout"), timeout, timeout_ms)) {
        return false;
    }
    if (!dueq_php_duration(DUEQ_PHP_PLACE(5, -1, "slack"), slack, &options->slack_ms)) {
        return false;
    }
    if (!dueq_php_any_count(DUEQ_PHP_PLACE(6, -1, "concurrency"), concurrency,
                            &options->concurrency)) {
        return false;
    }
    options->tasks = dueq_php_bytes(tasks);
    return true;
}
/* The end of what was made. */

void dueq_php_consume(zend_execute_data *execute_data, zval *return_value,
                      const dueq_php_source *source) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    int64_t timeout_ms = DUEQ_FOREVER;

    options.order = source->order;
    options.program = "php " ZEND_TOSTR(PHP_MAJOR_VERSION) "." ZEND_TOSTR(PHP_MINOR_VERSION);
    if (consume_read(execute_data, &options, &timeout_ms)) {
        make(return_value, source, &options, timeout_ms);
    }
}

/* Consumer's constructor is private; other extensions may bypass it. */
static dueq_php_consumer *this_consumer(const zval *this) {
    dueq_php_consumer *consumer = consumer_of(Z_OBJ_P(this));

    if (!consumer->loop) {
        zend_throw_error(NULL, "This Dueq\\Consumer does not come from a queue");
        return NULL;
    }
    return consumer;
}

#define THIS_CONSUMER(consumer)                                                                    \
    dueq_php_consumer *consumer = this_consumer(ZEND_THIS);                                        \
    if (!consumer) {                                                                               \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Consumer, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Consumer, work) {
    zend_fcall_info handler, on_error = empty_fcall_info;
    zend_fcall_info_cache handler_cache, on_error_cache = empty_fcall_info_cache;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_FUNC(handler, handler_cache)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(on_error, on_error_cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_CONSUMER(consumer);
    if (!dueq_php_delivery_begin(consumer)) {
        RETURN_THROWS();
    }
    while (dueq_php_delivery_advance(consumer)) {
        call(&handler, &handler_cache, 1, &consumer->current);
        if (EG(exception)) {
            fail(consumer, &on_error, &on_error_cache);
        } else {
            throw_failure(consumer, dueq_php_delivery_settle(consumer, NULL));
        }
        if (EG(exception)) {
            break;
        }
    }
    throw_failure(consumer, dueq_php_delivery_end(consumer));
}

ZEND_METHOD(Dueq_Consumer, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    zend_create_internal_iterator_zval(return_value, ZEND_THIS);
}

ZEND_METHOD(Dueq_Consumer, stop) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CONSUMER(consumer);
    consumer->stopped = true;
    dueq_consumer_wind_down(consumer->loop->consumer);
    if (!consumer->loop->looping) {
        dueq_php_loop_settle(consumer->loop);
    }
}

ZEND_METHOD(Dueq_Consumer, countExits) {
    bool count = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(count)
    ZEND_PARSE_PARAMETERS_END();

    THIS_CONSUMER(consumer);
    consumer->counts_exits = count;
}

ZEND_METHOD(Dueq_Consumer, lost) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CONSUMER(consumer);
    RETURN_LONG((zend_long)dueq_consumer_lost(consumer->loop->consumer));
}

/* Event loops */

ZEND_METHOD(Dueq_Consumer, poll) {
    const dueq_message *message = NULL;
    size_t queue = 0;
    dueq_status status;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CONSUMER(consumer);
    if (consumer->loop->looping) {
        zend_throw_error(NULL, "This Dueq\\Consumer is in a loop already");
        RETURN_THROWS();
    }
    if (consumer->stopped) {
        return;
    }
    status = dueq_php_loop_try(consumer->loop, &message, &queue);
    if (status == DUEQ_OK) {
        dueq_php_delivery_make(return_value, consumer, message, queue);
    } else if (status < 0) {
        dueq_php_throw(status, dueq_error_text(consumer->loop->link->client));
    }
}

ZEND_METHOD(Dueq_Consumer, stream) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CONSUMER(consumer);
    if (dueq_php_link_stream(&consumer->stream, consumer->loop->link)) {
        RETURN_COPY(&consumer->stream);
    }
}

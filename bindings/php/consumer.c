#include "link.h"

#include <inttypes.h>

#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_observer.h"

typedef struct dueq_php_consumer {
    dueq_php_source source; /* its object is counted, as in message.c */
    dueq_php_loop *loop;
    int64_t timeout_ms;
    bool stopped;
    struct dueq_php_consumer
        *outer;   /* the list of loops that are under way, from DUEQ_G(loops) on */
    zval stream;  /* UNDEF: none asked for */
    zval current; /* the message that was delivered last; UNDEF: none */
    size_t queue; /* which it is of */
    zend_long position;
    zend_object std;
} consumer_object;

static zend_object_handlers handlers;

static consumer_object *consumer_of(zend_object *object) {
    return (consumer_object *)((char *)object - offsetof(consumer_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    consumer_object *consumer = zend_object_alloc(sizeof *consumer, ce);

    zend_object_std_init(&consumer->std, ce);
    object_properties_init(&consumer->std, ce);
    consumer->std.handlers = &handlers;
    ZVAL_UNDEF(&consumer->stream);
    ZVAL_UNDEF(&consumer->current);
    return &consumer->std;
}

static void release(zend_object *object) {
    consumer_object *consumer = consumer_of(object);

    zval_ptr_dtor(&consumer->stream);
    zval_ptr_dtor(&consumer->current);
    if (consumer->loop) {
        dueq_php_loop_settle(consumer->loop);
        dueq_php_loop_release(consumer->loop);
    }
    if (consumer->source.object) {
        OBJ_RELEASE(consumer->source.object);
    }
    zend_object_std_dtor(object);
}

/* ---- The loop ---- */

/* False: it threw. */
static bool begin(consumer_object *consumer) {
    if (consumer->loop->looping || consumer->loop->under_way) {
        zend_throw_error(NULL, "This Dueq\\Consumer is in a loop already");
        return false;
    }
    consumer->loop->looping = true;
    consumer->position = -1;
    consumer->outer = DUEQ_G(loops);
    DUEQ_G(loops) = consumer;
    return true;
}

static void leave(consumer_object *consumer) {
    consumer_object **at = &DUEQ_G(loops);

    while (*at && *at != consumer) {
        at = &(*at)->outer;
    }
    if (*at) {
        *at = consumer->outer;
    }
    consumer->loop->looping = false;
}

/* Is it what is thrown where the script, or its fiber, ends in good order? */
static bool is_end(const zend_object *error) {
    return error && (zend_is_unwind_exit(error) || zend_is_graceful_exit(error));
}

static void drop_current(consumer_object *consumer) {
    zval_ptr_dtor(&consumer->current);
    ZVAL_UNDEF(&consumer->current);
}

/* Does the program work on a message that it has not settled? A forked child has none of its parent's. */
static bool is_at_work(const consumer_object *consumer) {
    return Z_TYPE(consumer->current) != IS_UNDEF && consumer->loop->pid == getpid() &&
           !dueq_php_message_is_settled(Z_OBJ(consumer->current));
}

/* The script ended in good order while it worked on a message: that is no failure of the message. */
static void give_back(const consumer_object *consumer) {
    dueq_php_link *link = consumer->loop->link;
    zend_object *message = Z_OBJ(consumer->current);
    const dueq_bytes ticket = dueq_php_message_ticket(message);

    if (!dueq_php_message_left(message)) {
        dueq_php_link_finish(link,
                             dueq_release_submit(link->queues[consumer->queue], &ticket, 1, 0));
        dueq_php_message_settled(message);
    }
}

/*
 * The handler has returned, or failed with this error: settles the current message by an ack, or a retry, with
 * the next request. Not one that is settled, nor with an ack one that the handler tried to settle itself.
 */
static dueq_status settle(consumer_object *consumer, const dueq_bytes *error) {
    zend_object *message = Z_OBJ(consumer->current);
    dueq_bytes ticket;
    dueq_status status;

    /* What became of a method that failed may not be known, and an ack could lose the message. */
    if (dueq_php_message_is_settled(message) || (!error && dueq_php_message_left(message))) {
        return DUEQ_OK;
    }
    ticket = dueq_php_message_ticket(message);
    status = error ? dueq_consumer_retry(consumer->loop->consumer, ticket, DUEQ_BY_POLICY, *error)
                   : dueq_consumer_ack(consumer->loop->consumer, ticket);
    dueq_php_message_detach(message);
    return status;
}

/* ---- Fatal errors, which end the script in the middle of a handler ---- */

/* The text is of the C library's memory, as there may be none of PHP's. */
static void note_fatal(int type, zend_string *file, uint32_t line, zend_string *text) {
    if (!(type & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR)) ||
        !DUEQ_G(loops)) {
        return;
    }
    free(DUEQ_G(fatal));
    if (asprintf(&DUEQ_G(fatal), "Fatal error: %s in %s on line %" PRIu32, ZSTR_VAL(text),
                 file ? ZSTR_VAL(file) : "Unknown", line) < 0) {
        DUEQ_G(fatal) = NULL;
    }
}

/* Does the script end of an error that was noted? The program may have handled that, and gone on. */
static bool has_failed(void) { return DUEQ_G(fatal) && EG(exit_status) == 255; }

/* Settles the message in hand as one that failed of this error. */
static void fail_of_fatal(consumer_object *consumer) {
    const dueq_bytes error = {DUEQ_G(fatal), strlen(DUEQ_G(fatal))};

    if (is_at_work(consumer)) {
        settle(consumer, &error);
    }
}

void dueq_php_consumer_shutdown(void) {
    consumer_object *consumer = DUEQ_G(loops);

    /* After a bailout nothing has ended the loops; nothing may throw here. */
    for (; consumer; consumer = consumer->outer) {
        if (has_failed()) {
            fail_of_fatal(consumer);
        }
        consumer->loop->looping = false;
    }
    DUEQ_G(loops) = NULL;
    free(DUEQ_G(fatal));
    DUEQ_G(fatal) = NULL;
}

/*
 * Ends the loop. Returns a failure to settle, which lost() does not tell. Some fatal errors end the script as exit()
 * does, others by a bailout, which does not come here.
 */
static dueq_status end(consumer_object *consumer) {
    bool ends = is_end(EG(exception));
    dueq_status status;

    if (ends && has_failed()) {
        fail_of_fatal(consumer);
    }
    leave(consumer);
    status = dueq_php_loop_settle(consumer->loop);
    /* Behind what was prefetched after it, and so before that. */
    if (ends && is_at_work(consumer)) {
        give_back(consumer);
    }
    drop_current(consumer);
    return status;
}

static void make_message(zval *out, const consumer_object *consumer, const dueq_message *message,
                         size_t queue) {
    dueq_php_message_make(out, consumer->source.queues[queue], message);
    dueq_php_message_attach(Z_OBJ_P(out), consumer->loop);
}

/* Makes the next message the current one. False: the loop is to end, or it threw. */
static bool advance(consumer_object *consumer) {
    const dueq_message *message = NULL;
    size_t queue = 0;
    dueq_status status;

    drop_current(consumer);
    if (dueq_php_interrupts() || consumer->stopped) {
        return false;
    }
    status = dueq_php_loop_await(consumer->loop, consumer->timeout_ms, &consumer->stopped, &message,
                                 &queue);
    if (status < 0) {
        dueq_php_throw(status, dueq_error_text(consumer->loop->link->client));
    }
    if (status != DUEQ_OK) {
        return false;
    }
    make_message(&consumer->current, consumer, message, queue);
    consumer->queue = queue;
    consumer->position++;
    return true;
}

/* ---- foreach ---- */

typedef struct walk {
    zend_object_iterator iterator;
    bool begun;
} walk;

static consumer_object *consumer_of_walk(zend_object_iterator *iterator) {
    return consumer_of(Z_OBJ(iterator->data));
}

static void walk_destroy(zend_object_iterator *iterator) {
    if (((walk *)iterator)->begun) {
        end(consumer_of_walk(iterator));
    }
    zval_ptr_dtor(&iterator->data);
}

static int walk_valid(zend_object_iterator *iterator) {
    const consumer_object *consumer = consumer_of_walk(iterator);

    return Z_TYPE(consumer->current) == IS_UNDEF ? FAILURE : SUCCESS;
}

static zval *walk_current(zend_object_iterator *iterator) {
    return &consumer_of_walk(iterator)->current;
}

static void walk_key(zend_object_iterator *iterator, zval *key) {
    ZVAL_LONG(key, consumer_of_walk(iterator)->position);
}

static void walk_next(zend_object_iterator *iterator) { advance(consumer_of_walk(iterator)); }

static void walk_rewind(zend_object_iterator *iterator) {
    walk *this = (walk *)iterator;

    if (this->begun) {
        zend_throw_error(NULL, "A loop over a Dueq\\Consumer cannot be rewound");
    } else if (begin(consumer_of_walk(iterator))) {
        this->begun = true;
        advance(consumer_of_walk(iterator));
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

/* ---- work ---- */

/* What is kept with the message: the class and the text of what was thrown. */
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

/* Throws a failure, unless the program's own error goes before it. */
static void throw_failure(const consumer_object *consumer, dueq_status status) {
    if (status < 0 && !EG(exception)) {
        dueq_php_throw(status, dueq_error_text(consumer->loop->link->client));
    }
}

/* The handler threw. Without on_error that stays thrown. */
static void fail(consumer_object *consumer, zend_fcall_info *on_error,
                 zend_fcall_info_cache *cache) {
    zend_object *error = EG(exception);
    zend_string *text;
    dueq_bytes bytes;

    if (is_end(error)) {
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
    throw_failure(consumer, settle(consumer, &bytes));
    zend_string_release(text);
    OBJ_RELEASE(error);
}

/* ---- The methods ---- */

void dueq_php_consumer_startup(void) {
    zend_observer_error_register(note_fatal);
    dueq_php_consumer_ce->create_object = create;
    dueq_php_consumer_ce->get_iterator = get_iterator;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(consumer_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

static void make(zval *out, const dueq_php_source *source, const dueq_consumer_options *options,
                 int64_t timeout_ms) {
    dueq_php_loop *loop = dueq_php_loop_open(source, options);
    consumer_object *consumer;

    if (loop) {
        object_init_ex(out, dueq_php_consumer_ce);
        consumer = consumer_of(Z_OBJ_P(out));
        GC_ADDREF(source->object);
        consumer->source = *source;
        consumer->loop = loop;
        consumer->timeout_ms = timeout_ms;
    }
}

void dueq_php_consume(zend_execute_data *execute_data, zval *return_value,
                      const dueq_php_source *source) {
    static const dueq_php_place prefetch_place = {1, -1, "prefetch"},
                                lease_place = {2, -1, "lease"}, max_run_place = {3, -1, "maxRun"},
                                timeout_place = {4, -1, "timeout"}, slack_place = {5, -1, "slack"};
    dueq_consumer_options options = DUEQ_CONSUMER;
    zval *lease = NULL, *max_run = NULL, *timeout = NULL, *slack = NULL;
    int64_t timeout_ms = DUEQ_FOREVER;
    zend_long prefetch = 1;

    ZEND_PARSE_PARAMETERS_START(0, 5)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(prefetch)
        Z_PARAM_ZVAL(lease)
        Z_PARAM_ZVAL(max_run)
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(slack)
    ZEND_PARSE_PARAMETERS_END();

    if (prefetch < 1 || prefetch > DUEQ_MAX_BATCH) {
        dueq_php_invalid(&prefetch_place, "be from 1 to 200");
        return;
    }
    options.prefetch = (size_t)prefetch;
    options.order = source->order;
    if (max_run && Z_TYPE_P(max_run) == IS_NULL) {
        options.max_run_ms = 0;
    } else if (max_run && !dueq_php_duration(&max_run_place, max_run, &options.max_run_ms)) {
        return;
    }
    if (dueq_php_limit(&lease_place, lease, &options.lease_ms) &&
        (!timeout || dueq_php_timeout(&timeout_place, timeout, &timeout_ms)) &&
        (!slack || dueq_php_duration(&slack_place, slack, &options.slack_ms))) {
        make(return_value, source, &options, timeout_ms);
    }
}

/* Consumer's constructor is private; other extensions may bypass it. */
static consumer_object *this_consumer(const zval *this) {
    consumer_object *consumer = consumer_of(Z_OBJ_P(this));

    if (!consumer->loop) {
        zend_throw_error(NULL, "This Dueq\\Consumer does not come from a queue");
        return NULL;
    }
    return consumer;
}

#define THIS_CONSUMER(consumer)                                                                    \
    consumer_object *consumer = this_consumer(ZEND_THIS);                                          \
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
    if (!begin(consumer)) {
        RETURN_THROWS();
    }
    while (advance(consumer)) {
        call(&handler, &handler_cache, 1, &consumer->current);
        if (EG(exception)) {
            fail(consumer, &on_error, &on_error_cache);
        } else {
            throw_failure(consumer, settle(consumer, NULL));
        }
        if (EG(exception)) {
            break;
        }
    }
    throw_failure(consumer, end(consumer));
}

ZEND_METHOD(Dueq_Consumer, getIterator) {
    ZEND_PARSE_PARAMETERS_NONE();
    zend_create_internal_iterator_zval(return_value, ZEND_THIS);
}

ZEND_METHOD(Dueq_Consumer, stop) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CONSUMER(consumer);
    consumer->stopped = true;
    if (!consumer->loop->looping) {
        dueq_php_loop_settle(consumer->loop);
    }
}

ZEND_METHOD(Dueq_Consumer, lost) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_CONSUMER(consumer);
    RETURN_LONG((zend_long)dueq_consumer_lost(consumer->loop->consumer));
}

/* ---- Event loops ---- */

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
        make_message(return_value, consumer, message, queue);
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

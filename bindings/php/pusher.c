#include "link.h"

#include "zend_exceptions.h"

_Static_assert(DUEQ_MAX_PUSHES == 10000, "the stub names this default of Queue::pusher()");

/* How many pushes are started before outcomes are collected. */
#define COLLECT_EVERY DUEQ_MAX_BATCH

typedef struct pusher_object {
    dueq_php_source source; /* its object is counted, as in message.c */
    dueq_php_link *link;
    dueq_pusher *pusher;
    dueq_result *outcomes; /* kept here as in dueq_php_client */
    zend_long next;        /* the number of the next push */
    HashTable *failures;   /* exceptions by number, since the last flush */
    pid_t pid;             /* whose failures these are */
    zend_object std;
} pusher_object;

static zend_object_handlers handlers;

static pusher_object *pusher_of(zend_object *object) {
    return (pusher_object *)((char *)object - offsetof(pusher_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    pusher_object *pusher = zend_object_alloc(sizeof *pusher, ce);

    zend_object_std_init(&pusher->std, ce);
    object_properties_init(&pusher->std, ce);
    pusher->std.handlers = &handlers;
    pusher->failures = zend_new_array(0);
    return &pusher->std;
}

static void check_fork(pusher_object *pusher) {
    if (pusher->pid != getpid()) {
        zend_hash_clean(pusher->failures);
        pusher->pid = getpid();
    }
}

/* Records an exception for `count` pushes, from number `first` on. */
static void record(pusher_object *pusher, zend_long first, size_t count, dueq_status status) {
    const dueq_result *result = pusher->outcomes;
    zval exception;

    ZVAL_UNDEF(&exception);
    for (size_t i = 0; i < count; i++) {
        dueq_status own = status < 0 ? status : dueq_result_status(result, i);

        if (own == DUEQ_OK) {
            continue;
        }
        if (Z_TYPE(exception) == IS_UNDEF) {
            dueq_php_exception_make(&exception, own,
                                    own < 0 ? dueq_error_text(pusher->link->client) : NULL, result);
        }
        Z_ADDREF(exception);
        zend_hash_index_update(pusher->failures, (zend_ulong)first + i, &exception);
    }
    zval_ptr_dtor(&exception);
}

/* Collects the outcomes of pushes that are done. */
static void collect(pusher_object *pusher) {
    size_t left, count;
    dueq_status status;

    do {
        left = dueq_pusher_left(pusher->pusher);
        dueq_result_free(pusher->outcomes);
        count = dueq_pusher_done(pusher->pusher, &status, &pusher->outcomes);
        record(pusher, pusher->next - (zend_long)left, count, status);
    } while (count);
}

/* Waits for the batch in flight, and collects outcomes. */
static void advance(pusher_object *pusher) {
    dueq_php_wait(pusher->link->client, -1);
    collect(pusher);
}

static void flush(pusher_object *pusher) {
    check_fork(pusher);
    collect(pusher);
    while (dueq_pusher_left(pusher->pusher)) {
        advance(pusher);
    }
}

/* For PHP's collector: exceptions refer to the arguments of the functions in their traces. */
static HashTable *get_gc(zend_object *object, zval **table, int *count) {
    *table = NULL;
    *count = 0;
    return pusher_of(object)->failures;
}

static void warn(HashTable *failures) {
    if (zend_hash_num_elements(failures)) {
        zend_error(E_WARNING,
                   "%u pushes of a Dueq\\Pusher that was not flushed failed, the first: %s",
                   zend_hash_num_elements(failures), dueq_php_first_text(failures));
    }
}

/* The destructor, in which a warning may still run the program's code. */
static void destroy(zend_object *object) {
    pusher_object *pusher = pusher_of(object);

    if (pusher->pusher) {
        flush(pusher);
        warn(pusher->failures);
    }
}

static void release(zend_object *object) {
    pusher_object *pusher = pusher_of(object);

    dueq_result_free(pusher->outcomes);
    dueq_pusher_close(pusher->pusher);
    if (pusher->link) {
        dueq_php_link_give(pusher->source.client, pusher->link);
    }
    zend_array_release(pusher->failures);
    if (pusher->source.object) {
        OBJ_RELEASE(pusher->source.object);
    }
    zend_object_std_dtor(object);
}

void dueq_php_pusher_startup(void) {
    dueq_php_pusher_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(pusher_object, std);
    handlers.dtor_obj = destroy;
    handlers.free_obj = release;
    handlers.get_gc = get_gc;
    handlers.clone_obj = NULL;
}

void dueq_php_pusher_make(zval *out, const dueq_php_source *source, size_t most) {
    dueq_php_link *link = dueq_php_link_take(source);
    pusher_object *pusher;
    dueq_status status;

    if (!link) {
        return;
    }
    object_init_ex(out, dueq_php_pusher_ce);
    pusher = pusher_of(Z_OBJ_P(out));
    GC_ADDREF(source->object);
    pusher->source = *source;
    pusher->link = link;
    pusher->pid = getpid();
    status = dueq_pusher_open(link->queues[0], most, &pusher->pusher);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(link->client));
    }
}

/* Pusher's constructor is private; other extensions may bypass it. */
static pusher_object *this_pusher(const zval *this) {
    pusher_object *pusher = pusher_of(Z_OBJ_P(this));

    if (!pusher->pusher) {
        zend_throw_error(NULL, "This Dueq\\Pusher does not come from a queue");
        return NULL;
    }
    check_fork(pusher);
    return pusher;
}

#define THIS_PUSHER(pusher)                                                                        \
    pusher_object *pusher = this_pusher(ZEND_THIS);                                                \
    if (!pusher) {                                                                                 \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Pusher, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

static dueq_status push(pusher_object *pusher, const dueq_draft *draft) {
    dueq_status status = dueq_pusher_push(pusher->pusher, draft);

    while (status == DUEQ_PENDING) {
        advance(pusher);
        status = dueq_pusher_push(pusher->pusher, draft);
    }
    return status;
}

ZEND_METHOD(Dueq_Pusher, push) {
    dueq_php_fields fields = DUEQ_PHP_FIELDS;
    dueq_status status = DUEQ_OK;
    dueq_draft draft;

    if (!dueq_php_fields_parse(execute_data, &fields)) {
        RETURN_THROWS();
    }
    THIS_PUSHER(pusher);
    zend_arena *arena = zend_arena_create(1024);
    if (dueq_php_draft_fill(&draft, &fields, -1, &arena)) {
        status = push(pusher, &draft);
    }
    zend_arena_destroy(arena);
    if (status < 0) {
        dueq_php_throw(status, dueq_error_text(pusher->link->client));
    }
    if (EG(exception)) {
        RETURN_THROWS();
    }
    RETVAL_LONG(pusher->next++);
    if (pusher->next % COLLECT_EVERY == 0) {
        collect(pusher);
    }
}

ZEND_METHOD(Dueq_Pusher, flush) {
    HashTable *failures;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_PUSHER(pusher);
    flush(pusher);
    failures = pusher->failures;
    if (zend_hash_num_elements(failures)) {
        pusher->failures = zend_new_array(0);
        dueq_php_throw_flush(failures);
    }
}

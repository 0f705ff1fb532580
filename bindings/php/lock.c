#include "php_dueq.h"

typedef struct lock_object {
    dueq_php_queue *queue; /* counted, as in message.c */
    zend_object std;
} lock_object;

static zend_object_handlers handlers;

static lock_object *lock_of(zend_object *object) {
    return (lock_object *)((char *)object - offsetof(lock_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    lock_object *lock = zend_object_alloc(sizeof *lock, ce);

    zend_object_std_init(&lock->std, ce);
    object_properties_init(&lock->std, ce);
    lock->std.handlers = &handlers;
    return &lock->std;
}

static void release(zend_object *object) {
    lock_object *lock = lock_of(object);

    if (lock->queue) {
        OBJ_RELEASE(&lock->queue->std);
    }
    zend_object_std_dtor(object);
}

void dueq_php_lock_startup(void) {
    dueq_php_lock_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(lock_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum { LOCK_NAME, LOCK_TOKEN };

static void make(zval *out, dueq_php_queue *queue, zend_string *name) {
    zend_object *object;

    object_init_ex(out, dueq_php_lock_ce);
    object = Z_OBJ_P(out);
    GC_ADDREF(&queue->std);
    lock_of(object)->queue = queue;
    ZVAL_STR_COPY(OBJ_PROP_NUM(object, LOCK_NAME), name);
    dueq_php_string(OBJ_PROP_NUM(object, LOCK_TOKEN), dueq_result_id(queue->client->result, 0));
}

ZEND_METHOD(Dueq_Queue, lock) {
    const dueq_php_place ttl_place = {2, -1, "ttl"}, timeout_place = {3, -1, "timeout"};
    int64_t ttl_ms, timeout_ms = 0;
    zval *ttl, *timeout = NULL;
    zend_string *name;

    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_STR(name)
        Z_PARAM_ZVAL(ttl)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (!dueq_php_duration(&ttl_place, ttl, &ttl_ms) ||
        (timeout && !dueq_php_timeout(&timeout_place, timeout, &timeout_ms))) {
        RETURN_THROWS();
    }
    if (dueq_php_finish_wait(queue->client, dueq_lock_submit(queue->queue, dueq_php_bytes(name),
                                                             ttl_ms, timeout_ms)) == DUEQ_OK) {
        make(return_value, queue, name);
    }
}

/* Lock's constructor is private, so that each has its queue; other extensions may bypass it. */
static lock_object *this_lock(const zval *this) {
    lock_object *lock = lock_of(Z_OBJ_P(this));

    if (!lock->queue) {
        zend_throw_error(NULL, "This Dueq\\Lock does not come from a queue");
        return NULL;
    }
    return lock;
}

#define THIS_LOCK(lock)                                                                            \
    lock_object *lock = this_lock(ZEND_THIS);                                                      \
    if (!lock) {                                                                                   \
        RETURN_THROWS();                                                                           \
    }

static dueq_bytes text_of(const lock_object *lock, uint32_t property) {
    return dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&lock->std, property)));
}

static void finish(const lock_object *lock, dueq_status submitted) {
    dueq_php_finish_held(lock->queue->client, submitted,
                         "the lock has ended, and another owner may hold it");
}

ZEND_METHOD(Dueq_Lock, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Lock, extend) {
    const dueq_php_place place = {1, -1, "ttl"};
    int64_t ttl_ms;
    zval *ttl;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(ttl)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LOCK(lock);
    if (!dueq_php_duration(&place, ttl, &ttl_ms)) {
        RETURN_THROWS();
    }
    finish(lock, dueq_relock_submit(lock->queue->queue, text_of(lock, LOCK_NAME),
                                    text_of(lock, LOCK_TOKEN), ttl_ms));
}

ZEND_METHOD(Dueq_Lock, release) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LOCK(lock);
    finish(lock, dueq_unlock_submit(lock->queue->queue, text_of(lock, LOCK_NAME),
                                    text_of(lock, LOCK_TOKEN)));
}

/*
 * Redisson's delayed queues: Dueq\Redisson\DelayedQueue is queue.c and queue_values.c, with
 * value.c.
 */
#ifndef DUEQ_PHP_REDISSON_H
#define DUEQ_PHP_REDISSON_H

#include "../php_interop.h"

#include "dueq_redisson.h"

/* The classes of Dueq\Redisson; dueq.c registers them. */
extern zend_class_entry *dueq_php_redisson_queue_ce;
extern zend_class_entry *dueq_php_redisson_long_ce;
extern zend_class_entry *dueq_php_redisson_binary_ce;
extern zend_class_entry *dueq_php_redisson_unreadable_ce;

/* Dueq\Redisson\Codec and Layout. */
extern dueq_php_enum dueq_php_codec;
extern dueq_php_enum dueq_php_layout;

/* value.c: values of Redisson's and PHP's; Long, Binary, Unreadable */

/* Reads a value. `held` keeps what the value borrows, see dueq_php_hold(). False: it threw. */
bool dueq_php_value_read(const dueq_php_place *place, zval *given, dueq_codec codec,
                         dueq_value *value, HashTable *held);
/*
 * Makes a value of a result: a dueq_php_item. It throws a CorruptException if the value cannot be
 * read.
 */
void dueq_php_value_alone(zval *out, const dueq_php_source *source, const dueq_result *result,
                          size_t index);
/* The same for a value in a list: one that cannot be read becomes a Dueq\Redisson\Unreadable. */
void dueq_php_value_item(zval *out, const dueq_php_source *source, const dueq_result *result,
                         size_t index);

/* queue.c, queue_values.c: DelayedQueue */

typedef struct dueq_php_redisson {
    dueq_php_client *client;
    dueq_redisson *queue; /* NULL until it is open, and when it is destroyed */
    dueq_codec codec;
    dueq_layout layout;
    bool constructed;
    zend_object std;
} dueq_php_redisson;

static inline dueq_php_redisson *dueq_php_redisson_of(zend_object *object) {
    return (dueq_php_redisson *)((char *)object - offsetof(dueq_php_redisson, std));
}

void dueq_php_redisson_startup(void);
/* The queue as a source. */
dueq_php_source dueq_php_redisson_source(dueq_php_redisson *redisson);
/*
 * The queue of $this; NULL, with an Error thrown, before its constructor has run and after
 * destroy().
 */
dueq_php_redisson *dueq_php_this_redisson(const zval *this);

#define THIS_REDISSON(redisson)                                                                    \
    dueq_php_redisson *redisson = dueq_php_this_redisson(ZEND_THIS);                               \
    if (!redisson) {                                                                               \
        RETURN_THROWS();                                                                           \
    }

#endif

/* Dueq\Message inside: message.c makes it, settle.c has its methods. */
#ifndef DUEQ_PHP_MESSAGE_H
#define DUEQ_PHP_MESSAGE_H

#include "link.h"

typedef struct message_object {
    dueq_php_queue *queue; /* counted. A queue refers to nothing, so there is no cycle that PHP's
                              collector would have to know */
    dueq_php_loop *loop;   /* NULL: no consumer extends its lease */
    bool tried;            /* a settling method was called */
    bool settled;
    bool lost; /* one of its methods found it lost */
    zend_object std;
} message_object;

static inline message_object *message_of(zend_object *object) {
    return (message_object *)((char *)object - offsetof(message_object, std));
}

/* The places of its properties. */
enum {
    MESSAGE_queue,
#define PLACE(kind, member) MESSAGE_##member,
    DUEQ_MESSAGE_FIELDS(PLACE)
#undef PLACE
};

/* settle.c */

/*
 * The message of a method. NULL: it threw. Message's constructor is private, so that each message
 * has its queue. Other extensions may bypass the constructor.
 */
message_object *dueq_php_message_this(const zval *this);

#define THIS_MESSAGE(message)                                                                      \
    message_object *message = dueq_php_message_this(ZEND_THIS);                                    \
    if (!message) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

/*
 * For settling methods: whether or not they succeed, the loop does not acknowledge the message
 * afterwards.
 */
#define SETTLE_MESSAGE(message)                                                                    \
    THIS_MESSAGE(message);                                                                         \
    message->tried = true;

/* Waits for a verb that ends the delivery, unless it fails. */
dueq_status dueq_php_message_settle(message_object *message, dueq_status submitted);

#endif

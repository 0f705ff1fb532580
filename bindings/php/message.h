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

/* The properties in the order of the stub. */
enum {
    MESSAGE_QUEUE,
    MESSAGE_ID,
    MESSAGE_BODY,
    MESSAGE_HEADERS,
    MESSAGE_TICKET,
    MESSAGE_ATTEMPT,
    MESSAGE_MAX_ATTEMPTS,
    MESSAGE_CRASHES,
    MESSAGE_MAX_CRASHES,
    MESSAGE_DELIVERIES,
    MESSAGE_PRIORITY,
    MESSAGE_STATE,
    MESSAGE_TIME,
    MESSAGE_CREATED,
    MESSAGE_EXPIRES,
    MESSAGE_ERROR,
    MESSAGE_DROP,
    MESSAGE_DEAD_LETTER
};

#endif

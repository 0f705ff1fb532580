/*
 * The second part of the map: objects with connections of their own, by link.c. Dueq\Pending is
 * pending.c; Dueq\Consumer is consumer.c with consumer_loop.c and consumer_handle.c; Dueq\Pusher is
 * pusher.c.
 */
#ifndef DUEQ_PHP_LINK_H
#define DUEQ_PHP_LINK_H

#include "php_dueq.h"

/* link.c: further clients of the same server */

/* The operations of a queue of another system (interop/) that link.c and its users need. */
typedef struct dueq_php_interop {
    /* Opens the queue of this object on another client. */
    dueq_status (*open)(zend_object *object, dueq_client *client, void **queue);
    void (*close)(void *queue);
    /* Submit the verbs size, and transfer or migrate. */
    dueq_status (*size)(void *queue);
    dueq_status (*move)(void *queue, size_t most, int64_t timeout_ms);
    const char *what; /* the word before its name in the log */
} dueq_php_interop;

/*
 * A second client for the server of a source. A client carries one call at a time, so a long call
 * on a link leaves the methods of queues and messages free. While a link is taken, it has the
 * source's queues, in their order. A spare link has none, so that it can serve any queues of its
 * client next.
 */
typedef struct dueq_php_link {
    struct dueq_php_link *next;
    dueq_client *client;
    dueq_result *result; /* kept here as in dueq_php_client */
    pid_t pid;           /* of the process that opened it */
    const dueq_php_interop *interop;
    void *queue; /* of another system; NULL: none */
    size_t count;
    dueq_queue **queues; /* of dueq's own; NULL: none */
} dueq_php_link;

/* Takes a spare link of the source's client, or a new one. NULL: it threw. */
dueq_php_link *dueq_php_link_take(const dueq_php_source *source);
/* The handle that settles the messages of the queue with this index. */
dueq_queue *dueq_php_link_queue(const dueq_php_link *link, size_t place);
/* Makes the link a spare one. No call may be in progress on it, except one of a parent process. */
void dueq_php_link_give(dueq_php_client *client, dueq_php_link *link);
/* Closes the link, and the call that is in progress on it. */
void dueq_php_link_close(dueq_php_link *link);
/* Waits for the end of the link's call, and does not take its result. INVALID: there is no call. */
dueq_status dueq_php_link_await(dueq_php_link *link);
/* Waits for a submitted verb, as dueq_php_finish(), and takes its result. Throws nothing. */
dueq_status dueq_php_link_finish(dueq_php_link *link, dueq_status submitted);
/*
 * Makes a stream of dueq_descriptor(), unless *stream is one that the program has not closed. It
 * may be closed before or after the link. False: it threw.
 */
bool dueq_php_link_stream(zval *stream, dueq_php_link *link);

/* pending.c: Dueq\Pending */

/* The operations of the call that a Dueq\Pending carries. */
typedef struct dueq_php_call {
    /*
     * Makes the return value of the waiting method, or throws. result: NULL or empty if nothing
     * came.
     */
    void (*make)(zval *out, const dueq_php_source *source, const dueq_result *result);
    /*
     * Gives back the messages of the link's call, which has succeeded and whose result is not
     * taken. Returns the status of giving back. NULL: there is nothing to give back.
     */
    dueq_status (*give_back)(dueq_php_link *link);
} dueq_php_call;

void dueq_php_pending_startup(void);
/* Makes a Dueq\Pending, and its own link, on which the caller submits the call. NULL: it threw. */
dueq_php_link *dueq_php_pending_open(zval *out, const dueq_php_source *source,
                                     const dueq_php_call *call);
/*
 * Starts the call: `submitted` is the status of dueq_VERB_submit(). On failure it throws, and *out
 * is null.
 */
void dueq_php_pending_start(zval *out, dueq_status submitted);

/* consumer_handle.c: the part of a consumer that its messages share */

/*
 * The core's consumer, on a link of its own. It and its heartbeat exist while a Dueq\Consumer, or
 * one of its unsettled messages, holds them.
 */
typedef struct dueq_php_loop {
    struct dueq_php_loop *next; /* the list from DUEQ_G(open) on */
    dueq_consumer *consumer;
    dueq_php_link *link;
    dueq_php_client *client; /* it is one of its holders */
    pid_t pid;               /* of the process that it works for */
    bool under_way;          /* what dueq_php_loop_try() submitted */
    bool looping;            /* a foreach or work() */
    uint32_t holders;
} dueq_php_loop;

/* Opens a loop with one holder. NULL: it threw. */
dueq_php_loop *dueq_php_loop_open(const dueq_php_source *source,
                                  const dueq_consumer_options *options);
/* Logs the warnings of all consumers' heartbeats. */
void dueq_php_loops_warn(void);
/* Removes a holder. The last one sends open settlements, and closes the consumer. NULL is safe. */
void dueq_php_loop_release(dueq_php_loop *loop);
/*
 * Waits for the next message. Signal handlers run meanwhile. EMPTY: no message came in time, or a
 * handler threw or set *stopped. Throws nothing of its own.
 */
dueq_status dueq_php_loop_await(dueq_php_loop *loop, int64_t timeout_ms, const bool *stopped,
                                const dueq_message **message, size_t *queue);
/* The next message without blocking. PENDING: a request is in progress. */
dueq_status dueq_php_loop_try(dueq_php_loop *loop, const dueq_message **message, size_t *queue);
/*
 * Ends a wait, sends open settlements, and gives prefetched messages back. Does nothing with
 * messages of a parent process.
 */
dueq_status dueq_php_loop_settle(dueq_php_loop *loop);

/* consumer_loop.c: the loop of a Dueq\Consumer, and how its current message is settled */

typedef struct dueq_php_consumer {
    dueq_php_source source; /* its object is counted, as in message.c */
    dueq_php_loop *loop;
    int64_t timeout_ms;
    bool stopped;
    bool counts_exits; /* exit() in a handler is a crash of its message */
    struct dueq_php_consumer
        *outer;   /* the list of loops that are under way, from DUEQ_G(loops) on */
    zval stream;  /* UNDEF: none asked for */
    zval current; /* the message that was delivered last; UNDEF: none */
    size_t queue; /* which it is of */
    zend_long position;
    zend_object std;
} dueq_php_consumer;

void dueq_php_delivery_startup(void);
/*
 * Called when the request ends: after a fatal error, retries the loops' current messages with its
 * text.
 */
void dueq_php_delivery_shutdown(void);
/* Begins a foreach or work(). False: it threw. */
bool dueq_php_delivery_begin(dueq_php_consumer *consumer);
/* Makes the next message the current one. False: the loop must end, or it threw. */
bool dueq_php_delivery_advance(dueq_php_consumer *consumer);
/* Makes a message of the consumer's. */
void dueq_php_delivery_make(zval *out, const dueq_php_consumer *consumer,
                            const dueq_message *message, size_t queue);
/*
 * Called when the handler has returned (error NULL) or failed: settles the current message by an
 * ack or a retry, with the next request. Does nothing if it is settled. Does not acknowledge a
 * message that the handler tried to settle itself.
 */
dueq_status dueq_php_delivery_settle(dueq_php_consumer *consumer, const dueq_bytes *error);
/*
 * Ends the loop. If the script ends within it, gives the current message back, or retries it with
 * the script's error. Returns a failure to settle, which lost() does not count.
 */
dueq_status dueq_php_delivery_end(dueq_php_consumer *consumer);
/* Whether this is what PHP throws to end the script by exit(), or to end a fiber. */
bool dueq_php_is_end(const zend_object *error);

/* consumer.c: Dueq\Consumer */

void dueq_php_consumer_startup(void);
/*
 * The method consume() of the source's object: reads the parameters, and makes the Dueq\Consumer.
 */
void dueq_php_consume(zend_execute_data *execute_data, zval *return_value,
                      const dueq_php_source *source);

/* pusher.c: Dueq\Pusher */

/* The most pushes that a pusher may have in flight. */
#define DUEQ_PHP_MOST_PUSHES 1000000

void dueq_php_pusher_startup(void);
/* Makes a Dueq\Pusher of the source's first queue, or throws. Nothing is sent. */
void dueq_php_pusher_make(zval *out, const dueq_php_source *source, size_t most);

#endif

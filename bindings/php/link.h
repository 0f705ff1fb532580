/*
 * The map goes on: what has connections of its own, by link.c. Dueq\Pending is pending.c;
 * Dueq\Consumer is consumer.c with consumer_loop.c and consumer_handle.c; Dueq\Pusher is pusher.c.
 */
#ifndef DUEQ_PHP_LINK_H
#define DUEQ_PHP_LINK_H

#include "php_dueq.h"

/* link.c: further clients of the same server */

/* What calls have in common that go to a queue of another system (interop/). */
typedef struct dueq_php_interop {
    /* Opens the queue of this object on another client. */
    dueq_status (*open)(zend_object *object, dueq_client *client, void **queue);
    void (*close)(void *queue);
    /* Submit the verbs size, and transfer or migrate. */
    dueq_status (*size)(void *queue);
    dueq_status (*move)(void *queue, size_t most, int64_t timeout_ms);
    const char *what; /* what goes before its name in the log */
} dueq_php_interop;

/*
 * A client beside that of the source, as a client carries one call at a time: what is under way
 * here leaves the methods of queues and messages free. While it is taken it has the source's
 * queues, in their order; a spare one has none, so that it serves whichever queues of its client
 * come next.
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

/* A spare one of the source's client, or a new one. NULL: it threw. */
dueq_php_link *dueq_php_link_take(const dueq_php_source *source);
/* The handle that settles what is of this place in a result. */
dueq_queue *dueq_php_link_queue(const dueq_php_link *link, size_t place);
/* Makes it a spare one. No call is under way on it, but for that of a parent process. */
void dueq_php_link_give(dueq_php_client *client, dueq_php_link *link);
/* Closes it, with the call that is under way on it. */
void dueq_php_link_close(dueq_php_link *link);
/* Sees the link's call through to its end, which is not taken. INVALID: it has none. */
dueq_status dueq_php_link_await(dueq_php_link *link);
/* Sees a submitted verb through, as dueq_php_finish(), and takes its result. Throws nothing. */
dueq_status dueq_php_link_finish(dueq_php_link *link, dueq_status submitted);
/*
 * Makes a stream of dueq_descriptor(), unless *stream is one that the program has not closed. It
 * may be closed before or after the link. False: it threw.
 */
bool dueq_php_link_stream(zval *stream, dueq_php_link *link);

/* pending.c: Dueq\Pending */

/* What belongs to the call that a Dueq\Pending carries. */
typedef struct dueq_php_call {
    /*
     * Makes what the method that waits for it returns, or throws. result: NULL or empty where none
     * came.
     */
    void (*make)(zval *out, const dueq_php_source *source, const dueq_result *result);
    /*
     * Gives back what the link's call has got, which has ended well and whose result is not taken.
     * Returns the final status of that. NULL: nothing is to go back.
     */
    dueq_status (*give_back)(dueq_php_link *link);
} dueq_php_call;

void dueq_php_pending_startup(void);
/* Makes a Dueq\Pending, and a link that is its own, to submit the call on. NULL: it threw. */
dueq_php_link *dueq_php_pending_open(zval *out, const dueq_php_source *source,
                                     const dueq_php_call *call);
/*
 * Starts the call: `submitted` is what dueq_VERB_submit() returned. On failure it throws, and *out
 * is null.
 */
void dueq_php_pending_start(zval *out, dueq_status submitted);

/* consumer_handle.c: what a consumer shares with its messages */

/*
 * The core's consumer, on a link of its own. It lives, and so does its heartbeat, as long as a
 * Dueq\Consumer or one of its messages that is not settled holds it.
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

/* Opens one with one holder. NULL: it threw. */
dueq_php_loop *dueq_php_loop_open(const dueq_php_source *source,
                                  const dueq_consumer_options *options);
/* Logs what the heartbeats of all consumers have found. */
void dueq_php_loops_warn(void);
/* The last one to do so settles what is left, and closes it. NULL is safe. */
void dueq_php_loop_release(dueq_php_loop *loop);
/*
 * Waits for the next message, while signal handlers run. EMPTY after the wait, and where it is to
 * end for a handler: it threw, or *stopped. Throws nothing of its own.
 */
dueq_status dueq_php_loop_await(dueq_php_loop *loop, int64_t timeout_ms, const bool *stopped,
                                const dueq_message **message, size_t *queue);
/* The next message without blocking: PENDING while a request for it is under way. */
dueq_status dueq_php_loop_try(dueq_php_loop *loop, const dueq_message **message, size_t *queue);
/*
 * Ends a wait, sends the settlements that are left, and gives back what is prefetched. Nothing of a
 * parent process's.
 */
dueq_status dueq_php_loop_settle(dueq_php_loop *loop);

/* consumer_loop.c: the loop of a Dueq\Consumer, and what becomes of the message that it works on */

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
/* The request ends: what a fatal error has left in the hands of a loop is retried with its text. */
void dueq_php_delivery_shutdown(void);
/* Begins a foreach or work(). False: it threw. */
bool dueq_php_delivery_begin(dueq_php_consumer *consumer);
/* Makes the next message the current one. False: the loop is to end, or it threw. */
bool dueq_php_delivery_advance(dueq_php_consumer *consumer);
/* Makes a message of the consumer's. */
void dueq_php_delivery_make(zval *out, const dueq_php_consumer *consumer,
                            const dueq_message *message, size_t queue);
/*
 * The handler has returned (NULL), or failed with this error: settles the current message by an
 * ack, or a retry, with the next request. Not one that is settled, nor with an ack one that the
 * handler tried to settle itself.
 */
dueq_status dueq_php_delivery_settle(dueq_php_consumer *consumer, const dueq_bytes *error);
/*
 * Ends the loop; where the script ends in it, the current message goes back, or fails of the error
 * that ends it. Returns a failure to settle, which lost() does not tell.
 */
dueq_status dueq_php_delivery_end(dueq_php_consumer *consumer);
/* Is it what is thrown where the script, or its fiber, ends in good order? */
bool dueq_php_is_end(const zend_object *error);

/* consumer.c: Dueq\Consumer */

void dueq_php_consumer_startup(void);
/*
 * The method consume() of the source's object: reads the parameters, and makes the Dueq\Consumer.
 */
void dueq_php_consume(zend_execute_data *execute_data, zval *return_value,
                      const dueq_php_source *source);

/* pusher.c: Dueq\Pusher */

/* The most pushes that a pusher may have under way. */
#define DUEQ_PHP_MOST_PUSHES 1000000

void dueq_php_pusher_startup(void);
/* Makes a Dueq\Pusher of the source's first queue, or throws. Nothing is sent. */
void dueq_php_pusher_make(zval *out, const dueq_php_source *source, size_t most);

#endif

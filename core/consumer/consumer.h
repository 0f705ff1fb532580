/*
 * A consumer. open.c opens it. consumer.c is its loop: one request settles what is finished and
 * reserves the next messages. leases.c has the messages that the consumer has leased, acks.c those
 * whose acks wait, prefetch.c those that are not delivered yet. heartbeat.c is the thread that
 * extends the leases and registers the consumer with its queues, with the text that presence.c
 * writes. settle.c sends acks and retries, partitions.c chooses the partitions to reserve from,
 * warnings.c keeps warnings for the program. pusher.c stands alone: it sends pushes in batches.
 */
#ifndef DUEQ_CONSUMER_H
#define DUEQ_CONSUMER_H

#include <pthread.h>

#include "../partition/partition.h"

/* How long an ack waits for a reserve that takes it along, before the heartbeat sends it. */
#define DUEQ__ACK_DELAY_MS 200
/* For how long acks are deferred after their node did not answer. */
#define DUEQ__DEFER_ACKS_MS 1000
/*
 * A prefetched message may be cancelled: one whose lease the server has not confirmed for so long
 * is verified.
 */
#define DUEQ__VERIFY_MS 250

/* leases.c: shared by the consumer's thread and its heartbeat's */

struct dueq__lease {
    size_t queue;           /* its place among the consumer's */
    int64_t lease_ms;       /* how long each lease is */
    int64_t since_ms;       /* when it was delivered, or, prefetched, reserved */
    _Atomic int64_t end_ms; /* by the monotonic clock; 0: the server said that the lease was lost */
    int64_t verified_ms;    /* when the server last confirmed the lease */
    int64_t extend_ms;      /* when to extend it next */
    int64_t keep_until_ms;  /* from then on it is not extended */
    /* An ack waits: since when, or, while acks are deferred, until when. 0: none waits. */
    int64_t acked_ms;
    unsigned in_flight; /* requests under way with that ack, or a retry */
    bool resend_ack;    /* send the ack although one is under way */
    bool running;       /* delivered and not settled */
    bool removed;       /* settled or given back; freed when refs is 0 */
    bool lost;          /* all answers to its acks said that the lease was lost */
    bool maybe_acked;   /* another call may have acked it: an ack that finds it lost is no fault */
    bool warned;        /* the program was warned that it was lost */
    int64_t warn_ms;    /* when to warn that it was lost; 0: not */
    unsigned refs;      /* threads that use it without the lock */
    dueq_bytes ticket;  /* behind it, in the same allocation */
};

/* Messages that one warning names. */
struct dueq__warned_messages {
    size_t count;
    char id[DUEQ_MAX_ID + 1]; /* of the first */
};

/* Warnings that the program has not taken yet; under the lock of the leases. */
struct dueq__warnings {
    char server[DUEQ_MAX_WARNING]; /* what the heartbeat's client warned of; empty: nothing */
    struct dueq__warned_messages lost;
    struct dueq__warned_messages late_acks;   /* resent acks that found no lease */
    struct dueq__warned_messages unsent_acks; /* acks that a stop could not send */
    void (*wake)(void *context);
    void *wake_context;
};

struct dueq__leases {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is something to do before wake_ms */
    int64_t wake_ms;        /* when the heartbeat looks next */
    struct dueq__lease **items;
    size_t count, room;
    dueq_timings *timings; /* what was measured of each queue, and nobody has taken */
    size_t timings_count;
    size_t find_from; /* where a search begins: tickets are mostly asked for in order */
    _Atomic size_t running;
    _Atomic size_t lost;
    _Atomic bool stopping;
    _Atomic bool ended;      /* the heartbeat has */
    _Atomic bool winds_down; /* the program takes no further message */
    struct dueq__warnings warnings;
};

/* NULL: out of memory. */
struct dueq__leases *dueq__leases_new(void);
void dueq__leases_free(struct dueq__leases *leases);

/* Adds a leased message, with one ref. lease_ms: from start_ms on. NULL: out of memory. */
struct dueq__lease *dueq__leases_add(struct dueq__leases *leases, size_t queue, dueq_bytes ticket,
                                     int64_t start_ms, int64_t lease_ms, int64_t keep_until_ms);
/* Removes it and drops one ref. */
void dueq__leases_discard(struct dueq__leases *leases, struct dueq__lease *lease);
/*
 * Delivers it: from now on it is kept for max_run_ms. late_ms: how late it was when it was
 * reserved; -1: it is not known. False: its lease has ended, and the server has not said since that
 * it is held: it is lost.
 */
bool dueq__leases_deliver(struct dueq__leases *leases, struct dueq__lease *lease,
                          int64_t max_run_ms, int64_t late_ms);
/* Acks it with the next request. A message that is not leased any more is counted as lost. */
void dueq__leases_ack(struct dueq__leases *leases, dueq_bytes ticket);
/*
 * Sends the ack of a message whose ack by another client failed, or has taken effect. False: the
 * message is not held.
 */
bool dueq__leases_keep_ack(struct dueq__leases *leases, dueq_bytes ticket);
/* Is its lease lost, or unknown here? */
bool dueq__leases_has_lost(struct dueq__leases *leases, dueq_bytes ticket);
/* It was settled by another call. */
void dueq__leases_forget(struct dueq__leases *leases, dueq_bytes ticket);
/* Takes it for a retry, with one ref. NULL: it is not leased any more, and counted as lost. */
struct dueq__lease *dueq__leases_take_retry(struct dueq__leases *leases, dueq_bytes ticket);
/* Sets held[queue] for each of the `count` queues of which it has leased messages. */
void dueq__leases_mark_queues(struct dueq__leases *leases, bool *held, size_t count);
/*
 * Takes messages whose leases are to be extended, all of one queue and one lease_ms, with one ref
 * each.
 */
size_t dueq__leases_take_expiring(struct dueq__leases *leases, int64_t now_ms,
                                  struct dueq__lease **taken, size_t most);
/*
 * list: prefetched messages, the first to be delivered next. Takes those with the first one's
 * lease_ms, with one ref each, to verify them by extending their leases. Takes none where the
 * server has confirmed the first one's lease lately.
 */
size_t dueq__leases_take_unverified(struct dueq__leases *leases, struct dueq__lease *const *list,
                                    size_t count, struct dueq__lease **taken);
/*
 * Takes running messages of one queue, with one ref each, to release them. They are removed
 * whatever the release answers.
 */
size_t dueq__leases_take_running(struct dueq__leases *leases, struct dueq__lease **taken,
                                 size_t most);
/*
 * The answer to its ack or retry: OK, an outcome, or a failure (< 0: the ack waits on). Drops one
 * ref.
 */
void dueq__leases_settled(struct dueq__leases *leases, struct dueq__lease *lease,
                          dueq_status status);
/* The answer to an extension that was sent at start_ms. Drops one ref. */
void dueq__leases_extended(struct dueq__leases *leases, struct dueq__lease *lease, int64_t start_ms,
                           dueq_status status);
/*
 * For the heartbeat: waits until a lease is to be extended, an ack to be sent, or the consumer to
 * be registered: at leased_ms where it has leased messages, else at idle_ms. *registers: that time
 * has come. While messages are leased it returns at least each half second. False: the heartbeat is
 * to end.
 */
bool dueq__leases_wait(struct dueq__leases *leases, int64_t idle_ms, int64_t leased_ms,
                       bool *registers);
void dueq__leases_stop(struct dueq__leases *leases);

/* acks.c: acks that wait to be sent */

/* Under the lock: is its ack to be sent? */
bool dueq__lease_ack_waits(const struct dueq__lease *lease);
/*
 * Since when the oldest ack waits, and its queue. DUEQ__NEVER: no ack waits; *queue is unchanged.
 */
int64_t dueq__leases_oldest_ack(struct dueq__leases *leases, size_t *queue);
/* Acks of that queue are not sent before until_ms. */
void dueq__leases_defer_acks(struct dueq__leases *leases, size_t queue, int64_t until_ms);
/*
 * For a stop: acks that the heartbeat is sending are sent a second time, deferred acks at once. The
 * stop then need not wait for the heartbeat's answer: either request settles the message.
 */
void dueq__leases_resend_acks(struct dueq__leases *leases);
/*
 * Takes up to `most` of that queue's acks that wait since until_ms or longer, with one ref each, to
 * send them.
 */
size_t dueq__leases_take_acks(struct dueq__leases *leases, size_t queue, int64_t until_ms,
                              struct dueq__lease **taken, size_t most);

/* presence.c: the text that a consumer registers with */

#define DUEQ__PRESENCE_NAME 128
#define DUEQ__PRESENCE_LEASES 8192
#define DUEQ__PRESENCE_ROOM (DUEQ__PRESENCE_LEASES + 3 * DUEQ__PRESENCE_NAME + 128)

struct dueq__presence {
    char session[DUEQ__ID_SIZE + 1];         /* the name that it is registered by */
    char names[3 * DUEQ__PRESENCE_NAME + 1]; /* lines */
    size_t slots;
    int64_t opened_ms;
};

/* But for the session. */
void dueq__presence_init(struct dueq__presence *presence, const dueq_consumer_options *options);
/*
 * Writes the text for a queue and returns its size. same: for each queue the place of the first
 * with its name: messages whose place is `queue` are listed. NULL: the queues are partitions, and
 * all messages are listed. *has_leased: is set where there are messages.
 */
size_t dueq__presence_write(const struct dueq__presence *presence, struct dueq__leases *leases,
                            const size_t *same, size_t queue, char out[DUEQ__PRESENCE_ROOM],
                            bool *has_leased);

/* consumer.c */

struct dueq__retry {
    struct dueq__lease *lease; /* NULL: none */
    int64_t delay_ms;
    char *error;
    size_t error_size;
};

/* The messages of one reserve, and how far they are delivered. */
struct dueq__batch {
    struct dueq__batch *after;
    dueq_result *result;
    size_t queue, next;
    struct dueq__lease *lease[]; /* of each message; NULL: without memory for it, it is not held */
};

/* The request under way. */
enum dueq__consumer_request {
    DUEQ__REQUEST_NONE,
    DUEQ__REQUEST_SETTLE,
    DUEQ__REQUEST_RESERVE,
    DUEQ__REQUEST_VERIFY, /* extends prefetched messages, to see whether they are still leased */
    DUEQ__REQUEST_RELEASE,
    DUEQ__REQUEST_RENEW_PARTITIONS, /* renews its leases on partitions */
    DUEQ__REQUEST_LEAVE_PARTITIONS  /* ends them */
};

struct dueq_consumer {
    dueq_client *client;
    dueq_queue **queues; /* of a queue of partitions: its partitions */
    size_t queue_count;
    struct dueq__assignment *assignment; /* which partitions are its own; NULL: no partitions */
    int64_t until_ms;                    /* until when it waits; 0: the wait does not begin anew */
    _Atomic pthread_t thread;            /* the one that submitted the request */
    uint16_t asked[DUEQ_MAX_PARTITIONS]; /* partitions that the reserve under way asks */
    /*
     * When to ask each partition that had nothing when it was asked, by the monotonic clock; 0:
     * now.
     */
    int64_t next_check_us[DUEQ_MAX_PARTITIONS];
    int64_t asked_ms; /* when all partitions were asked last */
    bool found;       /* the last wait found messages */
    dueq_consumer_options options;
    pid_t pid;
    struct dueq__leases *leases;
    struct dueq__presence presence;
    struct dueq__heartbeat *heartbeat; /* started with the first request */
    struct dueq__batch *first;         /* that of the message delivered last */
    size_t prefetched;                 /* messages that are not delivered yet */
    enum dueq__consumer_request request;
    bool releases_running;   /* a stop releases running messages too */
    bool concurrency_warned; /* see dueq__warn_concurrency() */
    int64_t timeout_ms;
    int64_t lateness_ms;    /* when a reserve last asked how late messages are */
    int64_t retry_until_ms; /* until when a request is repeated that the server cannot serve now */
    int64_t
        ack_cutoff_ms;   /* acks that wait since then or longer are sent before the next reserve */
    size_t settle_queue; /* the queue whose acks and retry the request under way takes along */
    int64_t acks_deferred_ms; /* a node was away: its acks are not sent before */
    bool stopping;            /* acks are not left to the heartbeat */
    struct dueq__retry retry;
    struct dueq__lease *sent[DUEQ_MAX_BATCH]; /* what the request under way settles, or extends */
    size_t sent_count;
    bool retry_sent;
};

/* The lease of messages that have none, where the program says none. */
static inline int64_t dueq__consumer_lease_ms(const dueq_consumer *consumer) {
    return consumer->options.max_run_ms ? DUEQ_HEARTBEAT_LEASE_MS : DUEQ_DEFAULT_LEASE_MS;
}

/* May the next reserve ask how late messages are? Once a second: it then counts as asked. */
bool dueq__consumer_asks_lateness(dueq_consumer *consumer);

/*
 * After fork() the child's consumer begins anew: the messages are the parent's, and so is the
 * thread that works with the leases, which therefore stay as they are.
 */
dueq_status dueq__consumer_check_fork(dueq_consumer *consumer);

/* warnings.c: what the program is warned of */

/* Under the lock of the leases: adds a message that was lost. */
void dueq__warnings_add_lost(struct dueq__warnings *warnings, dueq_bytes ticket);
/* Under that lock: adds a message that was not leased any more when its ack was sent again. */
void dueq__warnings_add_late_ack(struct dueq__warnings *warnings, dueq_bytes ticket);
/* Tells the program that there may be a warning to take. */
void dueq__warnings_wake(const struct dueq__warnings *warnings);
/* Adds what the heartbeat's client warns of: the server is away, or back. */
void dueq__leases_warn_server(struct dueq__leases *leases, const char *text);
/* Warns of the acks that a stop could not send. */
void dueq__leases_warn_unsent_acks(struct dueq__leases *leases);
/* Warns of messages that were lost half a second ago and are still not settled. */
void dueq__leases_warn_lost(struct dueq__leases *leases);
/* As dueq_consumer_warning(). */
bool dueq__leases_take_warning(struct dueq__leases *leases, char text[DUEQ_MAX_WARNING]);
/*
 * The program asks for its next message: warns once where more messages are running than the
 * program said that it works on at a time. A program that works on one after the other has settled
 * the last by then.
 */
void dueq__warn_concurrency(dueq_consumer *consumer);
/*
 * The retry could not be sent and is dropped: the message is delivered again when its lease ends.
 */
void dueq__warn_dropped_retry(const dueq_consumer *consumer);

/* settle.c: acks and retries */

/*
 * The queue whose acks or retry are to be sent next; SIZE_MAX: none. None also where a reserve of
 * that queue is to be recalled: the server keeps one answer for each session, and acks would
 * replace it. The heartbeat has a session of its own and sends them.
 */
size_t dueq__settle_next_queue(const dueq_consumer *consumer);
/*
 * Fills in the acks and the retry of that queue that the next request takes along. tickets: room
 * for DUEQ_MAX_BATCH.
 */
void dueq__settle_fill(dueq_consumer *consumer, size_t queue, dueq_bytes *tickets,
                       struct dueq__settlement *settlement);
/*
 * The request ended: settles what it took along and is not settled yet, by the result's outcomes or
 * the failure.
 */
void dueq__settle_finish(dueq_consumer *consumer, dueq_status status, const dueq_result *result,
                         int64_t asked_ms);
/*
 * The node is away: its acks are deferred. A retry is dropped: its message is delivered again when
 * the lease ends.
 */
void dueq__settle_defer(dueq_consumer *consumer);
void dueq__settle_drop_retry(dueq_consumer *consumer);

/* partitions.c: where the queue has partitions */

/* Takes the queue's partitions as the consumer's queues. There may be more than before. */
dueq_status dueq__partitions_update(dueq_consumer *consumer);
/* Renews the consumer's leases on partitions; leaves: ends them. */
dueq_status dueq__partitions_renew(dueq_consumer *consumer, bool leaves);
/*
 * Reserves from the consumer's own partitions, except those of which it has leased messages, until
 * its leases on partitions are to be renewed. Where it has no partitions it waits for that on the
 * queue's own name, which gets no messages.
 */
dueq_status dueq__partitions_reserve(dueq_consumer *consumer);
/* A wait has ended, and its result is not taken yet: notes which partitions had nothing. */
void dueq__partitions_note_empty(dueq_consumer *consumer);
/*
 * A message is settled: a wait by this thread begins anew, with the message's partition. A wait by
 * another thread goes on until the leases on partitions are renewed.
 */
void dueq__partitions_restart_wait(dueq_consumer *consumer);

/* prefetch.c: what was reserved and is not delivered yet */

/* Adds the messages of a reserve that was sent at asked_ms, and owns the result. */
dueq_status dueq__prefetch_add(dueq_consumer *consumer, dueq_result *result, int64_t asked_ms);
/* Is there one that can be delivered? Drops those before it that are lost. */
bool dueq__prefetch_has_next(dueq_consumer *consumer);
/*
 * Delivers the next message; NULL: it was lost. It lives until the next call of one of these
 * functions.
 */
const dueq_message *dueq__prefetch_deliver(dueq_consumer *consumer);
/* The batch that has the next message; NULL: all are delivered. */
const struct dueq__batch *dueq__prefetch_first_batch(dueq_consumer *consumer);
/* Drops that batch: its messages were released. Where the release failed, their leases end. */
void dueq__prefetch_drop_batch(dueq_consumer *consumer);
void dueq__prefetch_clear(dueq_consumer *consumer);

/* heartbeat.c */

/*
 * Starts the consumer's: a thread that extends its leases and registers it. It opens a client like
 * the consumer's when it needs it.
 */
dueq_status dueq__heartbeat_start(dueq_consumer *consumer);
/* Ends the thread and waits for that. */
void dueq__heartbeat_end(struct dueq__heartbeat *heartbeat);

#endif

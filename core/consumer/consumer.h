/*
 * A consumer. open.c opens it. consumer.c is its loop: one request settles what is finished and
 * reserves the next messages. leases.c has the messages that the consumer has leased, acks.c those
 * whose acks wait, prefetch.c those that are not delivered yet. heartbeat.c is the thread that
 * extends the leases and registers the consumer with its queues, with the text that presence.c
 * writes. settle.c sends acks and retries, queues.c knows which of several queues to ask,
 * partitions.c chooses the partitions to reserve from, warnings.c keeps warnings for the program.
 * pusher.c stands alone: it sends pushes in batches.
 */
#ifndef DUEQ_CONSUMER_H
#define DUEQ_CONSUMER_H

#include <pthread.h>

#include "../partition/partition.h"

/* How long an ack waits for a reserve that takes it along, before the heartbeat sends it. */
#define DUEQ__ACK_DELAY_MS 200
/*
 * If the next event comes so soon after a reserve, the loop sends the ack only with the reserve at
 * that event. Else it sends the ack before it waits.
 */
#define DUEQ__ACK_RIDES_US 20000
/* For how long acks are deferred after their node did not answer. */
#define DUEQ__DEFER_ACKS_MS 1000
/*
 * A prefetched message may have been cancelled. So the consumer verifies its lease before the
 * delivery, if the server's last confirmation is older than this.
 */
#define DUEQ__VERIFY_MS 250

/* leases.c: shared by the consumer's thread and its heartbeat's */

struct dueq__lease {
    size_t queue;           /* the index of the message's queue among the consumer's */
    int64_t lease_ms;       /* how long each lease is */
    int64_t since_ms;       /* when the message was delivered; while prefetched: reserved */
    _Atomic int64_t end_ms; /* by the monotonic clock; 0: the server said that the lease was lost */
    int64_t verified_ms;    /* when the server last confirmed the lease */
    int64_t extend_ms;      /* when to extend it next */
    int64_t keep_until_ms;  /* from then on it is not extended */
    /* 0: no ack waits. Else since when an ack waits; while acks are deferred: until when. */
    int64_t acked_ms;
    unsigned in_flight; /* requests under way with that ack, or a retry */
    bool resend_ack;    /* send the ack although one is under way */
    bool running;       /* delivered and not settled */
    bool removed;       /* settled or given back; freed when refs is 0 */
    bool lost;          /* all answers to its acks said that the lease was lost */
    bool maybe_acked;   /* another call may have acked: that an ack finds it lost is no fault */
    bool warned;        /* the program was warned that it was lost */
    int64_t warn_ms;    /* when to warn that it was lost; 0: not */
    unsigned refs;      /* uses of this struct without the lock */
    dueq_bytes ticket;  /* its bytes follow the struct, in the same allocation */
};

/* Messages that one warning counts. It names the first. */
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
    pthread_cond_t changed; /* the heartbeat must stop, or has to act before wake_ms */
    int64_t wake_ms;        /* when the heartbeat wakes next */
    struct dueq__lease **items;
    size_t count, room;
    dueq_timings *timings; /* of each queue: measured since the heartbeat last took them */
    size_t timings_count;
    size_t find_from; /* where a search begins: programs mostly settle in the order of delivery */
    struct dueq__known *known; /* of each queue, or of DUEQ_MAX_PARTITIONS partitions: queues.c */
    size_t known_count;
    bool lends_known;   /* a reserve under way uses `known`, and keeps the time itself */
    int64_t pass_on_us; /* before this time the heartbeat passes no timekeeping on */
    _Atomic size_t running;
    _Atomic size_t lost;
    _Atomic bool stopping;
    _Atomic bool ended;      /* the heartbeat's thread has ended */
    _Atomic bool winds_down; /* the program takes no further message */
    struct dueq__warnings warnings;
};

/* NULL: out of memory. queues: how many the consumer has. */
struct dueq__leases *dueq__leases_new(size_t queues);
void dueq__leases_free(struct dueq__leases *leases);

/* Adds a leased message, with one ref. lease_ms counts from start_ms on. NULL: out of memory. */
struct dueq__lease *dueq__leases_add(struct dueq__leases *leases, size_t queue, dueq_bytes ticket,
                                     int64_t start_ms, int64_t lease_ms, int64_t keep_until_ms);
/* Removes a lease, and drops one ref. */
void dueq__leases_discard(struct dueq__leases *leases, struct dueq__lease *lease);
/*
 * Delivers a prefetched message, and drops one ref. The heartbeat extends the lease for max_run_ms
 * from now on. late_ms: how late the message was when it was reserved; -1: not known. False: the
 * lease has ended or was lost. The message then counts as lost.
 */
bool dueq__leases_deliver(struct dueq__leases *leases, struct dueq__lease *lease,
                          int64_t max_run_ms, int64_t late_ms);
/* The next request acks the message. A message that has no lease here counts as lost. */
void dueq__leases_ack(struct dueq__leases *leases, dueq_bytes ticket);
/*
 * An ack by another client failed, and may have taken effect: the consumer sends an ack again.
 * False: it does not, because the message has no lease here, or a lost one.
 */
bool dueq__leases_keep_ack(struct dueq__leases *leases, dueq_bytes ticket);
/* True: the message has no lease here, or the server said that its lease was lost. */
bool dueq__leases_has_lost(struct dueq__leases *leases, dueq_bytes ticket);
/* Drops the lease of a message that another call has settled. */
void dueq__leases_forget(struct dueq__leases *leases, dueq_bytes ticket);
/* Takes a lease for a retry, with one ref. NULL: no such lease; the message counts as lost. */
struct dueq__lease *dueq__leases_take_retry(struct dueq__leases *leases, dueq_bytes ticket);
/* Sets held[i] if the consumer has leased messages of its queue i. held: `count` of them. */
void dueq__leases_mark_queues(struct dueq__leases *leases, bool *held, size_t count);
/*
 * Takes up to `most` leases that must be extended now, all of one queue and one lease_ms, with one
 * ref each.
 */
size_t dueq__leases_take_expiring(struct dueq__leases *leases, int64_t now_ms,
                                  struct dueq__lease **taken, size_t most);
/*
 * list: the leases of prefetched messages, in the order of delivery. Takes those with the first
 * one's lease_ms, with one ref each, for the consumer to verify them by extending them. Takes none
 * if the server has confirmed the first one within DUEQ__VERIFY_MS.
 */
size_t dueq__leases_take_unverified(struct dueq__leases *leases, struct dueq__lease *const *list,
                                    size_t count, struct dueq__lease **taken);
/*
 * Takes the leases of running messages of one queue, with one ref each, for a release. They are
 * removed, whatever the release answers.
 */
size_t dueq__leases_take_running(struct dueq__leases *leases, struct dueq__lease **taken,
                                 size_t most);
/*
 * Notes the answer to an ack, a retry or a release: OK, an outcome, or a failure (< 0: the ack
 * waits for another request). Drops one ref.
 */
void dueq__leases_settled(struct dueq__leases *leases, struct dueq__lease *lease,
                          dueq_status status);
/* Notes the answer to an extension that was sent at start_ms. Drops one ref. */
void dueq__leases_extended(struct dueq__leases *leases, struct dueq__lease *lease, int64_t start_ms,
                           dueq_status status);
/*
 * The heartbeat waits until it has to extend a lease, send an ack, or register the consumer: at
 * leased_ms if the consumer has leased messages, else at idle_ms. *registers: that time has come.
 * While messages are leased the wait ends each half second. False: the heartbeat must end.
 */
bool dueq__leases_wait(struct dueq__leases *leases, int64_t idle_ms, int64_t leased_ms,
                       bool *registers);
void dueq__leases_stop(struct dueq__leases *leases);
/* Under the lock: the heartbeat wakes at that time, or before. */
void dueq__leases_wake_by(struct dueq__leases *leases, int64_t at_ms);

/* queues.c: what the consumer knows of its queues between two reserves */

/*
 * Of the only queue of a consumer: when the consumer, which keeps the queue's time, asks it; 0: it
 * keeps no time, and asks before it waits. The heartbeat may have passed the time on since the last
 * reserve.
 */
int64_t dueq__queues_kept_us(dueq_consumer *consumer);
/* True: a reserve of its only queue may make the consumer the timekeeper while it works. */
bool dueq__queues_may_keep_time(const dueq_consumer *consumer);
/*
 * For a reserve of several queues, or of its only one. The reserve alone uses what is known until
 * dueq__queues_learn(). asks: of its only queue, the reserve asks it at once.
 */
struct dueq__known *dueq__queues_lend(dueq_consumer *consumer, bool asks);
/* Before the result of a request is taken. If it was that reserve: notes what is known now. */
void dueq__queues_learn(dueq_consumer *consumer);
/* True: only this queue has acks, and the next reserve of all asks it, so the acks can go along. */
bool dueq__queues_settle_along(dueq_consumer *consumer, size_t queue);
/* A reserve had messages of a queue. It may have more, for which no wake token was set. */
void dueq__queues_note_found(dueq_consumer *consumer, size_t queue);
/* The next reserve asks all queues. */
void dueq__queues_forget(dueq_consumer *consumer);
/* Under the lock: when the heartbeat next passes timekeeping on; DUEQ__NEVER: it has none. */
int64_t dueq__leases_next_late_ms(const struct dueq__leases *leases);
/*
 * Takes the timekeeping of a queue whose next event is due, to pass it on; SIZE_MAX: of none.
 * place_ms: as of struct dueq__watch.
 */
size_t dueq__leases_take_late(struct dueq__leases *leases, int64_t now_us, int64_t *place_ms);

/* acks.c: acks that wait to be sent */

/* Under the lock. True: an ack of this message has to be sent. */
bool dueq__lease_ack_waits(const struct dueq__lease *lease);
/*
 * Since when the oldest ack waits, and its queue. DUEQ__NEVER: no ack waits; *queue is unchanged.
 */
int64_t dueq__leases_oldest_ack(struct dueq__leases *leases, size_t *queue);
/* Defers the acks of a queue: they are not sent before until_ms. */
void dueq__leases_defer_acks(struct dueq__leases *leases, size_t queue, int64_t until_ms);
/*
 * For a stop, which sends deferred acks at once, and a second time the acks that the heartbeat is
 * sending. So it need not wait for the heartbeat's answer: either request settles the message.
 */
void dueq__leases_resend_acks(struct dueq__leases *leases);
/*
 * Takes up to `most` leases of that queue whose acks wait since until_ms or longer, with one ref
 * each, for the caller to send the acks.
 */
size_t dueq__leases_take_acks(struct dueq__leases *leases, size_t queue, int64_t until_ms,
                              struct dueq__lease **taken, size_t most);

/* presence.c: the text that a consumer registers with */

#define DUEQ__PRESENCE_NAME 128
#define DUEQ__PRESENCE_LEASES 8192
#define DUEQ__PRESENCE_ROOM                                                                        \
    (DUEQ__PRESENCE_LEASES + 3 * DUEQ__PRESENCE_NAME + DUEQ_MAX_WORKER_TASKS + 128)

struct dueq__presence {
    char session[DUEQ__ID_SIZE + 1];         /* the name under which the consumer is registered */
    char names[3 * DUEQ__PRESENCE_NAME + 1]; /* lines: host, program, version */
    char *tasks;                             /* of the options; NULL: the text does not say them */
    size_t tasks_size;
    size_t slots;
    int64_t opened_ms;
};

/* Fills in all but the session. The consumer frees the tasks, after the heartbeat has ended. */
void dueq__presence_init(struct dueq__presence *presence, const dueq_consumer_options *options);
/*
 * Writes the text for a queue, and returns its size. same: for each queue the index of the first
 * queue with its name; the text lists the messages whose queue has the index `queue` there. NULL:
 * the queues are partitions, and the text lists all messages. Sets *has_leased if messages of the
 * queue are leased, and else leaves it.
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
    struct dueq__lease *lease[]; /* of each message; NULL: memory was out; it is not delivered */
};

/* The request under way. */
enum dueq__consumer_request {
    DUEQ__REQUEST_NONE,
    DUEQ__REQUEST_SETTLE,
    DUEQ__REQUEST_ACK, /* acks alone: the consumer then waits without asking */
    DUEQ__REQUEST_RESERVE,
    DUEQ__REQUEST_VERIFY, /* extends prefetched messages, to see whether they are still leased */
    DUEQ__REQUEST_RELEASE,
    DUEQ__REQUEST_RENEW_PARTITIONS, /* renews the consumer's leases on partitions */
    DUEQ__REQUEST_LEAVE_PARTITIONS  /* ends these leases */
};

struct dueq_consumer {
    dueq_client *client;
    dueq_queue **queues; /* of a queue with partitions: the partitions */
    size_t queue_count;
    struct dueq__assignment *assignment; /* its own partitions; NULL: no partitions */
    int64_t until_ms;                    /* until when it waits; 0: the wait does not begin anew */
    _Atomic pthread_t thread;            /* the thread that submitted the request */
    size_t asked[DUEQ_MAX_PARTITIONS];   /* partitions that the reserve under way asks */
    int64_t asked_ms;                    /* when it last asked all partitions */
    size_t *same;     /* for each queue the index of the first queue with its name */
    int64_t ask_ms;   /* of several queues: when to ask the next in turn, also without a token */
    size_t ask_queue; /* the next in turn: this modulo queue_count */
    int64_t probe_ms; /* of several queues: when to probe next; 0: it has not waited yet */
    unsigned probe_count;
    unsigned lost_conns; /* of its client, before its last reserve */
    bool found;          /* the last wait found messages */
    dueq_consumer_options options;
    pid_t pid;
    struct dueq__leases *leases;
    struct dueq__presence presence;
    struct dueq__heartbeat *heartbeat; /* started with the first request */
    struct dueq__batch *first;         /* it has the message that was delivered last */
    size_t prefetched;                 /* messages that are not delivered yet */
    enum dueq__consumer_request request;
    bool releases_running;   /* a stop releases running messages too */
    bool concurrency_warned; /* see dueq__warn_concurrency() */
    int64_t timeout_ms;
    int64_t lateness_ms;    /* when a reserve last asked how late messages are */
    int64_t retry_until_ms; /* until when a request is repeated that the server cannot serve now */
    /* Acks that wait since then or longer are sent before the next reserve. */
    int64_t ack_cutoff_ms;
    size_t settle_queue;      /* the queue whose acks and retry the request under way takes along */
    int64_t acks_deferred_ms; /* a node was away: its acks are not sent before this time */
    bool kept_time;           /* the last reserve with messages made it a timekeeper */
    int64_t may_wait_us;      /* until then it waits without asking, as others look; 0: it asks */
    bool ack_rides;           /* the next event came so soon that acks wait for the next reserve */
    unsigned no_time_left;    /* how many further reserves do not make it a timekeeper */
    unsigned no_time; /* what no_time_left was last set to; 0: its handler was fast enough */
    bool stopping;    /* a stop leaves no acks to the heartbeat */
    struct dueq__retry retry;
    struct dueq__lease *sent[DUEQ_MAX_BATCH]; /* what the request under way settles, or extends */
    size_t sent_count;
    bool retry_sent;
};

/* The lease of messages that name none, if the program names none. */
static inline int64_t dueq__consumer_lease_ms(const dueq_consumer *consumer) {
    return consumer->options.max_run_ms ? DUEQ_HEARTBEAT_LEASE_MS : DUEQ_DEFAULT_LEASE_MS;
}

static inline bool dueq__consumer_has_several_queues(const dueq_consumer *consumer) {
    return consumer->queue_count > 1 || consumer->assignment;
}

/*
 * True: the next reserve asks how late messages are. True once a second, and only with a heartbeat,
 * which sends to the queues what was measured.
 */
bool dueq__consumer_asks_lateness(dueq_consumer *consumer);

/*
 * After fork() the child's consumer begins anew, with leases of its own: the messages belong to the
 * parent. The copy of the parent's leases stays as it is, because the parent's heartbeat may have
 * worked with them at that moment.
 */
dueq_status dueq__consumer_check_fork(dueq_consumer *consumer);

/* warnings.c: what the program is warned of */

/* Under the lock of the leases: adds a message that was lost. */
void dueq__warnings_add_lost(struct dueq__warnings *warnings, dueq_bytes ticket);
/* Under that lock: adds a message that was no longer leased when its ack was sent again. */
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
 * Call it when the program asks for its next message. Warns once if more messages are running than
 * the program works on at a time, as its options say. A program with a concurrency of 1 has settled
 * its last message before it asks.
 */
void dueq__warn_concurrency(dueq_consumer *consumer);
/*
 * Warns of a retry that could not be sent, and is dropped: the message is delivered again when its
 * lease ends.
 */
void dueq__warn_dropped_retry(const dueq_consumer *consumer);

/* settle.c: acks and retries */

/*
 * The queue whose acks or retry the consumer sends next; SIZE_MAX: none. None also if a reserve of
 * that queue must be recalled: the server keeps one answer for each session, and an ack would
 * replace that answer. The heartbeat has a session of its own, and sends these acks.
 */
size_t dueq__settle_next_queue(const dueq_consumer *consumer);
/*
 * Fills in the acks and the retry of that queue, which the next request takes along. tickets: room
 * for DUEQ_MAX_BATCH, used until the request is submitted.
 */
void dueq__settle_fill(dueq_consumer *consumer, size_t queue, dueq_bytes *tickets,
                       struct dueq__settlement *settlement);
/*
 * The request ended. What it took along and has no outcome yet gets the failure; what an ACK has
 * acked, or a VERIFY has extended, gets the result's outcomes, or the failure.
 */
void dueq__settle_finish(dueq_consumer *consumer, dueq_status status, const dueq_result *result,
                         int64_t asked_ms);
/*
 * A node is away: defers the acks that the request took along. Drops a retry: its message is
 * delivered again when the lease ends.
 */
void dueq__settle_defer(dueq_consumer *consumer);
void dueq__settle_drop_retry(dueq_consumer *consumer);

/* partitions.c: for a queue with partitions */

/* Makes the queue's partitions the consumer's queues. There may be more than before. */
dueq_status dueq__partitions_update(dueq_consumer *consumer);
/* Renews the consumer's leases on partitions; leaves: ends them. */
dueq_status dueq__partitions_renew(dueq_consumer *consumer, bool leaves);
/*
 * Reserves from the consumer's own partitions, except those of which it has leased messages, until
 * it must renew its leases on partitions. A consumer without partitions waits for that time on the
 * queue's own name, which gets no messages.
 */
dueq_status dueq__partitions_reserve(dueq_consumer *consumer);
/*
 * A message is settled. A wait that this thread has submitted begins anew, with the message's
 * partition. Another thread's wait goes on until it must renew the leases on partitions.
 */
void dueq__partitions_restart_wait(dueq_consumer *consumer);

/* prefetch.c: messages that are reserved and not delivered yet */

/* Adds the messages of a reserve that was sent at asked_ms, and owns the result. */
dueq_status dueq__prefetch_add(dueq_consumer *consumer, dueq_result *result, int64_t asked_ms);
/* True: a message can be delivered. Drops the lost messages before that one. */
bool dueq__prefetch_has_next(dueq_consumer *consumer);
/*
 * Delivers the next message; NULL: it was lost. The message lives until the next call of a function
 * of prefetch.c.
 */
const dueq_message *dueq__prefetch_deliver(dueq_consumer *consumer);
/* The batch that has the next message; NULL: all are delivered. */
const struct dueq__batch *dueq__prefetch_first_batch(dueq_consumer *consumer);
/* Drops that batch, whose messages were released. If the release failed, their leases end. */
void dueq__prefetch_drop_batch(dueq_consumer *consumer);
void dueq__prefetch_clear(dueq_consumer *consumer);

/* heartbeat.c */

/*
 * Starts the consumer's heartbeat: a thread that extends its leases and registers the consumer. The
 * heartbeat has a client like the consumer's, which connects with its first request.
 */
dueq_status dueq__heartbeat_start(dueq_consumer *consumer);
/* Ends the thread, waits for its end, and frees the heartbeat. NULL is safe. */
void dueq__heartbeat_end(struct dueq__heartbeat *heartbeat);

#endif

/*
 * The verbs: what each asks of the server, and what it makes of the answer.
 */
#ifndef DUEQ_CORE_VERBS_H
#define DUEQ_CORE_VERBS_H

#include "../client/client.h"
#include "message.h"
#include "result.h"

/* decode.c: what the verbs make of their scripts' answers */

typedef void dueq__decode(dueq_client *client, const struct dueq__reply *reply);

dueq__decode dueq__decode_outcomes; /* a digit for each item: a status */
dueq__decode dueq__decode_states;   /* the same: a state, or 0: not found */
dueq__decode dueq__decode_purged, dueq__decode_kicked, dueq__decode_names;
dueq__decode dueq__decode_found, dueq__decode_peeked;
dueq__decode dueq__decode_counted, dueq__decode_rated, dueq__decode_workers, dueq__decode_failures;
/* Are they that many outcomes, as scripts answer them? */
bool dueq__outcomes_are_valid(dueq_bytes digits, size_t count);
/* The answer of a script that is not what it returns: fails the call. */
void dueq__answer_unexpected(dueq_client *client);

/*
 * The state of an operation whose outcomes have ids: those of pushed drafts, or a lock's token. The
 * ids' bytes are behind them.
 */
struct dueq__item_ids {
    size_t first_pushed; /* the first item that is a push */
    dueq_bytes ids[];
};

/* verb.c: how the call of a verb begins, and how its blocking form runs */

/*
 * Begins a call on `count` items and starts its words. `changes`: it is run once, also where it is
 * repeated.
 */
dueq_status dueq__verb_begin(dueq_queue *queue, const struct dueq__script *script, bool changes,
                             size_t count, dueq__decode *decode, struct dueq__resp *words);
/* The same of one that changes something and answers outcomes. */
dueq_status dueq__verb_begin_outcomes(dueq_queue *queue, const struct dueq__script *script,
                                      size_t count, struct dueq__resp *words);
/* Waits for a submitted call and takes its result. */
dueq_status dueq__verb_run(dueq_client *client, dueq_status submitted, dueq_result **result);
dueq_status dueq__verb_run_purged(dueq_client *client, dueq_status submitted, size_t *purged);
dueq_status dueq__verb_run_counts(dueq_client *client, dueq_status submitted, dueq_counts *counts);

/* arguments.c: how arguments are checked, and written to a request */

dueq_status dueq__arg_check_count(dueq_queue *queue, const void *items, size_t count);
/* Exactly one of them. */
dueq_status dueq__arg_check_rates(dueq_queue *queue, size_t minutes, size_t hours);
dueq_status dueq__arg_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                               int64_t most);
/* Also DUEQ_BY_POLICY. */
dueq_status dueq__arg_check_retry_delay(dueq_queue *queue, int64_t delay_ms);
/* The longest that a call waits: 0 not at all, DUEQ_FOREVER. */
dueq_status dueq__arg_check_wait(dueq_queue *queue, int64_t timeout_ms);
dueq_status dueq__arg_check_ticket(dueq_queue *queue, dueq_bytes ticket,
                                   struct dueq__ticket *parts);
dueq_status dueq__arg_check_tickets(dueq_queue *queue, const dueq_bytes *tickets, size_t count);
dueq_status dueq__arg_check_ids(dueq_queue *queue, const dueq_bytes *ids, size_t count);
/* Also none (size 0). */
dueq_status dueq__arg_check_any_id(dueq_queue *queue, dueq_bytes id);
/* Names of queues; NULL: none are named. */
dueq_status dueq__arg_check_targets(dueq_queue *queue, const dueq_bytes *targets, size_t count,
                                    int any);
/* What `checkpoint` stores, by itself. */
dueq_status dueq__arg_check_cursor(dueq_queue *queue, dueq_bytes cursor);
dueq_status dueq__arg_check_state(dueq_queue *queue, dueq_state state);
dueq_status dueq__arg_check_filter(dueq_queue *queue, const dueq_filter *filter);
void dueq__arg_put(struct dueq__resp *words, const dueq_bytes *items, size_t count);
/* As allow.lua takes them. */
void dueq__arg_put_targets(struct dueq__resp *words, const dueq_bytes *targets, size_t count,
                           int any);
/* A text that is kept with a message, cut between characters. */
dueq_bytes dueq__arg_cut_error(dueq_bytes text);
void dueq__arg_put_note(struct dueq__resp *words, dueq_bytes text);
/* Which process this is, as scripts keep it with what failed: "HOST PID". */
void dueq__arg_put_process(struct dueq__resp *words);
/* And the chance for its jitter. */
void dueq__arg_put_retry_delay(struct dueq__resp *words, int64_t delay_ms);
/* The operation keeps it, for its answer. */
void dueq__arg_put_state(dueq_client *client, struct dueq__resp *words, dueq_state state);
void dueq__arg_put_filter(struct dueq__resp *words, const dueq_filter *filter);
/* As scripts take it: '0', '+ms' or '@ms'. */
void dueq__arg_put_due(struct dueq__resp *words, int64_t delay_ms, int64_t at_ms);
/* Refuses a verb that is not for queues of partitions; OK: this is none. */
dueq_status dueq__arg_check_unpartitioned(dueq_queue *queue, const char *verb);

/* Queues of partitions (partition/) */

/* How a verb goes over all partitions. */
enum dueq__fanout {
    DUEQ__FANOUT_ITEMS, /* each is asked for the items that those before it do not have */
    DUEQ__FANOUT_FIRST, /* in turn, until one has the item */
    DUEQ__FANOUT_ALL,   /* all are asked; what they took away is added up */
    DUEQ__FANOUT_SUM,   /* all are asked; their counts are added up */
    DUEQ__FANOUT_RATES, /* all are asked; what they did in each minute is added up */
    DUEQ__FANOUT_SOME,  /* in turn, until one took something away */
    DUEQ__FANOUT_LAST,  /* all are asked, and answer alike: the last one's answer counts */
    DUEQ__FANOUT_PAGES  /* one after the other; the cursor says which */
};

/* A verb and its arguments, to be asked of one queue after the other. */
struct dueq__fanout_request {
    dueq_status (*submit)(dueq_queue *queue, const struct dueq__fanout_request *asked);
    enum dueq__fanout fanout;
    const dueq_bytes *items; /* tickets, ids or names */
    size_t count;
    dueq_bytes text, cursor;
    const dueq_filter *filter;
    dueq_state state;
    size_t page;  /* or so many minutes, */
    size_t hours; /* or hours */
    bool repair, any;
    int64_t ms, at_ms;
};

/* What is pushed to partitions. */
struct dueq__push_request {
    const struct dueq__script *script; /* as of dueq__push_submit(): of a schedule; else NULL */
    const dueq_draft *drafts;
    size_t count;
    dueq_queue *source; /* whose message they succeed, in one step; NULL: none's */
    dueq_bytes ticket;  /* its */
    dueq_queue *target; /* where they go; NULL: to the partition that they say */
};

/* push.c */

/*
 * dueq_push_submit(); script: which takes drafts with ids of their own as push_full does. NULL: the
 * one that is enough.
 */
dueq_status dueq__push_submit(dueq_queue *queue, const struct dueq__script *script,
                              const dueq_draft *drafts, size_t count);
/* dueq_ack_push_submit() of a schedule's message to its own queue, which is none of partitions. */
dueq_status dueq__fire_submit(dueq_queue *queue, dueq_bytes ticket, const dueq_draft *drafts,
                              size_t count);

/* workers.c: who consumes */

/* A consumer is offline when it has not registered for so long. */
#define DUEQ__OFFLINE_MS 55000
/*
 * Registers a consumer, by the session of its client, with what it says, as of consumer/presence.c.
 * size 0: it says the same as before, and NOT_FOUND: that is to be said again. EMPTY: there are too
 * many. whole: the queue is the name of partitions.
 */
dueq_status dueq__register_submit(dueq_queue *queue, bool whole, const char *session, bool leaves,
                                  dueq_bytes says);

/* timings.c: how late messages are, and how long they run */

/* Counts a lateness or a run time; ms < 0 counts as 0. */
void dueq__timing_add(dueq_timing *timing, int64_t ms);
/*
 * The time that such a part (0 to 1) of what was counted does not exceed, in ms; -1: nothing was
 * counted.
 */
int64_t dueq__timing_quantile(const dueq_timing *timing, double part);
void dueq__timings_add(dueq_timings *sum, const dueq_timings *more);
/* Adds what a script has; what is no timing is left out. */
void dueq__timings_read(dueq_timings *timings, dueq_bytes text);
/* Adds these, which are of messages of this queue, up in the server. */
dueq_status dueq__measure_submit(dueq_queue *queue, const dueq_timings *timings);

/* durable_result.c */

/* The most that the URL, the handle and `own` demand, and how long the call waits for it. */
dueq_durability dueq__durable_for(const dueq_queue *queue, const dueq_durability *own);
/*
 * The status of a call with this result: NOT_DURABLE, with its text, where what it stored is not
 * where it has to be. Notes with the result where it is.
 */
dueq_status dueq__durable_status(dueq_client *client, dueq_result *result);

/* outbox.c */

/*
 * On behalf of the operation, whose answer came, relays what is due in its queue's outbox to other
 * queues. What fails stays in the outbox, for later. on_final gets a status that says nothing.
 */
void dueq__relay(dueq_client *client, dueq__on_final *on_final);

/* reserve.c: one round trip of a consumer: what it holds is settled, and the next is reserved */

/* What a consumer says of messages that it holds. */
struct dueq__settlement {
    const dueq_bytes *acks; /* tickets of finished ones */
    size_t ack_count;       /* 0 to DUEQ_MAX_BATCH */
    dueq_bytes retry;       /* the ticket of one to give back as failed; size 0: none */
    int64_t retry_delay_ms; /* as of dueq_retry() */
    dueq_bytes retry_error;
    /*
     * Gets the outcomes, a digit for each ack and then the retry, when they come: the reserve may
     * wait for long. It is called once, or not at all where what was settled is as the failure of
     * the call says.
     */
    void (*on_settled)(void *owner, const char *outcomes, size_t count);
    void *owner;
};

/* As of dueq_reserve_any(), and what is settled first, in the same request. */
struct dueq__reserve {
    dueq_queue *const *queues;
    size_t queue_count;
    dueq_order order;
    bool are_partitions;       /* they are partitions: up to DUEQ_MAX_PARTITIONS, each once */
    enum dueq__wait_kind kind; /* ORDERED: without a settlement */
    bool with_lateness;        /* the result says how late each message is */
    bool take_expired_now;     /* ended leases are taken unwatched: core/scripts/lib/watch.lua */
    /*
     * When to look at each, by the monotonic clock in us, where it need not be asked before; 0: it
     * is. NULL: all are.
     */
    const int64_t *next_check_us;
    size_t count; /* 0 only settles, and waits for nothing: EMPTY */
    int64_t timeout_ms, lease_ms;
    int64_t default_lease_ms; /* of messages that have no lease, where lease_ms is 0 */
    struct dueq__settlement
        settlement; /* of the first queue's messages, which is the only one then */
};

/* What is asked is borrowed until it returns. */
dueq_status dueq__reserve_submit(const struct dueq__reserve *asked);
dueq_status dueq__reserve_check_queues(dueq_queue *const *queues, size_t count, dueq_order order);

#endif

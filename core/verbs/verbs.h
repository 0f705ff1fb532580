/*
 * The verbs: what each verb asks of the server, and how it reads the answer.
 */
#ifndef DUEQ_CORE_VERBS_H
#define DUEQ_CORE_VERBS_H

#include "../client/client.h"
#include "message.h"
#include "result.h"

/* decode.c: how the verbs read the answers of their scripts */

typedef void dueq__decode(dueq_client *client, const struct dueq__reply *reply);

dueq__decode dueq__decode_outcomes; /* a digit for each item: a status */
dueq__decode dueq__decode_states;   /* the same: a state, or 0: not found */
dueq__decode dueq__decode_purged, dueq__decode_kicked, dueq__decode_names;
dueq__decode dueq__decode_found, dueq__decode_peeked;
dueq__decode dueq__decode_limits;
dueq__decode dueq__decode_counted, dueq__decode_rated, dueq__decode_workers, dueq__decode_failures;
dueq__decode dueq__decode_groups, dueq__decode_purged_page, dueq__decode_batches;
/* Whether the text is an outcome, one digit, for each of `count` items. */
bool dueq__outcomes_are_valid(dueq_bytes digits, size_t count);
/* Fails the call: the server's answer is not what the script returns. */
void dueq__answer_unexpected(dueq_client *client);

/* The state of an operation that pushes: the ids of its items, and behind them their bytes. */
struct dueq__item_ids {
    size_t first_pushed; /* the first item that is a push */
    dueq_bytes ids[];
};

/* verb.c: how the call of a verb begins, and how its blocking form runs */

/*
 * Begins a call on `count` items, and starts its words. changes: the script changes something, so
 * the server runs it once, even if the client sends it again.
 */
dueq_status dueq__verb_begin(dueq_queue *queue, const struct dueq__script *script, bool changes,
                             size_t count, dueq__decode *decode, struct dueq__resp *words);
/* The same, of a script that changes something and answers outcomes. */
dueq_status dueq__verb_begin_outcomes(dueq_queue *queue, const struct dueq__script *script,
                                      size_t count, struct dueq__resp *words);
/* The script that can ack these tickets, which are valid, at the least cost. */
const struct dueq__script *dueq__verb_ack_script(const dueq_queue *queue, const dueq_bytes *tickets,
                                                 size_t count);
/* The same where the end of any of the messages is noted, or one has a result. */
const struct dueq__script *dueq__verb_ack_end_script(const dueq_queue *queue,
                                                     const dueq_bytes *tickets, size_t count);
/* Whether the end of any of the messages is noted. */
bool dueq__tickets_are_noted(const dueq_bytes *tickets, size_t count);
/* Waits for a submitted call, and takes its result. */
dueq_status dueq__verb_run(dueq_client *client, dueq_status submitted, dueq_result **result);
dueq_status dueq__verb_run_purged(dueq_client *client, dueq_status submitted, size_t *purged);
dueq_status dueq__verb_run_counts(dueq_client *client, dueq_status submitted, dueq_counts *counts);

/* arguments.c: how arguments are checked, and written to a request */

dueq_status dueq__arg_check_count(dueq_queue *queue, const void *items, size_t count);
/* Exactly one of minutes and hours must be given. */
dueq_status dueq__arg_check_rates(dueq_queue *queue, size_t minutes, size_t hours);
dueq_status dueq__arg_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                               int64_t most);
/* DUEQ_BY_POLICY is allowed, too. */
dueq_status dueq__arg_check_retry_delay(dueq_queue *queue, int64_t delay_ms);
/* How long a call waits: 0 (it does not wait) to DUEQ_MAX_TIME_MS, or DUEQ_FOREVER. */
dueq_status dueq__arg_check_wait(dueq_queue *queue, int64_t timeout_ms);
dueq_status dueq__arg_check_ticket(dueq_queue *queue, dueq_bytes ticket,
                                   struct dueq__ticket *parts);
dueq_status dueq__arg_check_tickets(dueq_queue *queue, const dueq_bytes *tickets, size_t count);
dueq_status dueq__arg_check_ids(dueq_queue *queue, const dueq_bytes *ids, size_t count);
/* Size 0 is allowed: no id is named. */
dueq_status dueq__arg_check_any_id(dueq_queue *queue, dueq_bytes id);
dueq_status dueq__arg_check_group(dueq_queue *queue, dueq_bytes group);
dueq_status dueq__arg_check_batch(dueq_queue *queue, dueq_bytes batch);
/* A draft of a call in which one is a member of a batch. batch: that of the first draft. */
dueq_status dueq__arg_check_member(dueq_queue *queue, const dueq_draft *draft, dueq_bytes batch);
/* The names of queues to which dead letters may go. NULL: none is named. */
dueq_status dueq__arg_check_targets(dueq_queue *queue, const dueq_bytes *targets, size_t count,
                                    int any);
dueq_status dueq__arg_check_limits(dueq_queue *queue, const dueq_limit_options *options);
/* Of how many partitions the queue is one; 1: it is an ordinary queue. */
size_t dueq__partition_count(const dueq_queue *queue);
/* The text that `checkpoint` stores. */
dueq_status dueq__arg_check_cursor(dueq_queue *queue, dueq_bytes cursor);
dueq_status dueq__arg_check_state(dueq_queue *queue, dueq_state state);
dueq_status dueq__arg_check_filter(dueq_queue *queue, const dueq_filter *filter);
void dueq__arg_put(struct dueq__resp *words, const dueq_bytes *items, size_t count);
/* Puts the names as allow.lua takes them. */
void dueq__arg_put_targets(struct dueq__resp *words, const dueq_bytes *targets, size_t count,
                           int any);
/* Puts the changes of limits as limit.lua takes them. */
void dueq__arg_put_limits(struct dueq__resp *words, const dueq_limit_options *options);
/*
 * Writes the name of a group as tickets have it, and reads such a name. Each returns the size.
 * `out` has room for DUEQ__ESCAPED_GROUP bytes, or, of a name that is read, for its size.
 */
#define DUEQ__ESCAPED_GROUP ((size_t)3 * DUEQ_MAX_GROUP)
size_t dueq__group_escape(dueq_bytes group, char *out);
size_t dueq__group_unescape(dueq_bytes name, char *out);
/* Puts the name of a group as tickets have it. */
void dueq__arg_put_group(struct dueq__resp *words, dueq_bytes group);
/* The text of an error, cut between two characters to at most DUEQ_MAX_ERROR bytes. */
dueq_bytes dueq__arg_cut_error(dueq_bytes text);
void dueq__arg_put_note(struct dueq__resp *words, dueq_bytes text);
/* Puts "HOST PID" of this process, which scripts keep with a failure. */
void dueq__arg_put_process(struct dueq__resp *words);
/* The result of an ack. */
dueq_status dueq__arg_check_result(dueq_queue *queue, dueq_bytes result);
void dueq__arg_put_result(struct dueq__resp *words, dueq_bytes result);
/* Puts who ends the messages, and no result, if ack_end.lua ends them. */
void dueq__arg_put_ender(struct dueq__resp *words, const dueq_bytes *tickets, size_t count);
/* Puts the delay, and a random number for the jitter of a backoff. */
void dueq__arg_put_retry_delay(struct dueq__resp *words, int64_t delay_ms);
/* Puts the state. It is also the state of the operation, for reading the answer. */
void dueq__arg_put_state(dueq_client *client, struct dueq__resp *words, dueq_state state);
void dueq__arg_put_filter(struct dueq__resp *words, const dueq_filter *filter);
/* Puts when a message is due, as scripts take it: '0', '+ms' or '@ms'. */
void dueq__arg_put_due(struct dueq__resp *words, int64_t delay_ms, int64_t at_ms);
/* Fails if the queue has partitions, which this verb cannot do. */
dueq_status dueq__arg_check_unpartitioned(dueq_queue *queue, const char *verb);

/* Queues with partitions (partition/) */

/* How a verb asks all partitions. */
enum dueq__fanout {
    DUEQ__FANOUT_ITEMS, /* each is asked for the items that those before it do not have */
    DUEQ__FANOUT_FIRST, /* in turn, until one has the item */
    DUEQ__FANOUT_HOME,  /* those that may be the home of a batch, until one has the batch */
    DUEQ__FANOUT_ALL,   /* all are asked; what they took away is added up */
    DUEQ__FANOUT_TWICE, /* the same; before, all were asked whether they refuse */
    DUEQ__FANOUT_SUM,   /* all are asked; their counts are added up */
    DUEQ__FANOUT_RATES, /* all are asked; what they did in each minute is added up */
    DUEQ__FANOUT_SOME,  /* in turn, until one took something away */
    DUEQ__FANOUT_LAST,  /* all are asked, and answer alike: the last one's answer counts */
    DUEQ__FANOUT_PAGES  /* one after the other; the cursor says which */
};

/* A verb and its arguments, for one partition after the other. */
struct dueq__fanout_request {
    dueq_status (*submit)(dueq_queue *queue, const struct dueq__fanout_request *asked);
    enum dueq__fanout fanout;
    const dueq_bytes *items; /* tickets, ids or names */
    size_t count;
    dueq_bytes text, cursor;
    const dueq_filter *filter;
    const dueq_limit_options *limits;
    dueq_state state;
    size_t page; /* or minutes */
    size_t hours;
    bool repair;
    int any;
    int64_t numbers[2]; /* durations, times, numbers and flags, in the order of the arguments */
};

/* What remove does besides the values of dueq_remove(): it only tells whether it would refuse, */
#define DUEQ__REMOVE_LOOKS (-1)
/* or it removes a partition by force, and all other partitions of the queue go, too. */
#define DUEQ__REMOVE_WHOLE 2

/* A push to a queue with partitions. */
struct dueq__push_request {
    const struct dueq__script *script; /* of a schedule; NULL: of no schedule */
    bool keys_are_groups;              /* a schedule's key is the group of its jobs */
    const dueq_draft *drafts;
    size_t count;
    dueq_queue
        *source;       /* has the message that they succeed, in one step; NULL: they succeed none */
    dueq_bytes ticket; /* of that message */
    const dueq_bytes *result; /* is kept with its end; NULL: none */
    dueq_queue *target;       /* where they go; NULL: to the partitions that are chosen for them */
    dueq_queue *home; /* has the batch of which they are members, no partitions; NULL: not known */
};

/* A batch is opened in a queue with partitions, or gets members. */
struct dueq__batch_request {
    const dueq_batch_options *options; /* NULL: it gets members */
    dueq_queue *target;                /* the queue that gets them */
    const dueq_draft *drafts;
    size_t count;
};

/* decode.c: sets the error of a result of which items are BACKLOG. */
void dueq__refused_tell(dueq_client *client, const dueq_result *result);

/* push.c */

/*
 * As dueq_push_submit(). script: of a schedule verb, with the arguments of push_full. NULL: the
 * fastest script that can do what the drafts ask for.
 */
dueq_status dueq__push_submit(dueq_queue *queue, const struct dueq__script *script,
                              const dueq_draft *drafts, size_t count);
/* Adds a draft of this id to the words, as push_full takes it. */
void dueq__push_put_draft(dueq_client *client, const dueq_draft *draft, dueq_bytes id,
                          struct dueq__resp *words);
/* As dueq_ack_push_submit(), of a schedule's message to its own queue, which has no partitions. */
dueq_status dueq__fire_submit(dueq_queue *queue, dueq_bytes ticket, const dueq_draft *drafts,
                              size_t count);

/* workers.c: who consumes */

/* A consumer is offline when it has not registered for so long. With many queues it has longer. */
#define DUEQ__OFFLINE_MS 55000
/*
 * Registers a consumer, by the session of its client. left_ms: after this time without a further
 * registration the consumer is offline; 0: the consumer ends. says: its text, as
 * consumer/presence.c writes it; size 0: the text has not changed. whole: the queue has partitions.
 * Ends with NOT_FOUND: the server does not have the text, and the consumer must send it. EMPTY: too
 * many consumers are registered.
 */
dueq_status dueq__register_submit(dueq_queue *queue, bool whole, const char *session,
                                  int64_t left_ms, dueq_bytes says);

/* timings.c: how late messages are, and how long they run */

/* Counts a lateness or a run time; ms < 0 counts as 0. */
void dueq__timing_add(dueq_timing *timing, int64_t ms);
/*
 * The quantile of the counted times, in ms: this part of them (0 to 1) is not longer. -1: no time
 * was counted.
 */
int64_t dueq__timing_quantile(const dueq_timing *timing, double part);
void dueq__timings_add(dueq_timings *sum, const dueq_timings *more);
/* Adds timings as scripts write them. Words that are no timing are left out. */
void dueq__timings_read(dueq_timings *timings, dueq_bytes text);
/* Adds timings to those that the server has of this queue. */
dueq_status dueq__measure_submit(dueq_queue *queue, const dueq_timings *timings);

/* durable_result.c */

/* The most that the URL, the handle and `own` demand, and how long the call waits for it. */
dueq_durability dueq__durable_for(const dueq_queue *queue, const dueq_durability *own);
/*
 * The status of a call with this result. Sets how many replicas and disks of the result have its
 * messages. Fewer than the call asks for: NOT_DURABLE, with the text of the error.
 */
dueq_status dueq__durable_status(dueq_client *client, dueq_result *result);

/* outbox.c */

/*
 * Relays the due entries of the outbox of the operation's queue to other queues. The operation has
 * its answer, and goes on in on_final(), whose status and result mean nothing. An entry that cannot
 * be relayed stays in the outbox.
 */
void dueq__relay(dueq_client *client, dueq__on_final *on_final);

/* reserve.c: one request of a consumer settles messages, and reserves the next ones */

/* The messages that a consumer settles. */
struct dueq__settlement {
    const dueq_bytes *acks; /* tickets of finished messages */
    size_t ack_count;       /* 0 to DUEQ_MAX_BATCH */
    dueq_bytes retry;       /* the ticket of a failed message; size 0: none */
    int64_t retry_delay_ms; /* as dueq_retry() takes it */
    dueq_bytes retry_error;
    /*
     * Gets the outcomes, a digit for each ack and then one for the retry. It is called when they
     * come, since the reserve may wait for long. If the call fails before, it is not called, and
     * the status of the call says what is known of the settlement.
     */
    void (*on_settled)(void *owner, const char *outcomes, size_t count);
    void *owner;
};

/* What a caller knows of a queue since an earlier reserve. All zero: nothing. */
struct dueq__known {
    bool empty;            /* it had no message: a wake token, or its next event, must come first */
    int64_t next_check_us; /* its next event, by the monotonic clock; DUEQ__NEVER: it has none */
    unsigned duties;       /* DUEQ__DUTY_TIMEKEEPER, or none */
    int64_t place_ms;      /* as of struct dueq__watch */
    uint64_t listed;       /* reserve.c: which reserve has listed it */
};

/* The arguments of dueq_reserve_any(), and a settlement, which comes first. */
struct dueq__reserve {
    dueq_queue *const *queues;
    size_t queue_count;
    dueq_order order;
    bool are_partitions; /* of one queue: up to DUEQ_MAX_PARTITIONS, each once */
    /*
     * The numbers and the kind; reserve.c sets the rest. count 0: the call only settles, or gives
     * the timekeeping back, does not wait, and returns EMPTY. kind ORDERED: there is no
     * settlement. default_lease_ms: if lease_ms is 0, of messages that have no lease of their own.
     * take_expired_now: it does not watch ended leases (core/scripts/lib/watch.lua).
     */
    struct dueq__wait_terms terms;
    /*
     * What the caller knows of each queue. NULL: nothing, and the reserve asks all queues. The
     * reserve takes the duties over. first: for each queue the index of the first queue with its
     * name, whose `known` counts. NULL: the queues are partitions, or nothing is known.
     */
    struct dueq__known *known;
    const size_t *first;
    /* Of queues[settled_queue]. With several queues, the reserve must ask this queue. */
    struct dueq__settlement settlement;
    size_t settled_queue;
};

/* The arguments are read before the function returns. */
dueq_status dueq__reserve_submit(const struct dueq__reserve *asked);
/*
 * When a reserve with `known` has ended, before its result is taken: writes to `known` what is
 * known of its queues now. After a failure nothing is.
 */
void dueq__reserve_learn(const dueq_client *client, struct dueq__known *known, const size_t *first);
/*
 * Gives up the timekeeping of a session, which may be another client's: one of the other consumers
 * that wait for the queue keeps its time. place_ms: as of struct dueq__watch.
 */
dueq_status dueq__reserve_pass_on(dueq_queue *queue, const char *session, int64_t place_ms);
dueq_status dueq__reserve_check_queues(dueq_queue *const *queues, size_t count, dueq_order order);

#endif

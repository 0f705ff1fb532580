/* A part of dueq.h: the verbs, each blocking and as dueq_VERB_submit(). Made from core/verbs.toml by core/verbs.py. */
#ifndef DUEQ_VERBS_H
#define DUEQ_VERBS_H

#include "dueq.h"

/*
 * Stores messages, all of a call in one step: READY, or DELAYED until they are due.
 * count: 1 to DUEQ_MAX_BATCH.
 * Items: OK, or DUPLICATE when a living message has that id, or it is still unique (unique_ms).
 * Errors: TOO_LARGE. Nothing is stored on failure, but for CLOSED and TIMEOUT, which do not know. To push again
 * with the same id then makes no second message while the first lives, and none at all within unique_ms.
 */
DUEQ_API dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count);

/*
 * Takes up to `count` (1 to DUEQ_MAX_BATCH) ready messages under a lease of lease_ms each (0: the
 * message's own, else DUEQ_DEFAULT_LEASE_MS). With none ready it waits up to timeout_ms (0: not at
 * all, DUEQ_FOREVER: without end) for the first, in one blocking command, without polling.
 * Returns EMPTY after the wait. A message whose lease ends comes back READY.
 */
DUEQ_API dueq_status dueq_reserve(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                  int64_t lease_ms, dueq_result **result);
DUEQ_API dueq_status dueq_reserve_submit(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                         int64_t lease_ms);

/*
 * The same from several queues of one client (1 to DUEQ_MAX_QUEUES, each once), in one wait. The
 * messages of a call come from one of them, dueq_result_queue(): the first in order that has any.
 */
DUEQ_API dueq_status dueq_reserve_any(dueq_queue *const *queues, size_t queue_count,
                                      dueq_order order, size_t count, int64_t timeout_ms,
                                      int64_t lease_ms, dueq_result **result);
DUEQ_API dueq_status dueq_reserve_any_submit(dueq_queue *const *queues, size_t queue_count,
                                             dueq_order order, size_t count, int64_t timeout_ms,
                                             int64_t lease_ms);

/* Finishes messages: they are gone. Items: OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                              dueq_result **result);
DUEQ_API dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count);

/*
 * Finishes a message and pushes its successors in one step: to `target`, another queue of the same
 * client, or (NULL) to its own. Where the lease was lost nothing is pushed, and every item says so.
 * Items: first the message's, then one for each draft, as of push.
 */
DUEQ_API dueq_status dueq_ack_push(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                   const dueq_draft *drafts, size_t count, dueq_result **result);
DUEQ_API dueq_status dueq_ack_push_submit(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                          const dueq_draft *drafts, size_t count);

/*
 * Gives a message back to be delivered again in delay_ms (0: now, DUEQ_BY_POLICY: by its backoff).
 * `error` (may be empty; cut at DUEQ_MAX_ERROR bytes) is kept with it.
 * Returns OK, EXHAUSTED when its attempts are used up and it is dead, or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error);
DUEQ_API dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                       dueq_bytes error);

/*
 * Gives messages back as if they had not been delivered: it does not count as an attempt. delay_ms:
 * 0: now, at the front of the line, in their order; else they are DELAYED. Items: OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_release(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                  int64_t delay_ms, dueq_result **result);
DUEQ_API dueq_status dueq_release_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                         int64_t delay_ms);

/* Sets the ends of leases to lease_ms (1 or more) from now. Items: OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_extend(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                 int64_t lease_ms, dueq_result **result);
DUEQ_API dueq_status dueq_extend_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                        int64_t lease_ms);

/*
 * Ends a message, with a reason (as `error` of retry): it is DEAD or, by its policy, moves to its
 * dead-letter queue or is gone. Returns OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);
DUEQ_API dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);

/*
 * Takes messages back from whatever state they are in. Items: OK or NOT_FOUND, and dueq_result_state(), the
 * state that it was in: of a LEASED one the work may have begun, or be done. Its holder gets LEASE_LOST on its next
 * call; a consumer does not deliver it any more where it was cancelled a quarter of a second before.
 */
DUEQ_API dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                                 dueq_result **result);
DUEQ_API dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/* Looks a message up by its id, in any state, without touching it. Returns OK or NOT_FOUND. */
DUEQ_API dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result);
DUEQ_API dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id);

/*
 * Gives dead messages back to be delivered at once, with as many attempts again as they had.
 * Items: OK, or NOT_FOUND when there is no dead message of that id.
 */
DUEQ_API dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Gives dead messages that fit the filter (NULL: all) back, as kick does: looks at up to `most` (1 to
 * DUEQ_MAX_BATCH), beginning at `cursor` (size 0: at the first that died). *result has
 * dueq_result_kicked() and the cursor of the next call. Returns OK.
 */
DUEQ_API dueq_status dueq_kick_all(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                                   size_t most, dueq_result **result);
DUEQ_API dueq_status dueq_kick_all_submit(dueq_queue *queue, const dueq_filter *filter,
                                          dueq_bytes cursor, size_t most);

/*
 * Makes delayed messages dead: they are kept in this queue, whatever their policy says, and not delivered
 * until they are kicked. Items: OK, or NOT_FOUND when there is no delayed message of that id.
 */
DUEQ_API dueq_status dueq_kill(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_kill_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Gives a delayed message another due time: in delay_ms, or at at_ms where that is not 0 (as in a
 * draft); both 0: now. Returns OK, or NOT_FOUND when there is no delayed message of that id.
 */
DUEQ_API dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                     int64_t at_ms);
DUEQ_API dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                            int64_t at_ms);

/*
 * A paused queue hands nothing out until it is resumed, and no wait ends by a message; all other verbs
 * work as ever. Waiting consumers wake when it is resumed. Returns OK also where nothing changes.
 */
DUEQ_API dueq_status dueq_pause(dueq_queue *queue);
DUEQ_API dueq_status dueq_pause_submit(dueq_queue *queue);

/* Ends a pause. Returns OK also where nothing changes. */
DUEQ_API dueq_status dueq_resume(dueq_queue *queue);
DUEQ_API dueq_status dueq_resume_submit(dueq_queue *queue);

/*
 * Takes up to `most` (1 to DUEQ_MAX_BATCH) messages of one state away for good, in one bounded step;
 * *purged (may be NULL) counts them. The holder of a leased one gets LEASE_LOST on its next call.
 * Returns OK when there may be more of that state, EMPTY when there are none: call again until then.
 */
DUEQ_API dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t most, size_t *purged);
DUEQ_API dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t most);

/*
 * Takes a queue away with all that it has: up to `most` (1 to DUEQ_MAX_BATCH) messages of whatever state in one bounded
 * step, and when there are none left, its counters, its history and the ids that are still unique. *purged (may be
 * NULL) counts the messages. The holder of a leased one gets LEASE_LOST on its next call. A message that is pushed
 * meanwhile is removed by a later step, or stays as a whole: then the queue is there again. What ends by itself
 * stays until then: locks, and what the server remembers of calls.
 * Returns OK when there is more to remove, EMPTY when there is nothing left: call again until then.
 */
DUEQ_API dueq_status dueq_remove(dueq_queue *queue, size_t most, size_t *purged);
DUEQ_API dueq_status dueq_remove_submit(dueq_queue *queue, size_t most);

/*
 * Looks for what others broke, while the queue is in use, in bounded steps; with `repair` (else 0) each step mends what
 * it finds, and no message is lost by it. `cursor`: size 0 begins, then that of the step before until it is empty; it
 * holds what the check knows so far, of the same queue, and `repair` is as at the beginning. *result has
 * dueq_result_finding() of all steps so far. Where two mend one queue at once, the later one does. Returns OK.
 */
DUEQ_API dueq_status dueq_check(dueq_queue *queue, int repair, dueq_bytes cursor,
                                dueq_result **result);
DUEQ_API dueq_status dueq_check_submit(dueq_queue *queue, int repair, dueq_bytes cursor);

/* Counts the queue. Never creates it. */
DUEQ_API dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts);
DUEQ_API dueq_status dueq_stats_submit(dueq_queue *queue);

/*
 * Looks at messages of one state without touching them: READY in the order of delivery, the others
 * by their time. `most`: 1 to DUEQ_MAX_BATCH; `cursor`: of the page before, size 0: the first page.
 * A page may have fewer messages than `most`; it is the last when its cursor is empty. What changes
 * its place between two pages of READY may be seen twice or not at all. Returns OK.
 */
DUEQ_API dueq_status dueq_peek(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t most,
                               dueq_result **result);
DUEQ_API dueq_status dueq_peek_submit(dueq_queue *queue, dueq_state state, dueq_bytes cursor,
                                      size_t most);

/*
 * What the queue did in each of the last `minutes` (1 to DUEQ_MAX_RATES) minutes in which anything
 * happened, the latest first; the first is still running. Items have dueq_result_rate(). Returns OK.
 */
DUEQ_API dueq_status dueq_rates(dueq_queue *queue, size_t minutes, dueq_result **result);
DUEQ_API dueq_status dueq_rates_submit(dueq_queue *queue, size_t minutes);

/*
 * Names the queues of the client's server that were ever used, a page at a time, in no order; a name
 * may come twice. `cursor`: of the page before, size 0: the first. Items have dueq_result_id().
 * It looks through the names of all of the server's keys (SCAN), a bounded number for each page.
 */
DUEQ_API dueq_status dueq_queues(dueq_client *client, dueq_bytes cursor, dueq_result **result);
DUEQ_API dueq_status dueq_queues_submit(dueq_client *client, dueq_bytes cursor);

/*
 * A lock of a queue's: one owner at a time, for ttl_ms (1 or more) unless it is extended (relock) or
 * given up (unlock) before. name: 1 to DUEQ_MAX_LOCK_NAME bytes of UTF-8 without control characters.
 * Waits up to timeout_ms (as reserve does) for its turn, in one blocking command.
 * Returns OK, and the owner's token is dueq_result_id(*result, 0); or TAKEN.
 */
DUEQ_API dueq_status dueq_lock(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                               int64_t timeout_ms, dueq_result **result);
DUEQ_API dueq_status dueq_lock_submit(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                                      int64_t timeout_ms);

/* The owner's alone: sets its end to ttl_ms from now. Returns OK, or LEASE_LOST to any other token. */
DUEQ_API dueq_status dueq_relock(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                                 int64_t ttl_ms);
DUEQ_API dueq_status dueq_relock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                                        int64_t ttl_ms);

/* The owner's alone: gives it up. Returns OK, or LEASE_LOST to any other token. */
DUEQ_API dueq_status dueq_unlock(dueq_queue *queue, dueq_bytes name, dueq_bytes token);
DUEQ_API dueq_status dueq_unlock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token);

/*
 * For those who offer them all, the verbs that are alike: X(name). PLAIN ones have no arguments and
 * no result; ID ones take ids, and each item is OK or NOT_FOUND. COMMANDS: those that the shell has
 * like that, X(name, what it does, and more about it).
 */
#define DUEQ_PLAIN_VERBS(X) \
    X(pause) \
    X(resume)
#define DUEQ_PLAIN_COMMANDS(X) \
    X(pause, "Delivers nothing until the queue is resumed", "A paused queue takes pushes, and acks of what is held, as ever.") \
    X(resume, "Ends a pause", "Waiting consumers wake.")
#define DUEQ_ID_VERBS(X) \
    X(kick) \
    X(kill)
#define DUEQ_ID_COMMANDS(X) \
    X(kill, "Makes delayed messages dead, until they are kicked", "They are kept in this queue, also those with --dead-letter or --drop.")

#endif

/* A part of dueq.h: the verbs, each blocking and as dueq_VERB_submit(). Made from core/verbs.toml by core/verbs.py. */
#ifndef DUEQ_VERBS_H
#define DUEQ_VERBS_H

#include "dueq.h"

/*
 * Stores messages, all of a call in one step: READY, or DELAYED until they are due.
 * count: 1 to DUEQ_MAX_BATCH.
 * Items: OK, or DUPLICATE when a living message has that id, or it is still unique (unique_ms).
 * Errors: TOO_LARGE; NOT_DURABLE: it is stored, and the result has the ids. Nothing is stored on any other failure, but
 * for CLOSED and TIMEOUT, which do not know. To push again with the same id then makes no second message while the first
 * lives, and none at all within unique_ms; it answers DUPLICATE when the message is as durable as that push asks for.
 */
DUEQ_API dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count);

/*
 * Reserves up to `count` (1 to DUEQ_MAX_BATCH) ready messages for lease_ms each (0: the message's
 * own lease, else DUEQ_DEFAULT_LEASE_MS). With none ready it waits up to timeout_ms (0: not at
 * all, DUEQ_FOREVER: without end) for the first, in one blocking command, without polling.
 * Returns EMPTY after the wait. A message whose lease ends is READY again, counts a crash, and is
 * delivered alone. Where messages over 1 MiB were pushed, 8 MiB are delivered at most, or one message.
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

/* Acknowledges messages, which deletes them. Items: OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                              dueq_result **result);
DUEQ_API dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count);

/*
 * Acknowledges a message and pushes its successors in one step: to `target`, another queue of the same
 * client, or (NULL) to its own. When the lease was lost nothing is pushed, and every item is LEASE_LOST.
 * Items: first the message's, then one for each draft, as of push.
 */
DUEQ_API dueq_status dueq_ack_push(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                   const dueq_draft *drafts, size_t count, dueq_result **result);
DUEQ_API dueq_status dueq_ack_push_submit(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                          const dueq_draft *drafts, size_t count);

/*
 * Declares a schedule, for as long as the queue lives or until its message, of the id `schedule:NAME`, is cancelled: its
 * jobs are messages of the queue, `NAME:TIME` (ms since 1970), at each of its times. The consumer that reserves the
 * schedule's message calls dueq_fire() with it. One of another definition is replaced, from now on.
 * Returns OK, or DUPLICATE: it is declared like that. Errors: INVALID, TOO_LARGE.
 */
DUEQ_API dueq_status dueq_schedule(dueq_queue *queue, const dueq_plan *schedule);
DUEQ_API dueq_status dueq_schedule_submit(dueq_queue *queue, const dueq_plan *schedule);

/*
 * Fires a schedule: acknowledges its message (dueq_is_schedule()), which is leased, and pushes in the same step the jobs
 * whose times have come and the schedule's next message. On failure retry the message: it has no limit of attempts.
 * Items: first the message's, then one for each job, then the next message's; as of ack_push.
 * Errors: INVALID (also a time zone that this machine does not have), CORRUPT.
 */
DUEQ_API dueq_status dueq_fire(dueq_queue *queue, const dueq_message *message,
                               dueq_result **result);
DUEQ_API dueq_status dueq_fire_submit(dueq_queue *queue, const dueq_message *message);

/*
 * Ends a delivery as a failure. The message is due again in delay_ms (0: now, DUEQ_BY_POLICY: by its backoff).
 * `error` (may be empty; cut at DUEQ_MAX_ERROR bytes) is kept with it.
 * Returns OK, EXHAUSTED when its attempts are used up and it is dead, or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error);
DUEQ_API dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                       dueq_bytes error);

/*
 * Gives messages back: their deliveries do not count as attempts. delay_ms: 0: they are READY and delivered
 * before all others, in their order; else they are DELAYED. Items: OK or LEASE_LOST.
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
 * Stores a text with a leased message, as its header `cursor`: each further delivery has it, so that the next
 * consumer goes on from there. It takes the place of an earlier one; size 0 removes it. Nothing else of the message
 * changes. Returns OK or LEASE_LOST. Errors: TOO_LARGE (all headers together), CORRUPT.
 */
DUEQ_API dueq_status dueq_checkpoint(dueq_queue *queue, dueq_bytes ticket, dueq_bytes text);
DUEQ_API dueq_status dueq_checkpoint_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes text);

/*
 * Makes a message DEAD, whatever attempts it has left, with a reason (as `error` of retry). By its policy it moves
 * to its dead-letter queue or is deleted instead. Returns OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);
DUEQ_API dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);

/*
 * Deletes messages in any state. Items: OK or NOT_FOUND, and dueq_result_state(), the state that it was in: the work
 * of a LEASED one may have begun or be done. Its holder gets LEASE_LOST on its next call; a consumer that has prefetched
 * it does not deliver it any more a quarter of a second later.
 */
DUEQ_API dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                                 dueq_result **result);
DUEQ_API dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/* Finds a message by its id, in any state, without changing it. Returns OK or NOT_FOUND. */
DUEQ_API dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result);
DUEQ_API dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id);

/*
 * Makes dead messages READY again, with all their attempts.
 * Items: OK, or NOT_FOUND when there is no dead message of that id.
 */
DUEQ_API dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Makes dead messages that fit the filter (NULL: all) READY again, as kick does. Reads up to `page` (1 to
 * DUEQ_MAX_BATCH) dead messages from `cursor` on (size 0: from the first that died). *result has
 * dueq_result_kicked() and the cursor of the next call. Returns OK.
 */
DUEQ_API dueq_status dueq_kick_all(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                                   size_t page, dueq_result **result);
DUEQ_API dueq_status dueq_kick_all_submit(dueq_queue *queue, const dueq_filter *filter,
                                          dueq_bytes cursor, size_t page);

/*
 * Makes delayed messages dead. They stay in this queue, whatever their policy, and are not delivered until they are
 * kicked. Items: OK, or NOT_FOUND when there is no delayed message of that id.
 */
DUEQ_API dueq_status dueq_kill(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_kill_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Changes the due time of a delayed message: to delay_ms from now, or to at_ms if that is not 0 (as in a
 * draft); both 0: now. Returns OK, or NOT_FOUND when there is no delayed message of that id.
 */
DUEQ_API dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                     int64_t at_ms);
DUEQ_API dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                            int64_t at_ms);

/*
 * Stops deliveries of the queue until it is resumed: no wait ends with a message. All other verbs work. Waiting
 * consumers continue when it is resumed. Returns OK, also if it is paused already.
 */
DUEQ_API dueq_status dueq_pause(dueq_queue *queue);
DUEQ_API dueq_status dueq_pause_submit(dueq_queue *queue);

/* Ends a pause, and wakes waiting consumers. Returns OK, also if it is not paused. */
DUEQ_API dueq_status dueq_resume(dueq_queue *queue);
DUEQ_API dueq_status dueq_resume_submit(dueq_queue *queue);

/*
 * Sets the list of queues to which messages of this queue may go as their own `dead_letter` says. dead_letter: the
 * names of these queues, `count` (1 to DUEQ_MAX_BATCH) of them; NULL: the list stays as it is, or, with `any` (else 0), there is no
 * list any more, and messages may go to any queue. A message that names a queue that is not in the list stays in the
 * outbox, with the reason, until the list has that queue. The target of dueq_ack_push() needs no entry.
 * Items have dueq_result_id(): the names in the list, sorted; no item: there is no list. Returns OK. Errors: NAME, INVALID.
 */
DUEQ_API dueq_status dueq_allow(dueq_queue *queue, const dueq_bytes *dead_letter, size_t count,
                                int any, dueq_result **result);
DUEQ_API dueq_status dueq_allow_submit(dueq_queue *queue, const dueq_bytes *dead_letter,
                                       size_t count, int any);

/*
 * Deletes up to `page` (1 to DUEQ_MAX_BATCH) messages of one state, in one bounded step;
 * *purged (may be NULL) counts them. The holder of a leased one gets LEASE_LOST on its next call.
 * Returns OK when there may be more of that state, EMPTY when there are none: call again until then.
 */
DUEQ_API dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t page, size_t *purged);
DUEQ_API dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t page);

/*
 * Deletes a queue in one step: its messages, its counters and history, its list of targets (dueq_allow()), and the ids
 * that are still unique. *purged (may be NULL) counts the messages. The holder of a leased one gets LEASE_LOST on its next
 * call. A message that is pushed afterwards creates the queue again. Locks and reply memories stay until they expire.
 * Returns EMPTY: there is nothing left.
 */
DUEQ_API dueq_status dueq_remove(dueq_queue *queue, size_t *purged);
DUEQ_API dueq_status dueq_remove_submit(dueq_queue *queue);

/*
 * Finds inconsistent entries, in bounded steps, while the queue is in use. With `repair` (else 0) each step repairs what
 * it finds, without losing a message. `cursor`: size 0 begins; each further call gets that of the call before, of the
 * same queue with the same `repair`, until it is empty. *result has dueq_result_finding() of all steps so far. When two
 * checks repair one queue at once, only the later one does. Returns OK.
 */
DUEQ_API dueq_status dueq_check(dueq_queue *queue, int repair, dueq_bytes cursor,
                                dueq_result **result);
DUEQ_API dueq_status dueq_check_submit(dueq_queue *queue, int repair, dueq_bytes cursor);

/* Counts the queue's messages and events. Never creates the queue. */
DUEQ_API dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts);
DUEQ_API dueq_status dueq_stats_submit(dueq_queue *queue);

/*
 * Reads messages of one state without changing them: READY in the order of delivery, the others
 * by their time. `page`: 1 to DUEQ_MAX_BATCH; `cursor`: of the page before, size 0: the first page.
 * A page may have fewer messages than `page`; it is the last when its cursor is empty. It ends with the message
 * that brings it to 16 MiB. A READY message that changes its place between two pages may come twice or not at all.
 * Bodies are whole, unless dueq_queue_preview() cuts them. Returns OK.
 */
DUEQ_API dueq_status dueq_peek(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t page,
                               dueq_result **result);
DUEQ_API dueq_status dueq_peek_submit(dueq_queue *queue, dueq_state state, dueq_bytes cursor,
                                      size_t page);

/*
 * Counts the events of the queue in each of the last `minutes` (1 to DUEQ_MAX_RATES) minutes with an
 * event, the latest first; the latest may not be over yet. Or, with `minutes` 0, in each of the last `hours` (1 to
 * DUEQ_MAX_HOURS); else `hours` is 0. Items have dueq_result_rate(), the result dueq_result_timings(). Returns OK.
 */
DUEQ_API dueq_status dueq_rates(dueq_queue *queue, size_t minutes, size_t hours,
                                dueq_result **result);
DUEQ_API dueq_status dueq_rates_submit(dueq_queue *queue, size_t minutes, size_t hours);

/*
 * Lists what failed in the queue, a page at a time, the latest first: deliveries that ended by retry or bury, leases that
 * ended, and deaths. The queue keeps DUEQ_MAX_FAILURES of them. `id`: of that message alone; size 0: of all. `page`: 1 to
 * DUEQ_MAX_BATCH; `cursor`: of the page before, size 0: the first. Items have dueq_result_failure(). What cannot be read is
 * left out. Returns OK.
 */
DUEQ_API dueq_status dueq_failures(dueq_queue *queue, dueq_bytes id, dueq_bytes cursor, size_t page,
                                   dueq_result **result);
DUEQ_API dueq_status dueq_failures_submit(dueq_queue *queue, dueq_bytes id, dueq_bytes cursor,
                                          size_t page);

/*
 * Lists who is registered as a consumer of the queue, a page at a time: those that were seen longest ago first. `page`: 1 to
 * DUEQ_MAX_BATCH; `cursor`: of the page before, size 0: the first. One that registers between two pages may come twice.
 * Items have dueq_result_worker(). What cannot be read is left out. Returns OK.
 */
DUEQ_API dueq_status dueq_workers(dueq_queue *queue, dueq_bytes cursor, size_t page,
                                  dueq_result **result);
DUEQ_API dueq_status dueq_workers_submit(dueq_queue *queue, dueq_bytes cursor, size_t page);

/*
 * Lists the queues of the client's server that were ever used, a page at a time, in no order; a name
 * may come twice. `cursor`: of the page before, size 0: the first. Items have dueq_result_id().
 * It scans the names of all of the server's keys (SCAN), a bounded number for each page.
 */
DUEQ_API dueq_status dueq_queues(dueq_client *client, dueq_bytes cursor, dueq_result **result);
DUEQ_API dueq_status dueq_queues_submit(dueq_client *client, dueq_bytes cursor);

/*
 * Acquires a lock of the queue: it has one owner at a time, for ttl_ms (1 or more) unless it is extended (relock) or
 * released (unlock) before. name: 1 to DUEQ_MAX_LOCK_NAME bytes of UTF-8 without control characters.
 * Waits up to timeout_ms (as reserve does) until it is free, in one blocking command.
 * Returns OK, and the owner's token is dueq_result_id(*result, 0); or TAKEN.
 */
DUEQ_API dueq_status dueq_lock(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                               int64_t timeout_ms, dueq_result **result);
DUEQ_API dueq_status dueq_lock_submit(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                                      int64_t timeout_ms);

/* Extends a lock: it ends ttl_ms from now. Returns OK, or LEASE_LOST if the token is not the owner's. */
DUEQ_API dueq_status dueq_relock(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                                 int64_t ttl_ms);
DUEQ_API dueq_status dueq_relock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                                        int64_t ttl_ms);

/* Releases a lock. Returns OK, or LEASE_LOST if the token is not the owner's. */
DUEQ_API dueq_status dueq_unlock(dueq_queue *queue, dueq_bytes name, dueq_bytes token);
DUEQ_API dueq_status dueq_unlock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token);

/*
 * The verbs that are alike, as X(name). NO_ARGS ones have no arguments and no result; ID ones take
 * ids, and each item is OK or NOT_FOUND. COMMANDS: those that the shell has like that, as X(name,
 * summary, help).
 */
#define DUEQ_NO_ARGS_VERBS(X) \
    X(pause) \
    X(resume)
#define DUEQ_NO_ARGS_COMMANDS(X) \
    X(pause, "Stops deliveries until the queue is resumed", "A paused queue still accepts pushes and acknowledgements.") \
    X(resume, "Resumes deliveries", "Waiting consumers wake.")
#define DUEQ_ID_VERBS(X) \
    X(kick) \
    X(kill)
#define DUEQ_ID_COMMANDS(X) \
    X(kill, "Makes delayed messages dead, until they are kicked", "They stay in this queue, also those with --dead-letter or --drop.")

#endif

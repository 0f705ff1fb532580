/*
 * A part of dueq.h: the verbs, each blocking and as dueq_VERB_submit().
 * Made from core/verbs.toml by core/verbs.py.
 */
#ifndef DUEQ_VERBS_H
#define DUEQ_VERBS_H

#include "dueq.h"

/*
 * Stores messages, all in one step: READY, or DELAYED until they are due.
 * drafts: `count` of them, 1 to DUEQ_MAX_BATCH.
 * Items: OK, or DUPLICATE: an existing message has the id, or the id is still unique (unique_ms).
 * Each item has its dueq_result_id().
 * Errors: TOO_LARGE. NOT_DURABLE: the messages are stored, and *result has the ids. After CLOSED
 * and TIMEOUT it is not known whether they are stored; after any other failure they are not. Push
 * again with the same id: while the first message exists, and until unique_ms has passed, no second
 * one is stored. The outcome DUPLICATE then also says that the message is as durable as this push
 * demands.
 */
DUEQ_API dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count);

/*
 * Delivers ready messages under a lease.
 * count:      1 to DUEQ_MAX_BATCH: the most messages of a call.
 * timeout_ms: how long the call waits for the first message: 0 (not at all) to DUEQ_MAX_TIME_MS,
 *             or DUEQ_FOREVER. It waits in one blocking command, without polling.
 * lease_ms:   the lease of each message, up to UINT32_MAX; 0: the message's own, else
 *             DUEQ_DEFAULT_LEASE_MS. When a lease ends, the next reserve may take the message. A
 *             crash is then counted, and the message is delivered alone.
 * If a queue has had messages over 1 MiB, a call delivers at most 8 MiB, or one larger message.
 * Returns OK, or EMPTY: no message came in time. Items have their dueq_result_message().
 */
DUEQ_API dueq_status dueq_reserve(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                  int64_t lease_ms, dueq_result **result);
DUEQ_API dueq_status dueq_reserve_submit(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                         int64_t lease_ms);

/*
 * Delivers messages of several queues, as dueq_reserve(), in one wait. All messages of a call come
 * from one queue: the first in order that has any. dueq_result_queue() is its index.
 * queues:  `queue_count` handles of one client, 1 to DUEQ_MAX_QUEUES; by DUEQ_PREFERENCE each once.
 *          A queue with partitions may only be asked alone.
 * options: start from DUEQ_RESERVE, and set what differs.
 */
DUEQ_API dueq_status dueq_reserve_any(dueq_queue *const *queues, size_t queue_count,
                                      const dueq_reserve_options *options, dueq_result **result);
DUEQ_API dueq_status dueq_reserve_any_submit(dueq_queue *const *queues, size_t queue_count,
                                             const dueq_reserve_options *options);

/*
 * Acknowledges messages, which deletes them.
 * tickets: `count` of them, 1 to DUEQ_MAX_BATCH.
 * Items: OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                              dueq_result **result);
DUEQ_API dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count);

/*
 * Acknowledges a message, and keeps a result with its end: see dueq_outcome(). If the message was
 * pushed without `keep`, the result is dropped.
 * result: up to DUEQ_MAX_RESULT bytes.
 * Returns OK or LEASE_LOST. Errors: TOO_LARGE: the message stays leased.
 */
DUEQ_API dueq_status dueq_ack_result(dueq_queue *queue, dueq_bytes ticket, dueq_bytes result);
DUEQ_API dueq_status dueq_ack_result_submit(dueq_queue *queue, dueq_bytes ticket,
                                            dueq_bytes result);

/*
 * Acknowledges a message and pushes its successors in one step.
 * target: the successors' queue, of the same client; NULL: the message's own queue.
 * drafts: `count` of them, 1 to DUEQ_MAX_BATCH.
 * Items: first that of the message, then one for each draft, as of dueq_push(). If the lease was
 * lost, nothing is pushed, and every item is LEASE_LOST.
 */
DUEQ_API dueq_status dueq_ack_push(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                   const dueq_draft *drafts, size_t count, dueq_result **result);
DUEQ_API dueq_status dueq_ack_push_submit(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                                          const dueq_draft *drafts, size_t count);

/*
 * Does what dueq_ack_push() does, and keeps a result with the message's end, as dueq_ack_result().
 * kept: the result, up to DUEQ_MAX_RESULT bytes.
 * Items: as of dueq_ack_push(). Errors: TOO_LARGE: the message stays leased.
 */
DUEQ_API dueq_status dueq_ack_push_result(dueq_queue *queue, dueq_bytes ticket, dueq_bytes kept,
                                          dueq_queue *target, const dueq_draft *drafts,
                                          size_t count, dueq_result **result);
DUEQ_API dueq_status dueq_ack_push_result_submit(dueq_queue *queue, dueq_bytes ticket,
                                                 dueq_bytes kept, dueq_queue *target,
                                                 const dueq_draft *drafts, size_t count);

/*
 * Declares a schedule: at each of its times the queue gets a job, a message with the id `NAME:TIME`
 * (TIME: ms since 1970). The schedule itself is a message with the id `schedule:NAME`. The consumer
 * that reserves this message calls dueq_fire(). The schedule lasts until its message is cancelled
 * or the queue is removed. A schedule of the same name with another definition is replaced.
 * Returns OK, or DUPLICATE: the queue has the same schedule already. Errors: INVALID, TOO_LARGE.
 */
DUEQ_API dueq_status dueq_schedule(dueq_queue *queue, const dueq_plan *schedule);
DUEQ_API dueq_status dueq_schedule_submit(dueq_queue *queue, const dueq_plan *schedule);

/*
 * Fires a schedule: acknowledges its message, and pushes in the same step the jobs whose times have
 * come and the schedule's next message.
 * message: leased, and dueq_is_schedule(). After a failure retry it: its attempts have no limit.
 * Items: first that of the message, then one for each job, then that of the next message; as of
 * dueq_ack_push().
 * Errors: INVALID (also: this machine does not have the time zone), CORRUPT.
 */
DUEQ_API dueq_status dueq_fire(dueq_queue *queue, const dueq_message *message,
                               dueq_result **result);
DUEQ_API dueq_status dueq_fire_submit(dueq_queue *queue, const dueq_message *message);

/*
 * Settles a message as failed. It is delivered again, or dies if its attempts are used up.
 * delay_ms: due again this long from now, 0 to DUEQ_MAX_TIME_MS; DUEQ_BY_POLICY: by its backoff.
 * error:    a text that is stored with the message; cut at DUEQ_MAX_ERROR bytes; may be empty.
 * Returns OK, EXHAUSTED (the message died), or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error);
DUEQ_API dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                       dueq_bytes error);

/*
 * Gives messages back. Their deliveries count no attempt.
 * tickets:  `count` of them, 1 to DUEQ_MAX_BATCH.
 * delay_ms: 0: READY, before all other messages, in the order of the tickets; else DELAYED for
 *           this time, up to DUEQ_MAX_TIME_MS.
 * Items: OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_release(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                  int64_t delay_ms, dueq_result **result);
DUEQ_API dueq_status dueq_release_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                         int64_t delay_ms);

/*
 * Gives a message back, as dueq_release() does, and holds its group, as dueq_hold() does.
 * duration_ms: for how long, up to DUEQ_MAX_TIME_MS; 0: the group is held no more.
 * Returns OK or LEASE_LOST; or INVALID: the message has no group.
 */
DUEQ_API dueq_status dueq_hold_group(dueq_queue *queue, dueq_bytes ticket, int64_t duration_ms);
DUEQ_API dueq_status dueq_hold_group_submit(dueq_queue *queue, dueq_bytes ticket,
                                            int64_t duration_ms);

/*
 * Sets a new end for leases.
 * tickets:  `count` of them, 1 to DUEQ_MAX_BATCH.
 * lease_ms: the leases end this long from now, 1 to UINT32_MAX.
 * Items: OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_extend(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                 int64_t lease_ms, dueq_result **result);
DUEQ_API dueq_status dueq_extend_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                        int64_t lease_ms);

/*
 * Stores a text with a leased message, as its header `cursor`, for later deliveries: the next
 * consumer continues from there. The text replaces that of the last checkpoint; size 0 removes it.
 * Returns OK or LEASE_LOST.
 * Errors: TOO_LARGE: all headers together have more than DUEQ_MAX_HEADERS bytes. CORRUPT.
 */
DUEQ_API dueq_status dueq_checkpoint(dueq_queue *queue, dueq_bytes ticket, dueq_bytes text);
DUEQ_API dueq_status dueq_checkpoint_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes text);

/*
 * Settles a message as failed for good, whatever attempts it has left: it becomes DEAD, or, by its
 * policy, moves to its dead-letter queue or is deleted.
 * reason: as `error` of dueq_retry().
 * Returns OK or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);
DUEQ_API dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);

/*
 * Finds the message with an id, in any state, and changes nothing.
 * Returns OK, and *result has its dueq_result_message(); or NOT_FOUND.
 */
DUEQ_API dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result);
DUEQ_API dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id);

/*
 * Tells how a message ended that was pushed with `keep`. A dead message has ended, whether it was
 * pushed with `keep` or not. If a message's time to live is over, this call ends the message, unless
 * dueq_queue_look_only() was called.
 * timeout_ms: how long the call waits until the message ends, as dueq_reserve(), in one blocking
 *             command.
 * Returns OK, and *result has its dueq_result_end(); EMPTY: the message has not ended; NOT_FOUND:
 * the queue does not know it, or not any more. Errors: INVALID: the call would have to wait for a
 * message that was pushed without `keep`.
 */
DUEQ_API dueq_status dueq_outcome(dueq_queue *queue, dueq_bytes id, int64_t timeout_ms,
                                  dueq_result **result);
DUEQ_API dueq_status dueq_outcome_submit(dueq_queue *queue, dueq_bytes id, int64_t timeout_ms);

/*
 * Makes dead messages READY again, with all their attempts.
 * ids: `count` of them, 1 to DUEQ_MAX_BATCH.
 * Items: OK, or NOT_FOUND: no dead message has the id.
 */
DUEQ_API dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Makes dead messages that match a filter READY again, as dueq_kick(), a page at a time.
 * filter: NULL: all dead messages.
 * cursor: size 0: begins with the message that died first; else the cursor of the page before.
 * page:   how many dead messages the call reads, 1 to DUEQ_MAX_BATCH.
 * Returns OK. *result has dueq_result_kicked() and the cursor of the next page.
 */
DUEQ_API dueq_status dueq_kick_all(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                                   size_t page, dueq_result **result);
DUEQ_API dueq_status dueq_kick_all_submit(dueq_queue *queue, const dueq_filter *filter,
                                          dueq_bytes cursor, size_t page);

/*
 * Makes delayed messages dead. They stay in this queue, whatever their policy, until they are
 * kicked.
 * ids: `count` of them, 1 to DUEQ_MAX_BATCH.
 * Items: OK, or NOT_FOUND: no delayed message has the id.
 */
DUEQ_API dueq_status dueq_kill(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);
DUEQ_API dueq_status dueq_kill_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Deletes READY, DELAYED, LEASED and DEAD messages.
 * ids: `count` of them, 1 to DUEQ_MAX_BATCH.
 * Items: OK, and dueq_result_state() is the state that the message was in; or NOT_FOUND. A LEASED
 * message may be running, or done but not acknowledged. The next call of its consumer for this
 * message gets LEASE_LOST. If the message is only prefetched, its consumer does not deliver it any
 * more from a quarter of a second after the cancel on.
 */
DUEQ_API dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                                 dueq_result **result);
DUEQ_API dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);

/*
 * Changes the due time of a delayed message.
 * delay_ms: due this long from now, 0 to DUEQ_MAX_TIME_MS; 0: now.
 * at_ms:    due at this time of the server's clock; 0: delay_ms counts.
 * Returns OK, or NOT_FOUND: no delayed message has the id.
 */
DUEQ_API dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                     int64_t at_ms);
DUEQ_API dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                            int64_t at_ms);

/*
 * Stops the deliveries of the queue until it is resumed. Reserves wait as if the queue were empty;
 * all other verbs work. Returns OK, also if the queue is paused already.
 */
DUEQ_API dueq_status dueq_pause(dueq_queue *queue);
DUEQ_API dueq_status dueq_pause_submit(dueq_queue *queue);

/* Ends a pause, and wakes waiting consumers. Returns OK, also if the queue is not paused. */
DUEQ_API dueq_status dueq_resume(dueq_queue *queue);
DUEQ_API dueq_status dueq_resume_submit(dueq_queue *queue);

/*
 * Holds a group: for this time no message of it is delivered. A later hold replaces an earlier one.
 * group:       the name of the group.
 * duration_ms: for how long, up to DUEQ_MAX_TIME_MS; 0: the group is held no more.
 * Returns OK.
 */
DUEQ_API dueq_status dueq_hold(dueq_queue *queue, dueq_bytes group, int64_t duration_ms);
DUEQ_API dueq_status dueq_hold_submit(dueq_queue *queue, dueq_bytes group, int64_t duration_ms);

/*
 * Sets the list of queues to which messages of this queue may move as their `dead_letter` says. A
 * message whose dead-letter queue is not in the list stays in the outbox, with the reason, until
 * the list has that queue. The target of dueq_ack_push() needs no entry.
 * dead_letter: the names of the queues, `count` of them, 1 to DUEQ_MAX_BATCH; NULL: the list
 *              stays, or is removed by `any`.
 * any:         1, with dead_letter NULL: removes the list, so that any queue is allowed; else 0.
 * Returns OK. Items have dueq_result_id(): the names in the list, sorted. No items: no list.
 * Errors: NAME, INVALID.
 */
DUEQ_API dueq_status dueq_allow(dueq_queue *queue, const dueq_bytes *dead_letter, size_t count,
                                int any, dueq_result **result);
DUEQ_API dueq_status dueq_allow_submit(dueq_queue *queue, const dueq_bytes *dead_letter,
                                       size_t count, int any);

/*
 * Sets limits of the queue, of each of its groups, or of one group, in one step.
 * options: start from DUEQ_LIMIT, and set what changes.
 * Returns OK. Errors: INVALID: nothing is set; a value is out of its range; a burst without a rate;
 * a limit of groups beside a name of one; more than DUEQ_MAX_LIMITED groups.
 */
DUEQ_API dueq_status dueq_limit(dueq_queue *queue, const dueq_limit_options *options);
DUEQ_API dueq_status dueq_limit_submit(dueq_queue *queue, const dueq_limit_options *options);

/*
 * Returns the limits of the queue and of its groups, as they were set: dueq_result_limits().
 * Returns OK. Errors: CORRUPT: a limit cannot be read. Then nothing is delivered until dueq_limit()
 * sets the limits anew.
 */
DUEQ_API dueq_status dueq_limits(dueq_queue *queue, dueq_result **result);
DUEQ_API dueq_status dueq_limits_submit(dueq_queue *queue);

/*
 * Deletes messages of one state, in one bounded step.
 * page:    how many at most, 1 to DUEQ_MAX_BATCH.
 * *purged: how many it deleted; may be NULL.
 * If a message was leased, the next call of its consumer for this message gets LEASE_LOST.
 * Returns OK: there may be more, call again; or EMPTY: none is left.
 */
DUEQ_API dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t page, size_t *purged);
DUEQ_API dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t page);

/*
 * Deletes the messages of one group that are READY or DELAYED, a page at a time. Its LEASED and
 * DEAD ones stay, and so do the messages of other groups.
 * group:  the name of the group.
 * cursor: size 0: begins; else the cursor of the page before.
 * page:   how many messages the call looks at, 1 to DUEQ_MAX_BATCH.
 * Returns OK. *result has dueq_result_purged() and the cursor of the next page.
 */
DUEQ_API dueq_status dueq_purge_group(dueq_queue *queue, dueq_bytes group, dueq_bytes cursor,
                                      size_t page, dueq_result **result);
DUEQ_API dueq_status dueq_purge_group_submit(dueq_queue *queue, dueq_bytes group, dueq_bytes cursor,
                                             size_t page);

/*
 * Deletes a queue in one step: its messages, counters and history, its list of targets
 * (dueq_allow()), and the ids that are still unique. Locks, and the answers that the server keeps
 * for lost connections, stay until they expire. A later push creates the queue again.
 * force:   0: the call fails if the queue has batches that have not ended, or members of other
 *          queues' batches. 1: the call deletes these, too: its batches end without callbacks, and
 *          the other queues' batches count the members as dead. A queue with such members, or with
 *          notes for other queues' batches in its outbox, and with more than 1,000 messages must be
 *          purged first.
 * *purged: how many messages it deleted; may be NULL.
 * If a message was leased, the next call of its consumer for this message gets LEASE_LOST.
 * Returns EMPTY: nothing is left. Errors: INVALID: the queue has such batches or members.
 */
DUEQ_API dueq_status dueq_remove(dueq_queue *queue, int force, size_t *purged);
DUEQ_API dueq_status dueq_remove_submit(dueq_queue *queue, int force);

/*
 * Finds inconsistent entries, in bounded steps, while the queue is in use.
 * repair: 1: each step repairs what it finds, and loses no message; else 0. If two checks repair a
 *         queue at the same time, only the later one does.
 * cursor: size 0: begins; else the cursor of the step before, for the same queue and `repair`.
 *         Call dueq_check() until the cursor is empty.
 * Returns OK. *result has the dueq_result_finding() of all steps so far.
 */
DUEQ_API dueq_status dueq_check(dueq_queue *queue, int repair, dueq_bytes cursor,
                                dueq_result **result);
DUEQ_API dueq_status dueq_check_submit(dueq_queue *queue, int repair, dueq_bytes cursor);

/*
 * Counts the queue's messages and events. Never creates the queue.
 * *counts: written on OK only; may be NULL.
 * Returns OK.
 */
DUEQ_API dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts);
DUEQ_API dueq_status dueq_stats_submit(dueq_queue *queue);

/*
 * Reads messages of one state, a page at a time, and changes nothing: READY ones in the order of
 * delivery, others in the order of their times. Bodies are whole, unless dueq_queue_preview() cuts
 * them.
 * cursor: size 0: the first page; else the cursor of the page before.
 * page:   how many at most, 1 to DUEQ_MAX_BATCH. A page may have fewer; it ends with the message
 *         that brings it to 16 MiB. The last page has an empty cursor.
 * A READY message whose place changes between two pages may come twice, or not at all.
 * Returns OK. Items have their dueq_result_message().
 */
DUEQ_API dueq_status dueq_peek(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t page,
                               dueq_result **result);
DUEQ_API dueq_status dueq_peek_submit(dueq_queue *queue, dueq_state state, dueq_bytes cursor,
                                      size_t page);

/*
 * Lists the groups of which messages wait or are leased, a page at a time: first the one that has
 * the next turn, then the others in the order of their turns. Groups that have no turn yet come
 * last. The group whose name has size 0 stands for all messages without a group.
 * cursor: size 0: the first page; else the cursor of the page before.
 * page:   how many at most, 1 to DUEQ_MAX_BATCH. A page may have fewer, or none. The last page has
 *         an empty cursor.
 * A group whose turn changes between two pages may come twice, or not at all.
 * Returns OK. Items have their dueq_result_group(). No items: the queue has no groups.
 */
DUEQ_API dueq_status dueq_groups(dueq_queue *queue, dueq_bytes cursor, size_t page,
                                 dueq_result **result);
DUEQ_API dueq_status dueq_groups_submit(dueq_queue *queue, dueq_bytes cursor, size_t page);

/*
 * Opens a batch in this queue, its home. A batch counts how its members end, each once, at its
 * first end: acknowledged, dead, cancelled, expired or purged. Messages become members when they
 * are pushed with `batch`. The batch ends when it is closed and all members have ended; then it
 * pushes its callbacks. A member that died, and is kicked later, changes nothing any more.
 * The call does not wait for replicas or disks (dueq_durability): a failover may lose the batch.
 * options: start from DUEQ_BATCH, and set the id and the callbacks.
 * Returns OK, or DUPLICATE: there is a batch of this id, or one ended less than its keep_ms ago.
 * Errors: INVALID, NAME, TOO_LARGE.
 */
DUEQ_API dueq_status dueq_open_batch(dueq_queue *queue, const dueq_batch_options *options);
DUEQ_API dueq_status dueq_open_batch_submit(dueq_queue *queue, const dueq_batch_options *options);

/*
 * Stores messages in another queue, as members of a batch of this queue. They go through the
 * outbox, so each member that the batch counts arrives, even if this program dies. If the other
 * queue has a message of a member's id, it refuses the member, which counts as cancelled.
 * target: the queue that gets the messages, of the same client.
 * drafts: `count` of them, 1 to DUEQ_MAX_BATCH, all with the same `batch`.
 * Items: OK. Errors: as of dueq_push(). INVALID: also, there is no such batch.
 */
DUEQ_API dueq_status dueq_push_to(dueq_queue *queue, dueq_queue *target, const dueq_draft *drafts,
                                  size_t count, dueq_result **result);
DUEQ_API dueq_status dueq_push_to_submit(dueq_queue *queue, dueq_queue *target,
                                         const dueq_draft *drafts, size_t count);

/*
 * Closes a batch: from now on only its members add members. When all members have ended, it ends,
 * and pushes its callbacks; at once if they have ended already, or if it has no members.
 * id: of the batch.
 * Returns OK, also if it was closed before, or NOT_FOUND: there is no such batch, or it ended
 * longer ago than its keep_ms.
 */
DUEQ_API dueq_status dueq_close_batch(dueq_queue *queue, dueq_bytes id);
DUEQ_API dueq_status dueq_close_batch_submit(dueq_queue *queue, dueq_bytes id);

/*
 * Finds a batch by its id, and changes nothing.
 * Returns OK, and *result has its dueq_result_batch(); or NOT_FOUND: there is no such batch, or
 * it ended longer ago than its keep_ms.
 */
DUEQ_API dueq_status dueq_find_batch(dueq_queue *queue, dueq_bytes id, dueq_result **result);
DUEQ_API dueq_status dueq_find_batch_submit(dueq_queue *queue, dueq_bytes id);

/*
 * Cancels the members of a batch that are READY or DELAYED in this queue, a page at a time.
 * Members that are leased, dead, or on their way to another queue stay.
 * id:          of the batch.
 * batch_queue: the name of the batch's queue; size 0: this queue. With partitions the whole one's.
 * cursor:      size 0: begins; else the cursor of the page before.
 * page:        about how many messages the call looks at, 1 to DUEQ_MAX_BATCH.
 * Returns OK. *result has dueq_result_purged(): how many members were cancelled, and the cursor
 * of the next page.
 */
DUEQ_API dueq_status dueq_cancel_batch(dueq_queue *queue, dueq_bytes id, dueq_bytes batch_queue,
                                       dueq_bytes cursor, size_t page, dueq_result **result);
DUEQ_API dueq_status dueq_cancel_batch_submit(dueq_queue *queue, dueq_bytes id,
                                              dueq_bytes batch_queue, dueq_bytes cursor,
                                              size_t page);

/*
 * Lists the batches of the queue that have not ended, a page at a time, in no order. A batch may
 * come twice.
 * cursor: size 0: the first page; else the cursor of the page before.
 * page:   about how many, 1 to DUEQ_MAX_BATCH. A page may have fewer, or none. The last page has an
 *         empty cursor.
 * Returns OK. Items have their dueq_result_batch().
 */
DUEQ_API dueq_status dueq_batches(dueq_queue *queue, dueq_bytes cursor, size_t page,
                                  dueq_result **result);
DUEQ_API dueq_status dueq_batches_submit(dueq_queue *queue, dueq_bytes cursor, size_t page);

/*
 * Counts the queue's events in each minute, or in each hour, that had any, the latest first. The
 * latest may not be over yet.
 * minutes: how many of the last minutes, 1 to DUEQ_MAX_RATES; 0: hours.
 * hours:   how many of the last hours, 1 to DUEQ_MAX_HOURS; 0 with `minutes`.
 * Returns OK. Items have their dueq_result_rate(), *result its dueq_result_timings().
 */
DUEQ_API dueq_status dueq_rates(dueq_queue *queue, size_t minutes, size_t hours,
                                dueq_result **result);
DUEQ_API dueq_status dueq_rates_submit(dueq_queue *queue, size_t minutes, size_t hours);

/*
 * Lists failures of the queue, a page at a time, the latest first: deliveries that ended by retry
 * or bury, crashes, and deaths. The queue keeps the last DUEQ_MAX_FAILURES.
 * id:     only those of this message; size 0: of all messages.
 * cursor: size 0: the first page; else the cursor of the page before.
 * page:   1 to DUEQ_MAX_BATCH.
 * Returns OK. Items have their dueq_result_failure(). Entries that cannot be read are left out.
 */
DUEQ_API dueq_status dueq_failures(dueq_queue *queue, dueq_bytes id, dueq_bytes cursor, size_t page,
                                   dueq_result **result);
DUEQ_API dueq_status dueq_failures_submit(dueq_queue *queue, dueq_bytes id, dueq_bytes cursor,
                                          size_t page);

/*
 * Lists the registered consumers of the queue, a page at a time: first the one that has registered
 * longest ago. A consumer that registers between two pages may come twice.
 * cursor: size 0: the first page; else the cursor of the page before.
 * page:   1 to DUEQ_MAX_BATCH.
 * Returns OK. Items have their dueq_result_worker(). Entries that cannot be read are left out.
 */
DUEQ_API dueq_status dueq_workers(dueq_queue *queue, dueq_bytes cursor, size_t page,
                                  dueq_result **result);
DUEQ_API dueq_status dueq_workers_submit(dueq_queue *queue, dueq_bytes cursor, size_t page);

/*
 * Lists the queues of the client's server that were ever used, a page at a time, in no order. A
 * name may come twice. Reads the names of all keys of the server (SCAN), a bounded number for each
 * page.
 * cursor: size 0: the first page; else the cursor of the page before.
 * Returns OK. Items have dueq_result_id(): the queue's name.
 */
DUEQ_API dueq_status dueq_queues(dueq_client *client, dueq_bytes cursor, dueq_result **result);
DUEQ_API dueq_status dueq_queues_submit(dueq_client *client, dueq_bytes cursor);

/*
 * Acquires a lock of the queue. One owner has it at a time, until dueq_unlock() or the end of
 * ttl_ms.
 * name:       1 to DUEQ_MAX_LOCK_NAME bytes of UTF-8 without control characters.
 * ttl_ms:     1 to DUEQ_MAX_TIME_MS; dueq_relock() extends it.
 * timeout_ms: how long it waits until the lock is free, as dueq_reserve(), in one blocking command.
 * Returns OK, and dueq_result_id(*result, 0) is the owner's token; or TAKEN.
 */
DUEQ_API dueq_status dueq_lock(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                               int64_t timeout_ms, dueq_result **result);
DUEQ_API dueq_status dueq_lock_submit(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                                      int64_t timeout_ms);

/*
 * Extends a lock: it ends ttl_ms (1 to DUEQ_MAX_TIME_MS) from now.
 * Returns OK, or LEASE_LOST: the token is not the owner's.
 */
DUEQ_API dueq_status dueq_relock(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                                 int64_t ttl_ms);
DUEQ_API dueq_status dueq_relock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                                        int64_t ttl_ms);

/* Releases a lock. Returns OK, or LEASE_LOST: the token is not the owner's. */
DUEQ_API dueq_status dueq_unlock(dueq_queue *queue, dueq_bytes name, dueq_bytes token);
DUEQ_API dueq_status dueq_unlock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token);

/*
 * Made from core/results.toml by core/verbs.py.
 * The fields of results, as X(KIND, member): for programs that loop over them. SUMS, as X(member):
 * the counts that are added up over the partitions of a queue.
 */
#define DUEQ_COUNTS_FIELDS(X) \
    X(COUNT, ready) \
    X(COUNT, delayed) \
    X(COUNT, leased) \
    X(COUNT, dead) \
    X(COUNT, outbox) \
    X(WORD, outbox_error) \
    X(COUNT, pushed) \
    X(COUNT, reserved) \
    X(COUNT, acked) \
    X(COUNT, retried) \
    X(COUNT, expired) \
    X(COUNT, died) \
    X(COUNT, cancelled) \
    X(COUNT, purged) \
    X(COUNT, quarantined) \
    X(MAYBE_TIME, next_event_ms) \
    X(MAYBE_TIME, oldest_ms) \
    X(TIME, now_ms) \
    X(FLAG, paused) \
    X(WORD, at_limit) \
    X(FLAG, evicting) \
    X(COUNT, ends) \
    X(COUNT, ends_bytes)
#define DUEQ_COUNTS_SUMS(X) \
    X(ready) \
    X(delayed) \
    X(leased) \
    X(dead) \
    X(outbox) \
    X(pushed) \
    X(reserved) \
    X(acked) \
    X(retried) \
    X(expired) \
    X(died) \
    X(cancelled) \
    X(purged) \
    X(quarantined) \
    X(ends) \
    X(ends_bytes)
#define DUEQ_BOUNDS_FIELDS(X) \
    X(OPTIONAL, concurrency) \
    X(WORD, rate) \
    X(OPTIONAL, burst) \
    X(OPTIONAL, each_group_concurrency) \
    X(WORD, each_group_rate) \
    X(OPTIONAL, each_group_burst) \
    X(OPTIONAL, each_group_backlog) \
    X(WORD, order) \
    X(GROUP_LIMITS, groups)
#define DUEQ_GROUP_LIMITS_FIELDS(X) \
    X(TEXT, name) \
    X(OPTIONAL, concurrency) \
    X(TEXT, rate) \
    X(OPTIONAL, burst) \
    X(OPTIONAL, backlog) \
    X(OPTIONAL, weight) \
    X(TEXT, order)
#define DUEQ_FINDING_FIELDS(X) \
    X(WORD, kind) \
    X(WORD, text) \
    X(FLAG, wrong) \
    X(COUNT, count) \
    X(COUNT, repaired) \
    X(EXAMPLES, examples)
#define DUEQ_RATE_FIELDS(X) \
    X(TIME, start_ms) \
    X(SPAN, span_ms) \
    X(COUNT, pushed) \
    X(COUNT, reserved) \
    X(COUNT, acked) \
    X(COUNT, retried) \
    X(COUNT, expired) \
    X(COUNT, died) \
    X(COUNT, cancelled) \
    X(MEASURED, late_p50_ms) \
    X(MEASURED, late_p99_ms) \
    X(MEASURED, run_p50_ms) \
    X(MEASURED, run_p99_ms)
#define DUEQ_RATE_SUMS(X) \
    X(pushed) \
    X(reserved) \
    X(acked) \
    X(retried) \
    X(expired) \
    X(died) \
    X(cancelled)
#define DUEQ_LEASE_FIELDS(X) \
    X(TEXT, id) \
    X(TEXT, ticket) \
    X(INDEX, partition) \
    X(TIME, since_ms) \
    X(FLAG, running)
#define DUEQ_WORKER_FIELDS(X) \
    X(TEXT, session) \
    X(TEXT, host) \
    X(COUNT, pid) \
    X(TEXT, program) \
    X(TEXT, version) \
    X(COUNT, slots) \
    X(TIME, since_ms) \
    X(TIME, seen_ms) \
    X(TIME, until_ms) \
    X(TIME, now_ms) \
    X(FLAG, offline) \
    X(COUNT, leased) \
    X(COUNT, running) \
    X(FLAG, stopping) \
    X(LEASES, leases) \
    X(TEXT, tasks)
#define DUEQ_FAILURE_FIELDS(X) \
    X(TIME, time_ms) \
    X(FAILURE_KIND, kind) \
    X(TEXT, id) \
    X(TEXT, ticket) \
    X(COUNT, delivery) \
    X(TIME, created_ms) \
    X(NAME, host) \
    X(OPTIONAL, pid) \
    X(TEXT, error)
#define DUEQ_GROUP_FIELDS(X) \
    X(NAME, name) \
    X(COUNT, waiting) \
    X(MAYBE_TIME, oldest_ms) \
    X(INDEX, leased) \
    X(INDEX, served_per_minute) \
    X(TIME, now_ms) \
    X(TEXT, at_limit) \
    X(MAYBE_TIME, held_until_ms) \
    X(NAME, holder)
#define DUEQ_BATCH_FIELDS(X) \
    X(TEXT, id) \
    X(TEXT, state) \
    X(COUNT, pushed) \
    X(COUNT, acked) \
    X(COUNT, dead) \
    X(COUNT, cancelled) \
    X(COUNT, expired) \
    X(COUNT, purged) \
    X(COUNT, left) \
    X(TIME, opened_ms) \
    X(TIME, closes_ms) \
    X(MAYBE_TIME, ended_ms) \
    X(TIME, now_ms) \
    X(NAME, then_id) \
    X(NAME, then_queue) \
    X(NAME, catch_id) \
    X(NAME, catch_queue) \
    X(NAME, finally_id) \
    X(NAME, finally_queue)
#define DUEQ_END_FIELDS(X) \
    X(TEXT, id) \
    X(WORD, outcome) \
    X(TIME, time_ms) \
    X(TIME, created_ms) \
    X(MEASURED, waited_ms) \
    X(MEASURED, ran_ms) \
    X(COUNT, deliveries) \
    X(NAME, host) \
    X(OPTIONAL, pid) \
    X(FLAG, has_result) \
    X(BYTES, result) \
    X(TEXT, error) \
    X(MAYBE_TIME, until_ms)
#define DUEQ_MESSAGE_FIELDS(X) \
    X(TEXT, id) \
    X(BYTES, body) \
    X(HEADERS, headers) \
    X(TICKET, ticket) \
    X(COUNT, attempt) \
    X(OPTIONAL, max_attempts) \
    X(COUNT, crashes) \
    X(OPTIONAL, max_crashes) \
    X(COUNT, deliveries) \
    X(COUNT, priority) \
    X(STATE, state) \
    X(MAYBE_TIME, time_ms) \
    X(TIME, created_ms) \
    X(MAYBE_TIME, expires_ms) \
    X(TEXT, error) \
    X(FLAG, drop) \
    X(NAME, dead_letter) \
    X(NAME, group) \
    X(SHARE, progress) \
    X(TEXT, progress_note) \
    X(MAYBE_TIME, keep_ms) \
    X(NAME, batch) \
    X(NAME, batch_queue)
#define DUEQ_SIZES_FIELDS(X) \
    X(COUNT, ready) \
    X(COUNT, delayed) \
    X(COUNT, reserved) \
    X(COUNT, quarantined) \
    X(MAYBE_TIME, next_ms) \
    X(TIME, now_ms)
#define DUEQ_MOVED_FIELDS(X) \
    X(COUNT, moved) \
    X(COUNT, quarantined) \
    X(MAYBE_TIME, next_ms)

#endif

/*
 * The verbs: what each asks of the server, and what it makes of the answer.
 */
#ifndef DUEQ_QUEUE_H
#define DUEQ_QUEUE_H

#include "../request/request.h"
#include "message.h"
#include "result.h"
#include "settle.h"

/* ---- ops.c: what the operations share ---------------------------------------------------------- */

/* Begins a call on `count` items, whose answer is a digit for each, and starts its words. */
dueq_status dueq__ops_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                            struct dueq__resp *words);
/* The same for ids, and submits it. */
dueq_status dueq__ops_ids(dueq_queue *queue, const struct dueq__script *script,
                          const dueq_bytes *ids, size_t count);
dueq_status dueq__ops_check_count(dueq_queue *queue, const void *items, size_t count);
dueq_status dueq__ops_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                               int64_t most);
/* The longest that a call waits: 0 not at all, DUEQ_FOREVER. */
dueq_status dueq__ops_check_wait(dueq_queue *queue, int64_t timeout_ms);
dueq_status dueq__ops_check_ticket(dueq_queue *queue, dueq_bytes ticket,
                                   struct dueq__ticket *parts);
dueq_status dueq__ops_check_state(dueq_queue *queue, dueq_state state);
/* Are they that many outcomes, as scripts answer them? */
bool dueq__ops_outcomes(dueq_bytes digits, size_t count);
/* The answer of a script that is not what it returns: fails the call. */
void dueq__ops_unexpected(dueq_client *client);
/* A due time as scripts take it: '0', '+ms' or '@ms'. */
#define DUEQ__DUE_SIZE 24
void dueq__ops_due(char out[DUEQ__DUE_SIZE], int64_t delay_ms, int64_t at_ms);
/* Waits for a submitted call and takes its result. */
dueq_status dueq__ops_run(dueq_queue *queue, dueq_status submitted, dueq_result **result);
dueq_status dueq__client_run(dueq_client *client, dueq_status submitted, dueq_result **result);

/* ---- outbox.c ------------------------------------------------------------------------------------ */

/*
 * Before the call, which was answered, goes on with resume(): relays what is due in its queue's outbox to other queues.
 * What fails stays in the outbox, for later.
 */
void dueq__relay(dueq_client *client, void (*resume)(dueq_client *client));

/* dueq_reserve_any_submit() with another default lease. */
dueq_status dueq__reserve_any_submit(dueq_queue *const *queues, size_t queue_count,
                                     dueq_order order, size_t count, int64_t timeout_ms,
                                     int64_t lease_ms, int64_t default_lease_ms);
dueq_status dueq__reserve_check_queues(dueq_queue *const *queues, size_t count, dueq_order order);
/* A text that is kept with a message, cut between characters. */
dueq_bytes dueq__lease_cut_text(dueq_bytes text);

#endif

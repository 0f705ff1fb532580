/*
 * Results: result.c makes them, result_messages.c messages and result_stats.c numbers from the scripts' answers.
 */
#ifndef DUEQ_RESULT_H
#define DUEQ_RESULT_H

#include "../net/net.h"

/* Each makes a result, or NULL with error set. */

/* One outcome a digit; ids: NULL, or the items' ids. */
dueq_result *dueq__result_outcomes(dueq_bytes digits, const dueq_bytes *ids,
                                   struct dueq__error *error);
/* The answer of reserve.lua: so many words in front, and for each message a ticket and an envelope. */
#define DUEQ__RESERVED_FIXED 7
#define DUEQ__RESERVED_EACH 2
/*
 * From the answer of reserve.lua to a call with this lease (0: the messages' own, or the default).
 * settled: the outcomes of what the call settled, in this request or one before; it is copied.
 */
dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   int64_t default_lease_ms, dueq_bytes settled,
                                   struct dueq__error *error);
/* From the answer of find.lua. */
dueq_result *dueq__result_found(const struct dueq__reply *reply, struct dueq__error *error);
/* From the answer of peek.lua about this state. */
dueq_result *dueq__result_peeked(const struct dueq__reply *reply, dueq_state state,
                                 struct dueq__error *error);
/* From the answers of stats.lua and rates.lua. */
dueq_result *dueq__result_counted(const struct dueq__reply *reply, bool evicting,
                                  struct dueq__error *error);
dueq_result *dueq__result_rated(const struct dueq__reply *reply, struct dueq__error *error);
/* The names of queues, and where to go on. */
dueq_result *dueq__result_named(const dueq_bytes *names, size_t count, dueq_bytes cursor,
                                struct dueq__error *error);
/* One digit for each item: the state that it was in, 0: not found. */
dueq_result *dueq__result_cancelled(dueq_bytes states, struct dueq__error *error);
dueq_result *dueq__result_purged(size_t purged, struct dueq__error *error);
dueq_result *dueq__result_kicked(size_t kicked, dueq_bytes cursor, struct dueq__error *error);
/* What a queue of another system holds, and what a step moved there. */
dueq_result *dueq__result_sized(const dueq_sizes *sizes, struct dueq__error *error);
dueq_result *dueq__result_moved_on(const dueq_moved *moved, struct dueq__error *error);
void dueq__result_set_quarantined(dueq_result *result, size_t quarantined);
void dueq__result_set_queue(dueq_result *result, size_t index);
/* What a reserve settled: each acknowledged ticket, then the retried one. Index out of range: INVALID. */
size_t dueq__result_settled_count(const dueq_result *result);
dueq_status dueq__result_settled(const dueq_result *result, size_t index);
/* DUEQ_OK when every item is, else the first other outcome. */
dueq_status dueq__result_summary(const dueq_result *result);

#endif

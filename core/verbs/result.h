/*
 * Results from the answers of scripts: messages (result_messages.c), numbers (result_stats.c),
 * consumers (workers.c), failures (failures.c), groups (groups.c) and batches (batches.c).
 * ../client/result.h has what all results have.
 */
#ifndef DUEQ_VERBS_RESULT_H
#define DUEQ_VERBS_RESULT_H

#include "../client/client.h"

/*
 * Each dueq__result_ function below that gets a reply returns a result, or NULL with error set. The
 * result points into the reply: dueq__result_take_reply() makes the result own the reply.
 */

/*
 * From the answer of reserve.lua. lease_ms: the lease of the call; 0: each message has its own
 * lease, or else default_lease_ms.
 */
dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   int64_t default_lease_ms, struct dueq__error *error);
/* How late a message was delivered, in ms; -1: not known, or the reserve did not ask. */
int64_t dueq__result_late_ms(const dueq_result *result, size_t index);
/* From the answer of find.lua. */
dueq_result *dueq__result_found(const struct dueq__reply *reply, struct dueq__error *error);
/* From the answer of peek.lua. state: of all the messages. */
dueq_result *dueq__result_peeked(const struct dueq__reply *reply, dueq_state state,
                                 struct dueq__error *error);
/* From the answers of stats.lua and rates.lua. */
dueq_result *dueq__result_limits(const struct dueq__reply *reply, struct dueq__error *error);
dueq_result *dueq__result_counted(const struct dueq__reply *reply,
                                  const struct dueq__server_info *server,
                                  struct dueq__error *error);
dueq_result *dueq__result_rated(const struct dueq__reply *reply, struct dueq__error *error);
/* From the answer of workers.lua. */
dueq_result *dueq__result_workers(const struct dueq__reply *reply, struct dueq__error *error);

/* From the answer of failures.lua. */
dueq_result *dueq__result_failures(const struct dueq__reply *reply, struct dueq__error *error);

/* From the answer of groups.lua. The result has copies, and does not point into the reply. */
dueq_result *dueq__result_groups(const struct dueq__reply *reply, struct dueq__error *error);

/* From the answers of find_batch.lua and batches.lua. */
dueq_result *dueq__result_batches(const struct dueq__reply *reply, struct dueq__error *error);

/* An item of rates. */
struct dueq__rate_item {
    dueq_rate rate; /* first */
    dueq_timings timings;
};

/* Sets the times of the rate from its timings. */
void dueq__rate_item_times(struct dueq__rate_item *rated);

extern const struct dueq__item_type dueq__type_message, dueq__type_counts, dueq__type_rate,
    dueq__type_worker, dueq__type_failure, dueq__type_group, dueq__type_end, dueq__type_batch;

#endif

/*
 * What the verbs make of their scripts' answers: result_messages.c messages, result_stats.c
 * numbers, workers.c consumers, failures.c what failed. ../client/result.h has what all results are
 * made of.
 */
#ifndef DUEQ_VERBS_RESULT_H
#define DUEQ_VERBS_RESULT_H

#include "../client/client.h"

/*
 * Each makes a result, or NULL with error set. The result points into the reply, which must live
 * as long: dueq__result_take_reply() gives it to the result.
 */

/*
 * From the answer of reserve.lua to a call with this lease (0: the messages' own, or the default).
 */
dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   int64_t default_lease_ms, struct dueq__error *error);
/* How late a message was delivered to a reserve that asked for that, in ms; -1: it is not known. */
int64_t dueq__result_late_ms(const dueq_result *result, size_t index);
/* From the answer of find.lua. */
dueq_result *dueq__result_found(const struct dueq__reply *reply, struct dueq__error *error);
/* From the answer of peek.lua about this state. */
dueq_result *dueq__result_peeked(const struct dueq__reply *reply, dueq_state state,
                                 struct dueq__error *error);
/* From the answers of stats.lua and rates.lua. */
dueq_result *dueq__result_counted(const struct dueq__reply *reply,
                                  const struct dueq__server_info *server,
                                  struct dueq__error *error);
dueq_result *dueq__result_rated(const struct dueq__reply *reply, struct dueq__error *error);
/* From the answer of workers.lua: workers.c. */
dueq_result *dueq__result_workers(const struct dueq__reply *reply, struct dueq__error *error);

/* From the answer of failures.lua: failures.c. */
dueq_result *dueq__result_failures(const struct dueq__reply *reply, struct dueq__error *error);

/* An item of rates. */
struct dueq__rate_item {
    dueq_rate rate; /* first */
    dueq_timings timings;
};

/* Sets the times of the rate from its timings. */
void dueq__rate_item_times(struct dueq__rate_item *rated);

extern const struct dueq__item_type dueq__type_message, dueq__type_counts, dueq__type_rate,
    dueq__type_worker, dueq__type_failure;

#endif

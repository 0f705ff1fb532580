/* Made from core/verbs.toml by core/verbs.py. */
#include "queue.h"

extern const struct dueq__script dueq__script_ack, dueq__script_retry, dueq__script_release,
                                 dueq__script_extend, dueq__script_bury, dueq__script_cancel,
                                 dueq__script_find, dueq__script_kick, dueq__script_kick_all,
                                 dueq__script_reschedule, dueq__script_pause, dueq__script_resume,
                                 dueq__script_purge, dueq__script_remove, dueq__script_stats,
                                 dueq__script_peek, dueq__script_rates;

dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                      dueq_result **result) {
    dueq_status submitted = dueq_push_submit(queue, drafts, count);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_reserve(dueq_queue *queue, size_t count, int64_t timeout_ms, int64_t lease_ms,
                         dueq_result **result) {
    dueq_status submitted = dueq_reserve_submit(queue, count, timeout_ms, lease_ms);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_reserve_any(dueq_queue *const *queues, size_t queue_count, dueq_order order,
                             size_t count, int64_t timeout_ms, int64_t lease_ms,
                             dueq_result **result) {
    dueq_status submitted = dueq_reserve_any_submit(queues, queue_count, order, count, timeout_ms,
                                                    lease_ms);
    return dueq__client_run(submitted == DUEQ_PENDING ? queues[0]->client : NULL, submitted,
                            result);
}

dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_tickets(queue, tickets, count);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_ack, true, count, dueq__decode_outcomes,
                               &words);
    if (status)
        return status;
    dueq__ops_put(&words, tickets, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                     dueq_result **result) {
    dueq_status submitted = dueq_ack_submit(queue, tickets, count);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_ack_push(dueq_queue *queue, dueq_bytes ticket, dueq_queue *target,
                          const dueq_draft *drafts, size_t count, dueq_result **result) {
    dueq_status submitted = dueq_ack_push_submit(queue, ticket, target, drafts, count);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                              dueq_bytes error) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_tickets(queue, &ticket, 1);
    if (!status)
        status = dueq__ops_check_retry_delay(queue, delay_ms);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_retry, true, 1, dueq__decode_outcomes, &words);
    if (status)
        return status;
    dueq__ops_put(&words, &ticket, 1);
    dueq__ops_put_retry_delay(&words, delay_ms);
    dueq__ops_put_note(&words, error);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms, dueq_bytes error) {
    dueq_status submitted = dueq_retry_submit(queue, ticket, delay_ms, error);
    return dueq__client_run(queue->client, submitted, NULL);
}

dueq_status dueq_release_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                int64_t delay_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_tickets(queue, tickets, count);
    if (!status)
        status = dueq__ops_check_ms(queue, "the delay", delay_ms, 0, DUEQ_MAX_TIME_MS);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_release, true, count, dueq__decode_outcomes,
                               &words);
    if (status)
        return status;
    dueq__resp_number(&words, delay_ms);
    dueq__ops_put(&words, tickets, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_release(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                         int64_t delay_ms, dueq_result **result) {
    dueq_status submitted = dueq_release_submit(queue, tickets, count, delay_ms);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_extend_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                               int64_t lease_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_tickets(queue, tickets, count);
    if (!status)
        status = dueq__ops_check_ms(queue, "the lease", lease_ms, 1, UINT32_MAX);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_extend, true, count, dueq__decode_outcomes,
                               &words);
    if (status)
        return status;
    dueq__resp_number(&words, lease_ms);
    dueq__ops_put(&words, tickets, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_extend(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                        int64_t lease_ms, dueq_result **result) {
    dueq_status submitted = dueq_extend_submit(queue, tickets, count, lease_ms);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_tickets(queue, &ticket, 1);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_bury, true, 1, dueq__decode_outcomes, &words);
    if (status)
        return status;
    dueq__ops_put(&words, &ticket, 1);
    dueq__ops_put_note(&words, reason);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    dueq_status submitted = dueq_bury_submit(queue, ticket, reason);
    return dueq__client_run(queue->client, submitted, NULL);
}

dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_ids(queue, ids, count);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_cancel, true, count, dueq__decode_states,
                               &words);
    if (status)
        return status;
    dueq__ops_put(&words, ids, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                        dueq_result **result) {
    dueq_status submitted = dueq_cancel_submit(queue, ids, count);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__id_check(id, &queue->client->error);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_find, false, 1, dueq__decode_found, &words);
    if (status)
        return status;
    dueq__ops_put(&words, &id, 1);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result) {
    dueq_status submitted = dueq_find_submit(queue, id);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_ids(queue, ids, count);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_kick, true, count, dueq__decode_outcomes,
                               &words);
    if (status)
        return status;
    dueq__ops_put(&words, ids, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                      dueq_result **result) {
    dueq_status submitted = dueq_kick_submit(queue, ids, count);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_kick_all_submit(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                                 size_t most) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_filter(queue, filter);
    if (!status)
        status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_kick_all, true, 1, dueq__decode_kicked, &words);
    if (status)
        return status;
    dueq__ops_put(&words, &cursor, 1);
    dueq__resp_number(&words, (int64_t)most);
    dueq__ops_put_filter(&words, filter);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_kick_all(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                          size_t most, dueq_result **result) {
    dueq_status submitted = dueq_kick_all_submit(queue, filter, cursor, most);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                   int64_t at_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__id_check(id, &queue->client->error);
    if (!status)
        status = dueq__due_check(delay_ms, at_ms, &queue->client->error);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_reschedule, true, 1, dueq__decode_outcomes,
                               &words);
    if (status)
        return status;
    dueq__ops_put(&words, &id, 1);
    dueq__ops_put_due(&words, delay_ms, at_ms);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms, int64_t at_ms) {
    dueq_status submitted = dueq_reschedule_submit(queue, id, delay_ms, at_ms);
    return dueq__client_run(queue->client, submitted, NULL);
}

dueq_status dueq_pause_submit(dueq_queue *queue) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_ask(queue, &dueq__script_pause, true, 1, dueq__decode_outcomes,
                                       &words);
    if (status)
        return status;
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_pause(dueq_queue *queue) {
    dueq_status submitted = dueq_pause_submit(queue);
    return dueq__client_run(queue->client, submitted, NULL);
}

dueq_status dueq_resume_submit(dueq_queue *queue) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_ask(queue, &dueq__script_resume, true, 1, dueq__decode_outcomes,
                                       &words);
    if (status)
        return status;
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_resume(dueq_queue *queue) {
    dueq_status submitted = dueq_resume_submit(queue);
    return dueq__client_run(queue->client, submitted, NULL);
}

dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t most) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_state(queue, state);
    if (!status)
        status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_purge, true, 1, dueq__decode_purged, &words);
    if (status)
        return status;
    dueq__ops_put_state(queue->client, &words, state);
    dueq__resp_number(&words, (int64_t)most);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t most, size_t *purged) {
    dueq_status submitted = dueq_purge_submit(queue, state, most);
    return dueq__ops_run_purged(queue->client, submitted, purged);
}

dueq_status dueq_remove_submit(dueq_queue *queue, size_t most) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_remove, true, 1, dueq__decode_purged, &words);
    if (status)
        return status;
    dueq__resp_number(&words, (int64_t)most);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_remove(dueq_queue *queue, size_t most, size_t *purged) {
    dueq_status submitted = dueq_remove_submit(queue, most);
    return dueq__ops_run_purged(queue->client, submitted, purged);
}

dueq_status dueq_stats_submit(dueq_queue *queue) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_ask(queue, &dueq__script_stats, false, 1, dueq__decode_counted,
                                       &words);
    if (status)
        return status;
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts) {
    dueq_status submitted = dueq_stats_submit(queue);
    return dueq__ops_run_counts(queue->client, submitted, counts);
}

dueq_status dueq_peek_submit(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t most) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_state(queue, state);
    if (!status)
        status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_peek, false, 1, dueq__decode_peeked, &words);
    if (status)
        return status;
    dueq__ops_put_state(queue->client, &words, state);
    dueq__ops_put(&words, &cursor, 1);
    dueq__resp_number(&words, (int64_t)most);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_peek(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t most,
                      dueq_result **result) {
    dueq_status submitted = dueq_peek_submit(queue, state, cursor, most);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_rates_submit(dueq_queue *queue, size_t minutes) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_minutes(queue, minutes);
    if (!status)
        status = dueq__ops_ask(queue, &dueq__script_rates, false, 1, dueq__decode_rated, &words);
    if (status)
        return status;
    dueq__resp_number(&words, (int64_t)minutes);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_rates(dueq_queue *queue, size_t minutes, dueq_result **result) {
    dueq_status submitted = dueq_rates_submit(queue, minutes);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_queues(dueq_client *client, dueq_bytes cursor, dueq_result **result) {
    dueq_status submitted = dueq_queues_submit(client, cursor);
    return dueq__client_run(client, submitted, result);
}

dueq_status dueq_lock(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms, int64_t timeout_ms,
                      dueq_result **result) {
    dueq_status submitted = dueq_lock_submit(queue, name, ttl_ms, timeout_ms);
    return dueq__client_run(queue->client, submitted, result);
}

dueq_status dueq_relock(dueq_queue *queue, dueq_bytes name, dueq_bytes token, int64_t ttl_ms) {
    dueq_status submitted = dueq_relock_submit(queue, name, token, ttl_ms);
    return dueq__client_run(queue->client, submitted, NULL);
}

dueq_status dueq_unlock(dueq_queue *queue, dueq_bytes name, dueq_bytes token) {
    dueq_status submitted = dueq_unlock_submit(queue, name, token);
    return dueq__client_run(queue->client, submitted, NULL);
}

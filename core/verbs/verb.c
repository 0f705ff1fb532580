#include "verbs.h"

/* How the call of a verb begins, and how its blocking form runs. */

/* The most messages in an answer that `decode` reads; a page of other items counts as one. */
static size_t messages_of(dueq__decode *decode) {
    if (decode == dueq__decode_peeked)
        return DUEQ_MAX_BATCH;
    return decode == dueq__decode_found || decode == dueq__decode_rated ||
           decode == dueq__decode_workers || decode == dueq__decode_failures;
}

dueq_status dueq__verb_begin(dueq_queue *queue, const struct dueq__script *script, bool changes,
                             size_t count, dueq__decode *decode, struct dueq__resp *words) {
    dueq_status status = dueq__op_begin(queue, script, changes);
    if (status)
        return status;
    queue->client->op->item_count = count;
    queue->client->op->decode = decode;
    queue->client->op->request.max_messages = messages_of(decode);
    dueq__op_arguments(queue->client, words);
    return DUEQ_OK;
}

dueq_status dueq__verb_begin_outcomes(dueq_queue *queue, const struct dueq__script *script,
                                      size_t count, struct dueq__resp *words) {
    return dueq__verb_begin(queue, script, true, count, dueq__decode_outcomes, words);
}

bool dueq__tickets_are_noted(const dueq_bytes *tickets, size_t count) {
    bool noted = false;
    for (size_t i = 0; !noted && i < count; i++)
        noted = dueq__ticket_is_noted(tickets[i]);
    return noted;
}

/* One message that never came back. The first call of a minute keeps the history. */
static bool is_plain_ack(const dueq_queue *queue, const dueq_bytes *tickets, size_t count) {
    struct dueq__ticket parts;
    return count == 1 && dueq__ticket_read(*tickets, &parts) && parts.deliveries == 0 &&
           queue->history_minute == dueq__op_minute();
}

const struct dueq__script *dueq__verb_ack_end_script(const dueq_queue *queue,
                                                     const dueq_bytes *tickets, size_t count) {
    bool plain = is_plain_ack(queue, tickets, count) && !queue->has_limits &&
                 dueq__ticket_is_noted(*tickets) && !dueq__ticket_has_group(*tickets);
    return plain ? &dueq__script_ack_noted : &dueq__script_ack_end;
}

const struct dueq__script *dueq__verb_ack_script(const dueq_queue *queue, const dueq_bytes *tickets,
                                                 size_t count) {
    if (dueq__tickets_are_noted(tickets, count))
        return dueq__verb_ack_end_script(queue, tickets, count);
    /*
     * In a queue with limits acks wake consumers. An answer to a reserve says whether it is one. If
     * there was none in this minute, the ack asks.
     */
    if (queue->has_limits || queue->limits_minute != dueq__op_minute())
        return &dueq__script_ack_wake;
    bool grouped = false;
    for (size_t i = 0; !grouped && i < count; i++)
        grouped = dueq__ticket_has_group(tickets[i]);
    if (!is_plain_ack(queue, tickets, count))
        return grouped ? &dueq__script_ack_wake : &dueq__script_ack_full;
    return grouped ? &dueq__script_ack_group : &dueq__script_ack;
}

dueq_status dueq__verb_run(dueq_client *client, dueq_status submitted, dueq_result **result) {
    if (result)
        *result = NULL;
    if (submitted != DUEQ_PENDING)
        return submitted;
    dueq_status status = dueq_wait(client, -1);
    return status == DUEQ_INTERRUPTED ? status : dueq_take(client, result);
}

dueq_status dueq__verb_run_purged(dueq_client *client, dueq_status submitted, size_t *purged) {
    dueq_result *result;
    dueq_status status = dueq__verb_run(client, submitted, &result);
    if (purged)
        *purged = dueq_result_purged(result);
    dueq_result_free(result);
    return status;
}

dueq_status dueq__verb_run_counts(dueq_client *client, dueq_status submitted, dueq_counts *counts) {
    dueq_result *result;
    dueq_status status = dueq__verb_run(client, submitted, &result);
    dueq_status given =
        counts ? dueq__struct_check(counts, &dueq__layout_counts, &client->error) : DUEQ_OK;
    if (counts && !given && dueq_result_counts(result))
        dueq__struct_give(counts, dueq_result_counts(result), &dueq__layout_counts);
    dueq_result_free(result);
    return status < 0 ? status : given ? given : status;
}

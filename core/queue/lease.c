#include "queue.h"

/* What the holder of messages does with them. */

/* Begins a call about one ticket, which is its first argument. */
static dueq_status begin(dueq_queue *queue, const struct dueq__script *script, dueq_bytes ticket,
                         struct dueq__resp *words) {
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_ticket(queue, ticket, &parts);
    if (!status)
        status = dueq__ops_begin(queue, script, 1, words);
    if (!status)
        dueq__resp_bytes(words, ticket.data, ticket.size);
    return status;
}

/* Adds tickets to the words of a call. */
static void add_tickets(struct dueq__resp *words, const dueq_bytes *tickets, size_t count) {
    for (size_t i = 0; i < count; i++)
        dueq__resp_bytes(words, tickets[i].data, tickets[i].size);
}

/* first: NULL, or set to whether all of them are of first deliveries. */
static dueq_status check_tickets(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                 bool *first) {
    struct dueq__ticket parts;
    dueq_status status = dueq__ops_check_count(queue, tickets, count);
    if (first)
        *first = true;
    for (size_t i = 0; !status && i < count; i++) {
        status = dueq__ops_check_ticket(queue, tickets[i], &parts);
        if (first)
            *first = *first && !status && parts.before == 0;
    }
    return status;
}

dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_tickets(queue, tickets, count, NULL);
    if (!status)
        status = dueq__ops_begin(queue, &dueq__script_ack, count, &words);
    if (status)
        return status;
    add_tickets(&words, tickets, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_bytes dueq__lease_cut_text(dueq_bytes text) {
    if (text.size <= DUEQ_MAX_ERROR)
        return text;
    const char *bytes = text.data;
    text.size = DUEQ_MAX_ERROR;
    while (text.size > DUEQ_MAX_ERROR - 4 && ((unsigned char)bytes[text.size] & 0xC0) == 0x80)
        text.size--;
    return text;
}

static dueq_status check_delay(dueq_queue *queue, int64_t delay_ms) {
    return dueq__ops_check_ms(queue, "the delay", delay_ms, 0, DUEQ_MAX_TIME_MS);
}

static dueq_status check_retry_delay(dueq_queue *queue, int64_t delay_ms) {
    return delay_ms == DUEQ_BY_POLICY ? DUEQ_OK : check_delay(queue, delay_ms);
}

/* The words of a retry behind its ticket. */
static void add_retry(struct dueq__resp *words, int64_t delay_ms, dueq_bytes error) {
    uint16_t chance; /* of a backoff's jitter */
    dueq__id_random(&chance, sizeof chance);
    error = dueq__lease_cut_text(error);
    dueq__resp_number(words, delay_ms);
    dueq__resp_number(words, chance);
    dueq__resp_bytes(words, error.data, error.size);
}

dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                              dueq_bytes error) {
    struct dueq__resp words;
    dueq_status status = check_retry_delay(queue, delay_ms);
    if (!status)
        status = begin(queue, &dueq__script_retry, ticket, &words);
    if (status)
        return status;
    add_retry(&words, delay_ms, error);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_release_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                                int64_t delay_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_delay(queue, delay_ms);
    if (!status)
        status = check_tickets(queue, tickets, count, NULL);
    if (!status)
        status = dueq__ops_begin(queue, &dueq__script_release, count, &words);
    if (status)
        return status;
    dueq__resp_number(&words, delay_ms);
    add_tickets(&words, tickets, count);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_extend_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                               int64_t lease_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_ms(queue, "the lease", lease_ms, 1, UINT32_MAX);
    if (!status)
        status = check_tickets(queue, tickets, count, NULL);
    if (!status)
        status = dueq__ops_begin(queue, &dueq__script_extend, count, &words);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        add_tickets(&words, &tickets[i], 1);
        dueq__resp_number(&words, lease_ms);
    }
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq__settlement_write(dueq_queue *queue, const struct dueq__settlement *settlement,
                                   struct dueq__resp *words, size_t *count, bool *plain) {
    struct dueq__ticket parts;
    dueq_status status = DUEQ_OK;
    bool first = true, retries = settlement->retry.size > 0;
    if (settlement->ack_count)
        status = check_tickets(queue, settlement->acks, settlement->ack_count, &first);
    if (!status && retries)
        status = dueq__ops_check_ticket(queue, settlement->retry, &parts);
    if (!status && retries)
        status = check_retry_delay(queue, settlement->retry_delay_ms);
    if (status)
        return status;
    *count = settlement->ack_count + retries;
    *plain = first && !retries;
    dueq__resp_number(words, (int64_t)settlement->ack_count);
    add_tickets(words, settlement->acks, settlement->ack_count);
    if (retries) {
        add_tickets(words, &settlement->retry, 1);
        add_retry(words, settlement->retry_delay_ms, settlement->retry_error);
    }
    return DUEQ_OK;
}

dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    struct dueq__resp words;
    dueq_status status = begin(queue, &dueq__script_bury, ticket, &words);
    if (status)
        return status;
    reason = dueq__lease_cut_text(reason);
    dueq__resp_bytes(&words, reason.data, reason.size);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                     dueq_result **result) {
    return dueq__ops_run(queue, dueq_ack_submit(queue, tickets, count), result);
}

dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms, dueq_bytes error) {
    return dueq__ops_run(queue, dueq_retry_submit(queue, ticket, delay_ms, error), NULL);
}

dueq_status dueq_release(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                         int64_t delay_ms, dueq_result **result) {
    return dueq__ops_run(queue, dueq_release_submit(queue, tickets, count, delay_ms), result);
}

dueq_status dueq_extend(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                        int64_t lease_ms, dueq_result **result) {
    return dueq__ops_run(queue, dueq_extend_submit(queue, tickets, count, lease_ms), result);
}

dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    return dueq__ops_run(queue, dueq_bury_submit(queue, ticket, reason), NULL);
}

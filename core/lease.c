#include "internal.h"

/* Taking messages under a lease, and what their holder does with them. */

static dueq_status check_ticket(dueq_queue *queue, dueq_bytes ticket, struct dueq__ticket *parts) {
    if (ticket.data && dueq__ticket_read(ticket, parts))
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "not a ticket: tickets come with reserved messages");
}

dueq_status dueq_reserve_submit(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                int64_t lease_ms) {
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__verb_check_count(queue, queue, count);
    if (!status)
        status = dueq__verb_check_ms(queue, "the lease", lease_ms, 0, UINT32_MAX);
    if (!status && timeout_ms != DUEQ_FOREVER)
        status = dueq__verb_check_ms(queue, "the wait", timeout_ms, 0, DUEQ_MAX_TIME_MS);
    if (!status)
        status = dueq__call_begin(queue, &dueq__script_reserve, true);
    if (status)
        return status;
    struct dueq__call *call = &queue->client->call;
    call->decode = dueq__wait_decode;
    call->wait.count = count;
    call->wait.lease_ms = lease_ms;
    if (timeout_ms)
        call->wait.until_ms = timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS
                                                         : dueq__monotonic_ms() + timeout_ms;
    return dueq__wait_request(queue->client, timeout_ms != 0);
}

dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count) {
    struct dueq__words words;
    struct dueq__ticket parts;
    bool usual = true;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__verb_check_count(queue, tickets, count);
    for (size_t i = 0; !status && i < count; i++) {
        status = check_ticket(queue, tickets[i], &parts);
        usual = usual && !status && parts.id.data == tickets[i].data;
    }
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_ack, count, &words);
    if (status)
        return status;
    dueq__words_text(&words, usual ? "1" : "0");
    for (size_t i = 0; i < count; i++)
        dueq__words_bytes(&words, tickets[i].data, tickets[i].size);
    return dueq__call_submit(queue->client, &words);
}

/* A text that is kept with a message, cut between characters. */
static dueq_bytes cut_text(dueq_bytes text) {
    if (text.size <= DUEQ_MAX_ERROR)
        return text;
    const char *bytes = text.data;
    text.size = DUEQ_MAX_ERROR;
    while (text.size > DUEQ_MAX_ERROR - 4 && ((unsigned char)bytes[text.size] & 0xC0) == 0x80)
        text.size--;
    return text;
}

dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                              dueq_bytes error) {
    struct dueq__words words;
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_ticket(queue, ticket, &parts);
    if (!status)
        status = dueq__verb_check_ms(queue, "the delay", delay_ms, 0, DUEQ_MAX_TIME_MS);
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_retry, 1, &words);
    if (status)
        return status;
    error = cut_text(error);
    dueq__words_bytes(&words, ticket.data, ticket.size);
    dueq__words_number(&words, delay_ms);
    dueq__words_bytes(&words, error.data, error.size);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_extend_submit(dueq_queue *queue, dueq_bytes ticket, int64_t lease_ms) {
    struct dueq__words words;
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_ticket(queue, ticket, &parts);
    if (!status)
        status = dueq__verb_check_ms(queue, "the lease", lease_ms, 1, UINT32_MAX);
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_extend, 1, &words);
    if (status)
        return status;
    dueq__words_bytes(&words, ticket.data, ticket.size);
    dueq__words_number(&words, lease_ms);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    struct dueq__words words;
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_ticket(queue, ticket, &parts);
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_bury, 1, &words);
    if (status)
        return status;
    reason = cut_text(reason);
    dueq__words_bytes(&words, ticket.data, ticket.size);
    dueq__words_bytes(&words, reason.data, reason.size);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_reserve(dueq_queue *queue, size_t count, int64_t timeout_ms, int64_t lease_ms,
                         dueq_result **result) {
    return dueq__verb_run(queue, dueq_reserve_submit(queue, count, timeout_ms, lease_ms), result);
}

dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                     dueq_result **result) {
    return dueq__verb_run(queue, dueq_ack_submit(queue, tickets, count), result);
}

dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms, dueq_bytes error) {
    return dueq__verb_run(queue, dueq_retry_submit(queue, ticket, delay_ms, error), NULL);
}

dueq_status dueq_extend(dueq_queue *queue, dueq_bytes ticket, int64_t lease_ms) {
    return dueq__verb_run(queue, dueq_extend_submit(queue, ticket, lease_ms), NULL);
}

dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    return dueq__verb_run(queue, dueq_bury_submit(queue, ticket, reason), NULL);
}

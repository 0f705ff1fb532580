#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/* Acks and retries: each waits until a request takes it along, and then for that answer. */

void dueq__settle_drop_retry(dueq_consumer *consumer) {
    free(consumer->retry.error);
    consumer->retry = (struct dueq__retry){0};
}

/* Calls of the program */

static dueq_status check_ticket(dueq_consumer *consumer, dueq_bytes ticket) {
    dueq_status status = dueq__consumer_check_fork(consumer);
    return status ? status : dueq__arg_check_tickets(consumer->queues[0], &ticket, 1);
}

dueq_status dueq_consumer_ack(dueq_consumer *consumer, dueq_bytes ticket) {
    dueq_status status = check_ticket(consumer, ticket);
    if (!status) {
        dueq__leases_ack(consumer->leases, ticket);
        dueq__partitions_restart_wait(consumer);
    }
    return status;
}

dueq_status dueq_consumer_retry(dueq_consumer *consumer, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error) {
    struct dueq__error *failure = &consumer->client->error;
    dueq_status status = check_ticket(consumer, ticket);
    if (!status)
        status = dueq__arg_check_retry_delay(consumer->queues[0], delay_ms);
    if (!status && consumer->retry.lease)
        status = dueq__fail(failure, DUEQ_IN_USE, "a retry waits to be sent already");
    if (status)
        return status;
    error = dueq__arg_cut_error(error);
    char *text = malloc(error.size + 1);
    if (!text)
        return dueq__fail(failure, DUEQ_NO_MEMORY, NULL);
    memcpy(text, error.size ? error.data : "", error.size);
    consumer->retry = (struct dueq__retry){dueq__leases_take_retry(consumer->leases, ticket),
                                           delay_ms, text, error.size};
    if (!consumer->retry.lease)
        dueq__settle_drop_retry(consumer);
    return DUEQ_OK;
}

void dueq_consumer_forget(dueq_consumer *consumer, dueq_bytes ticket) {
    if (consumer->pid != getpid())
        return;
    dueq__leases_forget(consumer->leases, ticket);
    dueq__partitions_restart_wait(consumer);
}

int dueq_consumer_keep_ack(dueq_consumer *consumer, dueq_bytes ticket, dueq_status failure) {
    bool kept = consumer->pid == getpid() && dueq_status_retriable(failure) &&
                dueq__leases_keep_ack(consumer->leases, ticket);
    if (kept)
        dueq__partitions_restart_wait(consumer);
    return kept;
}

int dueq_consumer_has_lost(dueq_consumer *consumer, dueq_bytes ticket) {
    return consumer->pid == getpid() && dueq__leases_has_lost(consumer->leases, ticket);
}

size_t dueq_consumer_lost(const dueq_consumer *consumer) {
    return consumer->pid == getpid() ? consumer->leases->lost : 0;
}

/* Requests */

/*
 * Settles the acks and the retry that the request took along by their outcomes; beyond `count`, by
 * the failure.
 */
static void apply_outcomes(dueq_consumer *consumer, const char *outcomes, size_t count,
                           dueq_status failure) {
    size_t at = consumer->sent_count;
    for (size_t i = 0; i < at; i++)
        dueq__leases_settled(consumer->leases, consumer->sent[i],
                             i < count ? (dueq_status)(outcomes[i] - '0') : failure);
    if (consumer->retry_sent && at < count) {
        dueq__leases_settled(consumer->leases, consumer->retry.lease,
                             (dueq_status)(outcomes[at] - '0'));
        dueq__settle_drop_retry(consumer);
    }
    consumer->sent_count = 0;
    consumer->retry_sent = false;
}

/*
 * Called when the outcomes arrive, also if the call goes on to wait for messages: meanwhile the
 * heartbeat must not extend settled messages.
 */
static void on_settled(void *owner, const char *outcomes, size_t count) {
    apply_outcomes(owner, outcomes, count, DUEQ_CLOSED);
}

size_t dueq__settle_next_queue(const dueq_consumer *consumer) {
    size_t queue = SIZE_MAX;
    if (consumer->retry.lease)
        return consumer->retry.lease->queue;
    if (dueq__leases_oldest_ack(consumer->leases, &queue) > consumer->ack_cutoff_ms)
        return SIZE_MAX;
    bool recalls = queue != SIZE_MAX && consumer->queues[queue]->unanswered.number;
    return recalls && consumer->heartbeat && !consumer->stopping ? SIZE_MAX : queue;
}

void dueq__settle_fill(dueq_consumer *consumer, size_t queue, dueq_bytes *tickets,
                       struct dueq__settlement *settlement) {
    const struct dueq__retry *retry = &consumer->retry;
    consumer->settle_queue = queue;
    consumer->sent_count = dueq__leases_take_acks(consumer->leases, queue, dueq__monotonic_ms(),
                                                  consumer->sent, DUEQ_MAX_BATCH);
    for (size_t i = 0; i < consumer->sent_count; i++)
        tickets[i] = consumer->sent[i]->ticket;
    *settlement = (struct dueq__settlement){.acks = tickets,
                                            .ack_count = consumer->sent_count,
                                            .on_settled = on_settled,
                                            .owner = consumer};
    consumer->retry_sent = retry->lease && retry->lease->queue == queue;
    if (consumer->retry_sent) {
        settlement->retry = retry->lease->ticket;
        settlement->retry_delay_ms = retry->delay_ms;
        settlement->retry_error = (dueq_bytes){retry->error, retry->error_size};
    }
}

void dueq__settle_finish(dueq_consumer *consumer, dueq_status status, const dueq_result *result,
                         int64_t asked_ms) {
    bool acks = consumer->request == DUEQ__REQUEST_ACK;
    if (!acks && consumer->request != DUEQ__REQUEST_VERIFY) {
        apply_outcomes(consumer, NULL, 0, status < 0 ? status : DUEQ_CLOSED);
        return;
    }
    for (size_t i = 0; i < consumer->sent_count; i++) {
        dueq_status outcome = status < 0 ? status : dueq_result_status(result, i);
        if (acks)
            dueq__leases_settled(consumer->leases, consumer->sent[i], outcome);
        else
            dueq__leases_extended(consumer->leases, consumer->sent[i], asked_ms, outcome);
    }
    consumer->sent_count = 0;
}

void dueq__settle_defer(dueq_consumer *consumer) {
    struct dueq__lease *lease = consumer->retry.lease;
    /*
     * This consumer sends the acks no sooner, whatever other nodes answer. The heartbeat sends them
     * DUEQ__ACK_DELAY_MS later.
     */
    consumer->acks_deferred_ms = dueq__monotonic_ms() + DUEQ__DEFER_ACKS_MS - DUEQ__ACK_DELAY_MS;
    dueq__leases_defer_acks(consumer->leases, consumer->settle_queue, consumer->acks_deferred_ms);
    if (!lease)
        return;
    dueq__warn_dropped_retry(consumer);
    dueq__leases_forget(consumer->leases, lease->ticket);
    dueq__leases_settled(consumer->leases, lease, DUEQ_UNAVAILABLE);
    dueq__settle_drop_retry(consumer);
}

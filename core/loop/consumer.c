#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

/* The loop: a request settles what was acknowledged and reserves the next; what it reserved is delivered. */

/* While prefetched messages are left, a request is made for acks older than this. */
#define QUIET_MS 50
/* How late messages are costs the server something: it is asked this seldom. */
#define TIMED_MS 1000
/* How often acks are tried again while their node is away. */
#define LEFT_PAUSE_MS 1000

/* ---- Closing ---- */

static void drop_retry(dueq_consumer *consumer) {
    free(consumer->retry.error);
    consumer->retry = (struct dueq__retry){0};
}

static void drop_all(dueq_consumer *consumer) {
    dueq__prefetch_clear(consumer);
    drop_retry(consumer);
    consumer->sent_count = 0;
    consumer->retry_sent = false;
    consumer->step = DUEQ__STEP_NONE;
}

void dueq_consumer_close(dueq_consumer *consumer) {
    if (!consumer)
        return;
    bool own = consumer->pid == getpid();
    if (consumer->step != DUEQ__STEP_NONE && own)
        dueq_abandon(consumer->client);
    if (own) {
        dueq__heartbeat_end(consumer->heartbeat);
        dueq__leases_free(consumer->leases);
    }
    drop_all(consumer);
    free(consumer->queues);
    free(consumer->share);
    free(consumer);
}

/*
 * After fork() the child's consumer begins anew: the messages are the parent's, and so is the thread that
 * works with the leases, which therefore stay as they are.
 */
static dueq_status check_fork(dueq_consumer *consumer) {
    if (consumer->pid == getpid())
        return DUEQ_OK;
    struct dueq__leases *leases = dueq__leases_new();
    if (!leases)
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    drop_all(consumer);
    consumer->leases = leases;
    consumer->heartbeat = NULL;
    consumer->pid = getpid();
    if (consumer->share)
        dueq__share_reset(consumer->share);
    return DUEQ_OK;
}

/* ---- Requests ---- */

/* What became of the acks and the retry that the request took along: their outcomes, or else this failure. */
static void settle(dueq_consumer *consumer, const char *outcomes, size_t count,
                   dueq_status failure) {
    size_t at = consumer->sent_count;
    for (size_t i = 0; i < at; i++)
        dueq__leases_settled(consumer->leases, consumer->sent[i],
                             i < count ? (dueq_status)(outcomes[i] - '0') : failure);
    if (consumer->retry_sent && at < count) {
        dueq__leases_settled(consumer->leases, consumer->retry.lease,
                             (dueq_status)(outcomes[at] - '0'));
        drop_retry(consumer);
    }
    consumer->sent_count = 0;
    consumer->retry_sent = false;
}

/* At once: the heartbeat must not go on extending what is finished while the call waits. */
static void settled(void *owner, const char *outcomes, size_t count) {
    settle(owner, outcomes, count, DUEQ_CLOSED);
}

/*
 * The queue that acks or a retry are to be sent for first; SIZE_MAX: none. Where a reserve is to be recalled, that comes
 * first, as the server keeps one answer for the session, and the heartbeat, which has its own, may send them.
 */
static size_t queue_to_settle(const dueq_consumer *consumer) {
    size_t queue = SIZE_MAX;
    if (consumer->retry.lease)
        return consumer->retry.lease->queue;
    if (dueq__leases_oldest_ack(consumer->leases, &queue) > consumer->settle_ms)
        return SIZE_MAX;
    bool recalls = queue != SIZE_MAX && consumer->queues[queue]->doubt.number;
    return recalls && consumer->heartbeat && !consumer->stops ? SIZE_MAX : queue;
}

bool dueq__consumer_times(dueq_consumer *consumer) {
    int64_t now = dueq__monotonic_ms();
    bool asks = consumer->heartbeat && now >= consumer->timed_ms + TIMED_MS;
    if (asks)
        consumer->timed_ms = now;
    return asks;
}

/* Reserves from so many queues; one queue's acks, and a retry, go along. count 0: it only settles. */
static dueq_status submit_reserve(dueq_consumer *consumer, size_t queue, size_t queue_count,
                                  size_t count, int64_t timeout_ms) {
    const struct dueq__retry *retry = &consumer->retry;
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    struct dueq__reserve asked = {.queues = consumer->queues + queue,
                                  .queue_count = queue_count,
                                  .order = consumer->options.order,
                                  .count = count,
                                  .timeout_ms = timeout_ms,
                                  .lease_ms = consumer->options.lease_ms,
                                  .default_lease_ms = dueq__consumer_lease_ms(consumer)};
    struct dueq__settlement *settlement = &asked.settlement;
    asked.timed = count && dueq__consumer_times(consumer);
    consumer->step = count ? DUEQ__STEP_RESERVE : DUEQ__STEP_SETTLE;
    if (queue_count == 1) {
        *settlement =
            (struct dueq__settlement){.acks = tickets, .settled = settled, .owner = consumer};
        settlement->ack_count = consumer->sent_count = dueq__leases_take_acked(
            consumer->leases, queue, dueq__monotonic_ms(), consumer->sent, DUEQ_MAX_BATCH);
        for (size_t i = 0; i < consumer->sent_count; i++)
            tickets[i] = consumer->sent[i]->ticket;
        consumer->retry_sent = retry->lease && retry->lease->queue == queue;
    }
    if (consumer->retry_sent) {
        settlement->retry = retry->lease->ticket;
        settlement->retry_delay_ms = retry->delay_ms;
        settlement->retry_error = (dueq_bytes){retry->error, retry->error_size};
    }
    return dueq__reserve_submit(&asked);
}

static bool is_several(const dueq_consumer *consumer) {
    return consumer->queue_count > 1 || consumer->share;
}

/* How long to wait for messages: not for long while there are acks to be sent, and no heartbeat sends them. */
static int64_t wait_ms(const dueq_consumer *consumer) {
    if (!consumer->left || consumer->heartbeat)
        return consumer->timeout_ms;
    int64_t left = consumer->until_ms - dueq__monotonic_ms();
    return left < 0 ? 0 : left < LEFT_PAUSE_MS ? left : LEFT_PAUSE_MS;
}

/* One queue's acks go with its reserve; those of several have a request of their own before. */
static dueq_status submit_next(dueq_consumer *consumer) {
    bool more = dueq__prefetch_has_next(consumer); /* and one of them is delivered after this */
    bool several = is_several(consumer);
    size_t queue = several ? queue_to_settle(consumer) : SIZE_MAX;
    if (queue != SIZE_MAX)
        return submit_reserve(consumer, queue, 1, 0, 0);
    if (more && several)
        return DUEQ_OK;
    if (consumer->share && dueq__monotonic_ms() >= consumer->share->renew_ms)
        return dueq__partitions_share(consumer, false);
    if (consumer->share)
        return dueq__partitions_reserve(consumer);
    return submit_reserve(consumer, 0, consumer->queue_count,
                          consumer->options.prefetch - consumer->prefetched + more,
                          more ? 0 : wait_ms(consumer));
}

/* Asks whether the next message, and what was prefetched with it, is still held: it may have been cancelled. */
static dueq_status submit_extend(dueq_consumer *consumer) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    const struct dueq__batch *batch = consumer->first;
    size_t left = dueq_result_count(batch->result) - batch->next;
    size_t count = dueq__leases_take_unsure(consumer->leases, batch->lease + batch->next, left,
                                            consumer->sent);
    if (!count)
        return DUEQ_OK;
    for (size_t i = 0; i < count; i++)
        tickets[i] = consumer->sent[i]->ticket;
    consumer->sent_count = count;
    consumer->step = DUEQ__STEP_EXTEND;
    return dueq_extend_submit(consumer->queues[batch->queue], tickets, count,
                              consumer->sent[0]->lease_ms);
}

/* What became of what the request took along, as far as that is not known yet: its failure, or the outcomes. */
static void end_request(dueq_consumer *consumer, dueq_status status, const dueq_result *result,
                        int64_t asked_ms) {
    if (consumer->step != DUEQ__STEP_EXTEND) {
        settle(consumer, NULL, 0, status < 0 ? status : DUEQ_CLOSED);
        return;
    }
    for (size_t i = 0; i < consumer->sent_count; i++)
        dueq__leases_extended(consumer->leases, consumer->sent[i], asked_ms,
                              status < 0 ? status : dueq_result_status(result, i));
    consumer->sent_count = 0;
}

/* A submit that failed has sent nothing. */
static dueq_status submitted(dueq_consumer *consumer, dueq_status status) {
    if (status < 0)
        end_request(consumer, status, NULL, 0);
    if (status == DUEQ_PENDING) {
        consumer->client->call.patient_ms = consumer->patient_ms;
        consumer->client->call.wait.slack_us = 1000 * consumer->options.slack_ms;
        consumer->slice_ms = consumer->client->call.wait.until_ms;
        consumer->thread = pthread_self();
        consumer->client->call.gives_way =
            consumer->client->cluster && is_several(consumer) &&
            (consumer->step == DUEQ__STEP_SETTLE || consumer->step == DUEQ__STEP_EXTEND ||
             (consumer->step == DUEQ__STEP_SHARE && consumer->share->count));
    } else {
        consumer->step = DUEQ__STEP_NONE;
    }
    return status;
}

static dueq_status begin(dueq_consumer *consumer) {
    dueq_status status = check_fork(consumer);
    if (!status && consumer->step != DUEQ__STEP_NONE)
        status = dueq__fail(&consumer->client->error, DUEQ_IN_USE, NULL);
    return status;
}

/* All acks are sent anew, also those that were left. */
static void begin_turn(dueq_consumer *consumer, bool stops) {
    consumer->settle_ms = dueq__monotonic_ms();
    consumer->left = false;
    consumer->stops = stops;
}

/*
 * A node is away, and the consumer goes on without it. What was to be settled is left for the next turn, but for a retry: its
 * message comes again when its lease ends. Partitions stay whose they are, as nobody else can get them either.
 */
static void leave(dueq_consumer *consumer, enum dueq__step step) {
    struct dueq__lease *lease = consumer->retry.lease;
    if (step == DUEQ__STEP_SHARE)
        consumer->share->renew_ms = dueq__monotonic_ms() + DUEQ__RENEW_MS;
    if (step != DUEQ__STEP_SETTLE)
        return;
    consumer->left = true;
    if (!lease)
        return;
    dueq__warn_of_retry(consumer);
    dueq__leases_forget(consumer->leases, lease->ticket);
    dueq__leases_settled(consumer->leases, lease, DUEQ_UNAVAILABLE);
    drop_retry(consumer);
}

dueq_status dueq_consumer_submit(dueq_consumer *consumer, int64_t timeout_ms) {
    dueq_status status = begin(consumer);
    if (status)
        return status;
    if (!consumer->heartbeat && consumer->options.max_run_ms)
        status = dueq__heartbeat_start(consumer);
    if (status)
        return status;
    dueq__warn_of_open(consumer);
    begin_turn(consumer, false);
    consumer->timeout_ms = timeout_ms;
    consumer->patient_ms = timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS
                                                      : dueq__monotonic_ms() + timeout_ms;
    consumer->until_ms = consumer->patient_ms;
    if (dueq__prefetch_has_next(consumer)) {
        size_t queue;
        int64_t oldest = dueq__leases_oldest_ack(consumer->leases, &queue);
        int64_t patience = consumer->heartbeat ? QUIET_MS : 0;
        bool ripe = oldest != DUEQ__NEVER && oldest + patience <= dueq__monotonic_ms();
        if (!consumer->retry.lease && !ripe)
            return DUEQ_OK;
    }
    return submitted(consumer, submit_next(consumer));
}

/* The end of a step: its status, or PENDING where it is still under way. */
static dueq_status end_step(dueq_consumer *consumer) {
    dueq_result *result;
    int64_t asked_ms = consumer->client->call.asked_ms;
    /* Somebody hastens the wait: it is not to begin anew. */
    if (consumer->step == DUEQ__STEP_RESERVE &&
        consumer->client->call.wait.until_ms < consumer->slice_ms)
        consumer->until_ms = 0;
    if (consumer->share && consumer->step == DUEQ__STEP_RESERVE)
        dueq__partitions_waited(consumer);
    dueq_status status = dueq_take(consumer->client, &result);
    if (status == DUEQ_PENDING)
        return status;
    if (consumer->share && status < 0)
        consumer->share->changed = true;
    end_request(consumer, status, result, asked_ms);
    if (consumer->share && consumer->step == DUEQ__STEP_RESERVE && status == DUEQ_OK)
        result->queue = consumer->asked[result->queue];
    if (status == DUEQ_OK && consumer->step == DUEQ__STEP_RESERVE)
        status = dueq__prefetch_take_over(consumer, result, asked_ms);
    else if (consumer->step == DUEQ__STEP_SHARE && status == DUEQ_OK)
        status = dueq__partitions_list(consumer);
    else
        dueq_result_free(result);
    return status;
}

dueq_status dueq_consumer_take(dueq_consumer *consumer, const dueq_message **message,
                               size_t *queue) {
    enum dueq__step step = consumer->step;
    dueq_status status = DUEQ_OK;
    bool gave_way = consumer->client->call.gives_way;
    *message = NULL;
    if (step != DUEQ__STEP_NONE) {
        status = end_step(consumer);
        if (status == DUEQ_PENDING)
            return status;
        consumer->step = DUEQ__STEP_NONE;
        gave_way = gave_way && status < 0 && dueq_status_retriable(status);
        if (status < 0 && !gave_way)
            return status;
        if (gave_way)
            leave(consumer, step);
    }
    if (step == DUEQ__STEP_SETTLE || step == DUEQ__STEP_SHARE) {
        status = submitted(consumer, submit_next(consumer));
        if (status)
            return status;
    }
    while (!*message && dueq__prefetch_has_next(consumer)) {
        /* Where nobody can tell whether it is still held, it is until its lease ends. */
        bool sure = step == DUEQ__STEP_EXTEND && gave_way;
        status = sure ? DUEQ_OK : submitted(consumer, submit_extend(consumer));
        if (status)
            return status;
        gave_way = false;
        *message = dueq__prefetch_deliver(consumer);
    }
    /* Where all that was prefetched is lost, none was asked for yet. */
    bool over = (!consumer->share && !consumer->left) || dueq__monotonic_ms() >= consumer->until_ms;
    if (!*message && step == DUEQ__STEP_RESERVE && over)
        return DUEQ_EMPTY;
    if (!*message && step == DUEQ__STEP_RESERVE)
        begin_turn(consumer, false);
    if (!*message)
        return submitted(consumer, submit_next(consumer));
    if (queue)
        *queue = consumer->first->queue;
    return DUEQ_OK;
}

dueq_status dueq_consumer_next(dueq_consumer *consumer, int64_t timeout_ms,
                               const dueq_message **message, size_t *queue) {
    *message = NULL;
    /* After INTERRUPTED it goes on. */
    dueq_status status = consumer->step == DUEQ__STEP_NONE || consumer->pid != getpid()
                             ? dueq_consumer_submit(consumer, timeout_ms)
                             : DUEQ_PENDING;
    if (status < 0)
        return status;
    while ((status = dueq_consumer_take(consumer, message, queue)) == DUEQ_PENDING) {
        if (dueq_wait(consumer->client, -1) == DUEQ_INTERRUPTED)
            return DUEQ_INTERRUPTED;
    }
    return status;
}

/* ---- Acks and retries ---- */

static dueq_status check_ticket(dueq_consumer *consumer, dueq_bytes ticket) {
    dueq_status status = check_fork(consumer);
    return status ? status : dueq__ops_check_tickets(consumer->queues[0], &ticket, 1);
}

dueq_status dueq_consumer_ack(dueq_consumer *consumer, dueq_bytes ticket) {
    dueq_status status = check_ticket(consumer, ticket);
    if (!status) {
        dueq__leases_ack(consumer->leases, ticket);
        dueq__partitions_freed(consumer);
    }
    return status;
}

dueq_status dueq_consumer_retry(dueq_consumer *consumer, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error) {
    struct dueq__error *failure = &consumer->client->error;
    dueq_status status = check_ticket(consumer, ticket);
    if (!status)
        status = dueq__ops_check_retry_delay(consumer->queues[0], delay_ms);
    if (!status && consumer->retry.lease)
        status = dueq__fail(failure, DUEQ_IN_USE, "a retry waits to be sent already");
    if (status)
        return status;
    error = dueq__ops_cut(error);
    char *text = malloc(error.size + 1);
    if (!text)
        return dueq__fail(failure, DUEQ_NO_MEMORY, NULL);
    memcpy(text, error.size ? error.data : "", error.size);
    consumer->retry = (struct dueq__retry){dueq__leases_retry(consumer->leases, ticket), delay_ms,
                                           text, error.size};
    if (!consumer->retry.lease)
        drop_retry(consumer);
    return DUEQ_OK;
}

void dueq_consumer_forget(dueq_consumer *consumer, dueq_bytes ticket) {
    if (consumer->pid != getpid())
        return;
    dueq__leases_forget(consumer->leases, ticket);
    dueq__partitions_freed(consumer);
}

size_t dueq_consumer_lost(const dueq_consumer *consumer) {
    return consumer->pid == getpid() ? consumer->leases->lost : 0;
}

/* ---- Stopping ---- */

/* Gives what is left of one batch back; in the end, so that it comes first again, what is disowned. */
static dueq_status submit_release(dueq_consumer *consumer) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    size_t count = 0, queue = 0;
    const struct dueq__batch *batch = dueq__prefetch_rest(consumer);
    if (batch) {
        queue = batch->queue;
        for (size_t i = batch->next; i < dueq_result_count(batch->result); i++)
            tickets[count++] = dueq_result_message(batch->result, i)->ticket;
    } else if (consumer->disowned) {
        count = dueq__leases_take_open(consumer->leases, consumer->sent, DUEQ_MAX_BATCH);
        consumer->sent_count = count;
        for (size_t i = 0; i < count; i++)
            tickets[i] = consumer->sent[i]->ticket;
        queue = count ? consumer->sent[0]->queue : 0;
    }
    if (!count)
        return DUEQ_OK;
    consumer->step = DUEQ__STEP_RELEASE;
    return dueq_release_submit(consumer->queues[queue], tickets, count, 0);
}

/* What is acknowledged is to be settled also where the heartbeat, which may end now, waits for an answer to it. */
static dueq_status submit_stop(dueq_consumer *consumer) {
    dueq__leases_send_again(consumer->leases);
    begin_turn(consumer, true);
    size_t queue = queue_to_settle(consumer);
    if (queue != SIZE_MAX)
        return submit_reserve(consumer, queue, 1, 0, 0);
    dueq_status status = submit_release(consumer);
    bool leaves = status == DUEQ_OK && consumer->share && *consumer->share->epoch;
    return leaves ? dueq__partitions_share(consumer, true) : status;
}

dueq_status dueq_consumer_stop_submit(dueq_consumer *consumer) {
    dueq_status status = check_fork(consumer);
    if (status)
        return status;
    consumer->patient_ms = dueq__monotonic_ms() + consumer->client->url.timeout_ms;
    if (consumer->step == DUEQ__STEP_NONE)
        return submitted(consumer, submit_stop(consumer));
    dueq_hasten(consumer->client);
    return DUEQ_PENDING;
}

dueq_status dueq_consumer_stop_take(dueq_consumer *consumer) {
    if (consumer->step == DUEQ__STEP_NONE)
        return DUEQ_OK;
    enum dueq__step step = consumer->step;
    dueq_status status = end_step(consumer);
    if (status == DUEQ_PENDING)
        return status;
    consumer->step = DUEQ__STEP_NONE;
    if (step == DUEQ__STEP_RELEASE && status >= 0 && dueq__prefetch_rest(consumer))
        dueq__prefetch_drop_rest(consumer);
    if (step == DUEQ__STEP_LEAVE)
        return status;
    return status < 0 ? status : submitted(consumer, submit_stop(consumer));
}

void dueq_consumer_disown(dueq_consumer *consumer) { consumer->disowned = true; }

dueq_status dueq_consumer_stop(dueq_consumer *consumer) {
    dueq_status status = dueq_consumer_stop_submit(consumer);
    if (status < 0)
        return status;
    while ((status = dueq_consumer_stop_take(consumer)) == DUEQ_PENDING) {
        if (dueq_wait(consumer->client, -1) == DUEQ_INTERRUPTED)
            return DUEQ_INTERRUPTED;
    }
    return status;
}

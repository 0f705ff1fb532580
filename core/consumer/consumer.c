#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/* The loop: a request settles what was acknowledged and reserves the next; what it reserved is delivered. */

/* While prefetched messages are left, a request is made for acks older than this. */
#define QUIET_MS 50
/* How late messages are costs the server something: it is asked this seldom. */
#define TIMED_MS 1000

/* ---- Closing ---- */

static void drop_all(dueq_consumer *consumer) {
    dueq__prefetch_clear(consumer);
    dueq__settle_drop_retry(consumer);
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
    free(consumer->assignment);
    free(consumer);
}

dueq_status dueq__consumer_check_fork(dueq_consumer *consumer) {
    if (consumer->pid == getpid())
        return DUEQ_OK;
    struct dueq__leases *leases = dueq__leases_new();
    if (!leases)
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    drop_all(consumer);
    leases->told.wake = consumer->leases->told.wake;
    leases->told.wake_context = consumer->leases->told.wake_context;
    consumer->leases = leases;
    consumer->heartbeat = NULL;
    consumer->pid = getpid();
    if (consumer->assignment)
        dueq__assignment_reset(consumer->assignment);
    return DUEQ_OK;
}

int dueq_consumer_leave(dueq_consumer *consumer) {
    if (!consumer->heartbeat || consumer->pid != getpid())
        return 1;
    dueq__leases_stop(consumer->leases);
    return consumer->leases->ended;
}

/* ---- Requests ---- */

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
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    struct dueq__reserve asked = {.queues = consumer->queues + queue,
                                  .queue_count = queue_count,
                                  .order = consumer->options.order,
                                  .count = count,
                                  .tops_up = consumer->prefetched > 0,
                                  .timeout_ms = timeout_ms,
                                  .lease_ms = consumer->options.lease_ms,
                                  .default_lease_ms = dueq__consumer_lease_ms(consumer),
                                  .at_once = !consumer->options.max_run_ms};
    asked.timed = count && dueq__consumer_times(consumer);
    consumer->step = count ? DUEQ__STEP_RESERVE : DUEQ__STEP_SETTLE;
    if (queue_count == 1)
        dueq__settle_take(consumer, queue, tickets, &asked.settlement);
    return dueq__reserve_submit(&asked);
}

static bool is_several(const dueq_consumer *consumer) {
    return consumer->queue_count > 1 || consumer->assignment;
}

/* Were acks put off when this turn began? */
static bool puts_off(const dueq_consumer *consumer) {
    return consumer->settle_ms < consumer->left_ms;
}

/* How long to wait for messages: not for longer than acks are put off, where no heartbeat sends them. */
static int64_t wait_ms(const dueq_consumer *consumer) {
    if (consumer->heartbeat || !consumer->left_ms ||
        (!puts_off(consumer) && consumer->timeout_ms == DUEQ_FOREVER))
        return consumer->timeout_ms;
    int64_t end = consumer->until_ms, now = dueq__monotonic_ms();
    if (puts_off(consumer) && consumer->left_ms < end)
        end = consumer->left_ms;
    return end > now ? end - now : 0;
}

/* One queue's acks go with its reserve; those of several have a request of their own before. */
static dueq_status submit_next(dueq_consumer *consumer) {
    bool more = dueq__prefetch_has_next(consumer); /* and one of them is delivered after this */
    bool several = is_several(consumer);
    size_t queue = several ? dueq__settle_next(consumer) : SIZE_MAX;
    if (queue != SIZE_MAX)
        return submit_reserve(consumer, queue, 1, 0, 0);
    if (more && several)
        return DUEQ_OK;
    if (consumer->assignment && dueq__monotonic_ms() >= consumer->assignment->renew_ms)
        return dueq__partitions_share(consumer, false);
    if (consumer->assignment)
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

/* A submit that failed has sent nothing. */
static dueq_status submitted(dueq_consumer *consumer, dueq_status status) {
    if (status < 0)
        dueq__settle_end(consumer, status, NULL, 0);
    if (status == DUEQ_PENDING) {
        consumer->client->call.retry_until_ms = consumer->patient_ms;
        consumer->client->call.wait.slack_us = 1000 * consumer->options.slack_ms;
        consumer->thread = pthread_self();
        consumer->client->call.gives_way =
            consumer->client->cluster && is_several(consumer) &&
            (consumer->step == DUEQ__STEP_SETTLE || consumer->step == DUEQ__STEP_EXTEND ||
             (consumer->step == DUEQ__STEP_ASSIGNMENT && consumer->assignment->own_count));
    } else {
        consumer->step = DUEQ__STEP_NONE;
    }
    return status;
}

static dueq_status begin(dueq_consumer *consumer) {
    dueq_status status = dueq__consumer_check_fork(consumer);
    if (!status && consumer->step != DUEQ__STEP_NONE)
        status = dueq__fail(&consumer->client->error, DUEQ_IN_USE, NULL);
    return status;
}

/* All acks are sent anew, but for those that are put off. */
static void begin_turn(dueq_consumer *consumer, bool stops) {
    consumer->settle_ms = dueq__monotonic_ms();
    consumer->stops = stops;
}

/*
 * A node is away, and the consumer goes on without it. Partitions stay whose they are, as nobody else can get them either.
 */
static void leave(dueq_consumer *consumer, enum dueq__step step) {
    if (step == DUEQ__STEP_ASSIGNMENT)
        consumer->assignment->renew_ms = dueq__monotonic_ms() + DUEQ__RENEW_MS;
    if (step == DUEQ__STEP_SETTLE)
        dueq__settle_leave(consumer);
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
    consumer->until_ms = timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS
                                                    : dueq__monotonic_ms() + timeout_ms;
    consumer->patient_ms = timeout_ms ? consumer->until_ms : 0;
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
    /* dueq_stop_wait() was called: the wait must not begin again. */
    if (consumer->step == DUEQ__STEP_RESERVE &&
        consumer->client->call.retry_until_ms < consumer->patient_ms)
        consumer->until_ms = 0;
    if (consumer->assignment && consumer->step == DUEQ__STEP_RESERVE)
        dueq__partitions_waited(consumer);
    dueq_status status = dueq_take(consumer->client, &result);
    if (status == DUEQ_PENDING)
        return status;
    if (consumer->assignment && status < 0)
        consumer->assignment->changed = true;
    dueq__settle_end(consumer, status, result, asked_ms);
    if (consumer->assignment && consumer->step == DUEQ__STEP_RESERVE && status == DUEQ_OK)
        result->queue = consumer->asked[result->queue];
    if (status == DUEQ_OK && consumer->step == DUEQ__STEP_RESERVE)
        status = dueq__prefetch_take_over(consumer, result, asked_ms);
    else if (consumer->step == DUEQ__STEP_ASSIGNMENT && status == DUEQ_OK)
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
    if (step == DUEQ__STEP_SETTLE || step == DUEQ__STEP_ASSIGNMENT) {
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
    bool over = (!consumer->assignment && !puts_off(consumer)) ||
                dueq__monotonic_ms() >= consumer->until_ms;
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
    size_t queue = dueq__settle_next(consumer);
    if (queue != SIZE_MAX)
        return submit_reserve(consumer, queue, 1, 0, 0);
    dueq_status status = submit_release(consumer);
    bool leaves = status == DUEQ_OK && consumer->assignment && *consumer->assignment->epoch;
    return leaves ? dueq__partitions_share(consumer, true) : status;
}

/* A stop that fails warns of the acks that it could not send. */
static dueq_status stopping(dueq_consumer *consumer, dueq_status status) {
    if (status < 0)
        dueq__leases_tell_unsent(consumer->leases);
    return status;
}

dueq_status dueq_consumer_stop_submit(dueq_consumer *consumer) {
    dueq_status status = dueq__consumer_check_fork(consumer);
    if (status)
        return status;
    consumer->patient_ms = dueq__monotonic_ms() + consumer->client->url.timeout_ms;
    if (consumer->step == DUEQ__STEP_NONE)
        return stopping(consumer, submitted(consumer, submit_stop(consumer)));
    dueq_stop_wait(consumer->client);
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
    /* In an outage the wait that the stop ended has no answer, and what it was to settle is sent once more. Partitions that
     * cannot be given up are others' when their leases end. */
    if (status < 0 && !(dueq_status_retriable(status) &&
                        (step == DUEQ__STEP_RESERVE || step == DUEQ__STEP_LEAVE)))
        return stopping(consumer, status);
    if (step == DUEQ__STEP_LEAVE)
        return DUEQ_OK;
    return stopping(consumer, submitted(consumer, submit_stop(consumer)));
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

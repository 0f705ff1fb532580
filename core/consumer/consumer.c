#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/*
 * The loop: one request settles what was acked and reserves the next messages, which are then
 * delivered.
 */

/*
 * With a heartbeat the consumer delivers prefetched messages without a request, until an ack waits
 * for this long.
 */
#define QUIET_MS 50
/* The server needs time to say how late messages are: a reserve asks at most this often. */
#define LATENESS_MS 1000
/* An ack that goes alone has at least so long for its answer, however short the program waits. */
#define LEAST_ACK_MS 1000

/* Closing */

static void drop_all(dueq_consumer *consumer) {
    dueq__prefetch_clear(consumer);
    dueq__settle_drop_retry(consumer);
    consumer->sent_count = 0;
    consumer->retry_sent = false;
    consumer->request = DUEQ__REQUEST_NONE;
}

void dueq_consumer_close(dueq_consumer *consumer) {
    if (!consumer)
        return;
    bool own = consumer->pid == getpid();
    if (consumer->request != DUEQ__REQUEST_NONE && own)
        dueq_abandon(consumer->client);
    if (own && consumer->assignment)
        dueq__wait_conn_close_kept(consumer->client, NULL);
    if (own) {
        dueq__heartbeat_end(consumer->heartbeat);
        dueq__leases_free(consumer->leases);
    }
    drop_all(consumer);
    free(consumer->queues);
    free(consumer->same);
    free(consumer->assignment);
    free(consumer->presence.tasks);
    free(consumer);
}

dueq_status dueq__consumer_check_fork(dueq_consumer *consumer) {
    if (consumer->pid == getpid())
        return DUEQ_OK;
    struct dueq__leases *leases = dueq__leases_new(consumer->leases->known_count);
    if (!leases)
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    drop_all(consumer);
    leases->warnings.wake = consumer->leases->warnings.wake;
    leases->warnings.wake_context = consumer->leases->warnings.wake_context;
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

void dueq_consumer_wind_down(dueq_consumer *consumer) { consumer->leases->winds_down = true; }

/* Requests */

bool dueq__consumer_asks_lateness(dueq_consumer *consumer) {
    int64_t now = dueq__monotonic_ms();
    bool asks = consumer->heartbeat && now >= consumer->lateness_ms + LATENESS_MS;
    if (asks)
        consumer->lateness_ms = now;
    return asks;
}

/*
 * Reserves up to `count` messages from queue_count queues, of which `queue` is the first. settled:
 * the queue whose acks and retry go along; SIZE_MAX: none go. count 0: only settles, and gives back
 * the time of its only queue. asks: it asks its only queue at once.
 */
static dueq_status submit_reserve(dueq_consumer *consumer, size_t queue, size_t queue_count,
                                  size_t settled, size_t count, int64_t timeout_ms, bool asks) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    struct dueq__reserve asked = {.queues = consumer->queues + queue,
                                  .queue_count = queue_count,
                                  .order = consumer->options.order,
                                  .terms.count = count,
                                  .terms.kind = consumer->prefetched ? DUEQ__WAIT_TOP_UP
                                                                     : DUEQ__WAIT_MESSAGES,
                                  .terms.timeout_ms = timeout_ms,
                                  .terms.lease_ms = consumer->options.lease_ms,
                                  .terms.default_lease_ms = dueq__consumer_lease_ms(consumer),
                                  .terms.take_expired_now = !consumer->options.max_run_ms};
    asked.terms.with_lateness = count && dueq__consumer_asks_lateness(consumer);
    consumer->request = count ? DUEQ__REQUEST_RESERVE : DUEQ__REQUEST_SETTLE;
    if (settled != SIZE_MAX) {
        dueq__settle_fill(consumer, settled, tickets, &asked.settlement);
        asked.settled_queue = settled - queue;
    }
    if (!dueq__consumer_has_several_queues(consumer)) {
        asked.known = dueq__queues_lend(consumer, asks);
        asked.terms.takes_time = dueq__queues_may_keep_time(consumer);
    } else if (queue_count > 1 && timeout_ms) {
        asked.known = dueq__queues_lend(consumer, asks);
        asked.first = consumer->same;
        asked.terms.keeps_time = consumer->heartbeat != NULL;
        asked.terms.probe_ms = consumer->probe_ms;
        asked.terms.probe_count = consumer->probe_count;
    }
    return dueq__reserve_submit(&asked);
}

/* True: acks were deferred when this round began. */
static bool acks_deferred(const dueq_consumer *consumer) {
    return consumer->ack_cutoff_ms < consumer->acks_deferred_ms;
}

/*
 * How long to wait for messages. Without a heartbeat no other thread sends deferred acks: the wait
 * ends when they may be sent.
 */
static int64_t wait_ms(const dueq_consumer *consumer) {
    if (consumer->heartbeat || !consumer->acks_deferred_ms ||
        (!acks_deferred(consumer) && consumer->timeout_ms == DUEQ_FOREVER))
        return consumer->timeout_ms;
    int64_t end = consumer->until_ms, now = dueq__monotonic_ms();
    if (acks_deferred(consumer) && consumer->acks_deferred_ms < end)
        end = consumer->acks_deferred_ms;
    return end > now ? end - now : 0;
}

/* Sends acks alone. Meanwhile the consumer stays a timekeeper. */
static dueq_status submit_acks(dueq_consumer *consumer) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    struct dueq__settlement settlement;
    consumer->request = DUEQ__REQUEST_ACK;
    dueq__settle_fill(consumer, 0, tickets, &settlement);
    return dueq_ack_submit(*consumer->queues, tickets, consumer->sent_count);
}

/*
 * The acks of a queue go with its reserve. Of several queues, they go with the reserve of all if
 * only one has acks, and is asked anyway. Else they go before, in their own requests. In a cluster
 * they do, because one of the nodes may be away. A timekeeper of its only queue waits without
 * asking first: when its last reserve was answered, nothing was ready, and a wake token tells it of
 * what has become ready since. asks: it asks in any case.
 */
static dueq_status submit_next(dueq_consumer *consumer, bool asks) {
    bool more = dueq__prefetch_has_next(consumer); /* true: the request makes room for one more */
    bool several = dueq__consumer_has_several_queues(consumer);
    size_t queue = several ? dueq__settle_next_queue(consumer) : SIZE_MAX;
    int64_t timeout_ms = more ? 0 : wait_ms(consumer);
    bool along = queue != SIZE_MAX && !more && timeout_ms && !consumer->assignment &&
                 dueq__queues_settle_along(consumer, queue);
    if (queue != SIZE_MAX && !along)
        return submit_reserve(consumer, queue, 1, queue, 0, 0, true);
    if (more && several)
        return DUEQ_OK;
    if (consumer->assignment && dueq__monotonic_ms() >= consumer->assignment->renew_ms)
        return dueq__partitions_renew(consumer, false);
    if (consumer->assignment)
        return dueq__partitions_reserve(consumer);
    asks = asks || !timeout_ms || consumer->retry.lease;
    int64_t now_us = dueq__monotonic_us();
    if (!several && dueq__queues_kept_us(consumer) <= now_us && consumer->may_wait_us <= now_us)
        asks = true;
    size_t acked;
    if (!several && !asks && !consumer->ack_rides &&
        dueq__leases_oldest_ack(consumer->leases, &acked) != DUEQ__NEVER)
        return submit_acks(consumer);
    return submit_reserve(consumer, 0, consumer->queue_count, several ? queue : 0,
                          consumer->options.prefetch - consumer->prefetched + more, timeout_ms,
                          asks);
}

/*
 * Verifies that the next message, and those prefetched with it, are still leased: they may have
 * been cancelled.
 */
static dueq_status submit_verify(dueq_consumer *consumer) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    const struct dueq__batch *batch = consumer->first;
    size_t left = dueq_result_count(batch->result) - batch->next;
    size_t count = dueq__leases_take_unverified(consumer->leases, batch->lease + batch->next, left,
                                                consumer->sent);
    if (!count)
        return DUEQ_OK;
    for (size_t i = 0; i < count; i++)
        tickets[i] = consumer->sent[i]->ticket;
    consumer->sent_count = count;
    consumer->request = DUEQ__REQUEST_VERIFY;
    return dueq_extend_submit(consumer->queues[batch->queue], tickets, count,
                              consumer->sent[0]->lease_ms);
}

/* Notes how a submit ended. A submit that failed has sent nothing. */
static dueq_status submitted(dueq_consumer *consumer, dueq_status status) {
    if (status < 0)
        dueq__settle_finish(consumer, status, NULL, 0);
    if (status == DUEQ_PENDING) {
        bool can_skip = consumer->request == DUEQ__REQUEST_SETTLE ||
                        consumer->request == DUEQ__REQUEST_VERIFY ||
                        (consumer->request == DUEQ__REQUEST_RENEW_PARTITIONS &&
                         consumer->assignment->own_count);
        consumer->thread = pthread_self();
        struct dueq__terms terms = {.retry_until_ms = consumer->retry_until_ms,
                                    .slack_ms = consumer->options.slack_ms,
                                    .skip_down_node =
                                        can_skip && dueq__consumer_has_several_queues(consumer)};
        /* After an outage a reserve takes the acks along, and goes on for as long as it waits. */
        if (consumer->request == DUEQ__REQUEST_ACK) {
            int64_t left_ms = consumer->until_ms - dueq__monotonic_ms();
            terms.retry_until_ms = 0;
            terms.at_most_ms = left_ms < LEAST_ACK_MS ? LEAST_ACK_MS : left_ms;
        }
        dueq__op_set_terms(consumer->client, &terms);
    } else {
        consumer->request = DUEQ__REQUEST_NONE;
    }
    return status;
}

static dueq_status begin(dueq_consumer *consumer) {
    dueq_status status = dueq__consumer_check_fork(consumer);
    if (!status && consumer->request != DUEQ__REQUEST_NONE)
        status = dueq__fail(&consumer->client->error, DUEQ_IN_USE, NULL);
    return status;
}

/* Begins a round, in which the acks that wait now are sent, except deferred ones. */
static void begin_round(dueq_consumer *consumer, bool stops) {
    consumer->ack_cutoff_ms = dueq__monotonic_ms();
    consumer->stopping = stops;
}

/*
 * Goes on without a node that is away. If the node has the assignment, the consumer keeps its
 * partitions: no other consumer can take them either.
 */
static void skip_node(dueq_consumer *consumer, enum dueq__consumer_request ended) {
    if (ended == DUEQ__REQUEST_RENEW_PARTITIONS)
        consumer->assignment->renew_ms = dueq__monotonic_ms() + DUEQ__RENEW_MS;
    if (ended == DUEQ__REQUEST_SETTLE)
        dueq__settle_defer(consumer);
}

dueq_status dueq_consumer_submit(dueq_consumer *consumer, int64_t timeout_ms) {
    dueq_status status = begin(consumer);
    if (status)
        return status;
    if (!consumer->heartbeat && consumer->options.max_run_ms)
        status = dueq__heartbeat_start(consumer);
    if (status)
        return status;
    dueq__warn_concurrency(consumer);
    begin_round(consumer, false);
    consumer->timeout_ms = timeout_ms;
    consumer->until_ms = timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS
                                                    : dueq__monotonic_ms() + timeout_ms;
    consumer->retry_until_ms = timeout_ms ? consumer->until_ms : 0;
    if (dueq__prefetch_has_next(consumer)) {
        size_t queue;
        int64_t oldest = dueq__leases_oldest_ack(consumer->leases, &queue);
        int64_t patience = consumer->heartbeat ? QUIET_MS : 0;
        bool ripe = oldest != DUEQ__NEVER && oldest + patience <= dueq__monotonic_ms();
        if (!consumer->retry.lease && !ripe)
            return DUEQ_OK;
    }
    return submitted(consumer, submit_next(consumer, false));
}

/* Takes the request's result. Returns its status, or PENDING: it is still under way. */
static dueq_status end_request(dueq_consumer *consumer) {
    dueq_result *result;
    int64_t asked_ms = consumer->client->op->request.sent_ms;
    /* dueq_stop_wait() was called: the wait must not begin again. */
    if (consumer->request == DUEQ__REQUEST_RESERVE &&
        consumer->client->op->retry.until_ms < consumer->retry_until_ms)
        consumer->until_ms = 0;
    dueq__queues_learn(consumer);
    dueq_status status = dueq_take(consumer->client, &result);
    if (status == DUEQ_PENDING)
        return status;
    if (consumer->assignment && status < 0)
        consumer->assignment->changed = true;
    dueq__settle_finish(consumer, status, result, asked_ms);
    if (consumer->assignment && consumer->request == DUEQ__REQUEST_RESERVE && status == DUEQ_OK)
        result->queue = consumer->asked[result->queue];
    if (!consumer->assignment && consumer->request == DUEQ__REQUEST_RESERVE && status == DUEQ_OK)
        dueq__queues_note_found(consumer, dueq_result_queue(result));
    if (status == DUEQ_OK && consumer->request == DUEQ__REQUEST_RESERVE)
        status = dueq__prefetch_add(consumer, result, asked_ms);
    else if (consumer->request == DUEQ__REQUEST_RENEW_PARTITIONS && status == DUEQ_OK)
        status = dueq__partitions_update(consumer);
    else
        dueq_result_free(result);
    return status;
}

dueq_status dueq_consumer_take(dueq_consumer *consumer, const dueq_message **message,
                               size_t *queue) {
    enum dueq__consumer_request ended = consumer->request;
    dueq_status status = DUEQ_OK;
    bool skipped = consumer->client->op->retry.skip_down_node;
    *message = NULL;
    if (ended != DUEQ__REQUEST_NONE) {
        status = end_request(consumer);
        if (status == DUEQ_PENDING)
            return status;
        consumer->request = DUEQ__REQUEST_NONE;
        bool may_pass = status < 0 && dueq_status_retriable(status);
        skipped = skipped && may_pass;
        if (status < 0 && !skipped && !(may_pass && ended == DUEQ__REQUEST_ACK))
            return status;
        if (skipped)
            skip_node(consumer, ended);
    }
    if (ended == DUEQ__REQUEST_SETTLE || ended == DUEQ__REQUEST_ACK ||
        ended == DUEQ__REQUEST_RENEW_PARTITIONS) {
        status = submitted(consumer, submit_next(consumer, status < 0));
        if (status)
            return status;
    }
    while (!*message && dueq__prefetch_has_next(consumer)) {
        /*
         * A node that is away cannot verify the lease: the message counts as leased until the lease
         * ends.
         */
        bool unverifiable = ended == DUEQ__REQUEST_VERIFY && skipped;
        status = unverifiable ? DUEQ_OK : submitted(consumer, submit_verify(consumer));
        if (status)
            return status;
        skipped = false;
        *message = dueq__prefetch_deliver(consumer);
    }
    /* `ended` is another request if all prefetched messages were lost: a reserve comes next. */
    bool over = (!consumer->assignment && !acks_deferred(consumer)) ||
                dueq__monotonic_ms() >= consumer->until_ms;
    if (!*message && ended == DUEQ__REQUEST_RESERVE && over)
        return DUEQ_EMPTY;
    if (!*message && ended == DUEQ__REQUEST_RESERVE)
        begin_round(consumer, false);
    if (!*message)
        return submitted(consumer, submit_next(consumer, false));
    if (queue)
        *queue = consumer->first->queue;
    return DUEQ_OK;
}

dueq_status dueq_consumer_next(dueq_consumer *consumer, int64_t timeout_ms,
                               const dueq_message **message, size_t *queue) {
    *message = NULL;
    /* After INTERRUPTED the request is still under way, and this call goes on with it. */
    dueq_status status = consumer->request == DUEQ__REQUEST_NONE || consumer->pid != getpid()
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

/* Stopping */

/*
 * Releases what is left of one batch. Running messages are released behind all batches: what is
 * released last is delivered first.
 */
static dueq_status submit_release(dueq_consumer *consumer) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    size_t count = 0, queue = 0;
    const struct dueq__batch *batch = dueq__prefetch_first_batch(consumer);
    if (batch) {
        queue = batch->queue;
        for (size_t i = batch->next; i < dueq_result_count(batch->result); i++)
            tickets[count++] = dueq_result_message(batch->result, i)->ticket;
    } else if (consumer->releases_running) {
        count = dueq__leases_take_running(consumer->leases, consumer->sent, DUEQ_MAX_BATCH);
        consumer->sent_count = count;
        for (size_t i = 0; i < count; i++)
            tickets[i] = consumer->sent[i]->ticket;
        queue = count ? consumer->sent[0]->queue : 0;
    }
    if (!count)
        return DUEQ_OK;
    consumer->request = DUEQ__REQUEST_RELEASE;
    return dueq_release_submit(consumer->queues[queue], tickets, count, 0);
}

/* Also sends acks again for whose answers the heartbeat still waits: the heartbeat may end now. */
static dueq_status submit_stop(dueq_consumer *consumer) {
    dueq__leases_resend_acks(consumer->leases);
    begin_round(consumer, true);
    size_t queue = dueq__settle_next_queue(consumer);
    bool keeps_time =
        !dueq__consumer_has_several_queues(consumer) && dueq__queues_kept_us(consumer) != 0;
    if (queue != SIZE_MAX || keeps_time)
        return submit_reserve(consumer, keeps_time ? 0 : queue, 1, keeps_time ? 0 : queue, 0, 0,
                              true);
    dueq_status status = submit_release(consumer);
    bool leaves = status == DUEQ_OK && consumer->assignment && *consumer->assignment->epoch;
    return leaves ? dueq__partitions_renew(consumer, true) : status;
}

/* A stop that fails warns of the acks that it could not send. */
static dueq_status warn_unsent(dueq_consumer *consumer, dueq_status status) {
    if (status < 0)
        dueq__leases_warn_unsent_acks(consumer->leases);
    return status;
}

dueq_status dueq_consumer_stop_submit(dueq_consumer *consumer) {
    dueq_status status = dueq__consumer_check_fork(consumer);
    if (status)
        return status;
    consumer->retry_until_ms = dueq__monotonic_ms() + consumer->client->url.timeout_ms;
    if (consumer->request == DUEQ__REQUEST_NONE)
        return warn_unsent(consumer, submitted(consumer, submit_stop(consumer)));
    dueq_stop_wait(consumer->client);
    return DUEQ_PENDING;
}

dueq_status dueq_consumer_stop_take(dueq_consumer *consumer) {
    if (consumer->request == DUEQ__REQUEST_NONE)
        return DUEQ_OK;
    enum dueq__consumer_request ended = consumer->request;
    dueq_status status = end_request(consumer);
    if (status == DUEQ_PENDING)
        return status;
    consumer->request = DUEQ__REQUEST_NONE;
    if (ended == DUEQ__REQUEST_RELEASE && status >= 0 && dueq__prefetch_first_batch(consumer))
        dueq__prefetch_drop_batch(consumer);
    /*
     * In an outage the reserve that the stop ended has no answer: its acks are sent once more.
     * Partitions that cannot be given up pass to other consumers when the leases on them end.
     */
    if (status < 0 && !(dueq_status_retriable(status) && (ended == DUEQ__REQUEST_RESERVE ||
                                                          ended == DUEQ__REQUEST_LEAVE_PARTITIONS)))
        return warn_unsent(consumer, status);
    if (ended == DUEQ__REQUEST_LEAVE_PARTITIONS)
        return DUEQ_OK;
    return warn_unsent(consumer, submitted(consumer, submit_stop(consumer)));
}

void dueq_consumer_disown(dueq_consumer *consumer) { consumer->releases_running = true; }

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

#include <stdlib.h>
#include <string.h>

#include "consumer.h"

/*
 * The heartbeat: a thread that extends the leases of what a consumer holds, sends acks that
 * no request took along, and registers the consumer with its queues. It has a client of its own, which connects when there
 * is something to say, and touches nothing but that and the leases.
 */

/* How soon it notices that it is to end, while the server does not answer. */
#define SLICE_MS 50
/* A consumer registers when it has lived for so long, then so often while it holds something, or else. */
#define FIRST_MS 2000
#define HOLDING_MS 10000
#define IDLE_MS 25000
/* And says all at least so often: keys expire later. */
#define ALL_MS 1800000
/* Leases matter more: a registration that is not answered by then is given up. */
#define REGISTER_MS 500
/* Calls without an answer that follow each other within this are one outage. */
#define STREAK_MS 2000
/* In an outage it tries again so often while a lease lasts: it is to be back before others may take its messages. */
#define TRIES 8

struct dueq__heartbeat {
    pthread_t thread;
    struct dueq__leases *leases;
    dueq_client *client;
    dueq_queue **
        queues; /* its own handles; of partitions, which may become more: NULL until it needs one */
    size_t queue_count;
    struct dueq__presence presence;
    dueq_queue *base;    /* of a queue of partitions: by its own name */
    size_t *same;        /* for each queue: the place of the first one of its name */
    int64_t register_ms; /* when to register */
    int64_t holding_ms;  /* the same where it holds something */
    int64_t said_ms;     /* when it said all */
    size_t told;         /* so many queues have had their turn this time; 0: none, or all */
    bool holds;          /* messages of these */
    dueq_status worst;   /* of what these said */
    int64_t
        asked_ms; /* since when its calls have no answer, one after another; 0: the last one had */
    int64_t failed_ms; /* when the last call ended */
    bool registered;
    bool unmeasured; /* it is not permitted to tell what was measured */
    bool idle;       /* what it said last is that it holds nothing */
};

/* What its own client finds out of the server is said by the program's. */
static void tell_news(struct dueq__heartbeat *heartbeat) {
    const char *warning = dueq_warning(heartbeat->client);
    if (warning)
        dueq__leases_tell(heartbeat->leases, warning);
}

/* Runs a submitted call to its end; a failure also where the heartbeat is to end, or that takes longer than until then. */
static dueq_status run(struct dueq__heartbeat *heartbeat, dueq_status submitted, int64_t until_ms,
                       dueq_result **result) {
    dueq_status status = submitted;
    *result = NULL;
    int64_t now = dueq__monotonic_ms();
    if (!heartbeat->asked_ms || now - heartbeat->failed_ms > STREAK_MS)
        heartbeat->asked_ms = now;
    heartbeat->client->call.gives_way = heartbeat->client->cluster && heartbeat->queue_count > 1;
    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_wait(heartbeat->client, SLICE_MS);
        if (status == DUEQ_PENDING)
            dueq__outage_log_silence(heartbeat->client, heartbeat->asked_ms);
        tell_news(heartbeat);
        if (status == DUEQ_PENDING &&
            (heartbeat->leases->stopping || dueq__monotonic_ms() >= until_ms)) {
            dueq_abandon(heartbeat->client);
            heartbeat->failed_ms = dueq__monotonic_ms();
            return DUEQ_CLOSED;
        }
    }
    status = submitted == DUEQ_PENDING ? dueq_take(heartbeat->client, result) : submitted;
    heartbeat->failed_ms = dueq__monotonic_ms();
    if (status >= 0 || !dueq_status_retriable(status))
        heartbeat->asked_ms = 0;
    return status;
}

/* The handle of the consumer's queue at that place; NULL: out of memory. */
static dueq_queue *queue_at(struct dueq__heartbeat *heartbeat, size_t at) {
    char name[DUEQ_MAX_NAME + 1];
    if (!heartbeat->queues[at]) {
        size_t size = dueq_partition_name(dueq__keys_name(heartbeat->base->keys), at, name);
        dueq_queue_open(heartbeat->client, name, size, &heartbeat->queues[at]);
    }
    return heartbeat->queues[at];
}

/* Extends the leases, or sends their acks. False: it failed. */
static bool request(struct dueq__heartbeat *heartbeat, struct dueq__lease *const *taken,
                    size_t count, bool extends) {
    dueq_queue *queue = queue_at(heartbeat, taken[0]->queue);
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    dueq_result *result = NULL;
    dueq_status status = DUEQ_NO_MEMORY;
    int64_t start = dueq__monotonic_ms();
    for (size_t i = 0; i < count; i++)
        tickets[i] = taken[i]->ticket;
    if (queue)
        status = run(heartbeat,
                     extends ? dueq_extend_submit(queue, tickets, count, taken[0]->lease_ms)
                             : dueq_ack_submit(queue, tickets, count),
                     DUEQ__NEVER, &result);
    for (size_t i = 0; i < count; i++) {
        dueq_status outcome = status < 0 ? status : dueq_result_status(result, i);
        if (extends)
            dueq__leases_extended(heartbeat->leases, taken[i], start, outcome);
        else
            dueq__leases_settled(heartbeat->leases, taken[i], outcome);
    }
    dueq_result_free(result);
    return status >= 0;
}

static void beat(struct dueq__heartbeat *heartbeat) {
    struct dueq__lease *taken[DUEQ_MAX_BATCH];
    size_t count, queue = 0;
    while ((count = dueq__leases_take_due(heartbeat->leases, dueq__monotonic_ms(), taken,
                                          DUEQ_MAX_BATCH)) > 0)
        request(heartbeat, taken, count, true);
    int64_t until = dueq__monotonic_ms() - DUEQ__ACK_MS;
    while (dueq__leases_oldest_ack(heartbeat->leases, &queue) <= until) {
        count = dueq__leases_take_acked(heartbeat->leases, queue, until, taken, DUEQ_MAX_BATCH);
        if (!count || !request(heartbeat, taken, count, false))
            return;
    }
}

/* Registers the consumer with one queue, or has it leave. holds: is set where it holds messages of it. */
static dueq_status tell(struct dueq__heartbeat *heartbeat, size_t at, int64_t until_ms,
                        bool *holds) {
    char text[DUEQ__PRESENCE_ROOM];
    dueq_queue *base = heartbeat->base;
    dueq_result *result;
    bool leaves = heartbeat->leases->stopping, new = false;
    size_t size = dueq__presence_write(&heartbeat->presence, heartbeat->leases,
                                       base ? NULL : heartbeat->same, at, text, &new);
    bool same = heartbeat->idle && !new;
    dueq_status submitted = dueq__register_submit(base ? base : heartbeat->queues[at], base,
                                                  heartbeat->presence.session, leaves,
                                                  (dueq_bytes){text, same || leaves ? 0 : size});
    dueq_status status = run(heartbeat, submitted, until_ms, &result);
    dueq_result_free(result);
    *holds = *holds || new;
    return status;
}

/* Takes what was measured of a queue; false: nothing. */
static bool take_timings(struct dueq__leases *leases, size_t queue, dueq_timings *taken) {
    static const dueq_timings none;
    pthread_mutex_lock(&leases->lock);
    *taken = queue < leases->timings_count ? leases->timings[queue] : none;
    if (queue < leases->timings_count)
        leases->timings[queue] = none;
    pthread_mutex_unlock(&leases->lock);
    return memcmp(taken, &none, sizeof none) != 0;
}

/* Tells each queue what was measured of its messages. What cannot be told is left out. */
static void tell_timings(struct dueq__heartbeat *heartbeat, int64_t until_ms) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; i < heartbeat->queue_count && status >= 0; i++) {
        dueq_timings timings;
        dueq_result *result;
        if (!take_timings(heartbeat->leases, i, &timings) || heartbeat->unmeasured ||
            !queue_at(heartbeat, i))
            continue;
        status =
            run(heartbeat, dueq__measure_submit(heartbeat->queues[i], &timings), until_ms, &result);
        dueq_result_free(result);
    }
    heartbeat->unmeasured = heartbeat->unmeasured || status == DUEQ_DENIED;
}

static bool is_refused(dueq_status status) {
    return status == DUEQ_DENIED || status == DUEQ_LAYOUT;
}

/*
 * The same with all of them. One that fails is left for the next time, and the others' turn comes after that of the leases,
 * but not where it is for lack of a permission.
 */
static void tell_all(struct dueq__heartbeat *heartbeat) {
    int64_t now = dueq__monotonic_ms();
    size_t count = heartbeat->base ? 1 : heartbeat->queue_count;
    dueq_status status = DUEQ_OK;
    if (!heartbeat->told) {
        heartbeat->idle = heartbeat->idle && now < heartbeat->said_ms + ALL_MS;
        if (!heartbeat->idle)
            heartbeat->said_ms = now;
        heartbeat->holds = false;
        heartbeat->worst = DUEQ_OK;
    }
    while (heartbeat->told < count && status >= 0) {
        size_t at = heartbeat->told++;
        if (heartbeat->same[at] == at)
            status = tell(heartbeat, at, now + REGISTER_MS, &heartbeat->holds);
        heartbeat->worst = status ? status : heartbeat->worst;
        heartbeat->registered = heartbeat->registered || status >= 0;
    }
    if (heartbeat->told < count && !is_refused(status)) {
        heartbeat->register_ms = heartbeat->holding_ms = now;
        return;
    }
    heartbeat->told = 0;
    if (!is_refused(status))
        tell_timings(heartbeat, dueq__monotonic_ms() + REGISTER_MS);
    heartbeat->idle = !heartbeat->holds && heartbeat->worst == DUEQ_OK;
    heartbeat->holding_ms = now + HOLDING_MS;
    heartbeat->register_ms = now + (heartbeat->idle ? IDLE_MS : HOLDING_MS);
    if (is_refused(status))
        heartbeat->register_ms = heartbeat->holding_ms = DUEQ__NEVER;
}

/* It goes: those who cannot be told by then see it lapse. */
static void leave(struct dueq__heartbeat *heartbeat) {
    int64_t until = dueq__monotonic_ms() + REGISTER_MS;
    heartbeat->told = 0;
    do
        tell_all(heartbeat);
    while (heartbeat->told && dueq__monotonic_ms() < until);
}

/* All leases are extended now. */
static void hasten(struct dueq__leases *leases) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i]->beat_ms > now)
            leases->items[i]->beat_ms = now;
    pthread_mutex_unlock(&leases->lock);
}

static void *keep(void *opaque) {
    struct dueq__heartbeat *heartbeat = opaque;
    struct dueq__leases *leases = heartbeat->leases;
    bool tells;
    while (dueq__leases_wait(leases, heartbeat->register_ms, heartbeat->holding_ms, &tells)) {
        /* Nobody reads the connection between two requests: a server that went would be noticed by the next one. */
        if (dueq__client_lost_conn(heartbeat->client))
            hasten(leases);
        beat(heartbeat);
        dueq__leases_tell_lost(leases);
        if (tells)
            tell_all(heartbeat);
    }
    if (heartbeat->registered)
        leave(heartbeat);
    leases->ended = true;
    return NULL;
}

static void release(struct dueq__heartbeat *heartbeat) {
    for (size_t i = 0; i < heartbeat->queue_count; i++)
        dueq_queue_close(heartbeat->queues[i]);
    dueq_queue_close(heartbeat->base);
    free(heartbeat->queues);
    free(heartbeat->same);
    dueq_close(heartbeat->client);
    free(heartbeat);
}

static dueq_status open_twin(struct dueq__heartbeat *heartbeat, const dueq_queue *queue,
                             dueq_queue **twin) {
    dueq_bytes name = dueq__keys_name(queue->keys);
    return dueq_queue_open(heartbeat->client, name.data, name.size, twin);
}

/* Each queue gets the place of the first one of its name: one may be there several times. */
static void find_same(struct dueq__heartbeat *heartbeat) {
    for (size_t i = 0; i < heartbeat->queue_count; i++) {
        size_t first = 0;
        dueq_bytes name = dueq__keys_name(heartbeat->queues[i]->keys);
        while (!dueq__bytes_equal(dueq__keys_name(heartbeat->queues[first]->keys), name))
            first++;
        heartbeat->same[i] = first;
    }
}

dueq_status dueq__heartbeat_start(dueq_consumer *consumer) {
    dueq_client *client = consumer->client;
    struct dueq__heartbeat *made = calloc(1, sizeof *made);
    if (!made)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    dueq__client_check_fork(client);
    made->leases = consumer->leases;
    made->presence = consumer->presence;
    memcpy(made->presence.session, client->session, sizeof client->session);
    made->register_ms = made->holding_ms = made->presence.opened_ms + FIRST_MS;
    size_t count = consumer->assignment ? DUEQ_MAX_PARTITIONS : consumer->queue_count;
    made->queues = calloc(count, sizeof *made->queues);
    made->same = calloc(count, sizeof *made->same);
    made->queue_count = made->queues ? count : 0;
    dueq_status status =
        made->queues && made->same ? dueq__client_twin(client, &made->client) : DUEQ_NO_MEMORY;
    for (size_t i = 0; !status && !consumer->assignment && i < count; i++)
        status = open_twin(made, consumer->queues[i], &made->queues[i]);
    if (!status)
        dueq_reached(made->client);
    if (!status && consumer->options.lease_ms &&
        consumer->options.lease_ms < DUEQ_HEARTBEAT_LEASE_MS)
        made->client->max_backoff_ms = consumer->options.lease_ms / TRIES + 1;
    if (!status && consumer->assignment)
        status = open_twin(made, consumer->assignment->queue, &made->base);
    if (!status && !made->base)
        find_same(made);
    if (!status && !dueq__thread_start(&made->thread, keep, made)) {
        consumer->heartbeat = made;
        return DUEQ_OK;
    }
    release(made);
    return dueq__fail(&client->error, DUEQ_NO_MEMORY, "the heartbeat could not be started");
}

void dueq__heartbeat_end(struct dueq__heartbeat *heartbeat) {
    if (!heartbeat)
        return;
    dueq__leases_stop(heartbeat->leases);
    pthread_join(heartbeat->thread, NULL);
    release(heartbeat);
}

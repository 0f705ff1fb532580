#include <stdlib.h>
#include <string.h>

#include "consumer.h"

/*
 * The heartbeat: a thread that extends the leases of a consumer's messages, sends acks that no
 * reserve took along, passes the time of a queue on when the consumer works for too long, and
 * registers the consumer with its queues. The thread has a client of its own, which connects with
 * its first request, and shares the leases with the consumer's thread.
 */

/* While a call waits for the server, the thread checks this often whether it must end. */
#define STOP_CHECK_MS 50
/* A consumer registers first at this age, */
#define REGISTER_FIRST_MS 2000
/* then at this interval while it has leased messages, */
#define REGISTER_LEASED_MS 10000
/* and at this interval while it has none. */
#define REGISTER_IDLE_MS 25000
/*
 * A consumer of more queues than this has registered with each of them at first. Later each round
 * registers with this many in turn, and with those of which the consumer has leased messages.
 */
#define REGISTER_QUEUES 16
/* A consumer of more queues than that sends what it has measured at this interval. */
#define TIMINGS_MS 60000
/* An idle consumer sends its whole registration this often, before the server's copy expires. */
#define FULL_MS 1800000
/* A registration without an answer is given up after this time: leases matter more. */
#define REGISTER_TIMEOUT_MS 500
/* The end of a consumer may take this much longer for each of its queues. */
#define LEAVE_MS 2
/* The heartbeat gives up after this time where it passes timekeeping on. */
#define PASS_ON_TIMEOUT_MS 500
/* Calls without an answer that follow each other within this time are one outage. */
#define STREAK_MS 2000
/*
 * In an outage the heartbeat tries to connect this often within a lease: it must be back before
 * other consumers may take the messages.
 */
#define TRIES_PER_LEASE 8

struct dueq__heartbeat {
    pthread_t thread;
    struct dueq__leases *leases;
    dueq_client *client;
    /*
     * Handles of this client: of each queue, or of DUEQ_MAX_PARTITIONS partitions. A partition's
     * handle is NULL until it is needed.
     */
    dueq_queue **queues;
    size_t queue_count;
    struct dueq__presence presence;
    dueq_queue *base;           /* of a queue with partitions: the handle of its name; else NULL */
    const size_t *same;         /* for each queue the index of the first queue with its name */
    int64_t register_ms;        /* when to register without leased messages */
    int64_t register_leased_ms; /* when to register with leased messages */
    int64_t full_ms;            /* when it last sent the whole registration */
    int64_t timings_ms;         /* when it last sent what was measured */
    size_t next_queue;          /* the next queue to register with in this round */
    size_t turn;                /* with more than REGISTER_QUEUES: the first whose turn it is */
    bool *leased_of;            /* for each queue: it had leased messages when this round began */
    bool *idle_at;         /* for each queue: it has a registration that lists no leased messages */
    bool leased;           /* a queue of this round has messages that are leased */
    dueq_status worst;     /* the last answer in this round that was not OK */
    int64_t unanswered_ms; /* since when no call had an answer; 0: the last call had one */
    int64_t call_ended_ms; /* when the last call ended */
    bool registered;
    bool wound_down;     /* the next registration says that the consumer takes no further message */
    bool timings_denied; /* the server does not permit it to send what was measured */
    bool idle;           /* the last round had no leased messages and no failure */
};

/* Makes what the heartbeat's client warns of a warning for the program. */
static void pass_on_warning(struct dueq__heartbeat *heartbeat) {
    const char *warning = dueq_warning(heartbeat->client);
    if (warning)
        dueq__leases_warn_server(heartbeat->leases, warning);
}

/*
 * Runs a submitted call to its end. CLOSED: the heartbeat must end, or until_ms has come, and the
 * call is abandoned.
 */
static dueq_status run_call(struct dueq__heartbeat *heartbeat, dueq_status submitted,
                            int64_t until_ms, dueq_result **result) {
    dueq_status status = submitted;
    *result = NULL;
    int64_t now = dueq__monotonic_ms();
    if (!heartbeat->unanswered_ms || now - heartbeat->call_ended_ms > STREAK_MS)
        heartbeat->unanswered_ms = now;
    if (submitted == DUEQ_PENDING)
        dueq__op_set_terms(heartbeat->client,
                           &(struct dueq__terms){.skip_down_node = heartbeat->queue_count > 1});
    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_wait(heartbeat->client, STOP_CHECK_MS);
        if (status == DUEQ_PENDING)
            dueq__outage_log_silence(heartbeat->client, heartbeat->unanswered_ms);
        pass_on_warning(heartbeat);
        if (status == DUEQ_PENDING &&
            (heartbeat->leases->stopping || dueq__monotonic_ms() >= until_ms)) {
            dueq_abandon(heartbeat->client);
            heartbeat->call_ended_ms = dueq__monotonic_ms();
            return DUEQ_CLOSED;
        }
    }
    status = submitted == DUEQ_PENDING ? dueq_take(heartbeat->client, result) : submitted;
    heartbeat->call_ended_ms = dueq__monotonic_ms();
    if (status >= 0 || !dueq_status_retriable(status))
        heartbeat->unanswered_ms = 0;
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

/* Extends the leases, or sends the acks of their messages. False: the call failed. */
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
        status = run_call(heartbeat,
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
    while ((count = dueq__leases_take_expiring(heartbeat->leases, dueq__monotonic_ms(), taken,
                                               DUEQ_MAX_BATCH)) > 0)
        request(heartbeat, taken, count, true);
    int64_t until = dueq__monotonic_ms() - DUEQ__ACK_DELAY_MS;
    while (dueq__leases_oldest_ack(heartbeat->leases, &queue) <= until) {
        count = dueq__leases_take_acks(heartbeat->leases, queue, until, taken, DUEQ_MAX_BATCH);
        if (!count || !request(heartbeat, taken, count, false))
            return;
    }
}

/*
 * Passes on the timekeeping of queues whose next event has come while the program works. all: of
 * all queues, as the consumer ends. If the heartbeat cannot pass it on in time, the second
 * timekeeper or a probe notices the event.
 */
static void pass_on(struct dueq__heartbeat *heartbeat, bool all) {
    int64_t until = dueq__monotonic_ms() + PASS_ON_TIMEOUT_MS;
    dueq_status status = DUEQ_OK;
    size_t at;
    int64_t place_ms;
    while (status >= 0 && (!all || dueq__monotonic_ms() < until) &&
           (at = dueq__leases_take_late(heartbeat->leases, all ? DUEQ__NEVER : dueq__monotonic_us(),
                                        &place_ms)) != SIZE_MAX) {
        dueq_result *result;
        status = run_call(
            heartbeat,
            dueq__reserve_pass_on(queue_at(heartbeat, at), heartbeat->presence.session, place_ms),
            until, &result);
        dueq_result_free(result);
    }
}

static bool has_many(const struct dueq__heartbeat *heartbeat) {
    return !heartbeat->base && heartbeat->queue_count > REGISTER_QUEUES;
}

/*
 * True: this round registers with the queue. With many queues these are the queues in turn, those
 * that have leased messages, and those whose registration is missing, or lists such messages.
 */
static bool is_in_round(const struct dueq__heartbeat *heartbeat, size_t at) {
    size_t count = heartbeat->queue_count;
    bool in_turn = !has_many(heartbeat) || (at + count - heartbeat->turn) % count < REGISTER_QUEUES;
    return heartbeat->same[at] == at && (in_turn || heartbeat->leases->stopping ||
                                         heartbeat->leased_of[at] || !heartbeat->idle_at[at]);
}

/*
 * Registers the consumer with one queue, or removes its registration if the consumer ends. Sets
 * *leased if the consumer has leased messages of the queue, and else leaves it.
 */
static dueq_status register_queue(struct dueq__heartbeat *heartbeat, size_t at, int64_t until_ms,
                                  bool *leased) {
    char text[DUEQ__PRESENCE_ROOM];
    dueq_queue *base = heartbeat->base;
    dueq_result *result;
    bool leaves = heartbeat->leases->stopping, many = has_many(heartbeat), new = false;
    size_t size = dueq__presence_write(&heartbeat->presence, heartbeat->leases,
                                       base ? NULL : heartbeat->same, at, text, &new);
    bool same = heartbeat->idle_at[at] && !new && !many;
    /* Of many queues, one without leased messages waits for its turn. Two turns may fail. */
    int64_t turns = many ? (int64_t)(heartbeat->queue_count / REGISTER_QUEUES + 1) : 0;
    int64_t left_ms = DUEQ__OFFLINE_MS + (new ? 0 : 2 * turns * REGISTER_IDLE_MS);
    dueq_status submitted = dueq__register_submit(base ? base : heartbeat->queues[at], base,
                                                  heartbeat->presence.session, leaves ? 0 : left_ms,
                                                  (dueq_bytes){text, same || leaves ? 0 : size});
    dueq_status status = run_call(heartbeat, submitted, until_ms, &result);
    dueq_result_free(result);
    heartbeat->idle_at[at] = status == DUEQ_OK && !new;
    *leased = *leased || new;
    return status;
}

/* Takes what was measured of a queue; false: nothing was measured. */
static bool take_timings(struct dueq__leases *leases, size_t queue, dueq_timings *taken) {
    static const dueq_timings none;
    pthread_mutex_lock(&leases->lock);
    *taken = queue < leases->timings_count ? leases->timings[queue] : none;
    if (queue < leases->timings_count)
        leases->timings[queue] = none;
    pthread_mutex_unlock(&leases->lock);
    return memcmp(taken, &none, sizeof none) != 0;
}

/* Sends to each queue what was measured of its messages. What cannot be sent is dropped. */
static void send_timings(struct dueq__heartbeat *heartbeat, int64_t until_ms) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; i < heartbeat->queue_count && status >= 0; i++) {
        dueq_timings timings;
        dueq_result *result;
        if (!take_timings(heartbeat->leases, i, &timings) || heartbeat->timings_denied ||
            !queue_at(heartbeat, i))
            continue;
        status = run_call(heartbeat, dueq__measure_submit(heartbeat->queues[i], &timings), until_ms,
                          &result);
        dueq_result_free(result);
    }
    heartbeat->timings_denied = heartbeat->timings_denied || status == DUEQ_DENIED;
}

/* True: it sends what was measured. With many queues only once a minute, and at its end. */
static bool sends_timings(struct dueq__heartbeat *heartbeat, int64_t now_ms) {
    bool sends = !has_many(heartbeat) || heartbeat->leases->stopping ||
                 now_ms >= heartbeat->timings_ms + TIMINGS_MS;
    if (sends)
        heartbeat->timings_ms = now_ms;
    return sends;
}

static bool is_refused(dueq_status status) {
    return status == DUEQ_DENIED || status == DUEQ_LAYOUT;
}

/*
 * A round of registrations. After a queue that failed, and after half a second, the heartbeat
 * extends leases before it goes on with the round. The failed queue waits for the next round. If
 * the server denies the registration, or the queue has another layout, the heartbeat does not
 * register again.
 */
static void register_all(struct dueq__heartbeat *heartbeat) {
    int64_t now = dueq__monotonic_ms();
    size_t count = heartbeat->base ? 1 : heartbeat->queue_count;
    dueq_status status = DUEQ_OK;
    if (!heartbeat->next_queue) {
        if (now >= heartbeat->full_ms + FULL_MS && !has_many(heartbeat)) {
            memset(heartbeat->idle_at, 0, count * sizeof *heartbeat->idle_at);
            heartbeat->full_ms = now;
        }
        dueq__leases_mark_queues(heartbeat->leases, heartbeat->leased_of, heartbeat->queue_count);
        for (size_t i = 0; has_many(heartbeat) && i < count; i++)
            heartbeat->leased_of[heartbeat->same[i]] |= heartbeat->leased_of[i];
        heartbeat->leased = false;
        heartbeat->worst = DUEQ_OK;
    }
    int64_t last_ms = now + REGISTER_TIMEOUT_MS;
    while (heartbeat->next_queue < count && status >= 0 && dueq__monotonic_ms() < last_ms) {
        size_t at = heartbeat->next_queue++;
        if (is_in_round(heartbeat, at))
            status = register_queue(heartbeat, at, dueq__monotonic_ms() + REGISTER_TIMEOUT_MS,
                                    &heartbeat->leased);
        heartbeat->worst = status ? status : heartbeat->worst;
        heartbeat->registered = heartbeat->registered || status >= 0;
    }
    if (heartbeat->next_queue < count && !is_refused(status)) {
        heartbeat->register_ms = heartbeat->register_leased_ms = now;
        return;
    }
    heartbeat->next_queue = 0;
    heartbeat->turn = (heartbeat->turn + REGISTER_QUEUES) % count;
    if (!is_refused(status) && sends_timings(heartbeat, now))
        send_timings(heartbeat, dueq__monotonic_ms() + REGISTER_TIMEOUT_MS);
    heartbeat->idle = !heartbeat->leased && heartbeat->worst == DUEQ_OK;
    heartbeat->register_leased_ms = now + REGISTER_LEASED_MS;
    heartbeat->register_ms = now + (heartbeat->idle ? REGISTER_IDLE_MS : REGISTER_LEASED_MS);
    if (is_refused(status))
        heartbeat->register_ms = heartbeat->register_leased_ms = DUEQ__NEVER;
}

/* Removes the consumer's registrations. One that cannot be removed in time expires. */
static void leave_queues(struct dueq__heartbeat *heartbeat) {
    int64_t until =
        dueq__monotonic_ms() + REGISTER_TIMEOUT_MS + (int64_t)heartbeat->queue_count * LEAVE_MS;
    heartbeat->next_queue = 0;
    do
        register_all(heartbeat);
    while (heartbeat->next_queue && dueq__monotonic_ms() < until);
}

/* Makes all leases due to be extended now. */
static void extend_all(struct dueq__leases *leases) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i]->extend_ms > now)
            leases->items[i]->extend_ms = now;
    pthread_mutex_unlock(&leases->lock);
}

static void *run_thread(void *opaque) {
    struct dueq__heartbeat *heartbeat = opaque;
    struct dueq__leases *leases = heartbeat->leases;
    bool registers;
    while (dueq__leases_wait(leases, heartbeat->register_ms, heartbeat->register_leased_ms,
                             &registers)) {
        /*
         * Between two requests nothing reads the connection: without this check only the next
         * request would find it lost.
         */
        if (dueq__client_lost_conn(heartbeat->client))
            extend_all(leases);
        beat(heartbeat);
        pass_on(heartbeat, false);
        dueq__leases_warn_lost(leases);
        if (registers)
            register_all(heartbeat);
        /*
         * Registers once more, to say so. With leased messages this loop runs every half second.
         * Without them the consumer is closed soon.
         */
        if (leases->winds_down && heartbeat->registered && !heartbeat->wound_down) {
            heartbeat->wound_down = true;
            memset(heartbeat->idle_at, 0, heartbeat->queue_count * sizeof *heartbeat->idle_at);
            heartbeat->register_ms = heartbeat->register_leased_ms = 0;
        }
    }
    pass_on(heartbeat, true);
    if (heartbeat->registered)
        leave_queues(heartbeat);
    leases->ended = true;
    return NULL;
}

static void release(struct dueq__heartbeat *heartbeat) {
    for (size_t i = 0; i < heartbeat->queue_count; i++)
        dueq_queue_close(heartbeat->queues[i]);
    dueq_queue_close(heartbeat->base);
    free(heartbeat->queues);
    free(heartbeat->leased_of);
    free(heartbeat->idle_at);
    dueq_close(heartbeat->client);
    free(heartbeat);
}

static dueq_status open_handle(struct dueq__heartbeat *heartbeat, const dueq_queue *queue,
                               dueq_queue **handle) {
    dueq_bytes name = dueq__keys_name(queue->keys);
    return dueq_queue_open(heartbeat->client, name.data, name.size, handle);
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
    made->register_ms = made->register_leased_ms = made->presence.opened_ms + REGISTER_FIRST_MS;
    size_t count = consumer->assignment ? DUEQ_MAX_PARTITIONS : consumer->queue_count;
    made->queues = calloc(count, sizeof *made->queues);
    made->leased_of = calloc(count, sizeof *made->leased_of);
    made->idle_at = calloc(count, sizeof *made->idle_at);
    made->same = consumer->same;
    made->queue_count = made->queues ? count : 0;
    bool is_short =
        consumer->options.lease_ms && consumer->options.lease_ms < DUEQ_HEARTBEAT_LEASE_MS;
    int64_t max_backoff_ms = is_short ? consumer->options.lease_ms / TRIES_PER_LEASE + 1 : 0;
    dueq_status status = made->queues && made->leased_of && made->idle_at
                             ? dueq__client_twin(client, max_backoff_ms, &made->client)
                             : DUEQ_NO_MEMORY;
    for (size_t i = 0; !status && !consumer->assignment && i < count; i++)
        status = open_handle(made, consumer->queues[i], &made->queues[i]);
    if (!status)
        dueq_reached(made->client);
    if (!status && consumer->assignment)
        status = open_handle(made, consumer->assignment->queue, &made->base);
    if (!status && !dueq__thread_start(&made->thread, run_thread, made)) {
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

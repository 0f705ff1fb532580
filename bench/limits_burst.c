#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

/*
 * Many messages that are due in the same millisecond: whether they come in the order in which they
 * were pushed, and how long another client of the server has to wait for an answer meanwhile.
 */

#define CONSUMERS 4
#define MOST_PINGS 200000
#define QUIET_MS 500

/* The other client */

struct pings {
    const char *socket;
    pthread_t thread;
    atomic_bool over;
    size_t count;
    clockid_t server;           /* the server's CPU time */
    double sent_us[MOST_PINGS]; /* by CLOCK_REALTIME */
    double took_ms[MOST_PINGS];
    double worked_ms[MOST_PINGS]; /* what the server worked meanwhile */
};

/* Sends a PING each millisecond, or as soon as the one before is answered. */
static void *ping(void *opaque) {
    struct pings *pings = opaque;
    redisContext *bare = bare_open(pings->socket);
    while (!atomic_load(&pings->over) && pings->count < MOST_PINGS) {
        double sent_us = now_us(CLOCK_REALTIME), worked_us = now_us(pings->server);
        freeReplyObject(bare_command(bare, "PING"));
        pings->sent_us[pings->count] = sent_us;
        pings->took_ms[pings->count] = (now_us(CLOCK_REALTIME) - sent_us) / 1000;
        pings->worked_ms[pings->count++] = (now_us(pings->server) - worked_us) / 1000;
        struct timespec pause = {0, 1000000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    redisFree(bare);
    return NULL;
}

/*
 * The longest wait for an answer and, of each wait, what the server worked: the rest is what the
 * system ran other processes for in its place.
 */
static void print_pings(const struct pings *pings, const char *name, double from_us,
                        double until_us) {
    double took_ms = 0, worked_ms = 0;
    size_t count = 0;
    for (size_t i = 0; i < pings->count; i++) {
        if (pings->sent_us[i] < from_us || pings->sent_us[i] >= until_us)
            continue;
        double least =
            pings->took_ms[i] < pings->worked_ms[i] ? pings->took_ms[i] : pings->worked_ms[i];
        took_ms = pings->took_ms[i] > took_ms ? pings->took_ms[i] : took_ms;
        worked_ms = least > worked_ms ? least : worked_ms;
        count++;
    }
    printf("\"%s\": {\"pings\": %zu, \"longest_ms\": %.3f, \"wall_ms\": %.3f}, ", name, count,
           worked_ms, took_ms);
}

/* Producer and consumers */

struct consumer {
    struct link link;
    bool acks; /* the call under way is an ack, and no reserve */
    uint32_t
        next_least; /* what was delivered when the reserve was sent is before all that it brings */
    dueq_result *held;
};

struct burst {
    size_t messages, batch, delivered, early, misplaced;
    int64_t due_ms;
    uint32_t next; /* after the last one delivered so far */
    bool *seen;
    struct consumer consumers[CONSUMERS];
};

/* Returns false when it took so long that the first were due before the last was pushed. */
static bool push_all(struct burst *burst, struct link *producer, bool own_ids) {
    static dueq_draft drafts[DUEQ_MAX_BATCH];
    static uint32_t bodies[DUEQ_MAX_BATCH];
    static char ids[DUEQ_MAX_BATCH][32];
    for (size_t done = 0, count; done < burst->messages; done += count) {
        count = burst->messages - done;
        count = count < DUEQ_MAX_BATCH ? count : DUEQ_MAX_BATCH;
        for (size_t i = 0; i < count; i++) {
            bodies[i] = (uint32_t)(done + i);
            drafts[i] = (dueq_draft)DUEQ_DRAFT;
            drafts[i].body = (dueq_bytes){&bodies[i], sizeof bodies[i]};
            drafts[i].at_ms = burst->due_ms;
            /* Own ids that sort in another order than that of the pushes. */
            if (own_ids) {
                int size = snprintf(ids[i], sizeof ids[i], "%08x-order", ~bodies[i] * 2654435761u);
                drafts[i].id = (dueq_bytes){ids[i], (size_t)size};
            }
        }
        must(producer->client, dueq_push(producer->queue, drafts, count, NULL));
    }
    return clock_ms() < burst->due_ms - 2 * QUIET_MS;
}

static void begin_reserve(struct burst *burst, struct consumer *consumer) {
    consumer->acks = false;
    consumer->next_least = burst->next;
    dueq_status status =
        dueq_reserve_submit(consumer->link.queue, burst->batch, DUEQ_FOREVER, LEASE_MS);
    if (status != DUEQ_PENDING)
        must(consumer->link.client, status);
}

static void begin_ack(struct consumer *consumer) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    size_t count = dueq_result_count(consumer->held);
    for (size_t i = 0; i < count; i++)
        tickets[i] = dueq_result_message(consumer->held, i)->ticket;
    consumer->acks = true;
    dueq_status status = dueq_ack_submit(consumer->link.queue, tickets, count);
    if (status != DUEQ_PENDING)
        must(consumer->link.client, status);
    dueq_result_free(consumer->held);
    consumer->held = NULL;
}

/*
 * The messages of one reserve follow each other without a gap, and come after all that any consumer
 * had before this reserve was sent.
 */
static void judge(struct burst *burst, struct consumer *consumer) {
    uint32_t expected = 0;
    for (size_t i = 0; i < dueq_result_count(consumer->held); i++) {
        const dueq_message *message = dueq_result_message(consumer->held, i);
        uint32_t number;
        memcpy(&number, message->body.data, sizeof number);
        if (number >= burst->messages || burst->seen[number])
            die("a message came twice, or one that nobody pushed");
        burst->seen[number] = true;
        burst->early += message->now_ms < burst->due_ms;
        burst->misplaced += i ? number != expected : number < consumer->next_least;
        expected = number + 1;
        if (expected > burst->next)
            burst->next = expected;
        burst->delivered++;
    }
}

static void advance(struct burst *burst, struct consumer *consumer) {
    dueq_client *client = consumer->link.client;
    for (;;) {
        dueq_status status = dueq_pump(client);
        if (status == DUEQ_PENDING)
            return;
        must(client, status);
        if (consumer->acks) {
            must(client, dueq_take(client, NULL));
            begin_reserve(burst, consumer);
        } else {
            must(client, dueq_take(client, &consumer->held));
            judge(burst, consumer);
            begin_ack(consumer);
        }
    }
}

static void deliver(struct burst *burst) {
    while (burst->delivered < burst->messages) {
        struct pollfd set[DUEQ_MAX_SOCKETS * CONSUMERS];
        size_t count = 0;
        int timeout_ms = 10000;
        for (size_t i = 0; i < CONSUMERS; i++) {
            int wanted_ms;
            count += dueq_poll_set(burst->consumers[i].link.client, set + count, &wanted_ms);
            if (wanted_ms >= 0 && wanted_ms < timeout_ms)
                timeout_ms = wanted_ms;
        }
        if (poll(set, (nfds_t)count, timeout_ms) < 0 && errno != EINTR)
            die("poll: %s", strerror(errno));
        for (size_t i = 0; i < CONSUMERS; i++)
            advance(burst, &burst->consumers[i]);
    }
}

void measure_burst(const char *socket, size_t messages, size_t batch, bool own_ids) {
    if (batch > DUEQ_MAX_BATCH || messages > UINT32_MAX / 2)
        die("a batch has at most %d messages", DUEQ_MAX_BATCH);
    struct burst *burst = must_allocate(1, sizeof *burst);
    struct pings *pings = must_allocate(1, sizeof *pings);
    struct link producer = link_open(socket, "burst");
    struct watch watch;
    redisContext *control = bare_open(socket);
    watch_open(&watch, control);
    /* Of so many calls the log shall keep those that take long. */
    freeReplyObject(bare_command(control, "CONFIG SET slowlog-log-slower-than 1000"));
    freeReplyObject(bare_command(control, "CONFIG SET slowlog-max-len 100000"));

    burst->messages = messages;
    burst->batch = batch;
    burst->seen = must_allocate(messages, sizeof *burst->seen);
    int64_t lead_ms = (int64_t)messages / 50;
    do {
        freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
        lead_ms *= 2;
        burst->due_ms = clock_ms() + 3 * QUIET_MS + lead_ms;
    } while (!push_all(burst, &producer, own_ids));
    for (size_t i = 0; i < CONSUMERS; i++) {
        burst->consumers[i].link = link_open(socket, "burst");
        begin_reserve(burst, &burst->consumers[i]);
        if (dueq_wait(burst->consumers[i].link.client, 20) != DUEQ_PENDING)
            die("a consumer does not wait");
    }
    watch_begin(&watch);

    pings->socket = socket;
    pings->server = watch.clock;
    sleep_until_ms(burst->due_ms - QUIET_MS);
    if (pthread_create(&pings->thread, NULL, ping, pings))
        die("no thread can be started");
    deliver(burst);
    double end_us = now_us(CLOCK_REALTIME), due_us = (double)burst->due_ms * 1000;
    atomic_store(&pings->over, true);
    pthread_join(pings->thread, NULL);
    watch_end(&watch);

    printf("{\"messages\": %zu, \"batch\": %zu, \"own_ids\": %s, \"consumers\": %d, ", messages,
           batch, own_ids ? "true" : "false", CONSUMERS);
    printf("\"seconds\": %.3f, \"early\": %zu, \"misplaced\": %zu, ", (end_us - due_us) / 1e6,
           burst->early, burst->misplaced);
    print_pings(pings, "quiet", 0, due_us - 20000);
    print_pings(pings, "busy", due_us - 20000, end_us);
    watch_print(&watch, "largest");
    printf("}\n");
    for (size_t i = 0; i < CONSUMERS; i++) {
        dueq_abandon(burst->consumers[i].link.client);
        dueq_result_free(burst->consumers[i].held);
        link_close(&burst->consumers[i].link);
    }
    link_close(&producer);
    redisFree(control);
    free(burst->seen);
    free(burst);
    free(pings);
}

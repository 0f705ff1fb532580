#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet.h"

/* What it takes to wake those who wait, and how soon they are awake. */

/* Between two messages that fall due: long enough that each finds everybody at rest. */
#define APART_MS 150
/* By then a consumer has registered, for which its heartbeat connects. */
#define REGISTERED_MS 2500
#define NAME "waking"

/* How late each message came, by CLOCK_REALTIME. */
struct arrivals {
    double *late_ms;
    size_t count, most;
};

static void note_arrival(struct arrivals *arrivals, int64_t due_ms) {
    if (arrivals->count < arrivals->most)
        arrivals->late_ms[arrivals->count++] = now_us(CLOCK_REALTIME) / 1000 - (double)due_ms;
}

static void note_late(struct fleet *fleet, struct consumer *consumer, const dueq_message *message) {
    (void)consumer;
    int64_t due_ms;
    memcpy(&due_ms, message->body.data, sizeof due_ms);
    note_arrival(fleet->own, due_ms);
}

static int64_t wall_ms(void) { return (int64_t)(now_us(CLOCK_REALTIME) / 1000); }

static void push_at(struct link *producer, int64_t at_ms) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){&at_ms, sizeof at_ms};
    draft.at_ms = at_ms;
    must(producer->client, dueq_push(producer->queue, &draft, 1, NULL));
}

static void empty(const char *socket) {
    redisContext *control = bare_open(socket);
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    redisFree(control);
}

/* "NAME": {"sent": 5, "calls": 40}: commands for each message. */
static void print_traffic(const char *name, struct traffic traffic, size_t messages) {
    printf("\"%s\": {\"sent\": %.3f, \"calls\": %.3f}", name, traffic.sent / (double)messages,
           traffic.calls / (double)messages);
}

static void add(struct traffic *sum, struct traffic more) {
    sum->sent += more.sent;
    sum->calls += more.calls;
}

/* What a delivery is made of: how many consumers wait, who pushes, who counts. */
struct scene {
    struct fleet fleet;
    struct link producer;
    struct meter meter;
    struct arrivals arrivals;
    size_t messages;
};

/*
 * The scripts are loaded, and the first calls of each session made, before anything is counted.
 * Each consumer has one message, as the one that has waited longest gets the next.
 */
static void settle_in(struct fleet *fleet, struct link *producer) {
    size_t before = fleet->done;
    for (size_t i = 0; i < fleet->count; i++) {
        push_at(producer, 0);
        fleet_finish(fleet, before + i + 1);
    }
    push_at(producer, wall_ms() + APART_MS);
    fleet_finish(fleet, before + fleet->count + 1);
    fleet_run(fleet, APART_MS);
}

/*
 * Waits until all consumers have registered, and none sends anything any more, which takes many
 * consumers some time.
 */
static void rest(struct scene *scene) {
    double limit_us = now_us(CLOCK_MONOTONIC) + 60e6;
    fleet_run(&scene->fleet, REGISTERED_MS);
    do {
        if (now_us(CLOCK_MONOTONIC) > limit_us)
            die("the consumers do not come to rest");
        meter_read(&scene->meter);
        fleet_run(&scene->fleet, APART_MS);
    } while (meter_read(&scene->meter).calls > 0);
}

static void begin_count(struct scene *scene) {
    scene->arrivals.count = 0;
    scene->fleet.done = 0;
    meter_read(&scene->meter);
}

/* One ready message after the other, each pushed when all consumers are at rest. */
static void measure_ready(struct scene *scene) {
    begin_count(scene);
    for (size_t i = 0; i < scene->messages; i++) {
        push_at(&scene->producer, 0);
        fleet_finish(&scene->fleet, i + 1);
        fleet_run(&scene->fleet, APART_MS);
    }
    print_traffic("ready", meter_read(&scene->meter), scene->messages);
}

/* The same with messages that are due a little later. */
static void measure_delayed(struct scene *scene) {
    struct traffic push = {0}, delivery = {0}, all = {0};
    begin_count(scene);
    for (size_t i = 0; i < scene->messages; i++) {
        push_at(&scene->producer, wall_ms() + APART_MS);
        fleet_run(&scene->fleet, APART_MS / 2);
        add(&push, meter_read(&scene->meter));
        fleet_finish(&scene->fleet, i + 1);
        fleet_run(&scene->fleet, APART_MS);
        add(&delivery, meter_read(&scene->meter));
    }
    add(&all, push);
    add(&all, delivery);
    printf("\"sent_per_message\": %.3f, \"calls_per_message\": %.3f, ",
           all.sent / (double)scene->messages, all.calls / (double)scene->messages);
    print_traffic("push", push, scene->messages);
    printf(", ");
    print_traffic("delivery", delivery, scene->messages);
    printf(", ");
    print_list("late_ms", scene->arrivals.late_ms, scene->arrivals.count);
}

/* Messages that were all pushed before the first is due, and fall due one by one. */
static void measure_due(struct scene *scene) {
    begin_count(scene);
    int64_t first_ms = wall_ms() + 500 + (int64_t)scene->messages;
    for (size_t i = 0; i < scene->messages; i++)
        push_at(&scene->producer, first_ms + (int64_t)i * APART_MS);
    fleet_run(&scene->fleet, 250);
    struct traffic push = meter_read(&scene->meter);
    fleet_run(&scene->fleet, (double)(APART_MS * scene->messages));
    fleet_finish(&scene->fleet, scene->messages);
    fleet_run(&scene->fleet, APART_MS);
    struct traffic delivery = meter_read(&scene->meter);
    printf("\"due\": {");
    print_traffic("push", push, scene->messages);
    printf(", ");
    print_traffic("delivery", delivery, scene->messages);
    printf(", ");
    print_list("late_ms", scene->arrivals.late_ms, scene->arrivals.count);
    printf("}");
}

void measure_waking(const char *socket, size_t consumers, size_t messages) {
    struct scene scene = {.messages = messages};
    empty(socket);
    scene.producer = link_open(socket, NAME);
    fleet_open(&scene.fleet, socket, NAME, consumers);
    settle_in(&scene.fleet, &scene.producer);
    scene.arrivals = (struct arrivals){must_allocate(messages, sizeof(double)), 0, messages};
    scene.fleet.own = &scene.arrivals;
    scene.fleet.note = note_late;
    meter_open(&scene.meter, socket);
    rest(&scene);
    printf("{\"consumers\": %zu, \"messages\": %zu, ", consumers, messages);
    measure_delayed(&scene);
    printf(", ");
    measure_ready(&scene);
    printf(", ");
    measure_due(&scene);
    printf("}\n");
    free(scene.arrivals.late_ms);
    meter_close(&scene.meter);
    fleet_close(&scene.fleet);
    link_close(&scene.producer);
}

/* A burst */

/* What a handler takes for a message of the burst: long enough that the work is not done by the few
 * consumers that were woken first. */
#define WORK_MS 20

struct burst {
    double begin_us;   /* since when work lies ready */
    size_t left;       /* messages that nobody has taken yet */
    double longest_us; /* that a consumer waited meanwhile */
    double first_us;   /* the longest that a consumer waited for its first message */
};

static void note_wait(struct burst *burst, const struct consumer *consumer) {
    double since_us = consumer->since_us > burst->begin_us ? consumer->since_us : burst->begin_us;
    double waited_us = now_us(CLOCK_MONOTONIC) - since_us;
    if (waited_us > burst->longest_us)
        burst->longest_us = waited_us;
    if (consumer->since_us < burst->begin_us && waited_us > burst->first_us)
        burst->first_us = waited_us;
}

static void note_burst(struct fleet *fleet, struct consumer *consumer,
                       const dueq_message *message) {
    (void)message;
    struct burst *burst = fleet->own;
    note_wait(burst, consumer);
    if (--burst->left)
        return;
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->consumers[i].state == WAITING && &fleet->consumers[i] != consumer)
            note_wait(burst, &fleet->consumers[i]);
}

static void push_ready(struct link *producer, size_t messages) {
    dueq_draft drafts[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < DUEQ_MAX_BATCH; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = (dueq_bytes){"burst", 5};
    }
    while (messages) {
        size_t count = messages < DUEQ_MAX_BATCH ? messages : DUEQ_MAX_BATCH;
        must(producer->client, dueq_push(producer->queue, drafts, count, NULL));
        messages -= count;
    }
}

void measure_burst_wake(const char *socket, size_t consumers, size_t messages) {
    empty(socket);
    struct fleet fleet;
    struct meter meter;
    struct link producer = link_open(socket, NAME);
    fleet_open(&fleet, socket, NAME, consumers);
    settle_in(&fleet, &producer);
    meter_open(&meter, socket);
    struct burst burst = {.left = messages};
    fleet.done = fleet.taken = 0;
    fleet.work_us = WORK_MS * 1e3;
    fleet.note = note_burst;
    fleet.own = &burst;
    for (size_t i = 0; i < consumers; i++)
        fleet.consumers[i].taken = 0;
    push_ready(&producer, messages);
    /* The fleet is of the producer's own thread: it could not move before. */
    burst.begin_us = now_us(CLOCK_MONOTONIC);
    fleet_finish(&fleet, messages);
    double all_us = now_us(CLOCK_MONOTONIC) - burst.begin_us;
    fleet_run(&fleet, APART_MS);
    struct traffic all = meter_read(&meter);
    size_t woken = 0;
    for (size_t i = 0; i < consumers; i++)
        woken += fleet.consumers[i].taken > 0;
    printf("{\"consumers\": %zu, \"messages\": %zu, \"work_ms\": %d, \"got_some\": %zu, "
           "\"all_done_ms\": %.3f, \"longest_wait_ms\": %.3f, "
           "\"last_woken_ms\": %.3f, ",
           consumers, messages, WORK_MS, woken, all_us / 1000, burst.longest_us / 1000,
           burst.first_us / 1000);
    printf("\"sent_per_message\": %.3f, \"calls_per_message\": %.3f}\n",
           all.sent / (double)messages, all.calls / (double)messages);
    meter_close(&meter);
    fleet_close(&fleet);
    link_close(&producer);
}

/* The end of a lease */

#define SHORT_LEASE_MS 200
#define CREW 20

struct ending {
    struct arrivals *arrivals;
    int64_t at_ms;
};

static void note_ending(struct fleet *fleet, struct consumer *consumer,
                        const dueq_message *message) {
    (void)consumer;
    (void)message;
    const struct ending *ending = fleet->own;
    note_arrival(ending->arrivals, ending->at_ms);
}

void measure_lease_end(const char *socket, size_t count) {
    empty(socket);
    struct fleet fleet;
    struct link holder = link_open(socket, NAME);
    fleet_open(&fleet, socket, NAME, CREW);
    settle_in(&fleet, &holder);
    struct arrivals arrivals = {must_allocate(count, sizeof(double)), 0, count};
    struct ending ending = {.arrivals = &arrivals};
    fleet.note = note_ending;
    fleet.own = &ending;
    fleet.done = 0;
    for (size_t i = 0; i < count; i++) {
        /* The fleet does not run between these two, so the holder gets the message. */
        dueq_result *result;
        push_ready(&holder, 1);
        must(holder.client, dueq_reserve(holder.queue, 1, 0, SHORT_LEASE_MS, &result));
        ending.at_ms = dueq_result_message(result, 0)->now_ms + SHORT_LEASE_MS;
        dueq_result_free(result);
        fleet_finish(&fleet, i + 1);
        fleet_run(&fleet, APART_MS);
    }
    printf("{\"consumers\": %d, ", CREW);
    print_list("late_ms", arrivals.late_ms, arrivals.count);
    printf("}\n");
    free(arrivals.late_ms);
    fleet_close(&fleet);
    link_close(&holder);
}

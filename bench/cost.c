#include <stdio.h>
#include <string.h>

#include "bare.h"
#include "verbs/verbs.h"

/*
 * All ways do the same work in calls of `batch`. By scripts and bare in the same number of round
 * trips: the messages are pushed, then all reserved, then all acknowledged. A call of the bare way
 * is the commands that a script of dueq stands for, written at once; its tickets are known
 * beforehand. The loop is what a consumer does: each call acknowledges the last batch and reserves
 * the next.
 */

struct step {
    const char *name;
    void (*run)(void *state, size_t call);
    size_t more; /* calls beyond those that the messages take */
};

#define MOST_STEPS 3

struct way {
    struct step steps[MOST_STEPS];
    void *state;
};

struct shape {
    size_t batch, calls;
};

static char body[BODY_SIZE];

/* By dueq */

struct by_dueq {
    struct shape shape;
    struct link link;
    dueq_draft *drafts;
    dueq_bytes *tickets;
    dueq_result **reserved;
};

static void dueq_push_call(void *opaque, size_t call) {
    struct by_dueq *way = opaque;
    (void)call;
    must(way->link.client, dueq_push(way->link.queue, way->drafts, way->shape.batch, NULL));
}

static void dueq_reserve_call(void *opaque, size_t call) {
    struct by_dueq *way = opaque;
    dueq_result **result = &way->reserved[call];
    must(way->link.client,
         dueq_reserve(way->link.queue, way->shape.batch, 10000, LEASE_MS, result));
    if (dueq_result_count(*result) != way->shape.batch)
        die("%zu messages reserved instead of %zu", dueq_result_count(*result), way->shape.batch);
}

static void dueq_ack_call(void *opaque, size_t call) {
    struct by_dueq *way = opaque;
    for (size_t i = 0; i < way->shape.batch; i++)
        way->tickets[i] = dueq_result_message(way->reserved[call], i)->ticket;
    must(way->link.client, dueq_ack(way->link.queue, way->tickets, way->shape.batch, NULL));
    dueq_result_free(way->reserved[call]);
}

static void count_settled(void *owner, const char *outcomes, size_t count) {
    size_t *settled = owner;
    *settled += count;
    for (size_t i = 0; i < count; i++)
        if (outcomes[i] != '0')
            die("a lease was lost");
}

/* The first call has nothing to acknowledge yet, and the last nothing to reserve. */
static void dueq_loop_call(void *opaque, size_t call) {
    struct by_dueq *way = opaque;
    size_t held = call > 0 ? way->shape.batch : 0;
    size_t asked = call < way->shape.calls ? way->shape.batch : 0;
    size_t settled = 0;
    struct dueq__reserve reserve = {.queues = &way->link.queue,
                                    .queue_count = 1,
                                    .terms.count = asked,
                                    .terms.timeout_ms = 10000,
                                    .terms.lease_ms = LEASE_MS,
                                    .terms.default_lease_ms = DUEQ_DEFAULT_LEASE_MS,
                                    .settlement = {.acks = way->tickets,
                                                   .ack_count = held,
                                                   .on_settled = count_settled,
                                                   .owner = &settled}};
    dueq_result *result;
    dueq_status submitted = dueq__reserve_submit(&reserve);
    if (submitted != DUEQ_PENDING)
        must(way->link.client, submitted);
    while (dueq_wait(way->link.client, -1) == DUEQ_INTERRUPTED)
        ;
    dueq_status status = dueq_take(way->link.client, &result);
    must(way->link.client, status == DUEQ_EMPTY && asked == 0 ? DUEQ_OK : status);
    if (dueq_result_count(result) != asked || settled != held)
        die("%zu messages reserved instead of %zu", dueq_result_count(result), asked);
    dueq_result_free(way->reserved[0]);
    way->reserved[0] = result;
    for (size_t i = 0; i < asked; i++)
        way->tickets[i] = dueq_result_message(result, i)->ticket;
}

static struct way open_dueq(const char *socket, struct shape shape) {
    struct by_dueq *way = must_allocate(1, sizeof *way);
    way->shape = shape;
    way->link = link_open(socket, "bench");
    way->drafts = must_allocate(shape.batch, sizeof *way->drafts);
    way->tickets = must_allocate(shape.batch, sizeof *way->tickets);
    way->reserved = must_allocate(shape.calls, sizeof *way->reserved);
    for (size_t i = 0; i < shape.batch; i++) {
        way->drafts[i] = (dueq_draft)DUEQ_DRAFT;
        way->drafts[i].body = (dueq_bytes){body, sizeof body};
    }
    return (struct way){
        {{"push", dueq_push_call, 0}, {"reserve", dueq_reserve_call, 0}, {"ack", dueq_ack_call, 0}},
        way};
}

static struct way open_loop(const char *socket, struct shape shape) {
    struct way way = open_dueq(socket, shape);
    way.steps[1] = (struct step){"loop", dueq_loop_call, 1};
    way.steps[2] = (struct step){0};
    return way;
}

/* Bare */

struct by_hand {
    struct shape shape;
    struct bare bare;
    char stop[24]; /* the end of every lease */
    char count[24];
};

static void bare_push_call(void *opaque, size_t call) {
    struct by_hand *way = opaque;
    size_t batch = way->shape.batch, first = call * batch;
    bare_envelopes(&way->bare, first, batch);
    bare_verb(&way->bare, "RPUSH", BARE_READY);
    bare_tickets(&way->bare, first, batch, '0');
    bare_append(&way->bare);
    bare_number(&way->bare);
    bare_number(&way->bare);
}

static void bare_reserve_call(void *opaque, size_t call) {
    struct by_hand *way = opaque;
    size_t batch = way->shape.batch, first = call * batch;
    bare_verb(&way->bare, "LPOP", BARE_READY);
    bare_text(&way->bare, way->count);
    bare_append(&way->bare);
    bare_lease(&way->bare, first, batch, way->stop);
    bare_list(&way->bare, batch);
    bare_number(&way->bare);
    bare_list(&way->bare, batch);
}

static void bare_ack_call(void *opaque, size_t call) {
    struct by_hand *way = opaque;
    bare_ack(&way->bare, call * way->shape.batch, way->shape.batch);
}

static struct way open_bare(const char *socket, struct shape shape) {
    struct by_hand *way = must_allocate(1, sizeof *way);
    way->shape = shape;
    way->bare = bare_begin(socket, shape.batch * shape.calls, shape.batch);
    snprintf(way->count, sizeof way->count, "%zu", shape.batch);
    snprintf(way->stop, sizeof way->stop, "%.0f", now_us(CLOCK_REALTIME) / 1000 + LEASE_MS);
    return (struct way){
        {{"push", bare_push_call, 0}, {"reserve", bare_reserve_call, 0}, {"ack", bare_ack_call, 0}},
        way};
}

/* All */

/* Microseconds a message: the server's CPU time, and as it takes with everything. */
static void measure_step(const struct step *step, void *state, struct shape shape,
                         clockid_t clock) {
    double server = now_us(clock), wall = now_us(CLOCK_MONOTONIC);
    double client = now_us(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t call = 0; call < shape.calls + step->more; call++)
        step->run(state, call);
    double messages = (double)(shape.batch * shape.calls);
    client = now_us(CLOCK_PROCESS_CPUTIME_ID) - client;
    wall = now_us(CLOCK_MONOTONIC) - wall;
    server = now_us(clock) - server;
    printf("\"%s\": {\"server_us\": %.4f, \"client_us\": %.4f, \"wall_us\": %.4f}", step->name,
           server / messages, client / messages, wall / messages);
}

void measure_cost(const char *socket, const char *name, size_t batch, size_t messages) {
    if (batch > DUEQ_MAX_BATCH)
        die("a batch has at most %d messages", DUEQ_MAX_BATCH);
    struct shape shape = {batch, (messages + batch - 1) / batch}, once = {batch, 1};
    struct way (*open_way)(const char *, struct shape) = !strcmp(name, "bare")   ? open_bare
                                                         : !strcmp(name, "loop") ? open_loop
                                                                                 : open_dueq;
    redisContext *control = bare_open(socket);
    clockid_t clock = server_clock(control);
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    /* The first calls connect and load the scripts. */
    struct way warm = open_way(socket, once);
    for (size_t i = 0; i < MOST_STEPS && warm.steps[i].run; i++)
        for (size_t call = 0; call < 1 + warm.steps[i].more; call++)
            warm.steps[i].run(warm.state, call);

    struct way way = open_way(socket, shape);
    for (size_t i = 0; i < MOST_STEPS && way.steps[i].run; i++) {
        printf(i ? ", " : "{");
        measure_step(&way.steps[i], way.state, shape, clock);
    }
    printf("}\n");
    redisFree(control);
}

#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "internal.h"

/*
 * All ways do the same work in calls of `batch`. By scripts and bare in the same number of round trips: the
 * messages are pushed, then all reserved, then all acknowledged. A call of the bare way is the commands
 * that a script of dueq stands for, written at once; its tickets are known beforehand. The loop is what a
 * consumer does: each call acknowledges the last batch and reserves the next.
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

/* ---- By dueq ---- */

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

/* The first call has nothing to acknowledge yet, and the last nothing to reserve. */
static void dueq_loop_call(void *opaque, size_t call) {
    struct by_dueq *way = opaque;
    size_t held = call > 0 ? way->shape.batch : 0;
    size_t asked = call < way->shape.calls ? way->shape.batch : 0;
    struct dueq__settlement settlement = {.acks = way->tickets, .ack_count = held};
    dueq_result *result;
    dueq_status submitted = dueq__reserve_settled_submit(way->link.queue, &settlement, asked, 10000,
                                                         LEASE_MS, DUEQ_DEFAULT_LEASE_MS);
    if (submitted != DUEQ_PENDING)
        must(way->link.client, submitted);
    while (dueq_wait(way->link.client, -1) == DUEQ_INTERRUPTED)
        ;
    dueq_status status = dueq_take(way->link.client, &result);
    must(way->link.client, status == DUEQ_EMPTY && asked == 0 ? DUEQ_OK : status);
    if (dueq_result_count(result) != asked || dueq__result_settled_count(result) != held)
        die("%zu messages reserved instead of %zu", dueq_result_count(result), asked);
    for (size_t i = 0; i < held; i++)
        if (dueq__result_settled(result, i) != DUEQ_OK)
            die("a lease was lost");
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

/* ---- Bare ---- */

#define ID_SIZE 22
#define TICKET_SIZE (ID_SIZE + 2)
#define ENVELOPE_SIZE (BODY_SIZE + 4)

struct by_hand {
    struct shape shape;
    redisContext *bare;
    char *tickets; /* TICKET_SIZE bytes each */
    char stop[24]; /* the end of every lease */
    char count[24];
    const char **words;
    size_t *sizes;
    size_t used;
};

static void word(struct by_hand *way, const char *data, size_t size) {
    way->words[way->used] = data;
    way->sizes[way->used++] = size;
}

static void begin(struct by_hand *way, const char *verb, const char *key) {
    way->used = 0;
    word(way, verb, strlen(verb));
    word(way, key, strlen(key));
}

static void append(struct by_hand *way) {
    if (redisAppendCommandArgv(way->bare, (int)way->used, way->words, way->sizes) != REDIS_OK)
        die("%s", way->bare->errstr);
}

/* The ticket of a message of a call: before its delivery, or of its delivery. */
static char *ticket_of(struct by_hand *way, size_t call, size_t i, char attempt) {
    char *ticket = way->tickets + (call * way->shape.batch + i) * TICKET_SIZE;
    ticket[0] = attempt;
    return ticket;
}

static void each_ticket(struct by_hand *way, size_t call, char attempt) {
    for (size_t i = 0; i < way->shape.batch; i++)
        word(way, ticket_of(way, call, i, attempt), TICKET_SIZE);
}

static void each_id(struct by_hand *way, size_t call) {
    for (size_t i = 0; i < way->shape.batch; i++)
        word(way, ticket_of(way, call, i, '0') + 2, ID_SIZE);
}

static void expect_number(struct by_hand *way) {
    redisReply *reply = bare_reply(way->bare);
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer == 0)
        die("a bare command changed nothing");
    freeReplyObject(reply);
}

static void expect_list(struct by_hand *way) {
    redisReply *reply = bare_reply(way->bare);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != way->shape.batch)
        die("a bare command did not find what it should");
    freeReplyObject(reply);
}

static void bare_push_call(void *opaque, size_t call) {
    static const char envelope[ENVELOPE_SIZE];
    struct by_hand *way = opaque;
    begin(way, "HSET", "bare:{bench}:msg");
    for (size_t i = 0; i < way->shape.batch; i++) {
        word(way, ticket_of(way, call, i, '0') + 2, ID_SIZE);
        word(way, envelope, sizeof envelope);
    }
    append(way);
    begin(way, "RPUSH", "bare:{bench}:ready");
    each_ticket(way, call, '0');
    append(way);
    expect_number(way);
    expect_number(way);
}

static void bare_reserve_call(void *opaque, size_t call) {
    struct by_hand *way = opaque;
    begin(way, "LPOP", "bare:{bench}:ready");
    word(way, way->count, strlen(way->count));
    append(way);
    begin(way, "ZADD", "bare:{bench}:leased");
    for (size_t i = 0; i < way->shape.batch; i++) {
        word(way, way->stop, strlen(way->stop));
        word(way, ticket_of(way, call, i, '1'), TICKET_SIZE);
    }
    append(way);
    begin(way, "HMGET", "bare:{bench}:msg");
    each_id(way, call);
    append(way);
    expect_list(way);
    expect_number(way);
    expect_list(way);
}

static void bare_ack_call(void *opaque, size_t call) {
    struct by_hand *way = opaque;
    begin(way, "ZREM", "bare:{bench}:leased");
    each_ticket(way, call, '1');
    append(way);
    begin(way, "HDEL", "bare:{bench}:msg");
    each_id(way, call);
    append(way);
    expect_number(way);
    expect_number(way);
}

static struct way open_bare(const char *socket, struct shape shape) {
    struct by_hand *way = must_allocate(1, sizeof *way);
    size_t messages = shape.batch * shape.calls;
    way->shape = shape;
    way->bare = bare_open(socket);
    way->tickets = must_allocate(messages + 1, TICKET_SIZE);
    way->words = must_allocate(2 * shape.batch + 2, sizeof *way->words);
    way->sizes = must_allocate(2 * shape.batch + 2, sizeof *way->sizes);
    snprintf(way->count, sizeof way->count, "%zu", shape.batch);
    snprintf(way->stop, sizeof way->stop, "%.0f", now_us(CLOCK_REALTIME) / 1000 + LEASE_MS);
    dueq_client *client;
    dueq_status status = dueq_open("unix:///not-connected", &client);
    must(client, status);
    for (size_t i = 0; i < messages; i++) {
        char *ticket = way->tickets + i * TICKET_SIZE;
        memcpy(ticket, "0:", 2);
        char id[ID_SIZE + 1];
        dueq_new_id(client, id);
        memcpy(ticket + 2, id, ID_SIZE);
    }
    dueq_close(client);
    return (struct way){
        {{"push", bare_push_call, 0}, {"reserve", bare_reserve_call, 0}, {"ack", bare_ack_call, 0}},
        way};
}

/* ---- All ---- */

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

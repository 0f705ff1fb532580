#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

/*
 * What each verb costs in a short and in a long queue of delayed messages. Two servers hold one
 * each, and the rounds go to them in turn. What a verb touches was pushed long before, at places
 * all over the queue, so that it is as little in the processor's caches as it would be.
 */

#define ID_SIZE 22
#define ROUNDS 11
#define CALLS_OF_1 400
#define CALLS_OF_100 20
#define AN_HOUR_MS 3600000
#define A_DAY_MS 86400000
/* The flow: messages that fall due one by one, from before the measure of promote to after it. */
#define FLOW_GAP_MS 8
#define FLOW_ROUNDS 300
#define MOST_ROUNDS 1000
/* What the measure of reserve takes, and some more. */
#define READY (ROUNDS * (CALLS_OF_1 + CALLS_OF_100 * 100) + 2 * FLOW_ROUNDS)

enum side_number { SHORT, LONG, SIDES };

struct ids {
    char (*ids)[ID_SIZE];
    size_t count, room;
};

struct side {
    struct link link;
    redisContext *control;
    clockid_t clock;
    struct watch watch;
    size_t depth;
    struct ids later, flow; /* those of the next day, in no order; those that fall due meanwhile */
    uint64_t made;          /* by the bare commands */
};

static const char body[LIMITS_BODY];
static dueq_draft drafts[DUEQ_MAX_BATCH];
static double costs[SIDES][MOST_ROUNDS];

static void add_id(struct ids *ids, dueq_bytes id) {
    if (id.size != ID_SIZE || ids->count == ids->room)
        die("an id is not as expected");
    memcpy(ids->ids[ids->count++], id.data, ID_SIZE);
}

/* Takes an id out, any one. */
static void take_id(struct ids *ids, char *id) {
    size_t place = draw((uint32_t)ids->count);
    memcpy(id, ids->ids[place], ID_SIZE);
    memcpy(ids->ids[place], ids->ids[--ids->count], ID_SIZE);
}

/* Due at any time of the next day but its first hour. */
static int64_t draw_delay_ms(void) { return AN_HOUR_MS + draw(A_DAY_MS - AN_HOUR_MS); }

static void write_draft(size_t index, int64_t delay_ms, int64_t at_ms) {
    drafts[index] = (dueq_draft)DUEQ_DRAFT;
    drafts[index].body = (dueq_bytes){body, sizeof body};
    drafts[index].delay_ms = delay_ms;
    drafts[index].at_ms = at_ms;
}

/*
 * The messages of the next day and, spread evenly among them, the flow, whose first `at_once` are
 * due from the beginning on.
 */
static void fill(struct side *side, size_t flow, size_t at_once) {
    size_t all = side->depth + flow, step = all / 10, flowing = 0;
    int64_t begin_ms = clock_ms() + 500;
    for (size_t done = 0, count; done < all; done += count) {
        count = all - done < DUEQ_MAX_BATCH ? all - done : DUEQ_MAX_BATCH;
        for (size_t i = 0; i < count; i++) {
            size_t place = done + i;
            if (place * flow / all == (place + 1) * flow / all) {
                write_draft(i, draw_delay_ms(), 0);
                continue;
            }
            size_t gaps = flowing > at_once ? flowing - at_once : 0;
            write_draft(i, 0, begin_ms + FLOW_GAP_MS * (int64_t)gaps);
            flowing++;
        }
        dueq_result *result;
        watch_begin(&side->watch);
        must(side->link.client, dueq_push(side->link.queue, drafts, count, &result));
        watch_end(&side->watch);
        for (size_t i = 0; i < count; i++)
            add_id(drafts[i].at_ms ? &side->flow : &side->later, dueq_result_id(result, i));
        dueq_result_free(result);
        if (done / step != (done + count) / step)
            show_progress("push", done + count, all);
    }
}

/*
 * Redis makes the tables of a key larger in small steps, one with each use. Goes on until that is
 * over: what is measured are the verbs, and not how far a table has come at this very number of
 * messages.
 */
static void settle(struct side *side) {
    char field[] = "none";
    const char *words[DUEQ_MAX_BATCH + 2];
    for (size_t i = 0; i < DUEQ_MAX_BATCH; i++)
        words[i + 2] = field;
    for (size_t done = 0; done < 2 * side->depth; done += DUEQ_MAX_BATCH)
        for (int i = 0; i < 2; i++) {
            words[0] = i ? "ZMSCORE" : "HMGET";
            words[1] = i ? "dueq:{depth}:delayed" : "dueq:{depth}:msg";
            redisAppendCommandArgv(side->control, DUEQ_MAX_BATCH + 2, words, NULL);
            freeReplyObject(bare_reply(side->control));
        }
}

static void open_ids(struct ids *ids, size_t room) {
    ids->room = room;
    ids->ids = must_allocate(room, ID_SIZE);
}

static void open_side(struct side *side, const char *socket, size_t depth, size_t flow,
                      size_t at_once) {
    side->link = link_open(socket, "depth");
    side->control = bare_open(socket);
    side->clock = server_clock(side->control);
    side->depth = depth;
    open_ids(&side->later, depth + 4 * ROUNDS * (CALLS_OF_1 + CALLS_OF_100 * 100));
    open_ids(&side->flow, flow);
    watch_open(&side->watch, side->control);
    fill(side, flow, at_once);
    settle(side);
    sleep_until_ms(clock_ms() + 600);
}

static int64_t count_delayed(struct side *side) {
    dueq_counts counts = DUEQ_COUNTS;
    must(side->link.client, dueq_stats(side->link.queue, &counts));
    return counts.delayed;
}

static void print_costs(const char *name, const size_t counts[SIDES]) {
    printf("\"%s\": {", name);
    print_list("short", costs[SHORT], counts[SHORT]);
    printf(", ");
    print_list("long", costs[LONG], counts[LONG]);
    printf("}, ");
}

/* One reserve: returns its cost, and in *moved how many messages it moved from delayed to ready. */
static double reserve_due(struct side *side, int64_t *moved) {
    int64_t delayed = count_delayed(side);
    double before = now_us(side->clock);
    dueq_result *result;
    must(side->link.client, dueq_reserve(side->link.queue, 1, 0, LEASE_MS, &result));
    double used = now_us(side->clock) - before;
    dueq_result_free(result);
    *moved = delayed - count_delayed(side);
    return used;
}

static void spin_ms(double duration) {
    double end = now_us(CLOCK_MONOTONIC) + duration * 1000;
    while (now_us(CLOCK_MONOTONIC) < end) {
    }
}

/*
 * First the messages that are due by now, moved by many at once: the cost of each. Then those that
 * fall due one by one: the cost of a reserve that moves one (or two or three, on a busy machine)
 * and delivers one.
 */
static void measure_promote(struct side *sides) {
    size_t counts[SIDES] = {0};
    int64_t moved;
    for (size_t i = 0; i < SIDES; i++)
        do {
            double used = reserve_due(&sides[i], &moved);
            if (moved >= 100 && counts[i] < MOST_ROUNDS)
                costs[i][counts[i]++] = used / (double)moved;
        } while (moved >= 100);
    if (counts[SHORT] < 10 || counts[LONG] < 10)
        die("too few messages have fallen due: %zu and %zu rounds", counts[SHORT], counts[LONG]);
    print_costs("promote_many", counts);

    memset(counts, 0, sizeof counts);
    for (size_t round = 0; round < FLOW_ROUNDS; round++) {
        spin_ms(FLOW_GAP_MS);
        for (size_t i = 0; i < SIDES; i++) {
            double used = reserve_due(&sides[i], &moved);
            if (moved >= 1 && moved <= 3)
                costs[i][counts[i]++] = used;
        }
    }
    if (counts[SHORT] < FLOW_ROUNDS / 4 || counts[LONG] < FLOW_ROUNDS / 4)
        die("the flow of due messages has ended too early: the machine is too slow for so many");
    print_costs("promote_1", counts);
}

/* Takes back what of the flow is not yet due, so that no other measure meets it. */
static void end_flow(struct side *side) {
    dueq_bytes ids[DUEQ_MAX_BATCH];
    for (size_t done = 0, count; done < side->flow.count; done += count) {
        count = side->flow.count - done < DUEQ_MAX_BATCH ? side->flow.count - done : DUEQ_MAX_BATCH;
        for (size_t i = 0; i < count; i++)
            ids[i] = (dueq_bytes){side->flow.ids[done + i], ID_SIZE};
        dueq_result *found;
        dueq_status status = dueq_find(side->link.queue, ids[0], &found);
        if (status == DUEQ_OK && dueq_result_message(found, 0)->state == DUEQ_DELAYED)
            (void)dueq_cancel(side->link.queue, ids, count, NULL);
        dueq_result_free(found);
    }
}

static void reserve_call(struct side *side, size_t batch) {
    dueq_result *result;
    must(side->link.client, dueq_reserve(side->link.queue, batch, 0, LEASE_MS, &result));
    if (dueq_result_count(result) != batch)
        die("%zu messages are ready instead of %zu", dueq_result_count(result), batch);
    dueq_result_free(result);
}

static void push_drafts(struct side *side, size_t count) {
    dueq_result *result;
    must(side->link.client, dueq_push(side->link.queue, drafts, count, &result));
    for (size_t i = 0; i < count; i++)
        add_id(&side->later, dueq_result_id(result, i));
    dueq_result_free(result);
}

static void push_call(struct side *side, size_t batch) {
    for (size_t i = 0; i < batch; i++)
        write_draft(i, draw_delay_ms(), 0);
    push_drafts(side, batch);
}

/* All with the same delay, so that each is due after all before it. */
static void push_in_order_call(struct side *side, size_t batch) {
    for (size_t i = 0; i < batch; i++)
        write_draft(i, A_DAY_MS + AN_HOUR_MS, 0);
    push_drafts(side, batch);
}

static void cancel_call(struct side *side, size_t batch) {
    char chosen[100][ID_SIZE];
    dueq_bytes ids[100];
    for (size_t i = 0; i < batch; i++) {
        take_id(&side->later, chosen[i]);
        ids[i] = (dueq_bytes){chosen[i], ID_SIZE};
    }
    must(side->link.client, dueq_cancel(side->link.queue, ids, batch, NULL));
}

/*
 * The same by bare commands: what the server itself costs at that depth, whatever the scripts do.
 */
static void bare_calls(struct side *side, size_t count, const char **hash, const char **set,
                       size_t hash_words, size_t set_words) {
    hash[1] = "dueq:{depth}:msg", set[1] = "dueq:{depth}:delayed";
    redisAppendCommandArgv(side->control, (int)hash_words, hash, NULL);
    redisAppendCommandArgv(side->control, (int)set_words, set, NULL);
    for (int i = 0; i < 2; i++) {
        redisReply *reply = bare_reply(side->control);
        if (reply->type != REDIS_REPLY_INTEGER || reply->integer != (long long)count)
            die("a bare command changed nothing");
        freeReplyObject(reply);
    }
}

static void bare_push_call(struct side *side, size_t batch) {
    static char ids[100][ID_SIZE + 1], scores[100][24], envelope[LIMITS_BODY + 1];
    const char *hash[202] = {"HSET"}, *set[202] = {"ZADD"};
    memset(envelope, 'x', LIMITS_BODY);
    for (size_t i = 0; i < batch; i++) {
        snprintf(ids[i], sizeof ids[i], "zz%020llu", (unsigned long long)side->made++);
        snprintf(scores[i], sizeof scores[i], "%.0f",
                 now_us(CLOCK_REALTIME) / 1000 + (double)draw_delay_ms());
        hash[2 * i + 2] = ids[i], hash[2 * i + 3] = envelope;
        set[2 * i + 2] = scores[i], set[2 * i + 3] = ids[i];
    }
    bare_calls(side, batch, hash, set, 2 * batch + 2, 2 * batch + 2);
}

static void bare_cancel_call(struct side *side, size_t batch) {
    static char ids[100][ID_SIZE + 1];
    const char *hash[102] = {"HDEL"}, *set[102] = {"ZREM"};
    for (size_t i = 0; i < batch; i++) {
        take_id(&side->later, ids[i]);
        hash[i + 2] = set[i + 2] = ids[i];
    }
    bare_calls(side, batch, hash, set, batch + 2, batch + 2);
}

struct verb {
    const char *name;
    void (*call)(struct side *, size_t batch);
};

static const struct shape {
    size_t batch, calls;
} shapes[] = {{1, CALLS_OF_1}, {100, CALLS_OF_100}};

#define MOST_VERBS 2
#define SHAPES (sizeof shapes / sizeof *shapes)

static double measure_calls(struct side *side, const struct verb *verb, const struct shape *shape) {
    double before = now_us(side->clock);
    for (size_t n = 0; n < shape->calls; n++)
        verb->call(side, shape->batch);
    return (now_us(side->clock) - before) / (double)(shape->batch * shape->calls);
}

/* Microseconds of the server's CPU a message, in calls of 1 and of 100; the verbs in turn. */
static void measure_verbs(struct side *sides, const struct verb *verbs, size_t count) {
    static double rounds[MOST_VERBS][SHAPES][SIDES][ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t shape = 0; shape < SHAPES; shape++)
            for (size_t verb = 0; verb < count; verb++)
                for (size_t i = 0; i < SIDES; i++) {
                    size_t side = round % 2 ? i : SIDES - 1 - i;
                    rounds[verb][shape][side][round] =
                        measure_calls(&sides[side], &verbs[verb], &shapes[shape]);
                }
    for (size_t verb = 0; verb < count; verb++)
        for (size_t shape = 0; shape < SHAPES; shape++) {
            char name[64];
            snprintf(name, sizeof name, "%s_%zu", verbs[verb].name, shapes[shape].batch);
            for (size_t side = 0; side < SIDES; side++)
                memcpy(costs[side], rounds[verb][shape][side], sizeof rounds[verb][shape][side]);
            print_costs(name, (const size_t[]){ROUNDS, ROUNDS});
            show_progress(name, ROUNDS, ROUNDS);
        }
}

void measure_depth(const char *short_socket, const char *long_socket, size_t shallow, size_t deep) {
    static struct side sides[SIDES];
    /* The flow of the long queue lasts until it is full; 40 us a message are plenty. */
    size_t later = FLOW_ROUNDS * 4 + 5000, flow = deep * 40 / 1000 / FLOW_GAP_MS;
    open_side(&sides[LONG], long_socket, deep, READY + later + flow, READY);
    open_side(&sides[SHORT], short_socket, shallow, READY + later, READY);

    printf("{");
    show_progress("promote", FLOW_ROUNDS, FLOW_ROUNDS);
    measure_promote(sides);
    for (size_t i = 0; i < SIDES; i++)
        end_flow(&sides[i]);
    measure_verbs(sides, (const struct verb[]){{"reserve", reserve_call}}, 1);
    measure_verbs(sides, (const struct verb[]){{"cancel", cancel_call}, {"push", push_call}}, 2);
    printf("\"max_batch\": %d, \"depths\": [%lld, %lld]", DUEQ_MAX_BATCH,
           (long long)count_delayed(&sides[SHORT]), (long long)count_delayed(&sides[LONG]));
    printf(", ");
    measure_verbs(sides, (const struct verb[]){{"push_in_order", push_in_order_call}}, 1);
    measure_verbs(
        sides,
        (const struct verb[]){{"bare_cancel", bare_cancel_call}, {"bare_push", bare_push_call}}, 2);
    watch_print(&sides[LONG].watch, "filling");
    printf(", ");
    watch_open(&sides[LONG].watch, sides[LONG].control);
    measure_scripts(&sides[LONG].watch, &sides[LONG].link);
    printf(", ");
    watch_print(&sides[LONG].watch, "largest");
    printf("}\n");
    for (size_t i = 0; i < SIDES; i++) {
        link_close(&sides[i].link);
        redisFree(sides[i].control);
        free(sides[i].later.ids);
        free(sides[i].flow.ids);
    }
}

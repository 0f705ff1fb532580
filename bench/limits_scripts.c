#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

/*
 * How long one script holds the server: the largest call of each verb, several times, in a queue
 * that is long already. Most of the messages have an id of their own, a lease of their own and an
 * error, and so take the scripts' longer ways.
 */

#define REPEATS 9
#define MOST DUEQ_MAX_BATCH
#define MOVED 200 /* more than one script moves */
#define OTHER "other"

struct load {
    struct watch *watch;
    struct link *link;
    dueq_queue *other;
    char ids[MOST][32];
    dueq_bytes id_list[MOST];
    dueq_draft drafts[MOST];
    dueq_result *reserved;
    dueq_bytes tickets[MOST];
    char error[DUEQ_MAX_ERROR];
    unsigned long made;
};

/* Drafts of `count` messages of new ids, due after a delay drawn between the two. */
static void draft(struct load *load, int64_t delay_ms, int64_t until_ms) {
    static const char body[LIMITS_BODY];
    for (size_t i = 0; i < MOST; i++) {
        int size = snprintf(load->ids[i], sizeof load->ids[i], "order-%lu", load->made++);
        load->id_list[i] = (dueq_bytes){load->ids[i], (size_t)size};
        load->drafts[i] = (dueq_draft)DUEQ_DRAFT;
        load->drafts[i].id = load->id_list[i];
        load->drafts[i].body = (dueq_bytes){body, sizeof body};
        load->drafts[i].lease_ms = 60000;
        load->drafts[i].delay_ms =
            until_ms > delay_ms ? delay_ms + draw((uint32_t)(until_ms - delay_ms)) : delay_ms;
    }
}

static void push(struct load *load, size_t count) {
    must(load->link->client, dueq_push(load->link->queue, load->drafts, count, NULL));
}

/* Takes up to MOST messages; lease_ms 0: their own. */
static size_t reserve(struct load *load, int64_t lease_ms) {
    dueq_result_free(load->reserved);
    load->reserved = NULL;
    dueq_status status = dueq_reserve(load->link->queue, MOST, 0, lease_ms, &load->reserved);
    if (status != DUEQ_EMPTY)
        must(load->link->client, status);
    size_t count = dueq_result_count(load->reserved);
    for (size_t i = 0; i < count; i++)
        load->tickets[i] = dueq_result_message(load->reserved, i)->ticket;
    return count;
}

static void ack(struct load *load, size_t count) {
    must(load->link->client, dueq_ack(load->link->queue, load->tickets, count, NULL));
}

static void bury(struct load *load, size_t count) {
    for (size_t i = 0; i < count; i++)
        must(load->link->client, dueq_bury(load->link->queue, load->tickets[i],
                                           (dueq_bytes){load->error, sizeof load->error}));
}

static dueq_status purge_queue(struct load *load, dueq_queue *queue, dueq_state state) {
    dueq_status status = dueq_purge(queue, state, MOST, NULL);
    if (status != DUEQ_EMPTY)
        must(load->link->client, status);
    return status;
}

static dueq_status purge(struct load *load, dueq_state state) {
    return purge_queue(load, load->link->queue, state);
}

/* What is set up before, the call itself, and what is cleared away after */

static void ready_own(struct load *load) {
    draft(load, 0, 0);
    push(load, MOST);
}

static void leased_own(struct load *load) {
    ready_own(load);
    if (reserve(load, 600000) != MOST)
        die("not all that were pushed are ready");
}

static void dead_own(struct load *load) {
    leased_own(load);
    bury(load, MOST);
}

static void draft_now(struct load *load) { draft(load, 0, 0); }

static void draft_made(struct load *load) {
    draft(load, 0, 0);
    for (size_t i = 0; i < MOST; i++) {
        load->drafts[i].id.size = 0;
        load->drafts[i].lease_ms = 0;
    }
}

static void draft_later(struct load *load) { draft(load, 3600000, 86400000); }

static void delayed_own(struct load *load) {
    draft_later(load);
    push(load, MOST);
}

/* As many as one reserve moves: by their time, and by the end of their lease. */
static void due_and_ended(struct load *load) {
    for (size_t done = 0; done < MOVED; done += MOST) {
        ready_own(load);
        if (reserve(load, 50) != MOST)
            die("not all that were pushed are ready");
    }
    for (size_t done = 0; done < MOVED; done += MOST) {
        draft(load, 1, 1);
        push(load, MOST);
    }
    sleep_until_ms(clock_ms() + 60);
}

/* All have an existing message of their id. */
static void existing(struct load *load) {
    draft(load, 3600000, 86400000);
    push(load, MOST);
    for (size_t i = 0; i < MOST; i++)
        load->drafts[i].replace = DUEQ_REPLACE;
}

static void draft_policies(struct load *load) {
    draft(load, 3600000, 86400000);
    for (size_t i = 0; i < MOST; i++) {
        load->drafts[i].priority = i % 2 ? DUEQ_HIGH : DUEQ_LOW;
        load->drafts[i].ttl_ms = 172800000;
        load->drafts[i].unique_ms = 1;
        load->drafts[i].backoff =
            (dueq_backoff){DUEQ_BACKOFF_EXPONENTIAL, DUEQ_JITTER_FULL, 1000, 60000, NULL, 0};
    }
}

/* Reserved and then ended by their leases: all of one reserve are at their crash limit. */
static void crashed(struct load *load) {
    draft(load, 0, 0);
    for (size_t i = 0; i < MOST; i++) {
        load->drafts[i].max_crashes = 1;
        load->drafts[i].dead_letter = (dueq_bytes){OTHER, strlen(OTHER)};
    }
    push(load, MOST);
    if (reserve(load, 1) != MOST)
        die("not all that were pushed are ready");
    sleep_until_ms(clock_ms() + 5);
}

static void one_and_drafts(struct load *load) {
    leased_own(load);
    draft(load, 3600000, 86400000);
}

static void push_all(struct load *load) { push(load, MOST); }
static void reserve_all(struct load *load) { (void)reserve(load, 0); }
static void ack_all(struct load *load) { ack(load, MOST); }
static void bury_one(struct load *load) { bury(load, 1); }

static void cancel_all(struct load *load) {
    must(load->link->client, dueq_cancel(load->link->queue, load->id_list, MOST, NULL));
}

static void kick_all(struct load *load) {
    must(load->link->client, dueq_kick(load->link->queue, load->id_list, MOST, NULL));
}

static void purge_ready(struct load *load) { (void)purge(load, DUEQ_READY); }
static void purge_delayed(struct load *load) { (void)purge(load, DUEQ_DELAYED); }
static void purge_leased(struct load *load) { (void)purge(load, DUEQ_LEASED); }
static void purge_dead(struct load *load) { (void)purge(load, DUEQ_DEAD); }

static void kick_by_error(struct load *load) {
    const dueq_filter filter = {.struct_size = sizeof(dueq_filter),
                                .error = {load->error, 100},
                                .since_ms = 1,
                                .until_ms = DUEQ_MAX_TIME_MS};
    must(load->link->client,
         dueq_kick_all(load->link->queue, &filter, (dueq_bytes){NULL, 0}, MOST, NULL));
}

static void peek(struct load *load, dueq_state state) {
    dueq_result *result;
    must(load->link->client,
         dueq_peek(load->link->queue, state, (dueq_bytes){NULL, 0}, MOST, &result));
    dueq_result_free(result);
}

static void peek_ready(struct load *load) { peek(load, DUEQ_READY); }
static void peek_delayed(struct load *load) { peek(load, DUEQ_DELAYED); }
static void peek_leased(struct load *load) { peek(load, DUEQ_LEASED); }
static void peek_dead(struct load *load) { peek(load, DUEQ_DEAD); }

static void ack_push_all(struct load *load) {
    must(load->link->client,
         dueq_ack_push(load->link->queue, load->tickets[0], load->other, load->drafts, MOST, NULL));
}

static void release_one(struct load *load) {
    must(load->link->client, dueq_release(load->link->queue, load->tickets, 1, 0, NULL));
}

static void rates(struct load *load) {
    dueq_result *result;
    must(load->link->client, dueq_rates(load->link->queue, DUEQ_MAX_RATES, 0, &result));
    dueq_result_free(result);
}

static void lock(struct load *load) {
    dueq_result *result;
    const dueq_bytes name = {"door", 4};
    must(load->link->client, dueq_lock(load->link->queue, name, 60000, 0, &result));
    must(load->link->client, dueq_unlock(load->link->queue, name, dueq_result_id(result, 0)));
    dueq_result_free(result);
}

static void stats(struct load *load) {
    dueq_counts counts = DUEQ_COUNTS;
    must(load->link->client, dueq_stats(load->link->queue, &counts));
}

static void retry_one(struct load *load) {
    must(load->link->client, dueq_retry(load->link->queue, load->tickets[0], 7200000,
                                        (dueq_bytes){load->error, sizeof load->error}));
}

static void reschedule_one(struct load *load) {
    must(load->link->client, dueq_reschedule(load->link->queue, load->id_list[0], 7200000, 0));
}

static void nothing(struct load *load) { (void)load; }

/* Leaves nothing but the delayed messages of the queue itself. */
static void clear(struct load *load) {
    static const dueq_state states[] = {DUEQ_LEASED, DUEQ_READY, DUEQ_DEAD};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        while (purge(load, states[i]) == DUEQ_OK) {
        }
    static const dueq_state others[] = {DUEQ_DELAYED, DUEQ_LEASED, DUEQ_READY, DUEQ_DEAD};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        while (purge_queue(load, load->other, others[i]) == DUEQ_OK) {
        }
}

static const struct script {
    const char *name;
    void (*prepare)(struct load *);
    void (*call)(struct load *);
} scripts[] = {
    {"push", draft_made, push_all},
    {"push own ids", draft_now, push_all},
    {"push delayed", draft_later, push_all},
    {"push with policies", draft_policies, push_all},
    {"push in their place", existing, push_all},
    {"reserve", ready_own, reserve_all},
    {"reserve crashed", crashed, reserve_all},
    {"reserve due and ended", due_and_ended, reserve_all},
    {"ack", leased_own, ack_all},
    {"ack and push", one_and_drafts, ack_push_all},
    {"cancel delayed", delayed_own, cancel_all},
    {"cancel leased", leased_own, cancel_all},
    {"cancel dead", dead_own, cancel_all},
    {"bury", leased_own, bury_one},
    {"retry", leased_own, retry_one},
    {"release", leased_own, release_one},
    {"kick", dead_own, kick_all},
    {"kick_all", dead_own, kick_by_error},
    {"reschedule", delayed_own, reschedule_one},
    {"purge ready", ready_own, purge_ready},
    {"purge delayed", nothing, purge_delayed},
    {"purge leased", leased_own, purge_leased},
    {"purge dead", dead_own, purge_dead},
    {"peek ready", ready_own, peek_ready},
    {"peek delayed", nothing, peek_delayed},
    {"peek leased", leased_own, peek_leased},
    {"peek dead", dead_own, peek_dead},
    {"stats", nothing, stats},
    {"rates", nothing, rates},
    {"lock", nothing, lock},
};

void measure_scripts(struct watch *watch, struct link *link) {
    struct load *load = must_allocate(1, sizeof *load);
    load->watch = watch;
    load->link = link;
    must(link->client, dueq_queue_open(link->client, OTHER, strlen(OTHER), &load->other));
    memset(load->error, 'e', sizeof load->error);
    clear(load);
    printf("\"scripts\": {");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        double took_ms[REPEATS];
        for (size_t repeat = 0; repeat < REPEATS; repeat++) {
            scripts[i].prepare(load);
            watch_begin(watch);
            scripts[i].call(load);
            took_ms[repeat] = watch_end(watch);
            clear(load);
        }
        printf("%s", i ? ", " : "");
        print_list(scripts[i].name, took_ms, REPEATS);
        show_progress(scripts[i].name, REPEATS, REPEATS);
    }
    printf("}");
    dueq_result_free(load->reserved);
    dueq_queue_close(load->other);
    free(load);
}

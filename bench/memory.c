#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define BATCH 100
#define AN_HOUR_MS 3600000

static double used_memory(redisContext *control) {
    redisReply *info = bare_command(control, "INFO memory");
    const char *line = strstr(info->str, "used_memory:");
    if (!line)
        die("INFO memory has no used_memory");
    double used = atof(line + strlen("used_memory:"));
    freeReplyObject(info);
    return used;
}

/*
 * Once the server has freed the connection that filled it, and finished what it does in background.
 */
static double settled_memory(redisContext *control) {
    double before, used = used_memory(control);
    int rounds = 0;
    do {
        struct timespec pause = {0, 250000000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        before = used;
        used = used_memory(control);
    } while ((used > before + 4096 || used < before - 4096) && rounds++ < 20);
    return used;
}

/*
 * What is pushed. Of each hundred bodies the first has body_size bytes, and each next one has
 * `step` more. group_size: how many messages a group has; 0: they have no group.
 */
struct load {
    size_t messages, body_size, step, group_size;
    int64_t delay_ms;
    bool lease;
};

static void fill(const char *socket, const struct load *load) {
    size_t messages = load->messages;
    char *body = must_allocate(load->body_size + load->step * BATCH, 1);
    struct link link = link_open(socket, "memory");
    dueq_draft drafts[BATCH];
    char names[BATCH][17];
    for (size_t i = 0; i < BATCH; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = (dueq_bytes){body, load->body_size + load->step * i};
        drafts[i].delay_ms = load->delay_ms;
    }
    for (size_t done = 0; done < messages; done += BATCH) {
        for (size_t i = 0; load->group_size && i < BATCH; i++) {
            snprintf(names[i], sizeof names[i], "customer-%07zu",
                     (done + i) / load->group_size % 10000000);
            drafts[i].group = (dueq_bytes){names[i], strlen(names[i])};
        }
        must(link.client, dueq_push(link.queue, drafts, BATCH, NULL));
    }
    for (size_t done = 0; load->lease && done < messages; done += BATCH) {
        dueq_result *result;
        must(link.client, dueq_reserve(link.queue, BATCH, 0, LEASE_MS, &result));
        dueq_result_free(result);
    }
    dueq_counts counts = DUEQ_COUNTS;
    must(link.client, dueq_stats(link.queue, &counts));
    int64_t found = load->lease ? counts.leased : load->delay_ms ? counts.delayed : counts.ready;
    if (found != (int64_t)messages)
        die("the queue has %lld messages in that state instead of %zu", (long long)found, messages);
    link_close(&link);
    free(body);
}

static void print_bytes(const char *socket, redisContext *control, const char *name,
                        const struct load *load) {
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    double empty = settled_memory(control);
    fill(socket, load);
    double body = (double)load->body_size + (double)load->step * (BATCH - 1) / 2;
    printf(", \"%s\": %.2f", name,
           (settled_memory(control) - empty) / (double)load->messages - body);
}

void measure_memory(const char *socket, size_t messages, size_t body_size) {
    messages = (messages + BATCH - 1) / BATCH * BATCH;
    redisContext *control = bare_open(socket);
    struct load load = {.messages = messages, .body_size = body_size};
    fill(socket, &(struct load){.messages = BATCH, .body_size = body_size, .lease = true});
    printf("{\"messages\": %zu, \"body\": %zu", messages, body_size);
    print_bytes(socket, control, "ready", &load);
    load.delay_ms = AN_HOUR_MS;
    print_bytes(socket, control, "delayed", &load);
    load.delay_ms = 0;
    load.lease = true;
    print_bytes(socket, control, "leased", &load);
    printf("}\n");
    redisFree(control);
}

/*
 * Bodies of 150 to 249 bytes: an allocator has room in steps, and the group's name in an envelope
 * would cost all of a step, or nothing, where all bodies have one size.
 */
void measure_group_memory(const char *socket, size_t messages) {
    messages = (messages + BATCH - 1) / BATCH * BATCH;
    redisContext *control = bare_open(socket);
    static const char *const names[] = {"none", "one", "tens", "ones"};
    const size_t sizes[] = {0, messages, 10, 1};
    struct load load = {.messages = messages, .body_size = 150, .step = 1};
    fill(socket, &(struct load){.messages = BATCH, .body_size = 150, .lease = true});
    printf("{\"messages\": %zu", messages);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        char name[32];
        bool is_delayed = i % 2;
        load.group_size = sizes[i / 2];
        load.delay_ms = is_delayed ? AN_HOUR_MS : 0;
        snprintf(name, sizeof name, "%s_%s", is_delayed ? "delayed" : "ready", names[i / 2]);
        print_bytes(socket, control, name, &load);
    }
    printf("}\n");
    redisFree(control);
}

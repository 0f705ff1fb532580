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

static void fill(const char *socket, size_t messages, size_t body_size, int64_t delay_ms,
                 bool lease) {
    char *body = must_allocate(body_size, 1);
    struct link link = link_open(socket, "memory");
    dueq_draft drafts[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = (dueq_bytes){body, body_size};
        drafts[i].delay_ms = delay_ms;
    }
    for (size_t done = 0; done < messages; done += BATCH)
        must(link.client, dueq_push(link.queue, drafts, BATCH, NULL));
    for (size_t done = 0; lease && done < messages; done += BATCH) {
        dueq_result *result;
        must(link.client, dueq_reserve(link.queue, BATCH, 0, LEASE_MS, &result));
        dueq_result_free(result);
    }
    dueq_counts counts = DUEQ_COUNTS;
    must(link.client, dueq_stats(link.queue, &counts));
    int64_t found = lease ? counts.leased : delay_ms ? counts.delayed : counts.ready;
    if (found != (int64_t)messages)
        die("the queue has %lld messages in that state instead of %zu", (long long)found, messages);
    link_close(&link);
    free(body);
}

void measure_memory(const char *socket, size_t messages, size_t body_size) {
    messages = (messages + BATCH - 1) / BATCH * BATCH;
    redisContext *control = bare_open(socket);
    static const struct {
        const char *name;
        int64_t delay_ms;
        bool lease;
    } states[] = {{"ready", 0, false}, {"delayed", AN_HOUR_MS, false}, {"leased", 0, true}};
    fill(socket, BATCH, body_size, 0, true);
    printf("{\"messages\": %zu, \"body\": %zu", messages, body_size);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
        double empty = settled_memory(control);
        fill(socket, messages, body_size, states[i].delay_ms, states[i].lease);
        printf(", \"%s\": %.2f", states[i].name,
               (settled_memory(control) - empty) / (double)messages - (double)body_size);
    }
    printf("}\n");
    redisFree(control);
}

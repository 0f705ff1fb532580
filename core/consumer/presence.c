#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/* The text that a consumer registers with: core/verbs/workers.c reads it. */

/* The text does not list a message that is leased for less: most are settled soon. */
#define LEAST_LEASED_MS 1000

/* Writes the start of a text in one line; "?" for an empty text. */
static void put_name(char out[DUEQ__PRESENCE_NAME], const char *text) {
    dueq_escape(out, DUEQ__PRESENCE_NAME, *text ? text : "?");
}

void dueq__presence_init(struct dueq__presence *presence, const dueq_consumer_options *options) {
    char names[3][DUEQ__PRESENCE_NAME];
    dueq__host_name(names[0], sizeof names[0]);
    put_name(names[1], options->program ? options->program : "c");
    put_name(names[2], DUEQ_VERSION);
    snprintf(presence->names, sizeof presence->names, "%s\n%s\n%s\n", names[0], names[1], names[2]);
    presence->slots = options->slots ? options->slots : options->concurrency;
    presence->opened_ms = dueq__monotonic_ms();
    bool fits = options->tasks.size && options->tasks.size <= DUEQ_MAX_WORKER_TASKS;
    /* Without memory the text does not say them. */
    presence->tasks = fits ? malloc(options->tasks.size) : NULL;
    presence->tasks_size = presence->tasks ? options->tasks.size : 0;
    if (presence->tasks)
        memcpy(presence->tasks, options->tasks.data, options->tasks.size);
}

size_t dueq__presence_write(const struct dueq__presence *presence, struct dueq__leases *leases,
                            const size_t *same, size_t queue, char out[DUEQ__PRESENCE_ROOM],
                            bool *has_leased) {
    char list[DUEQ__PRESENCE_LEASES];
    size_t leased = 0, running = 0, size = 0, count = 0;
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        const struct dueq__lease *lease = leases->items[i];
        int64_t age = now - lease->since_ms;
        if (lease->removed || lease->acked_ms || lease->in_flight || now >= lease->end_ms ||
            (same && same[lease->queue] != queue))
            continue;
        leased++;
        running += lease->running;
        if (age < LEAST_LEASED_MS || count == DUEQ_MAX_WORKER_LEASES ||
            sizeof list - size < lease->ticket.size + 40)
            continue;
        size += (size_t)sprintf(list + size, "%lld %d %zu %.*s\n", (long long)age, lease->running,
                                same ? 0 : lease->queue + 1, (int)lease->ticket.size,
                                (const char *)lease->ticket.data);
        count++;
    }
    pthread_mutex_unlock(&leases->lock);
    int head = snprintf(out, DUEQ__PRESENCE_ROOM, "%ld %zu %lld %zu %zu%s\n%s", (long)getpid(),
                        presence->slots, (long long)(now - presence->opened_ms), leased, running,
                        leases->winds_down ? " 1" : "", presence->names);
    *has_leased = *has_leased || leased;
    memcpy(out + head, list, size);
    size += (size_t)head;
    if (presence->tasks) {
        out[size++] = '\n';
        memcpy(out + size, presence->tasks, presence->tasks_size);
        size += presence->tasks_size;
        out[size++] = '\n';
    }
    return size;
}

#include <stdlib.h>

#include "loop.h"

/* What requests brought, and how far it is delivered. */

struct dealt {
    struct dealt *after;
    dueq_result *result;
    size_t queue, next;
    struct dueq__lease *lease[]; /* of each message */
};

struct dueq__prefetch {
    struct dealt *first; /* that of the message delivered last */
    size_t size;
};

struct dueq__prefetch *dueq__prefetch_new(void) { return calloc(1, sizeof(struct dueq__prefetch)); }

static void drop_first(struct dueq__prefetch *prefetched) {
    struct dealt *dealt = prefetched->first;
    prefetched->first = dealt->after;
    dueq_result_free(dealt->result);
    free(dealt);
}

void dueq__prefetch_clear(struct dueq__prefetch *prefetched) {
    while (prefetched->first)
        drop_first(prefetched);
    prefetched->size = 0;
}

size_t dueq__prefetch_size(const struct dueq__prefetch *prefetched) { return prefetched->size; }

size_t dueq__prefetch_queue(const struct dueq__prefetch *prefetched) {
    return prefetched->first->queue;
}

static bool is_over(const struct dealt *dealt) {
    return dealt->next == dueq_result_count(dealt->result);
}

bool dueq__prefetch_take(struct dueq__prefetch *prefetched, struct dueq__leases *leases,
                         dueq_result *result, int64_t asked_ms, int64_t max_run_ms) {
    size_t count = dueq_result_count(result), lease = 0;
    struct dealt **last = &prefetched->first, *dealt;
    int64_t stop_ms = dueq__monotonic_ms() + max_run_ms;
    dealt = malloc(sizeof *dealt + count * sizeof dealt->lease[0]);
    if (dealt)
        *dealt = (struct dealt){.result = result, .queue = dueq_result_queue(result)};
    for (; dealt && lease < count; lease++) {
        const dueq_message *message = dueq_result_message(result, lease);
        if (!dueq__leases_add(leases, dealt->queue, message->ticket, asked_ms,
                              message->time_ms - message->now_ms, stop_ms, &dealt->lease[lease]))
            break;
    }
    if (!dealt || lease < count) {
        /* Those that are not held come back when their leases end. */
        for (size_t i = 0; i < lease; i++) {
            dueq__leases_forget(leases, dealt->lease[i]->ticket);
            dueq__leases_drop(leases, dealt->lease[i]);
        }
        free(dealt);
        dueq_result_free(result);
        return false;
    }
    while (*last)
        last = &(*last)->after;
    *last = dealt;
    prefetched->size += count;
    return true;
}

size_t dueq__prefetch_take_unsure(const struct dueq__prefetch *prefetched,
                                  struct dueq__leases *leases,
                                  struct dueq__lease *taken[DUEQ_MAX_BATCH]) {
    const struct dealt *dealt = prefetched->first;
    size_t left = dueq_result_count(dealt->result) - dealt->next;
    return dueq__leases_take_unsure(leases, dealt->lease + dealt->next, left, taken);
}

const dueq_message *dueq__prefetch_next(struct dueq__prefetch *prefetched,
                                        struct dueq__leases *leases, int64_t max_run_ms) {
    struct dealt *dealt = prefetched->first;
    size_t at = dealt->next++;
    prefetched->size--;
    if (!dueq__leases_deliver(leases, dealt->lease[at], max_run_ms))
        return NULL;
    return dueq_result_message(dealt->result, at);
}

bool dueq__prefetch_has_next(struct dueq__prefetch *prefetched, struct dueq__leases *leases) {
    while (prefetched->size) {
        const struct dealt *dealt = prefetched->first;
        if (is_over(dealt))
            drop_first(prefetched);
        else if (dueq__leases_alive(leases, dealt->lease[dealt->next]))
            return true;
        else
            dueq__prefetch_next(prefetched, leases, 0); /* it is lost */
    }
    return false;
}

size_t dueq__prefetch_rest(struct dueq__prefetch *prefetched, dueq_bytes tickets[DUEQ_MAX_BATCH]) {
    size_t count = 0;
    while (prefetched->first && is_over(prefetched->first))
        drop_first(prefetched);
    const struct dealt *dealt = prefetched->first;
    for (size_t i = dealt ? dealt->next : 0; dealt && i < dueq_result_count(dealt->result); i++)
        tickets[count++] = dealt->lease[i]->ticket;
    return count;
}

void dueq__prefetch_drop_rest(struct dueq__prefetch *prefetched, struct dueq__leases *leases) {
    struct dealt *dealt = prefetched->first;
    for (; !is_over(dealt); dealt->next++) {
        struct dueq__lease *lease = dealt->lease[dealt->next];
        dueq__leases_forget(leases, lease->ticket);
        dueq__leases_drop(leases, lease);
        prefetched->size--;
    }
    drop_first(prefetched);
}

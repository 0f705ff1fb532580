#include <stdlib.h>

#include "loop.h"

/* What requests brought, and how far it is handed out. */

struct dealt {
    struct dealt *after;
    dueq_result *result;
    size_t queue, next;
    struct dueq__held *held[]; /* of each message */
};

struct dueq__hand {
    struct dealt *first; /* that of the message handed out last */
    size_t size;
};

struct dueq__hand *dueq__hand_new(void) { return calloc(1, sizeof(struct dueq__hand)); }

static void drop_first(struct dueq__hand *hand) {
    struct dealt *dealt = hand->first;
    hand->first = dealt->after;
    dueq_result_free(dealt->result);
    free(dealt);
}

void dueq__hand_clear(struct dueq__hand *hand) {
    while (hand->first)
        drop_first(hand);
    hand->size = 0;
}

size_t dueq__hand_size(const struct dueq__hand *hand) { return hand->size; }

size_t dueq__hand_queue(const struct dueq__hand *hand) { return hand->first->queue; }

static bool is_over(const struct dealt *dealt) {
    return dealt->next == dueq_result_count(dealt->result);
}

bool dueq__hand_take(struct dueq__hand *hand, struct dueq__hold *hold, dueq_result *result,
                     int64_t asked_ms, int64_t max_run_ms) {
    size_t count = dueq_result_count(result), held = 0;
    struct dealt **last = &hand->first, *dealt;
    int64_t stop_ms = dueq__monotonic_ms() + max_run_ms;
    dealt = malloc(sizeof *dealt + count * sizeof dealt->held[0]);
    if (dealt)
        *dealt = (struct dealt){.result = result, .queue = dueq_result_queue(result)};
    for (; dealt && held < count; held++) {
        const dueq_message *message = dueq_result_message(result, held);
        if (!dueq__hold_add(hold, dealt->queue, message->ticket, asked_ms,
                            message->time_ms - message->now_ms, stop_ms, &dealt->held[held]))
            break;
    }
    if (!dealt || held < count) {
        /* Those that are not held come back when their leases end. */
        for (size_t i = 0; i < held; i++) {
            dueq__hold_forget(hold, dealt->held[i]->ticket);
            dueq__hold_drop(hold, dealt->held[i]);
        }
        free(dealt);
        dueq_result_free(result);
        return false;
    }
    while (*last)
        last = &(*last)->after;
    *last = dealt;
    hand->size += count;
    return true;
}

size_t dueq__hand_take_unsure(const struct dueq__hand *hand, struct dueq__hold *hold,
                              struct dueq__held *taken[DUEQ_MAX_BATCH]) {
    const struct dealt *dealt = hand->first;
    size_t left = dueq_result_count(dealt->result) - dealt->next;
    return dueq__hold_take_unsure(hold, dealt->held + dealt->next, left, taken);
}

const dueq_message *dueq__hand_next(struct dueq__hand *hand, struct dueq__hold *hold,
                                    int64_t max_run_ms) {
    struct dealt *dealt = hand->first;
    size_t at = dealt->next++;
    hand->size--;
    if (!dueq__hold_hand_out(hold, dealt->held[at], max_run_ms))
        return NULL;
    return dueq_result_message(dealt->result, at);
}

bool dueq__hand_has_next(struct dueq__hand *hand, struct dueq__hold *hold) {
    while (hand->size) {
        const struct dealt *dealt = hand->first;
        if (is_over(dealt))
            drop_first(hand);
        else if (dueq__hold_alive(hold, dealt->held[dealt->next]))
            return true;
        else
            dueq__hand_next(hand, hold, 0); /* it is lost */
    }
    return false;
}

size_t dueq__hand_rest(struct dueq__hand *hand, dueq_bytes tickets[DUEQ_MAX_BATCH]) {
    size_t count = 0;
    while (hand->first && is_over(hand->first))
        drop_first(hand);
    const struct dealt *dealt = hand->first;
    for (size_t i = dealt ? dealt->next : 0; dealt && i < dueq_result_count(dealt->result); i++)
        tickets[count++] = dealt->held[i]->ticket;
    return count;
}

void dueq__hand_drop_rest(struct dueq__hand *hand, struct dueq__hold *hold) {
    struct dealt *dealt = hand->first;
    for (; !is_over(dealt); dealt->next++) {
        struct dueq__held *held = dealt->held[dealt->next];
        dueq__hold_forget(hold, held->ticket);
        dueq__hold_drop(hold, held);
        hand->size--;
    }
    drop_first(hand);
}

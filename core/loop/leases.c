#include <stdlib.h>
#include <string.h>

#include "loop.h"

/* A lease is extended when a third of it is over; those that are about to be go along. */
#define BEATS 3
#define EARLY 8
/* A message's own lease may be too short to be kept. */
#define LEAST_BEAT_MS 20
/* After a failure to extend, again this soon, or a tenth of the lease if that is sooner. */
#define AGAIN_MS 500

struct dueq__hold *dueq__hold_new(void) {
    struct dueq__hold *hold = calloc(1, sizeof *hold);
    pthread_condattr_t clock;
    if (!hold)
        return NULL;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    bool made =
        !pthread_mutex_init(&hold->lock, NULL) && !pthread_cond_init(&hold->changed, &clock);
    pthread_condattr_destroy(&clock);
    if (!made) {
        free(hold);
        return NULL;
    }
    return hold;
}

void dueq__hold_free(struct dueq__hold *hold) {
    if (!hold)
        return;
    for (size_t i = 0; i < hold->count; i++)
        free(hold->items[i]);
    free(hold->items);
    pthread_cond_destroy(&hold->changed);
    pthread_mutex_destroy(&hold->lock);
    free(hold);
}

/* ---- Under the lock ---- */

/* Somebody wants the heartbeat to look at that time. */
static void want(struct dueq__hold *hold, int64_t at_ms) {
    if (at_ms >= hold->wake_ms)
        return;
    hold->wake_ms = at_ms;
    pthread_cond_signal(&hold->changed);
}

static void take_off(struct dueq__hold *hold, size_t at) {
    free(hold->items[at]);
    memmove(&hold->items[at], &hold->items[at + 1], (--hold->count - at) * sizeof *hold->items);
    hold->hint = at;
}

/* Forgets one that is settled when nobody works with it any more. */
static void sweep(struct dueq__hold *hold, struct dueq__held *held) {
    if (held->uses || !held->gone)
        return;
    for (size_t i = 0; i < hold->count; i++)
        if (hold->items[i] == held) {
            take_off(hold, i);
            return;
        }
}

static struct dueq__held *find(struct dueq__hold *hold, dueq_bytes ticket) {
    for (size_t i = 0; i < hold->count; i++) {
        size_t at = (hold->hint + i) % hold->count;
        struct dueq__held *held = hold->items[at];
        if (!held->gone && dueq__same(held->ticket, ticket)) {
            hold->hint = at + 1;
            return held;
        }
    }
    return NULL;
}

static void set_lease(struct dueq__held *held, int64_t start_ms) {
    int64_t pause = held->lease_ms / BEATS;
    held->end_ms = start_ms + held->lease_ms;
    held->known_ms = dueq__monotonic_ms();
    held->beat_ms = start_ms + (pause < LEAST_BEAT_MS ? LEAST_BEAT_MS : pause);
}

/* Messages that nobody settled, whose lease ended long ago, would gather for ever. */
static void clear_over(struct dueq__hold *hold, int64_t now_ms) {
    for (size_t i = hold->count; i-- > 0;) {
        const struct dueq__held *held = hold->items[i];
        if (!held->uses && !held->noted_ms && now_ms >= held->stop_ms &&
            now_ms >= held->end_ms + held->lease_ms)
            take_off(hold, i);
    }
}

/* ---- Each takes the lock ---- */

bool dueq__hold_add(struct dueq__hold *hold, size_t queue, dueq_bytes ticket, int64_t start_ms,
                    int64_t lease_ms, int64_t stop_ms, struct dueq__held **added) {
    struct dueq__held *held = calloc(1, sizeof *held + ticket.size);
    bool room = held != NULL;
    pthread_mutex_lock(&hold->lock);
    if (room && hold->count == hold->room)
        clear_over(hold, start_ms);
    if (room && hold->count == hold->room) {
        size_t more = hold->room ? 2 * hold->room : 16;
        struct dueq__held **wider = realloc(hold->items, more * sizeof *wider);
        room = wider != NULL;
        if (room) {
            hold->items = wider;
            hold->room = more;
        }
    }
    if (room) {
        *held = (struct dueq__held){
            .queue = queue, .lease_ms = lease_ms, .stop_ms = stop_ms, .uses = 1};
        held->ticket = (dueq_bytes){memcpy(held + 1, ticket.data, ticket.size), ticket.size};
        set_lease(held, start_ms);
        hold->items[hold->count++] = held;
        want(hold, held->beat_ms);
    }
    pthread_mutex_unlock(&hold->lock);
    if (!room)
        free(held);
    *added = room ? held : NULL;
    return room;
}

void dueq__hold_drop(struct dueq__hold *hold, struct dueq__held *held) {
    pthread_mutex_lock(&hold->lock);
    held->uses--;
    sweep(hold, held);
    pthread_mutex_unlock(&hold->lock);
}

bool dueq__hold_alive(struct dueq__hold *hold, const struct dueq__held *held) {
    pthread_mutex_lock(&hold->lock);
    bool alive = dueq__monotonic_ms() < held->end_ms;
    pthread_mutex_unlock(&hold->lock);
    return alive;
}

bool dueq__hold_hand_out(struct dueq__hold *hold, struct dueq__held *held, int64_t max_run_ms) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&hold->lock);
    bool alive = now < held->end_ms;
    if (alive)
        held->stop_ms = now + max_run_ms;
    else
        hold->lost++;
    held->gone = !alive;
    held->uses--;
    sweep(hold, held);
    pthread_mutex_unlock(&hold->lock);
    return alive;
}

void dueq__hold_note(struct dueq__hold *hold, dueq_bytes ticket) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&hold->lock);
    struct dueq__held *held = find(hold, ticket);
    if (held && !held->noted_ms && !held->sending) {
        held->noted_ms = now;
        want(hold, now + DUEQ__NOTE_MS);
    } else if (!held) {
        hold->lost++;
    }
    pthread_mutex_unlock(&hold->lock);
}

void dueq__hold_forget(struct dueq__hold *hold, dueq_bytes ticket) {
    pthread_mutex_lock(&hold->lock);
    struct dueq__held *held = find(hold, ticket);
    if (held) {
        held->gone = true;
        sweep(hold, held);
    }
    pthread_mutex_unlock(&hold->lock);
}

struct dueq__held *dueq__hold_retry(struct dueq__hold *hold, dueq_bytes ticket) {
    pthread_mutex_lock(&hold->lock);
    struct dueq__held *held = find(hold, ticket);
    if (held) {
        held->noted_ms = 0;
        held->sending++;
        held->uses++;
    } else {
        hold->lost++;
    }
    pthread_mutex_unlock(&hold->lock);
    return held;
}

static bool waits(const struct dueq__held *held) {
    return held->noted_ms && !held->gone && (!held->sending || held->again);
}

static struct dueq__held *oldest(const struct dueq__hold *hold) {
    struct dueq__held *first = NULL;
    for (size_t i = 0; i < hold->count; i++) {
        struct dueq__held *held = hold->items[i];
        if (waits(held) && (!first || held->noted_ms < first->noted_ms))
            first = held;
    }
    return first;
}

int64_t dueq__hold_oldest(struct dueq__hold *hold) {
    pthread_mutex_lock(&hold->lock);
    const struct dueq__held *first = oldest(hold);
    int64_t noted_ms = first ? first->noted_ms : DUEQ__NEVER;
    pthread_mutex_unlock(&hold->lock);
    return noted_ms;
}

size_t dueq__hold_noted_queue(struct dueq__hold *hold, int64_t until_ms) {
    pthread_mutex_lock(&hold->lock);
    const struct dueq__held *first = oldest(hold);
    size_t queue = first && first->noted_ms <= until_ms ? first->queue : SIZE_MAX;
    pthread_mutex_unlock(&hold->lock);
    return queue;
}

void dueq__hold_send_again(struct dueq__hold *hold) {
    pthread_mutex_lock(&hold->lock);
    for (size_t i = 0; i < hold->count; i++)
        hold->items[i]->again = hold->items[i]->sending > 0;
    pthread_mutex_unlock(&hold->lock);
}

size_t dueq__hold_take_noted(struct dueq__hold *hold, size_t queue, int64_t until_ms,
                             struct dueq__held **taken, size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&hold->lock);
    for (size_t i = 0; i < hold->count && count < most; i++) {
        struct dueq__held *held = hold->items[i];
        if (waits(held) && held->queue == queue && held->noted_ms <= until_ms) {
            held->sending++;
            held->again = false;
            held->uses++;
            taken[count++] = held;
        }
    }
    pthread_mutex_unlock(&hold->lock);
    return count;
}

size_t dueq__hold_take_due(struct dueq__hold *hold, int64_t now_ms, struct dueq__held **taken,
                           size_t most) {
    size_t count = 0;
    bool due = false;
    pthread_mutex_lock(&hold->lock);
    for (size_t i = 0; i < hold->count && !due; i++) {
        const struct dueq__held *held = hold->items[i];
        due = !held->gone && held->beat_ms <= now_ms && now_ms < held->stop_ms;
        if (due)
            taken[0] = hold->items[i];
    }
    for (size_t i = 0; i < hold->count && due && count < most; i++) {
        struct dueq__held *held = hold->items[i];
        bool soon = held->beat_ms <= now_ms + held->lease_ms / EARLY && now_ms < held->stop_ms;
        if (!held->gone && soon && held->queue == taken[0]->queue &&
            held->lease_ms == taken[0]->lease_ms) {
            held->uses++;
            taken[count++] = held;
        }
    }
    pthread_mutex_unlock(&hold->lock);
    return count;
}

size_t dueq__hold_take_unsure(struct dueq__hold *hold, struct dueq__held *const *list, size_t count,
                              struct dueq__held **taken) {
    size_t taken_count = 0;
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&hold->lock);
    bool unsure = list[0]->known_ms + DUEQ__SURE_MS <= now;
    for (size_t i = 0; unsure && i < count; i++) {
        if (now < list[i]->end_ms && list[i]->lease_ms == list[0]->lease_ms) {
            list[i]->uses++;
            taken[taken_count++] = list[i];
        }
    }
    pthread_mutex_unlock(&hold->lock);
    return taken_count;
}

void dueq__hold_settled(struct dueq__hold *hold, struct dueq__held *held, dueq_status status) {
    pthread_mutex_lock(&hold->lock);
    held->sending--;
    held->uses--;
    if (status >= 0) {
        held->lost = status == DUEQ_LEASE_LOST && (held->lost || !held->gone);
        held->gone = true;
    } else if (held->noted_ms) {
        held->noted_ms = dueq__monotonic_ms();
    }
    hold->lost += held->lost && !held->sending;
    sweep(hold, held);
    pthread_mutex_unlock(&hold->lock);
}

void dueq__hold_extended(struct dueq__hold *hold, struct dueq__held *held, int64_t start_ms,
                         dueq_status status) {
    int64_t pause_ms = held->lease_ms / 10 < AGAIN_MS ? held->lease_ms / 10 + 1 : AGAIN_MS;
    pthread_mutex_lock(&hold->lock);
    if (status == DUEQ_OK) {
        set_lease(held, start_ms);
    } else if (status < 0) {
        held->beat_ms = dueq__monotonic_ms() + pause_ms;
    } else {
        held->end_ms = held->stop_ms = 0;
    }
    held->uses--;
    sweep(hold, held);
    pthread_mutex_unlock(&hold->lock);
}

/* The next thing to do: to extend a lease, or to send a note that no request took along. */
static int64_t next_ms(const struct dueq__hold *hold, int64_t now_ms) {
    int64_t next = DUEQ__NEVER;
    for (size_t i = 0; i < hold->count; i++) {
        const struct dueq__held *held = hold->items[i];
        if (!held->gone && now_ms < held->stop_ms && held->beat_ms < next)
            next = held->beat_ms;
        if (waits(held) && held->noted_ms + DUEQ__NOTE_MS < next)
            next = held->noted_ms + DUEQ__NOTE_MS;
    }
    return next;
}

bool dueq__hold_wait(struct dueq__hold *hold) {
    pthread_mutex_lock(&hold->lock);
    while (!hold->stopping) {
        int64_t now = dueq__monotonic_ms();
        hold->wake_ms = next_ms(hold, now);
        if (hold->wake_ms <= now)
            break;
        struct timespec until = {(time_t)(hold->wake_ms / 1000),
                                 (long)(hold->wake_ms % 1000) * 1000000};
        if (hold->wake_ms == DUEQ__NEVER)
            pthread_cond_wait(&hold->changed, &hold->lock);
        else
            pthread_cond_timedwait(&hold->changed, &hold->lock, &until);
    }
    bool goes_on = !hold->stopping;
    pthread_mutex_unlock(&hold->lock);
    return goes_on;
}

bool dueq__hold_stopping(struct dueq__hold *hold) {
    pthread_mutex_lock(&hold->lock);
    bool stopping = hold->stopping;
    pthread_mutex_unlock(&hold->lock);
    return stopping;
}

void dueq__hold_stop(struct dueq__hold *hold) {
    pthread_mutex_lock(&hold->lock);
    hold->stopping = true;
    pthread_cond_signal(&hold->changed);
    pthread_mutex_unlock(&hold->lock);
}

size_t dueq__hold_lost(struct dueq__hold *hold) {
    pthread_mutex_lock(&hold->lock);
    size_t lost = hold->lost;
    pthread_mutex_unlock(&hold->lock);
    return lost;
}

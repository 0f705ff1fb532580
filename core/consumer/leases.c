#include <stdlib.h>
#include <string.h>

#include "consumer.h"

/* A lease is extended when a third of it is over; those that are about to be go along. */
#define BEATS 3
#define EARLY 8
/* A message's own lease may be too short to be kept. */
#define LEAST_BEAT_MS 20
/* After a failure to extend, again this soon, or a tenth of the lease if that is sooner. */
#define AGAIN_MS 500
/* How long after its lease's end a message that nobody extends is still known. */
#define KEPT_MS 3600000
/* While messages are held, the heartbeat looks this often whether its connection is lost. */
#define WATCH_MS 500
/* A call that settles a message may be answered just after an extension that found it gone: so long nobody is warned. */
#define TELL_MS 500

struct dueq__leases *dueq__leases_new(void) {
    struct dueq__leases *leases = calloc(1, sizeof *leases);
    pthread_condattr_t clock;
    if (!leases)
        return NULL;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    bool made =
        !pthread_mutex_init(&leases->lock, NULL) && !pthread_cond_init(&leases->changed, &clock);
    pthread_condattr_destroy(&clock);
    if (!made) {
        free(leases);
        return NULL;
    }
    return leases;
}

void dueq__leases_free(struct dueq__leases *leases) {
    if (!leases)
        return;
    for (size_t i = 0; i < leases->count; i++)
        free(leases->items[i]);
    free(leases->items);
    free(leases->timings);
    pthread_cond_destroy(&leases->changed);
    pthread_mutex_destroy(&leases->lock);
    free(leases);
}

/* ---- Under the lock ---- */

/* Somebody wants the heartbeat to look at that time. */
static void want(struct dueq__leases *leases, int64_t at_ms) {
    if (at_ms >= leases->wake_ms)
        return;
    leases->wake_ms = at_ms;
    pthread_cond_signal(&leases->changed);
}

static void close_open(struct dueq__leases *leases, struct dueq__lease *lease) {
    leases->open -= lease->open;
    lease->open = false;
}

/* What was measured of a queue; NULL: out of memory. */
static dueq_timings *timings_of(struct dueq__leases *leases, size_t queue) {
    if (queue >= leases->timings_count) {
        dueq_timings *wider = realloc(leases->timings, (queue + 1) * sizeof *wider);
        if (!wider)
            return NULL;
        memset(wider + leases->timings_count, 0,
               (queue + 1 - leases->timings_count) * sizeof *wider);
        leases->timings = wider;
        leases->timings_count = queue + 1;
    }
    return &leases->timings[queue];
}

/* The program has settled it. */
static void end_run(struct dueq__leases *leases, struct dueq__lease *lease) {
    dueq_timings *timings = lease->open ? timings_of(leases, lease->queue) : NULL;
    if (timings)
        dueq__timing_add(&timings->run, dueq__monotonic_ms() - lease->since_ms);
    close_open(leases, lease);
}

static void take_off(struct dueq__leases *leases, size_t at) {
    close_open(leases, leases->items[at]);
    free(leases->items[at]);
    memmove(&leases->items[at], &leases->items[at + 1],
            (--leases->count - at) * sizeof *leases->items);
    leases->hint = at;
}

/* It is counted as lost, too. */
static void lose(struct dueq__leases *leases, dueq_bytes ticket) {
    leases->lost++;
    dueq__told_lost(&leases->told, ticket);
}

/* Forgets one that is settled when nobody works with it any more. */
static void sweep(struct dueq__leases *leases, struct dueq__lease *lease) {
    if (lease->uses || !lease->gone)
        return;
    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i] == lease) {
            take_off(leases, i);
            return;
        }
}

static struct dueq__lease *find(struct dueq__leases *leases, dueq_bytes ticket) {
    for (size_t i = 0; i < leases->count; i++) {
        size_t at = (leases->hint + i) % leases->count;
        struct dueq__lease *lease = leases->items[at];
        if (!lease->gone && dueq__bytes_equal(lease->ticket, ticket)) {
            leases->hint = at + 1;
            return lease;
        }
    }
    return NULL;
}

static void set_lease(struct dueq__lease *lease, int64_t start_ms) {
    int64_t pause = lease->lease_ms / BEATS;
    lease->end_ms = start_ms + lease->lease_ms;
    lease->known_ms = dueq__monotonic_ms();
    lease->beat_ms = start_ms + (pause < LEAST_BEAT_MS ? LEAST_BEAT_MS : pause);
}

/* Messages that nobody settled, whose lease ended long ago, would gather for ever. A late ack may still count. */
static void clear_over(struct dueq__leases *leases, int64_t now_ms) {
    for (size_t i = leases->count; i-- > 0;) {
        const struct dueq__lease *lease = leases->items[i];
        if (!lease->uses && !lease->acked_ms && now_ms >= lease->stop_ms &&
            (!lease->end_ms || now_ms >= lease->end_ms + lease->lease_ms + KEPT_MS))
            take_off(leases, i);
    }
}

/* Makes room for one more; false: out of memory. */
static bool make_room(struct dueq__leases *leases, int64_t now_ms) {
    if (leases->count == leases->room)
        clear_over(leases, now_ms);
    if (leases->count < leases->room)
        return true;
    size_t more = leases->room ? 2 * leases->room : 16;
    struct dueq__lease **wider = realloc(leases->items, more * sizeof *wider);
    if (!wider)
        return false;
    leases->items = wider;
    leases->room = more;
    return true;
}

/* ---- Each takes the lock ---- */

struct dueq__lease *dueq__leases_add(struct dueq__leases *leases, size_t queue, dueq_bytes ticket,
                                     int64_t start_ms, int64_t lease_ms, int64_t stop_ms) {
    struct dueq__lease *lease = malloc(sizeof *lease + ticket.size);
    pthread_mutex_lock(&leases->lock);
    if (lease && make_room(leases, start_ms)) {
        *lease = (struct dueq__lease){.queue = queue,
                                      .lease_ms = lease_ms,
                                      .since_ms = start_ms,
                                      .stop_ms = stop_ms,
                                      .uses = 1};
        lease->ticket = (dueq_bytes){memcpy(lease + 1, ticket.data, ticket.size), ticket.size};
        set_lease(lease, start_ms);
        leases->items[leases->count++] = lease;
        want(leases, lease->beat_ms);
    } else {
        free(lease);
        lease = NULL;
    }
    pthread_mutex_unlock(&leases->lock);
    return lease;
}

void dueq__leases_discard(struct dueq__leases *leases, struct dueq__lease *lease) {
    pthread_mutex_lock(&leases->lock);
    lease->gone = true;
    lease->uses--;
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
}

bool dueq__leases_deliver(struct dueq__leases *leases, struct dueq__lease *lease,
                          int64_t max_run_ms, int64_t late_ms) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    bool alive = now < lease->end_ms;
    dueq_timings *timings = alive && late_ms >= 0 ? timings_of(leases, lease->queue) : NULL;
    if (timings)
        dueq__timing_add(&timings->late, late_ms + now - lease->since_ms);
    if (alive)
        lease->stop_ms = (lease->since_ms = now) + max_run_ms;
    else
        lose(leases, lease->ticket);
    lease->open = alive;
    leases->open += alive;
    lease->gone = !alive;
    lease->uses--;
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
    return alive;
}

void dueq__leases_ack(struct dueq__leases *leases, dueq_bytes ticket) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    struct dueq__lease *lease = find(leases, ticket);
    if (lease && !lease->acked_ms && !lease->sending) {
        end_run(leases, lease);
        lease->acked_ms = now;
        want(leases, now + DUEQ__ACK_MS);
    } else if (!lease) {
        lose(leases, ticket);
    }
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_forget(struct dueq__leases *leases, dueq_bytes ticket) {
    pthread_mutex_lock(&leases->lock);
    struct dueq__lease *lease = find(leases, ticket);
    if (lease) {
        end_run(leases, lease);
        lease->gone = true;
        sweep(leases, lease);
    }
    pthread_mutex_unlock(&leases->lock);
}

bool dueq__leases_keep_ack(struct dueq__leases *leases, dueq_bytes ticket) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    struct dueq__lease *lease = find(leases, ticket);
    bool kept = lease && lease->end_ms;
    if (kept) {
        end_run(leases, lease);
        lease->unsure = true;
        lease->acked_ms = now;
        want(leases, now + DUEQ__ACK_MS);
    }
    pthread_mutex_unlock(&leases->lock);
    return kept;
}

bool dueq__leases_has_lost(struct dueq__leases *leases, dueq_bytes ticket) {
    pthread_mutex_lock(&leases->lock);
    const struct dueq__lease *lease = find(leases, ticket);
    bool lost = !lease || !lease->end_ms;
    pthread_mutex_unlock(&leases->lock);
    return lost;
}

struct dueq__lease *dueq__leases_retry(struct dueq__leases *leases, dueq_bytes ticket) {
    pthread_mutex_lock(&leases->lock);
    struct dueq__lease *lease = find(leases, ticket);
    if (lease) {
        end_run(leases, lease);
        lease->acked_ms = 0;
        lease->sending++;
        lease->uses++;
    } else {
        lose(leases, ticket);
    }
    pthread_mutex_unlock(&leases->lock);
    return lease;
}

void dueq__leases_mark(struct dueq__leases *leases, bool *held, size_t count) {
    int64_t now = dueq__monotonic_ms();
    memset(held, 0, count * sizeof *held);
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        const struct dueq__lease *lease = leases->items[i];
        /* One that is extended is held until the server says otherwise. */
        bool is_held = lease->end_ms && (now < lease->end_ms || now < lease->stop_ms);
        if (!lease->gone && is_held && lease->queue < count)
            held[lease->queue] = true;
    }
    pthread_mutex_unlock(&leases->lock);
}

size_t dueq__leases_take_due(struct dueq__leases *leases, int64_t now_ms,
                             struct dueq__lease **taken, size_t most) {
    size_t count = 0;
    bool due = false;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count && !due; i++) {
        const struct dueq__lease *lease = leases->items[i];
        due = !lease->gone && lease->beat_ms <= now_ms && now_ms < lease->stop_ms;
        if (due)
            taken[0] = leases->items[i];
    }
    for (size_t i = 0; i < leases->count && due && count < most; i++) {
        struct dueq__lease *lease = leases->items[i];
        bool soon = lease->beat_ms <= now_ms + lease->lease_ms / EARLY && now_ms < lease->stop_ms;
        if (!lease->gone && soon && lease->queue == taken[0]->queue &&
            lease->lease_ms == taken[0]->lease_ms) {
            lease->uses++;
            taken[count++] = lease;
        }
    }
    pthread_mutex_unlock(&leases->lock);
    return count;
}

size_t dueq__leases_take_unsure(struct dueq__leases *leases, struct dueq__lease *const *list,
                                size_t count, struct dueq__lease **taken) {
    size_t taken_count = 0;
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    /* A lease that is shorter than the way to the server has always ended: it is asked about once. */
    bool ended = list[0]->end_ms <= now && list[0]->known_ms < list[0]->end_ms;
    bool unsure = list[0]->known_ms + DUEQ__SURE_MS <= now || ended;
    for (size_t i = 0; unsure && i < count; i++) {
        if (list[i] && list[i]->end_ms && list[i]->lease_ms == list[0]->lease_ms) {
            list[i]->uses++;
            taken[taken_count++] = list[i];
        }
    }
    pthread_mutex_unlock(&leases->lock);
    return taken_count;
}

size_t dueq__leases_take_open(struct dueq__leases *leases, struct dueq__lease **taken,
                              size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count && count < most; i++) {
        struct dueq__lease *lease = leases->items[i];
        if (!lease->open || (count && lease->queue != taken[0]->queue))
            continue;
        close_open(leases, lease);
        lease->sending++;
        lease->uses++;
        lease->gone = true;
        taken[count++] = lease;
    }
    pthread_mutex_unlock(&leases->lock);
    return count;
}

void dueq__leases_settled(struct dueq__leases *leases, struct dueq__lease *lease,
                          dueq_status status) {
    pthread_mutex_lock(&leases->lock);
    lease->sending--;
    lease->uses--;
    if (status >= 0) {
        lease->lost = status == DUEQ_LEASE_LOST && (lease->lost || !lease->gone);
        lease->gone = true;
    } else if (lease->acked_ms) {
        lease->acked_ms = dueq__monotonic_ms();
    }
    if (lease->lost && !lease->sending) {
        leases->lost += !lease->unsure;
        if (lease->unsure)
            dueq__told_late(&leases->told, lease->ticket);
        else if (!lease->told)
            dueq__told_lost(&leases->told, lease->ticket);
    }
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_extended(struct dueq__leases *leases, struct dueq__lease *lease, int64_t start_ms,
                           dueq_status status) {
    int64_t pause_ms = lease->lease_ms / 10 < AGAIN_MS ? lease->lease_ms / 10 + 1 : AGAIN_MS;
    pthread_mutex_lock(&leases->lock);
    if (status == DUEQ_OK) {
        set_lease(lease, start_ms);
    } else if (status < 0) {
        lease->beat_ms = dueq__monotonic_ms() + pause_ms;
    } else {
        lease->end_ms = lease->stop_ms = 0;
        lease->tell_ms = dueq__monotonic_ms() + TELL_MS;
        dueq__told_wake(&leases->told);
    }
    lease->uses--;
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
}

/* The next thing to do: to extend a lease, or to send an ack that no request took along. */
static int64_t next_ms(const struct dueq__leases *leases, int64_t now_ms) {
    int64_t next = DUEQ__NEVER;
    for (size_t i = 0; i < leases->count; i++) {
        const struct dueq__lease *lease = leases->items[i];
        if (!lease->gone && now_ms < lease->stop_ms && lease->beat_ms < next)
            next = lease->beat_ms;
        if (dueq__lease_ack_waits(lease) && lease->acked_ms + DUEQ__ACK_MS < next)
            next = lease->acked_ms + DUEQ__ACK_MS;
    }
    return next;
}

bool dueq__leases_wait(struct dueq__leases *leases, int64_t at_ms, int64_t held_ms, bool *come) {
    int64_t look_ms = dueq__monotonic_ms() + WATCH_MS;
    pthread_mutex_lock(&leases->lock);
    while (!leases->stopping) {
        int64_t now = dueq__monotonic_ms();
        int64_t next = next_ms(leases, now);
        int64_t at = leases->count && held_ms < at_ms ? held_ms : at_ms;
        leases->wake_ms = next < at ? next : at;
        *come = at <= now;
        if (leases->count && look_ms < leases->wake_ms)
            leases->wake_ms = look_ms;
        if (leases->wake_ms <= now)
            break;
        struct timespec until = {(time_t)(leases->wake_ms / 1000),
                                 (long)(leases->wake_ms % 1000) * 1000000};
        if (leases->wake_ms == DUEQ__NEVER)
            pthread_cond_wait(&leases->changed, &leases->lock);
        else
            pthread_cond_timedwait(&leases->changed, &leases->lock, &until);
    }
    bool goes_on = !leases->stopping;
    pthread_mutex_unlock(&leases->lock);
    return goes_on;
}

void dueq__leases_stop(struct dueq__leases *leases) {
    pthread_mutex_lock(&leases->lock);
    leases->stopping = true;
    pthread_cond_signal(&leases->changed);
    pthread_mutex_unlock(&leases->lock);
}

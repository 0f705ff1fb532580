#include <stdlib.h>
#include <string.h>

#include "consumer.h"

/*
 * A lease is extended when a third of it is over. Leases that are due within an eighth more are
 * extended in the same request.
 */
#define EXTENDS_PER_LEASE 3
#define EARLY_PART 8
/* Leases are extended at most this often. A message's own lease may be shorter: it then ends. */
#define LEAST_EXTEND_MS 20
/* After a failed extension the next try comes so soon, or after a tenth of the lease if sooner. */
#define RETRY_EXTEND_MS 500
/* A message that is not extended is forgotten this long after its lease has ended. */
#define FORGET_MS 3600000
/* While messages are leased, the heartbeat checks its connection this often. */
#define WATCH_MS 500
/*
 * An extension finds no lease also if another call has settled the message, and the answer of that
 * call may come just after. So the warning waits this long.
 */
#define WARN_DELAY_MS 500

struct dueq__leases *dueq__leases_new(size_t queues) {
    struct dueq__leases *leases = calloc(1, sizeof *leases);
    if (!leases)
        return NULL;
    leases->known = calloc(queues, sizeof *leases->known);
    leases->known_count = queues;
    if (!leases->known || pthread_mutex_init(&leases->lock, NULL) ||
        !dueq__cond_init(&leases->changed)) {
        free(leases->known);
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
    free(leases->known);
    pthread_cond_destroy(&leases->changed);
    pthread_mutex_destroy(&leases->lock);
    free(leases);
}

/* Under the lock */

void dueq__leases_wake_by(struct dueq__leases *leases, int64_t at_ms) {
    if (at_ms >= leases->wake_ms)
        return;
    leases->wake_ms = at_ms;
    pthread_cond_signal(&leases->changed);
}

static void clear_running(struct dueq__leases *leases, struct dueq__lease *lease) {
    leases->running -= lease->running;
    lease->running = false;
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

/* The program has settled the message. */
static void end_run(struct dueq__leases *leases, struct dueq__lease *lease) {
    dueq_timings *timings = lease->running ? timings_of(leases, lease->queue) : NULL;
    if (timings)
        dueq__timing_add(&timings->run, dueq__monotonic_ms() - lease->since_ms);
    clear_running(leases, lease);
}

static void remove_at(struct dueq__leases *leases, size_t at) {
    clear_running(leases, leases->items[at]);
    free(leases->items[at]);
    memmove(&leases->items[at], &leases->items[at + 1],
            (--leases->count - at) * sizeof *leases->items);
    leases->find_from = at;
}

/* Counts the message as lost and warns of it. */
static void lose(struct dueq__leases *leases, dueq_bytes ticket) {
    leases->lost++;
    dueq__warnings_add_lost(&leases->warnings, ticket);
}

/* Frees a lease if it is removed and has no refs. */
static void sweep(struct dueq__leases *leases, struct dueq__lease *lease) {
    if (lease->refs || !lease->removed)
        return;
    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i] == lease) {
            remove_at(leases, i);
            return;
        }
}

static struct dueq__lease *find(struct dueq__leases *leases, dueq_bytes ticket) {
    for (size_t i = 0; i < leases->count; i++) {
        size_t at = (leases->find_from + i) % leases->count;
        struct dueq__lease *lease = leases->items[at];
        if (!lease->removed && dueq__bytes_equal(lease->ticket, ticket)) {
            leases->find_from = at + 1;
            return lease;
        }
    }
    return NULL;
}

static void renew(struct dueq__lease *lease, int64_t start_ms) {
    int64_t pause = lease->lease_ms / EXTENDS_PER_LEASE;
    lease->end_ms = start_ms + lease->lease_ms;
    lease->verified_ms = dueq__monotonic_ms();
    lease->extend_ms = start_ms + (pause < LEAST_EXTEND_MS ? LEAST_EXTEND_MS : pause);
}

/*
 * Frees messages that were never settled and whose leases ended long ago. Until then a late ack may
 * still succeed.
 */
static void remove_ended(struct dueq__leases *leases, int64_t now_ms) {
    for (size_t i = leases->count; i-- > 0;) {
        const struct dueq__lease *lease = leases->items[i];
        if (!lease->refs && !lease->acked_ms && now_ms >= lease->keep_until_ms &&
            (!lease->end_ms || now_ms >= lease->end_ms + lease->lease_ms + FORGET_MS))
            remove_at(leases, i);
    }
}

/* Makes room for one more lease; false: out of memory. */
static bool make_room(struct dueq__leases *leases, int64_t now_ms) {
    if (leases->count == leases->room)
        remove_ended(leases, now_ms);
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

/* Each takes the lock */

struct dueq__lease *dueq__leases_add(struct dueq__leases *leases, size_t queue, dueq_bytes ticket,
                                     int64_t start_ms, int64_t lease_ms, int64_t keep_until_ms) {
    struct dueq__lease *lease = malloc(sizeof *lease + ticket.size);
    pthread_mutex_lock(&leases->lock);
    if (lease && make_room(leases, start_ms)) {
        *lease = (struct dueq__lease){.queue = queue,
                                      .lease_ms = lease_ms,
                                      .since_ms = start_ms,
                                      .keep_until_ms = keep_until_ms,
                                      .refs = 1};
        lease->ticket = (dueq_bytes){memcpy(lease + 1, ticket.data, ticket.size), ticket.size};
        renew(lease, start_ms);
        leases->items[leases->count++] = lease;
        dueq__leases_wake_by(leases, lease->extend_ms);
    } else {
        free(lease);
        lease = NULL;
    }
    pthread_mutex_unlock(&leases->lock);
    return lease;
}

void dueq__leases_discard(struct dueq__leases *leases, struct dueq__lease *lease) {
    pthread_mutex_lock(&leases->lock);
    lease->removed = true;
    lease->refs--;
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
        lease->keep_until_ms = (lease->since_ms = now) + max_run_ms;
    else
        lose(leases, lease->ticket);
    lease->running = alive;
    leases->running += alive;
    lease->removed = !alive;
    lease->refs--;
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
    return alive;
}

void dueq__leases_ack(struct dueq__leases *leases, dueq_bytes ticket) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    struct dueq__lease *lease = find(leases, ticket);
    if (lease && !lease->acked_ms && !lease->in_flight) {
        end_run(leases, lease);
        lease->acked_ms = now;
        dueq__leases_wake_by(leases, now + DUEQ__ACK_DELAY_MS);
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
        lease->removed = true;
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
        lease->maybe_acked = true;
        lease->acked_ms = now;
        dueq__leases_wake_by(leases, now + DUEQ__ACK_DELAY_MS);
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

struct dueq__lease *dueq__leases_take_retry(struct dueq__leases *leases, dueq_bytes ticket) {
    pthread_mutex_lock(&leases->lock);
    struct dueq__lease *lease = find(leases, ticket);
    if (lease) {
        end_run(leases, lease);
        lease->acked_ms = 0;
        lease->in_flight++;
        lease->refs++;
    } else {
        lose(leases, ticket);
    }
    pthread_mutex_unlock(&leases->lock);
    return lease;
}

void dueq__leases_mark_queues(struct dueq__leases *leases, bool *held, size_t count) {
    int64_t now = dueq__monotonic_ms();
    memset(held, 0, count * sizeof *held);
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        const struct dueq__lease *lease = leases->items[i];
        /* While the heartbeat extends a lease, it counts until the server says that it is lost. */
        bool is_leased = lease->end_ms && (now < lease->end_ms || now < lease->keep_until_ms);
        if (!lease->removed && is_leased && lease->queue < count)
            held[lease->queue] = true;
    }
    pthread_mutex_unlock(&leases->lock);
}

size_t dueq__leases_take_expiring(struct dueq__leases *leases, int64_t now_ms,
                                  struct dueq__lease **taken, size_t most) {
    size_t count = 0;
    bool due = false;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count && !due; i++) {
        const struct dueq__lease *lease = leases->items[i];
        due = !lease->removed && lease->extend_ms <= now_ms && now_ms < lease->keep_until_ms;
        if (due)
            taken[0] = leases->items[i];
    }
    for (size_t i = 0; i < leases->count && due && count < most; i++) {
        struct dueq__lease *lease = leases->items[i];
        bool soon = lease->extend_ms <= now_ms + lease->lease_ms / EARLY_PART &&
                    now_ms < lease->keep_until_ms;
        if (!lease->removed && soon && lease->queue == taken[0]->queue &&
            lease->lease_ms == taken[0]->lease_ms) {
            lease->refs++;
            taken[count++] = lease;
        }
    }
    pthread_mutex_unlock(&leases->lock);
    return count;
}

size_t dueq__leases_take_unverified(struct dueq__leases *leases, struct dueq__lease *const *list,
                                    size_t count, struct dueq__lease **taken) {
    size_t taken_count = 0;
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    /*
     * An ended lease is verified. But a lease that is shorter than a round trip has ended when the
     * answer comes: once confirmed, it is not verified a second time for that.
     */
    bool ended = list[0]->end_ms <= now && list[0]->verified_ms < list[0]->end_ms;
    bool unverified = list[0]->verified_ms + DUEQ__VERIFY_MS <= now || ended;
    for (size_t i = 0; unverified && i < count; i++) {
        if (list[i] && list[i]->end_ms && list[i]->lease_ms == list[0]->lease_ms) {
            list[i]->refs++;
            taken[taken_count++] = list[i];
        }
    }
    pthread_mutex_unlock(&leases->lock);
    return taken_count;
}

size_t dueq__leases_take_running(struct dueq__leases *leases, struct dueq__lease **taken,
                                 size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count && count < most; i++) {
        struct dueq__lease *lease = leases->items[i];
        if (!lease->running || (count && lease->queue != taken[0]->queue))
            continue;
        clear_running(leases, lease);
        lease->in_flight++;
        lease->refs++;
        lease->removed = true;
        taken[count++] = lease;
    }
    pthread_mutex_unlock(&leases->lock);
    return count;
}

void dueq__leases_settled(struct dueq__leases *leases, struct dueq__lease *lease,
                          dueq_status status) {
    pthread_mutex_lock(&leases->lock);
    lease->in_flight--;
    lease->refs--;
    if (status >= 0) {
        lease->lost = status == DUEQ_LEASE_LOST && (lease->lost || !lease->removed);
        lease->removed = true;
    } else if (lease->acked_ms) {
        lease->acked_ms = dueq__monotonic_ms();
    }
    if (lease->lost && !lease->in_flight) {
        leases->lost += !lease->maybe_acked;
        if (lease->maybe_acked)
            dueq__warnings_add_late_ack(&leases->warnings, lease->ticket);
        else if (!lease->warned)
            dueq__warnings_add_lost(&leases->warnings, lease->ticket);
    }
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_extended(struct dueq__leases *leases, struct dueq__lease *lease, int64_t start_ms,
                           dueq_status status) {
    int64_t pause_ms =
        lease->lease_ms / 10 < RETRY_EXTEND_MS ? lease->lease_ms / 10 + 1 : RETRY_EXTEND_MS;
    pthread_mutex_lock(&leases->lock);
    if (status == DUEQ_OK) {
        renew(lease, start_ms);
    } else if (status < 0) {
        lease->extend_ms = dueq__monotonic_ms() + pause_ms;
    } else {
        lease->end_ms = lease->keep_until_ms = 0;
        lease->warn_ms = dueq__monotonic_ms() + WARN_DELAY_MS;
        dueq__warnings_wake(&leases->warnings);
    }
    lease->refs--;
    sweep(leases, lease);
    pthread_mutex_unlock(&leases->lock);
}

/* When the heartbeat must extend a lease, pass a time on, or send an ack that waits too long. */
static int64_t next_ms(const struct dueq__leases *leases, int64_t now_ms) {
    int64_t next = dueq__leases_next_late_ms(leases);
    for (size_t i = 0; i < leases->count; i++) {
        const struct dueq__lease *lease = leases->items[i];
        if (!lease->removed && now_ms < lease->keep_until_ms && lease->extend_ms < next)
            next = lease->extend_ms;
        if (dueq__lease_ack_waits(lease) && lease->acked_ms + DUEQ__ACK_DELAY_MS < next)
            next = lease->acked_ms + DUEQ__ACK_DELAY_MS;
    }
    return next;
}

bool dueq__leases_wait(struct dueq__leases *leases, int64_t idle_ms, int64_t leased_ms,
                       bool *registers) {
    int64_t check_ms = dueq__monotonic_ms() + WATCH_MS;
    pthread_mutex_lock(&leases->lock);
    while (!leases->stopping) {
        int64_t now = dueq__monotonic_ms();
        int64_t next = next_ms(leases, now);
        int64_t at = leases->count && leased_ms < idle_ms ? leased_ms : idle_ms;
        leases->wake_ms = next < at ? next : at;
        *registers = at <= now;
        if (leases->count && check_ms < leases->wake_ms)
            leases->wake_ms = check_ms;
        if (leases->wake_ms <= now)
            break;
        dueq__cond_wait(&leases->changed, &leases->lock, leases->wake_ms);
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

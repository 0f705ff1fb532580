#include "consumer.h"

/*
 * What a consumer knows of its queues between two reserves: which of several queues, or of
 * partitions, had no message, and when each has its next event. While no reserve is under way, the
 * server may still expect the consumer to keep a queue's time, also of its only queue. If that
 * queue's next event falls due while the program works, the heartbeat passes the timekeeping on to
 * another consumer.
 */

/*
 * Of several queues, the heartbeat passes no timekeeping on for this long after a reserve: most
 * programs ask for the next message by then, and the consumer asks the queue itself. Of an only
 * queue it passes the timekeeping on at once, since then the next reserves do not take it again.
 */
#define GRACE_US 10000
/*
 * A consumer that always finds messages asks each queue this often: the queue's wake token may be
 * lost with a consumer that was killed.
 */
#define ASK_MS 24000
/*
 * If two others look at the next event, a consumer that returns this soon waits without asking.
 * After that, both may have died meanwhile.
 */
#define MAY_WAIT_US 1000000
/* The most reserves in a row that do not make a consumer with a slow handler a timekeeper. */
#define MOST_NO_TIME 16

/*
 * If the handler was too slow, so that the heartbeat had to pass the time on, the next reserves do
 * not make the consumer a timekeeper: one, then 2, 4 and so on.
 */
int64_t dueq__queues_kept_us(dueq_consumer *consumer) {
    struct dueq__leases *leases = consumer->leases;
    pthread_mutex_lock(&leases->lock);
    int64_t check_us = leases->known->duties ? leases->known->next_check_us : 0;
    pthread_mutex_unlock(&leases->lock);
    if (consumer->kept_time && check_us) {
        consumer->no_time = 0;
    } else if (consumer->kept_time) {
        consumer->no_time = consumer->no_time ? 2 * consumer->no_time : 1;
        consumer->no_time = consumer->no_time < MOST_NO_TIME ? consumer->no_time : MOST_NO_TIME;
        consumer->no_time_left = consumer->no_time;
    }
    consumer->kept_time = false;
    return check_us;
}

/* A consumer without a heartbeat could not pass the time on while it works. */
bool dueq__queues_may_keep_time(const dueq_consumer *consumer) {
    return consumer->heartbeat && !consumer->leases->stopping && !consumer->no_time_left;
}

struct dueq__known *dueq__queues_lend(dueq_consumer *consumer, bool asks) {
    struct dueq__leases *leases = consumer->leases;
    bool several = dueq__consumer_has_several_queues(consumer);
    pthread_mutex_lock(&leases->lock);
    leases->lends_known = true;
    if (!several)
        leases->known->empty = (leases->known->duties || consumer->may_wait_us) && !asks;
    pthread_mutex_unlock(&leases->lock);
    consumer->may_wait_us = 0;
    int64_t now = dueq__monotonic_ms();
    if (consumer->lost_conns != consumer->client->lost_conns)
        dueq__queues_forget(consumer);
    consumer->lost_conns = consumer->client->lost_conns;
    /* A consumer that always finds messages sends no probe. So it asks one queue in turn. */
    if (consumer->found && now >= consumer->ask_ms && several && !consumer->assignment) {
        consumer->ask_ms = now + ASK_MS / (int64_t)consumer->queue_count;
        leases->known[consumer->ask_queue++ % consumer->queue_count].empty = false;
    }
    return leases->known;
}

/* A reserve of the only queue had messages. */
static void note_time(dueq_consumer *consumer) {
    const struct dueq__known *known = consumer->leases->known;
    consumer->no_time_left -= consumer->no_time_left > 0;
    consumer->kept_time = known->duties != 0;
    if (consumer->client->op->wait.took_time && !known->duties)
        consumer->may_wait_us = dueq__monotonic_us() + MAY_WAIT_US;
    consumer->ack_rides = known->next_check_us <= dueq__monotonic_us() + DUEQ__ACK_RIDES_US;
}

void dueq__queues_learn(dueq_consumer *consumer) {
    struct dueq__leases *leases = consumer->leases;
    const struct dueq__op *op = consumer->client->op;
    if (op->phase != DUEQ__PHASE_FINAL || !leases->lends_known)
        return;
    consumer->found = dueq__op_found(op);
    consumer->probe_ms = op->wait.probe_ms;
    consumer->probe_count = op->wait.probe_count;
    pthread_mutex_lock(&leases->lock);
    dueq__reserve_learn(consumer->client, leases->known,
                        consumer->assignment ? consumer->asked : consumer->same);
    leases->lends_known = false;
    leases->pass_on_us =
        dueq__consumer_has_several_queues(consumer) ? dueq__monotonic_us() + GRACE_US : 0;
    if (!dueq__consumer_has_several_queues(consumer) && consumer->found)
        note_time(consumer);
    dueq__leases_wake_by(leases, dueq__leases_next_late_ms(leases));
    pthread_mutex_unlock(&leases->lock);
}

bool dueq__queues_settle_along(dueq_consumer *consumer, size_t queue) {
    struct dueq__leases *leases = consumer->leases;
    bool along = !consumer->client->cluster && !consumer->retry.lease;
    pthread_mutex_lock(&leases->lock);
    along = along && !leases->known[consumer->same[queue]].empty;
    for (size_t i = 0; along && i < leases->count; i++)
        along = !dueq__lease_ack_waits(leases->items[i]) || leases->items[i]->queue == queue;
    pthread_mutex_unlock(&leases->lock);
    return along;
}

void dueq__queues_note_found(dueq_consumer *consumer, size_t queue) {
    struct dueq__leases *leases = consumer->leases;
    pthread_mutex_lock(&leases->lock);
    leases->known[consumer->same[queue]].empty = false;
    pthread_mutex_unlock(&leases->lock);
}

void dueq__queues_forget(dueq_consumer *consumer) {
    struct dueq__leases *leases = consumer->leases;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->known_count; i++)
        leases->known[i].empty = false;
    pthread_mutex_unlock(&leases->lock);
}

/* The queue with the first next event of those whose time is kept; SIZE_MAX: none is. */
static size_t first_kept(const struct dueq__leases *leases) {
    size_t first = SIZE_MAX;
    for (size_t i = 0; !leases->lends_known && i < leases->known_count; i++)
        if (leases->known[i].duties &&
            (first == SIZE_MAX ||
             leases->known[i].next_check_us < leases->known[first].next_check_us))
            first = i;
    return first;
}

int64_t dueq__leases_next_late_ms(const struct dueq__leases *leases) {
    size_t first = first_kept(leases);
    if (first == SIZE_MAX)
        return DUEQ__NEVER;
    int64_t late_us = leases->known[first].next_check_us;
    return (late_us > leases->pass_on_us ? late_us : leases->pass_on_us) / 1000 + 1;
}

size_t dueq__leases_take_late(struct dueq__leases *leases, int64_t now_us, int64_t *place_ms) {
    pthread_mutex_lock(&leases->lock);
    size_t queue = first_kept(leases);
    if (queue != SIZE_MAX &&
        (leases->known[queue].next_check_us > now_us || leases->pass_on_us > now_us))
        queue = SIZE_MAX;
    if (queue != SIZE_MAX) {
        *place_ms = leases->known[queue].place_ms;
        leases->known[queue] = (struct dueq__known){0};
    }
    pthread_mutex_unlock(&leases->lock);
    return queue;
}

#include "consumer.h"

/* The acks that wait until a request takes them along. */

bool dueq__lease_ack_waits(const struct dueq__lease *lease) {
    return lease->acked_ms && !lease->removed && (!lease->in_flight || lease->resend_ack);
}

int64_t dueq__leases_oldest_ack(struct dueq__leases *leases, size_t *queue) {
    int64_t acked_ms = DUEQ__NEVER;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        const struct dueq__lease *lease = leases->items[i];
        if (dueq__lease_ack_waits(lease) && lease->acked_ms < acked_ms) {
            acked_ms = lease->acked_ms;
            *queue = lease->queue;
        }
    }
    pthread_mutex_unlock(&leases->lock);
    return acked_ms;
}

void dueq__leases_defer_acks(struct dueq__leases *leases, size_t queue, int64_t until_ms) {
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++)
        if (dueq__lease_ack_waits(leases->items[i]) && leases->items[i]->queue == queue)
            leases->items[i]->acked_ms = until_ms;
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_resend_acks(struct dueq__leases *leases) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        struct dueq__lease *lease = leases->items[i];
        lease->resend_ack = lease->in_flight > 0;
        lease->acked_ms = lease->acked_ms < now ? lease->acked_ms : now;
    }
    pthread_mutex_unlock(&leases->lock);
}

size_t dueq__leases_take_acks(struct dueq__leases *leases, size_t queue, int64_t until_ms,
                              struct dueq__lease **taken, size_t most) {
    size_t count = 0;
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count && count < most; i++) {
        struct dueq__lease *lease = leases->items[i];
        if (dueq__lease_ack_waits(lease) && lease->queue == queue && lease->acked_ms <= until_ms) {
            lease->in_flight++;
            lease->resend_ack = false;
            lease->refs++;
            taken[count++] = lease;
        }
    }
    pthread_mutex_unlock(&leases->lock);
    return count;
}

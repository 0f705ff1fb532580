#include <stdatomic.h>

#include "client.h"

/*
 * Which failures a call tries again, when, and until when. A call that waits goes on until its
 * timeout, and each of its tries has a deadline of its own. Any other call has one deadline.
 */

#define FIRST_PAUSE_MS 20
#define MAX_PAUSE_MS 1000
/*
 * A call that waits retries for at least this long after the first failure since the last answer,
 * and gives a try to connect at least this long. Else a call that waits for less time than a
 * connection takes would never reach a server that is back.
 */
#define MIN_RETRY_MS 1000

/*
 * The clients of a process lose their server together, and should not come back together. Those
 * that lose it within HERD_MS are counted, and each pauses for longer than the one before. Threads
 * may miscount: that does no harm.
 */
#define HERD_MS 1000
#define HERD_STEP_US 1500
static atomic_int_fast64_t herd, herd_ms;

static void join_herd(int64_t now) {
    if (now > herd_ms + HERD_MS) {
        herd_ms = now;
        herd = 0;
    }
    herd++;
}

static void count_failure(dueq_client *client, const char *why) {
    int64_t now = dueq__monotonic_ms();
    if (!client->failures) {
        client->first_failure_ms = now;
        join_herd(now);
    }
    int64_t pause = FIRST_PAUSE_MS << (client->failures < 6 ? client->failures : 6);
    int64_t least = herd * HERD_STEP_US / 1000;
    pause = pause > least ? pause : least;
    int64_t most = client->max_backoff_ms ? client->max_backoff_ms : MAX_PAUSE_MS;
    client->backoff_ms = pause < most ? pause : most;
    client->last_failure_ms = now;
    client->failures++;
    dueq__outage_log_failure(client, why);
}

void dueq__backoff_on_call_failed(dueq_client *client) {
    if (client->skips_untried)
        dueq__outage_log_failure(client, client->error.text);
    else
        count_failure(client, client->error.text);
}

/* True: the call retries as long as it waits. False if its caller has other nodes to ask. */
static bool waits_out_outages(const struct dueq__op *op) {
    return op->retry.until_ms && !op->retry.skip_down_node;
}

/*
 * When a call that waits ends while the server is away: at its timeout, but not before MIN_RETRY_MS
 * after since_ms.
 */
static int64_t wait_limit_ms(const dueq_client *client, int64_t since_ms) {
    int64_t least = since_ms + MIN_RETRY_MS;
    return client->op->retry.until_ms > least ? client->op->retry.until_ms : least;
}

static void set_retry(dueq_client *client, const char *why, bool extends) {
    struct dueq__op *op = client->op;
    count_failure(client, why);
    op->retry.next_ms =
        dueq__monotonic_ms() + client->backoff_ms / 2 + dueq__random_below(client->backoff_ms);
    if (!waits_out_outages(op))
        return;
    int64_t limit = op->retry.next_ms + client->url.timeout_ms;
    int64_t last = wait_limit_ms(client, client->first_failure_ms);
    limit = limit < last ? limit : last;
    if (extends || limit < op->retry.deadline_ms)
        op->retry.deadline_ms = limit;
}

void dueq__backoff_retry_later(dueq_client *client, const char *why) {
    set_retry(client, why, client->ever_connected);
}

bool dueq__backoff_retry_refused(dueq_client *client, const struct dueq__error *error) {
    bool waits = dueq__monotonic_ms() < client->op->retry.until_ms;
    if (error->recovery == DUEQ__PERMANENT || (error->recovery == DUEQ__UNTIL_FIXED && !waits) ||
        (error->recovery == DUEQ__FAILOVER && !client->ever_answered && !client->cluster))
        return false;
    client->op->request.script_loads = 0;
    set_retry(client, error->text, true);
    return true;
}

bool dueq__backoff_outlasts_request(const dueq_client *client) {
    return waits_out_outages(client->op) && dueq__monotonic_ms() < client->op->retry.until_ms &&
           (client->ever_connected || client->error.recovery != DUEQ__PERMANENT);
}

void dueq__backoff_on_connecting(dueq_client *client) {
    struct dueq__op *op = client->op;
    int64_t last = wait_limit_ms(client, dueq__monotonic_ms());
    if (waits_out_outages(op) && client->failures && last < op->retry.deadline_ms)
        op->retry.deadline_ms = last;
}

void dueq__backoff_on_connected(dueq_client *client) {
    struct dueq__op *op = client->op;
    if (waits_out_outages(op) && op->phase == DUEQ__PHASE_RUNNING)
        op->retry.deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
}

void dueq__backoff_reset(dueq_client *client) {
    int64_t pause = client->backoff_ms;
    client->reconnect_ms = dueq__monotonic_ms() + pause / 2 + dueq__random_below(pause * 3 / 4);
    client->failures = 0;
}

bool dueq__backoff_is_fatal(const dueq_client *client, const struct dueq__error *error) {
    if (error->recovery == DUEQ__FAILOVER)
        return !client->ever_connected;
    switch (error->status) {
    case DUEQ_AUTH:
    case DUEQ_DENIED:
    case DUEQ_DATABASE:
    case DUEQ_UNSUPPORTED:
    case DUEQ_PROTOCOL:
    case DUEQ_NO_MEMORY:
        return true;
    case DUEQ_CONNECT:
        /* Sentinels that named a server that is down name another one soon. */
        return !client->ever_connected && !client->sentinels.found_primary;
    case DUEQ_TLS:
        return !client->ever_connected;
    default:
        return false;
    }
}

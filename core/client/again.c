#include <stdatomic.h>

#include "client.h"

/*
 * Which failures a call tries again, when, and until when. A call that waits goes on until its timeout, and each
 * of its tries has a deadline of its own. Any other call has one deadline.
 */

#define FIRST_PAUSE_MS 20
#define LONGEST_PAUSE_MS 1000
/*
 * However short a call waits: so long it tries after the first failure since the last answer, and so long a try to
 * connect has. Else calls that wait for less than a connection takes would never come back.
 */
#define LEAST_PATIENCE_MS 1000

/*
 * The clients of a process lose their server together, and are not to come back together. Those that lose it within
 * HERD_MS are counted, and each of them pauses for longer than the one before. Threads may miscount: no harm is done.
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

static void failed(dueq_client *client, const char *why) {
    int64_t now = dueq__monotonic_ms();
    if (!client->failures) {
        client->failing_ms = now;
        join_herd(now);
    }
    int64_t pause = FIRST_PAUSE_MS << (client->failures < 6 ? client->failures : 6);
    int64_t least = herd * HERD_STEP_US / 1000;
    pause = pause > least ? pause : least;
    int64_t most = client->longest_pause_ms ? client->longest_pause_ms : LONGEST_PAUSE_MS;
    client->pause_ms = pause < most ? pause : most;
    client->failed_ms = now;
    client->failures++;
    dueq__news_failed(client, why);
}

void dueq__again_over(dueq_client *client) {
    if (client->untried)
        dueq__news_failed(client, client->error.text);
    else
        failed(client, client->error.text);
}

/* Does it go on as long as its caller waits? Not where its caller has other nodes to go on with. */
static bool waits(const struct dueq__call *call) { return call->patient_ms && !call->gives_way; }

/* When a call that waits ends while the server is away; it has its least patience from since_ms on. */
static int64_t last_ms(const dueq_client *client, int64_t since_ms) {
    int64_t least = since_ms + LEAST_PATIENCE_MS;
    return client->call.patient_ms > least ? client->call.patient_ms : least;
}

static void put_off(dueq_client *client, const char *why, bool extends) {
    struct dueq__call *call = &client->call;
    failed(client, why);
    call->retry_ms = dueq__monotonic_ms() + client->pause_ms / 2 + dueq__chance(client->pause_ms);
    if (!waits(call))
        return;
    int64_t limit = call->retry_ms + client->url.timeout_ms;
    int64_t last = last_ms(client, client->failing_ms);
    limit = limit < last ? limit : last;
    if (extends || limit < call->deadline_ms)
        call->deadline_ms = limit;
}

void dueq__again_later(dueq_client *client, const char *why) {
    put_off(client, why, client->reached);
}

bool dueq__again_refused(dueq_client *client, const struct dueq__error *error) {
    bool patient = dueq__monotonic_ms() < client->call.patient_ms;
    if (error->passing == DUEQ__STAYS || (error->passing == DUEQ__LASTS && !patient) ||
        (error->passing == DUEQ__MOVES && !client->served && !client->cluster))
        return false;
    client->call.loads = 0;
    put_off(client, error->text, true);
    return true;
}

bool dueq__again_lasts(const dueq_client *client) {
    return waits(&client->call) && dueq__monotonic_ms() < client->call.patient_ms &&
           (client->reached || client->error.passing != DUEQ__STAYS);
}

void dueq__again_connects(dueq_client *client) {
    struct dueq__call *call = &client->call;
    int64_t last = last_ms(client, dueq__monotonic_ms());
    if (waits(call) && client->failures && last < call->deadline_ms)
        call->deadline_ms = last;
}

void dueq__again_connected(dueq_client *client) {
    struct dueq__call *call = &client->call;
    if (waits(call) && call->phase == DUEQ__PHASE_RUNNING)
        call->deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
}

void dueq__again_answered(dueq_client *client) {
    int64_t pause = client->pause_ms;
    client->rejoin_ms = dueq__monotonic_ms() + pause / 2 + dueq__chance(pause * 3 / 4);
    client->failures = 0;
}

bool dueq__again_hopeless(const dueq_client *client, const struct dueq__error *error) {
    if (error->passing == DUEQ__MOVES)
        return !client->reached;
    switch (error->status) {
    case DUEQ_AUTH:
    case DUEQ_DENIED:
    case DUEQ_DATABASE:
    case DUEQ_UNSUPPORTED:
    case DUEQ_PROTOCOL:
    case DUEQ_NO_MEMORY:
        return true;
    case DUEQ_CONNECT:
        /* Where sentinels have led to a server that is gone, they lead to another one soon. */
        return !client->reached && !client->sentinels.found;
    case DUEQ_TLS:
        return !client->reached;
    default:
        return false;
    }
}

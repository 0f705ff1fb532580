#include "request.h"

/* Which failures a call tries again, when, and until when. */

#define LONGEST_PAUSE_MS 1000

void dueq__again_over(dueq_client *client) {
    client->failures++;
    dueq__news_failed(client, client->error.text);
}

void dueq__again_later(dueq_client *client, const char *why) {
    unsigned shift = client->failures < 6 ? client->failures : 6;
    int64_t pause = (int64_t)20 << shift;
    if (pause > LONGEST_PAUSE_MS)
        pause = LONGEST_PAUSE_MS;
    client->failures++;
    dueq__news_failed(client, why);
    client->call.retry_ms = dueq__monotonic_ms() + pause / 2 + dueq__chance(pause / 2);
}

bool dueq__again_refused(dueq_client *client, const struct dueq__error *error) {
    bool waits = dueq__monotonic_ms() < client->call.patient_ms;
    if (error->passing == DUEQ__STAYS || (error->passing == DUEQ__LASTS && !waits) ||
        (error->passing == DUEQ__MOVES && !client->served && !client->cluster))
        return false;
    client->call.loads = 0;
    dueq__again_later(client, error->text);
    /* A call that waits goes on as long as it may, and as the server answers from the next try on. */
    int64_t limit = client->call.retry_ms + client->url.timeout_ms;
    if (limit > client->call.patient_ms)
        limit = client->call.patient_ms;
    if (limit > client->call.deadline_ms)
        client->call.deadline_ms = limit;
    return true;
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

#include <stdio.h>
#include <stdlib.h>

#include "net.h"

/*
 * Sends a command to several servers in turn, until one answers. Each of them can answer it. A
 * server that is gone costs one second at most.
 */

#define MAX_TRY_MS 1000

static void start_try(struct dueq__query_any *query) {
    query->sent = false;
    query->try_deadline_ms = dueq__monotonic_ms() + query->try_timeout_ms;
    dueq__conn_start_at(&query->conn, query->addresses[query->current]);
    /* try_deadline_ms limits the try. */
    query->conn.silence_timeout_ms = 0;
}

struct dueq__query_any *dueq__query_any_start(const struct dueq__url *url, const char *name,
                                              const struct dueq__address *addresses, size_t count,
                                              size_t first, struct dueq__resp *words) {
    struct dueq__query_any *query = words->failed ? NULL : calloc(1, sizeof *query);
    if (!query) {
        dueq__resp_free(words);
        return NULL;
    }
    dueq__conn_init(&query->conn, url, name, NULL);
    query->addresses = addresses;
    query->count = count;
    query->current = first % count;
    query->words = *words;
    *words = (struct dueq__resp){0};
    /* The call's timeout is shared by all servers and by the step after the answer. */
    int64_t share = url->timeout_ms / (int64_t)(count + 1);
    query->try_timeout_ms = share < 1 ? 1 : share > MAX_TRY_MS ? MAX_TRY_MS : share;
    start_try(query);
    return query;
}

/* The status for the query's error: a server that answered says more than a server out of reach. */
static dueq_status more_telling(dueq_status before, dueq_status now) {
    if (now == DUEQ_CLOSED || now == DUEQ_TIMEOUT)
        now = DUEQ_CONNECT;
    return before == DUEQ_OK || before == DUEQ_CONNECT ? now : before;
}

/* Asks the next server. After the last server the query ends with an error that has all reasons. */
static void try_next(struct dueq__query_any *query, dueq_status status, const char *why) {
    size_t size = strlen(query->reasons), room = sizeof query->reasons;
    snprintf(query->reasons + size, room - size, "%s%s", size ? "; " : "", why);
    query->status = more_telling(query->status, status);
    dueq__reply_free(query->reply);
    query->reply = NULL;
    if (++query->tried < query->count) {
        query->current = (query->current + 1) % query->count;
        start_try(query);
        return;
    }
    dueq__conn_close(&query->conn);
    dueq__fail(&query->error, query->status, "%s", query->reasons);
    query->error.recovery = DUEQ__FAILOVER;
}

void dueq__query_any_reject(struct dueq__query_any *query, dueq_status status, const char *what) {
    char why[DUEQ__SHOWN_ADDRESS + sizeof query->error.text + 16];
    snprintf(why, sizeof why, "%s %s", query->conn.shown, what);
    try_next(query, status, why);
}

static void on_error(struct dueq__query_any *query, const struct dueq__error *error) {
    char what[sizeof error->text + 16];
    snprintf(what, sizeof what, "refuses: %s", error->text);
    if (strstr(error->text, query->conn.shown))
        try_next(query, error->status, error->text);
    else
        dueq__query_any_reject(query, error->status, what);
}

static void send_command(struct dueq__query_any *query) {
    const struct dueq__resp *words = &query->words;
    query->sent = true;
    if (!dueq__conn_send(&query->conn, &words, 1))
        try_next(query, DUEQ_NO_MEMORY, dueq_status_text(DUEQ_NO_MEMORY));
    dueq__conn_flush(&query->conn);
}

static void read_reply(struct dueq__query_any *query) {
    struct dueq__error error;
    bool maps = query->conn.url->topology == DUEQ__CLUSTER;
    query->reply =
        dueq__conn_reply(&query->conn, maps ? DUEQ__MAX_MAP_REPLY : DUEQ__MAX_SMALL_REPLY);
    if (query->reply && dueq__reply_is_error(query->reply)) {
        dueq__reply_error(query->reply, &error);
        on_error(query, &error);
    }
}

bool dueq__query_any_pump(struct dueq__query_any *query) {
    struct dueq__conn *conn = &query->conn;
    while (!query->reply && !query->error.status) {
        const size_t tried = query->tried;
        dueq__conn_pump(conn);
        if (conn->state == DUEQ__CONN_READY && !query->sent)
            send_command(query);
        else if (conn->state == DUEQ__CONN_READY)
            read_reply(query);
        if (query->reply || query->tried > tried)
            continue;
        if (conn->state == DUEQ__CONN_CLOSED) {
            on_error(query, &conn->error);
        } else if (dueq__monotonic_ms() >= query->try_deadline_ms) {
            char what[64];
            snprintf(what, sizeof what, "did not answer within %lld ms",
                     (long long)query->try_timeout_ms);
            dueq__query_any_reject(query, DUEQ_TIMEOUT, what);
        } else {
            return false;
        }
    }
    return true;
}

void dueq__query_any_drop(struct dueq__query_any *query) {
    if (!query)
        return;
    dueq__conn_close(&query->conn);
    dueq__reply_free(query->reply);
    dueq__resp_free(&query->words);
    free(query);
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* The warnings about servers. One client of the process says each, for all clients of a server. */

/* A client warns when the server has been away for this long. */
#define LOG_AFTER_MS 1000
/* The warning is repeated after this pause, then each time after a pause twice as long, */
#define FIRST_PAUSE_MS 10000
/* which is at most this. */
#define MAX_PAUSE_MS 600000

struct server {
    bool eviction_warned;    /* a client has warned that it may evict */
    int64_t outage_since_ms; /* since when it is away, as a client has warned; 0: it is not */
    int64_t next_warning_ms; /* when to warn again */
    int64_t warning_pause_ms;
    unsigned tries;
    size_t clients_in_outage; /* clients that noticed the outage, and had no answer since */
    int64_t outage_ended_ms;  /* when the last outage ended */
    struct server *next;
    char url[];
};

/* Each server of which a client had a warning; never freed. Under dueq__process_lock(). */
static struct server *servers;

/* The entry of a server, made if there is none; NULL: out of memory. */
static struct server *find(const char *url) {
    struct server *server = servers;
    while (server && strcmp(server->url, url) != 0)
        server = server->next;
    if (server)
        return server;
    size_t size = strlen(url) + 1;
    server = calloc(1, sizeof *server + size);
    if (server) {
        memcpy(server->url, url, size);
        server->next = servers;
        servers = server;
    }
    return server;
}

bool dueq__outage_log_eviction(const dueq_client *client) {
    dueq__process_lock();
    struct server *server = find(client->url.shown);
    bool first = server && !server->eviction_warned;
    if (first)
        server->eviction_warned = true;
    dueq__process_unlock();
    return first;
}

static double seconds(const struct server *server) {
    return (double)(dueq__monotonic_ms() - server->outage_since_ms) / 1000;
}

static void log_begin(dueq_client *client, struct server *server, const char *why) {
    server->outage_since_ms = client->outage_since_ms;
    server->warning_pause_ms = FIRST_PAUSE_MS;
    server->next_warning_ms = dueq__monotonic_ms() + FIRST_PAUSE_MS;
    server->tries = client->failures ? client->failures : 1;
    dueq__client_warn(client, "%s: it is tried again: %s", client->url.shown, why);
}

static void log_again(dueq_client *client, struct server *server, const char *why) {
    server->tries += !client->skips_untried;
    if (dueq__monotonic_ms() < server->next_warning_ms)
        return;
    server->warning_pause_ms =
        server->warning_pause_ms < MAX_PAUSE_MS / 2 ? 2 * server->warning_pause_ms : MAX_PAUSE_MS;
    server->next_warning_ms = dueq__monotonic_ms() + server->warning_pause_ms;
    dueq__client_warn(client, "%s: it is tried again for %.0f s now, %u times: %s",
                      client->url.shown, seconds(server), server->tries, why);
}

void dueq__outage_log_failure(dueq_client *client, const char *why) {
    int64_t now = dueq__monotonic_ms();
    if (!client->outage_since_ms)
        client->outage_since_ms = now;
    if (now - client->outage_since_ms < LOG_AFTER_MS)
        return;
    dueq__process_lock();
    struct server *server = find(client->url.shown);
    /*
     * The server has just answered another client. This failed call was sent before that answer,
     * in the outage that has ended, so it begins no new outage.
     */
    bool over = server && !server->outage_since_ms && now - server->outage_ended_ms < LOG_AFTER_MS;
    if (server && !over) {
        server->clients_in_outage += !client->in_outage_log;
        client->in_outage_log = true;
        if (server->outage_since_ms)
            log_again(client, server, why);
        else
            log_begin(client, server, why);
    }
    dueq__process_unlock();
}

void dueq__outage_log_silence(dueq_client *client, int64_t since_ms) {
    const char *why = client->error.text;
    if (client->in_outage_log || dueq__monotonic_ms() - since_ms < LOG_AFTER_MS)
        return;
    if (!client->outage_since_ms)
        client->outage_since_ms = since_ms;
    dueq__outage_log_failure(client, *why ? why : "it does not answer");
}

void dueq__outage_log_leave(dueq_client *client, bool answered) {
    client->outage_since_ms = 0;
    if (!client->in_outage_log)
        return;
    dueq__process_lock();
    struct server *server = find(client->url.shown);
    if (server && server->outage_since_ms && answered) {
        dueq__client_warn(client, "%s: it answers again, after %.1f s and %u tries",
                          client->url.shown, seconds(server), server->tries);
        server->outage_ended_ms = dueq__monotonic_ms();
    }
    /* If this client leaves with a warning that its program did not take, another client warns. */
    if (server && (--server->clients_in_outage == 0 || answered || client->has_warning))
        server->outage_since_ms = 0;
    client->in_outage_log = false;
    dueq__process_unlock();
}

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* What the clients of this process, which may be many, have to say of a server: once for all of them. */

#define MOST_SERVERS 16
/* For so long a server may be tried again, by a call or by the program, until a client says so. */
#define PATIENCE_MS 1000
/* When that is said again, with how long and how often: after so long, and after twice as long each time. */
#define FIRST_PAUSE_MS 10000
#define LONGEST_PAUSE_MS 600000

struct server {
    char *url;
    bool evicting;    /* that it may evict was said */
    int64_t since_ms; /* it does not answer, which was said; 0: it does */
    int64_t next_ms;  /* when to say so again */
    int64_t pause_ms;
    unsigned tries;
    size_t clients;      /* those that know, and have no answer yet */
    int64_t answered_ms; /* when an outage ended last */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct server servers[MOST_SERVERS];

/* A thread may hold the lock when another one forks: the child, without that thread, would wait for it for ever. */
static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* NULL: there are too many. */
static struct server *find(const char *url) {
    size_t i = 0;
    while (i < MOST_SERVERS && servers[i].url && strcmp(servers[i].url, url) != 0)
        i++;
    if (i < MOST_SERVERS && !servers[i].url)
        servers[i].url = strdup(url);
    return i < MOST_SERVERS && servers[i].url ? &servers[i] : NULL;
}

bool dueq__news_evicting(const dueq_client *client) {
    pthread_mutex_lock(&lock);
    struct server *server = find(client->url.shown);
    bool news = server && !server->evicting;
    if (news)
        server->evicting = true;
    pthread_mutex_unlock(&lock);
    return news;
}

static double seconds(const struct server *server) {
    return (double)(dueq__monotonic_ms() - server->since_ms) / 1000;
}

static void begin(dueq_client *client, struct server *server, const char *why) {
    server->since_ms = client->refused_ms;
    server->pause_ms = FIRST_PAUSE_MS;
    server->next_ms = dueq__monotonic_ms() + FIRST_PAUSE_MS;
    server->tries = client->failures ? client->failures : 1;
    snprintf(client->warning, sizeof client->warning, "%s: it is tried again: %s",
             client->url.shown, why);
    client->warns = true;
}

static void count(dueq_client *client, struct server *server, const char *why) {
    server->tries += !client->untried;
    if (dueq__monotonic_ms() < server->next_ms)
        return;
    server->pause_ms =
        server->pause_ms < LONGEST_PAUSE_MS / 2 ? 2 * server->pause_ms : LONGEST_PAUSE_MS;
    server->next_ms = dueq__monotonic_ms() + server->pause_ms;
    snprintf(client->warning, sizeof client->warning,
             "%s: it is tried again for %.0f s now, %u times: %s", client->url.shown,
             seconds(server), server->tries, why);
    client->warns = true;
}

void dueq__news_failed(dueq_client *client, const char *why) {
    int64_t now = dueq__monotonic_ms();
    if (!client->refused_ms)
        client->refused_ms = now;
    if (now - client->refused_ms < PATIENCE_MS)
        return;
    pthread_mutex_lock(&lock);
    struct server *server = find(client->url.shown);
    /* What fails just after the server has answered another client was sent before: it is the same outage. */
    bool over = server && !server->since_ms && now - server->answered_ms < PATIENCE_MS;
    if (server && !over) {
        server->clients += !client->away;
        client->away = true;
        if (server->since_ms)
            count(client, server, why);
        else
            begin(client, server, why);
    }
    pthread_mutex_unlock(&lock);
}

void dueq__news_waits(dueq_client *client, int64_t since_ms) {
    const char *why = client->error.text;
    if (client->away || dueq__monotonic_ms() - since_ms < PATIENCE_MS)
        return;
    if (!client->refused_ms)
        client->refused_ms = since_ms;
    dueq__news_failed(client, *why ? why : "it does not answer");
}

static void leave(dueq_client *client, bool answered) {
    pthread_mutex_lock(&lock);
    struct server *server = find(client->url.shown);
    if (server && server->since_ms && answered) {
        snprintf(client->warning, sizeof client->warning,
                 "%s: it answers again, after %.1f s and %u tries", client->url.shown,
                 seconds(server), server->tries);
        client->warns = true;
        server->answered_ms = dueq__monotonic_ms();
    }
    /* What this one was to say and was not asked for, another one says. */
    if (server && (--server->clients == 0 || answered || client->warns))
        server->since_ms = 0;
    client->away = false;
    pthread_mutex_unlock(&lock);
}

void dueq__news_answered(dueq_client *client) {
    client->refused_ms = 0;
    if (client->away)
        leave(client, true);
}

void dueq__news_closed(dueq_client *client) {
    if (client->away)
        leave(client, false);
}

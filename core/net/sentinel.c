#include <stdio.h>

#include "net.h"

/*
 * Sentinels watch a primary and its replicas, and know which server is the primary. The client asks
 * a sentinel before each connection (redis.io, "Guidelines for Redis clients with support for Redis
 * Sentinel"). The client also subscribes at one sentinel to announcements of a new primary. Without
 * the announcements the client would notice a new primary only after seconds: the old primary may
 * accept writes, which are lost when it becomes a replica, or may hang and keep its connections
 * open.
 */

#define RESUBSCRIBE_PAUSE_MS 1000

void dueq__sentinels_init(struct dueq__sentinels *sentinels, const struct dueq__url *url,
                          const char *name) {
    const struct dueq__sentinel_login *own = &url->sentinel;
    *sentinels = (struct dueq__sentinels){.url = *url};
    struct dueq__url *as = &sentinels->url;
    as->topology = DUEQ__SINGLE;
    as->db = 0;
    as->user = own->user;
    as->password = own->password;
    as->ca = own->ca ? own->ca : url->ca;
    as->cert = own->cert ? own->cert : url->cert;
    as->key = own->key ? own->key : url->key;
    dueq__conn_init(&sentinels->subscription, as, name, NULL);
}

void dueq__sentinels_close(struct dueq__sentinels *sentinels) {
    if (sentinels->subscription.url)
        dueq__conn_close(&sentinels->subscription);
}

/* Announcements */

/* "NAME OLD-HOST OLD-PORT HOST PORT". NAME may be another primary's; then the text is dropped. */
static void take_message(struct dueq__sentinels *sentinels, const struct dueq__reply *reply) {
    char host[DUEQ__HOST_ROOM];
    dueq_bytes text, word;
    int64_t port;
    if (!dueq__reply_bytes(dueq__reply_item(reply, 2), &text) ||
        !dueq__take_word(&text, ' ', &word) ||
        !dueq__bytes_equal(word, dueq__text(sentinels->url.primary)) ||
        !dueq__take_word(&text, ' ', &word) || !dueq__take_word(&text, ' ', &word) ||
        !dueq__take_word(&text, ' ', &word) || word.size >= sizeof host ||
        !dueq__read_number(text, 1, 65535, &port))
        return;
    snprintf(host, sizeof host, "%.*s", (int)word.size, (const char *)word.data);
    const struct dueq__address found = {host, (int)port};
    dueq__address_show(dueq__url_reach(&sentinels->url, found), sentinels->primary);
    sentinels->preferred = sentinels->subscribed_index;
    sentinels->switches++;
}

void dueq__sentinels_pump(struct dueq__sentinels *sentinels) {
    struct dueq__conn *conn = &sentinels->subscription;
    struct dueq__reply *reply;
    if (conn->state == DUEQ__CONN_CLOSED) {
        if (!sentinels->found_primary || dueq__monotonic_ms() < sentinels->resubscribe_ms)
            return;
        sentinels->resubscribe_ms = dueq__monotonic_ms() + RESUBSCRIBE_PAUSE_MS;
        sentinels->subscribed_index = sentinels->preferred % sentinels->url.host_count;
        sentinels->subscribed = false;
        dueq__conn_start_at(conn, sentinels->url.hosts[sentinels->subscribed_index]);
    }
    dueq__conn_pump(conn);
    if (conn->state != DUEQ__CONN_READY)
        return;
    if (!sentinels->subscribed) {
        struct dueq__resp words;
        dueq__resp_texts(&words, (const char *const[]){"SUBSCRIBE", "+switch-master", NULL});
        sentinels->subscribed = dueq__conn_send_words(conn, &words);
        dueq__conn_flush(conn);
    }
    while ((reply = dueq__conn_reply(conn, DUEQ__MAX_SMALL_REPLY))) {
        take_message(sentinels, reply);
        dueq__reply_free(reply);
    }
}

/* Questions */

struct dueq__query_any *dueq__sentinels_ask(struct dueq__sentinels *sentinels, const char *name) {
    const struct dueq__url *url = &sentinels->url;
    struct dueq__resp words;
    dueq__resp_texts(
        &words, (const char *const[]){"SENTINEL", "get-master-addr-by-name", url->primary, NULL});
    return dueq__query_any_start(url, name, url->hosts, url->host_count, sentinels->preferred,
                                 &words);
}

/* Reads the reply: a host and a port. */
static bool read_address(const struct dueq__reply *reply, struct dueq__address *found) {
    dueq_bytes host;
    int64_t port;
    if (!dueq__reply_bytes(dueq__reply_item(reply, 0), &host) ||
        !dueq__reply_number(dueq__reply_item(reply, 1), &port) || host.size == 0 ||
        host.size >= DUEQ__HOST_ROOM || strlen(host.data) != host.size || port < 1 || port > 65535)
        return false;
    *found = (struct dueq__address){host.data, (int)port};
    return true;
}

int dueq__sentinels_answer(struct dueq__sentinels *sentinels, struct dueq__query_any *query,
                           struct dueq__address *found, struct dueq__error *error) {
    while (dueq__query_any_pump(query)) {
        if (query->error.status) {
            dueq__fail(error, query->error.status, "no sentinel leads to the primary '%s': %s",
                       sentinels->url.primary, query->error.text);
            error->recovery = query->error.recovery;
            return -1;
        }
        if (read_address(query->reply, found)) {
            sentinels->preferred = query->current;
            sentinels->found_primary = true;
            *found = dueq__url_reach(&sentinels->url, *found);
            dueq__conn_close(&query->conn);
            return 1;
        }
        dueq__query_any_reject(query, DUEQ_CONNECT,
                               dueq__reply_is_nil(query->reply) ? "knows no primary of this name"
                                                                : "answers what is no address");
    }
    return 0;
}

void dueq__sentinels_reject(struct dueq__sentinels *sentinels,
                            const struct dueq__query_any *query) {
    if (query)
        sentinels->preferred = query->current + 1;
}

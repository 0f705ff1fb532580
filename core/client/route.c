#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/*
 * Which node of a cluster a request goes to. The client asks one node at a time for the map of
 * slots, at most once a second, beside its calls: when it has no map, when a node was lost, and
 * after a redirection. MOVED corrects the map for its slot at once. ASK changes nothing in the map.
 */

#define REFRESH_MS 1000
/* A map of more primaries is refused. */
#define MAX_PRIMARIES 1000
#define TABLE_SIZE 4096 /* places in the hash table of primaries */
/* So many redirections in a row are followed at once. */
#define MAX_REDIRECTS 5

struct dueq__cluster {
    struct dueq__node *slots[DUEQ__SLOTS];           /* NULL: not known */
    struct dueq__wait_conn *wait_conns[DUEQ__SLOTS]; /* see dueq__route_wait_conn() */
    bool refresh_wanted;                             /* the client must ask for the map */
    int64_t next_refresh_ms;                         /* but not before this time */
    struct dueq__query_any *query;                   /* the question under way; NULL: none */
    struct dueq__address *addresses;                 /* of the nodes that the question may go to */
};

static void end_query(dueq_client *client) {
    struct dueq__cluster *cluster = client->cluster;
    dueq__client_remove_conn(client, &cluster->query->conn);
    dueq__query_any_drop(cluster->query);
    cluster->query = NULL;
    cluster->next_refresh_ms =
        dueq__monotonic_ms() + REFRESH_MS + dueq__random_below(REFRESH_MS / 2);
}

bool dueq__route_open(dueq_client *client) {
    if (client->url.topology != DUEQ__CLUSTER)
        return true;
    client->cluster = calloc(1, sizeof *client->cluster);
    return client->cluster != NULL;
}

void dueq__route_close(dueq_client *client) {
    struct dueq__cluster *cluster = client->cluster;
    if (!cluster)
        return;
    if (cluster->query)
        end_query(client);
    free(cluster->addresses);
    *cluster = (struct dueq__cluster){0};
}

/* The map */

struct dueq__node *dueq__route_primary(const dueq_client *client, size_t part) {
    const struct dueq__cluster *cluster = client->cluster;
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        node->counted = false;
    for (size_t slot = 0; slot < DUEQ__SLOTS; slot++) {
        struct dueq__node *node = cluster->slots[slot];
        if (!node || node->counted)
            continue;
        if (part-- == 0)
            return node;
        node->counted = true;
    }
    return NULL;
}

struct dueq__node *dueq__route_node(const dueq_queue *queue) {
    const dueq_client *client = queue->client;
    return client->cluster ? client->cluster->slots[queue->slot] : client->node;
}

struct dueq__node *dueq__route_target(const dueq_client *client) {
    const struct dueq__op *op = client->op;
    if (!client->cluster || op->request.asking)
        return client->node;
    return op->queue ? client->cluster->slots[op->request.slot]
                     : dueq__route_primary(client, op->request.primary_index);
}

/* Sets the node that the call's request goes to; false: it is not known. */
static bool set_node(dueq_client *client) {
    struct dueq__node *node = dueq__route_target(client);
    if (node)
        client->node = node;
    else
        client->cluster->refresh_wanted = true;
    return node != NULL;
}

/* True: the call has a request that is not sent. */
static bool is_to_send(const dueq_client *client) {
    return client->op->phase == DUEQ__PHASE_RUNNING && !client->op->request.sent;
}

struct dueq__wait_conn **dueq__route_wait_conn(dueq_client *client, int slot) {
    return client->cluster ? &client->cluster->wait_conns[slot] : NULL;
}

void dueq__route_want_refresh(dueq_client *client) {
    if (client->cluster)
        client->cluster->refresh_wanted = true;
}

bool dueq__route_follow(dueq_client *client, const struct dueq__node *node,
                        const struct dueq__reply *reply, bool may_ask) {
    struct dueq__cluster *cluster = client->cluster;
    struct dueq__redirect to;
    if (!cluster || !dueq__redirect_read(reply, node->address.host, &to))
        return false;
    struct dueq__node *named = dueq__node_at(client, &(struct dueq__address){to.host, to.port});
    if (!named)
        return false;
    if (!to.ask)
        dueq__route_want_refresh(client);
    /* A node that names itself, or nodes that name each other, do not know the cluster's state. */
    if (named == node || ++client->op->request.redirects > MAX_REDIRECTS) {
        client->op->request.redirects = 0;
        cluster->slots[to.slot] = NULL;
        return false;
    }
    if (to.ask && !may_ask)
        return false;
    if (to.ask) {
        client->node = named;
        client->op->request.asking = true;
    } else {
        cluster->slots[to.slot] = named;
    }
    return true;
}

/* Asking for the map */

/* Asks the nodes of the present map, then those that the URL names. */
static bool start_query(dueq_client *client) {
    struct dueq__cluster *cluster = client->cluster;
    const struct dueq__url *url = &client->url;
    struct dueq__resp words;
    size_t known = 0, count = 0;
    for (const struct dueq__node *node = client->nodes; node; node = node->next)
        known++;
    free(cluster->addresses);
    cluster->addresses = malloc((known + url->host_count) * sizeof *cluster->addresses);
    if (!cluster->addresses)
        return false;
    for (const struct dueq__node *node = client->nodes; node; node = node->next)
        if (node->has_slots)
            cluster->addresses[count++] = dueq__url_reach(url, node->address);
    known = count ? count : url->host_count;
    for (size_t i = 0; i < url->host_count; i++)
        cluster->addresses[count++] = url->hosts[i];
    dueq__resp_texts(&words, (const char *const[]){"CLUSTER", "SLOTS", NULL});
    cluster->query = dueq__query_any_start(url, client->name, cluster->addresses, count,
                                           (size_t)dueq__random_below((int64_t)known), &words);
    if (cluster->query)
        dueq__client_add_conn(client, &cluster->query->conn);
    return cluster->query != NULL;
}

/*
 * A map while it is read. It has each primary once, also if the primary has several ranges of
 * slots. Primaries are numbered from 1.
 */
struct map {
    /* As the ranges say. A map with too many is refused. */
    size_t slots, primaries;
    uint16_t primary_of[DUEQ__SLOTS];
    uint16_t table[TABLE_SIZE]; /* a hash table; 0: free */
    struct {
        char host[DUEQ__HOST_ROOM];
        int port;
    } primary[MAX_PRIMARIES];
};

static uint16_t primary_number(struct map *map, const struct dueq__address *address) {
    size_t hash = (size_t)address->port;
    for (const char *at = address->host; *at; at++)
        hash = 31 * hash + (unsigned char)*at;
    uint16_t *place;
    for (; *(place = &map->table[hash % TABLE_SIZE]); hash++)
        if (map->primary[*place - 1].port == address->port &&
            strcmp(map->primary[*place - 1].host, address->host) == 0)
            return *place;
    if (map->primaries++ >= MAX_PRIMARIES)
        return 0;
    *place = (uint16_t)map->primaries;
    snprintf(map->primary[*place - 1].host, DUEQ__HOST_ROOM, "%s", address->host);
    map->primary[*place - 1].port = address->port;
    return *place;
}

static void note_range(void *owner, int first, int last, const struct dueq__address *address) {
    struct map *map = owner;
    map->slots += (size_t)(last - first + 1);
    if (map->slots > DUEQ__SLOTS || map->primaries > MAX_PRIMARIES)
        return;
    uint16_t number = primary_number(map, address);
    for (int slot = first; slot <= last; slot++)
        map->primary_of[slot] = number;
}

static bool is_idle(const dueq_client *client, const struct dueq__node *node) {
    bool idle = client->node != node && node->expected_count == 0 && !node->stale_id;
    for (const struct dueq__wait_conn *wait_conn = client->wait_conns; wait_conn;
         wait_conn = wait_conn->next)
        idle = idle && wait_conn->node != node;
    return idle;
}

/* Frees nodes that have left the cluster, and that nothing uses. */
static void forget_nodes(dueq_client *client) {
    struct dueq__node *next;
    for (struct dueq__node *node = client->nodes; node; node = next) {
        next = node->next;
        if (!node->has_slots && is_idle(client, node))
            dueq__node_free(client, node);
    }
}

/*
 * When the call's node is slow: it has not answered the request, or accepted the connection, for
 * DUEQ__SLOW_MS. Then another node may have taken over its slots.
 */
static int64_t slow_at_ms(const dueq_client *client) {
    const struct dueq__op *op = client->op;
    bool connects = client->node->conn.state != DUEQ__CONN_CLOSED &&
                    client->node->conn.state != DUEQ__CONN_READY;
    if (op->phase != DUEQ__PHASE_RUNNING || (!op->request.sent && !connects))
        return DUEQ__NEVER / 1000;
    return (op->request.sent ? op->request.sent_ms : client->node->down_since_ms) + DUEQ__SLOW_MS;
}

static bool is_slow(const dueq_client *client) {
    return dueq__monotonic_ms() >= slow_at_ms(client);
}

/*
 * The map names another node for the request's slot, and the old node has not answered for
 * DUEQ__SLOW_MS: gives the old one up. The new one is asked for the reply before the request is
 * repeated.
 */
static void leave_old_node(dueq_client *client) {
    struct dueq__node *before = client->node;
    if (!client->op->request.sent || !is_slow(client) || !set_node(client) ||
        client->node == before)
        return;
    dueq__node_drop(client, before);
    dueq__op_mark_unanswered(client->op);
}

static void use_map(dueq_client *client, const struct map *map) {
    struct dueq__node *nodes[MAX_PRIMARIES + 1] = {NULL};
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        node->has_slots = false;
    for (size_t i = 0; i < map->primaries; i++) {
        const struct dueq__address address = {map->primary[i].host, map->primary[i].port};
        nodes[i + 1] = dueq__node_at(client, &address);
        if (nodes[i + 1])
            nodes[i + 1]->has_slots = true;
    }
    for (size_t slot = 0; slot < DUEQ__SLOTS; slot++)
        client->cluster->slots[slot] = nodes[map->primary_of[slot]];
    client->cluster->refresh_wanted = false;
    client->ever_connected = true;
    leave_old_node(client);
    forget_nodes(client);
}

/* Uses the answer; false: it cannot be used, and the client asks the next node. */
static bool take_map(dueq_client *client) {
    struct dueq__query_any *query = client->cluster->query;
    struct map *map = calloc(1, sizeof *map);
    if (!map) {
        dueq__query_any_reject(query, DUEQ_NO_MEMORY, dueq_status_text(DUEQ_NO_MEMORY));
        return false;
    }
    dueq__slots_read(query->reply, query->addresses[query->current].host, note_range, map);
    bool good = map->slots <= DUEQ__SLOTS && map->primaries <= MAX_PRIMARIES;
    if (good)
        use_map(client, map);
    else
        dueq__query_any_reject(query, DUEQ_UNSUPPORTED,
                               "answers a map of more than 1,000 primaries, or 16,384 slots");
    free(map);
    return good;
}

/* The map has no node for the call: skips the queue of a wait, or tries again. */
static void skip_or_retry(dueq_client *client) {
    if (!dueq__wait_skip_down_node(client))
        dueq__backoff_retry_later(client, client->error.text);
}

/* No node told the map: a call that needs the map is tried again, or fails. */
static void on_map_failed(dueq_client *client) {
    const struct dueq__error *error = &client->cluster->query->error;
    client->error = *error;
    if (!is_to_send(client))
        return;
    if (dueq__backoff_is_fatal(client, error))
        dueq__op_finish(client, error->status);
    else
        skip_or_retry(client);
}

bool dueq__route_pump(dueq_client *client) {
    struct dueq__cluster *cluster = client->cluster;
    if (!cluster)
        return true;
    bool routed = !is_to_send(client) || set_node(client);
    cluster->refresh_wanted = cluster->refresh_wanted || is_slow(client);
    if (!cluster->query && cluster->refresh_wanted &&
        dueq__monotonic_ms() >= cluster->next_refresh_ms && !start_query(client))
        dueq__op_no_memory(client);
    if (!cluster->query)
        return routed;
    bool told = false;
    while (!told && !cluster->query->error.status) {
        if (!dueq__query_any_pump(cluster->query))
            return routed;
        told = cluster->query->reply && take_map(client);
    }
    if (!told)
        on_map_failed(client);
    end_query(client);
    routed = !is_to_send(client) || set_node(client);
    if (!routed && told) {
        dueq__fail(&client->error, DUEQ_UNAVAILABLE,
                   "%s: no node of the cluster has the slot of the queue", client->url.shown);
        skip_or_retry(client);
    }
    return routed;
}

int64_t dueq__route_next_ms(const dueq_client *client) {
    const struct dueq__cluster *cluster = client->cluster;
    bool wanted =
        cluster && (cluster->refresh_wanted || (is_to_send(client) && !dueq__route_target(client)));
    if (cluster && (cluster->query || wanted))
        return cluster->query ? cluster->query->try_deadline_ms : cluster->next_refresh_ms;
    return cluster ? slow_at_ms(client) : DUEQ__NEVER / 1000;
}

struct dueq__conn *dueq__route_conn(const dueq_client *client) {
    const struct dueq__cluster *cluster = client->cluster;
    return cluster && cluster->query ? &cluster->query->conn : NULL;
}

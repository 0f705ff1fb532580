/* The servers that a client speaks to, and how a request finds its server. */
#ifndef DUEQ_CLIENT_NODE_H
#define DUEQ_CLIENT_NODE_H

#include "../net/net.h"

struct dueq__cluster; /* route.c */

/* What the next reply on the command connection answers. */
enum dueq__expect {
    DUEQ__EXPECT_CALL,
    DUEQ__EXPECT_LOAD,
    DUEQ__EXPECT_RECALL,
    DUEQ__EXPECT_RECALL_SIZE, /* of the answer to a recall */
    DUEQ__EXPECT_CLIENT_LIST, /* is the old connection still open? */
    DUEQ__EXPECT_CLIENT_KILL,
    DUEQ__EXPECT_WAIT_SUPPORT, /* may WAIT be sent on this connection? */
    DUEQ__EXPECT_WAIT,         /* of WAIT, behind a call */
    DUEQ__EXPECT_UNBLOCK,      /* from here on: the call does not wait for it */
    DUEQ__EXPECT_IGNORED,
    DUEQ__EXPECT_PROBE,
    DUEQ__EXPECT_LOOK, /* which queues of a wait have wake tokens? */
    DUEQ__EXPECT_TRACK /* of what a foreign wait sends before a request */
};
#define DUEQ__MAX_EXPECTED (DUEQ_MAX_QUEUES + 16)

/* A node without an answer, or a connection, for this long is slow: another may have taken over. */
#define DUEQ__SLOW_MS 1000
/* How often calls that can go on without a node connect to it. */
#define DUEQ__RECONNECT_PAUSE_MS 1000

/* node.c: one server that the client speaks to: the only one, or a node of a cluster. */
struct dueq__node {
    char host[DUEQ__HOST_ROOM];
    struct dueq__address address; /* as it announces itself; no host: the server of the URL */
    struct dueq__conn conn;       /* for requests */
    struct dueq__server_info server_info;
    enum dueq__expect expected[DUEQ__MAX_EXPECTED];
    size_t expected_count;
    uint64_t max_reply_bytes; /* of the answer to the last call's request */
    int64_t stale_id;         /* a lost connection from which the server may still read; 0: none */
    /*
     * 0: it is connected. Else since when the client tries to connect, or since when an answer was
     * missing on the connection that was lost.
     */
    int64_t down_since_ms;
    int64_t last_try_ms; /* the last try to connect */
    int64_t next_try_ms; /* calls that can go on without it do not connect before then */
    bool has_slots;      /* by the last map */
    bool counted;        /* only for dueq__route_primary(), which counts primaries */
    struct dueq__node *next;
};

enum dueq__wait_conn_use {
    DUEQ__WAIT_CONN_FREE, /* no call uses it */
    DUEQ__WAIT_CONN_IDLE, /* the call uses it, and it does not block */
    DUEQ__WAIT_CONN_BLOCKS,
    DUEQ__WAIT_CONN_ENDS /* it blocks, and CLIENT UNBLOCK was sent for it */
};

/*
 * wait_conn.c: a connection that blocks on the wake tokens of queues in one slot. It stays open
 * when a call ends.
 */
struct dueq__wait_conn {
    struct dueq__conn conn;
    struct dueq__node *node;
    enum dueq__wait_conn_use use;
    /* BLOCKS or ENDS: a block goes on although no call uses the connection. FREE: none does. */
    enum dueq__wait_conn_use kept;
    const dueq_queue *only_queue; /* its last block is for this queue; NULL: for several */
    int slot;
    bool quiet;                /* no bytes have come, so it is not read */
    bool late_reply;           /* a block was ended: a server that was paused may answer it again */
    int64_t unblock_again_ms;  /* when to repeat CLIENT UNBLOCK */
    int64_t block_deadline_ms; /* if the block has not ended by then, the server is gone */
    struct dueq__wait_conn *next;
};

/* node.c */
/* Adds a connection to those of the client. */
void dueq__client_add_conn(dueq_client *client, struct dueq__conn *conn);
/* Removes a connection from those of the client, and closes it. */
void dueq__client_remove_conn(dueq_client *client, struct dueq__conn *conn);
/*
 * The node of an address (NULL: of the URL's server). Makes the node if the client has none. NULL:
 * out of memory.
 */
struct dueq__node *dueq__node_at(dueq_client *client, const struct dueq__address *address);
void dueq__node_free(dueq_client *client, struct dueq__node *node);
/*
 * Starts a connection to a node. False: it cannot be started; the call is final, or tries again at
 * op->retry.next_ms.
 */
bool dueq__node_connect(dueq_client *client, struct dueq__conn *conn, struct dueq__node *node);
/*
 * Notes a try to connect, or the loss of a connection. since_ms: when the try began, or since when
 * an answer was missing.
 */
void dueq__node_note_try(struct dueq__node *node, int64_t since_ms);
/* Reads and writes on its connection, and notes when it is connected. */
void dueq__node_pump(dueq_client *client, struct dueq__node *node);
/* True: a connection to it is being made, perhaps beside the call. */
bool dueq__node_is_connecting(const struct dueq__node *node);
/* True: away for DUEQ__SLOW_MS or longer, so that a wait for several queues goes on without it. */
bool dueq__node_is_down(const struct dueq__node *node);
/* True: a connection to it has just failed. */
bool dueq__node_backs_off(const struct dueq__node *node);
/* True: a node with slots is down. */
bool dueq__node_any_down(const dueq_client *client);
/* True: a reply of this kind has not come yet. */
bool dueq__node_expects(const struct dueq__node *node, enum dueq__expect expect);
/* True: a reply for which the call waits has not come yet. */
bool dueq__node_expects_call(const struct dueq__node *node);
/* Queues a command on its connection; false: there is none. send_resp frees the words. */
bool dueq__node_send(struct dueq__node *node, enum dueq__expect expect, const dueq_bytes *words,
                     size_t count);
bool dueq__node_send_resp(struct dueq__node *node, enum dueq__expect expect,
                          struct dueq__resp *words);
/* Sends CLIENT LIST ID or CLIENT KILL ID (`verb`) about its lost connection. */
bool dueq__node_send_about_stale(struct dueq__node *node, enum dueq__expect expect,
                                 const char *verb);
/* Closes its connection. The server may still read what the client has sent on it. */
void dueq__node_drop(dueq_client *client, struct dueq__node *node);

/* route.c: which node of a cluster a request goes to. Without a cluster it is client->node. */
bool dueq__route_open(dueq_client *client); /* false: out of memory */
/* Forgets the map of slots. */
void dueq__route_close(dueq_client *client);
/* The node that has a queue; NULL: not known. */
struct dueq__node *dueq__route_node(const dueq_queue *queue);
/* The node that the call's request goes to; NULL: not known. */
struct dueq__node *dueq__route_target(const dueq_client *client);
/*
 * A primary of the cluster by its index: primaries are in the order of their first slots. NULL: the
 * map has fewer.
 */
struct dueq__node *dueq__route_primary(const dueq_client *client, size_t index);
/* Asks for the map if that is due, and sets client->node for the call; false: not known yet. */
bool dueq__route_pump(dueq_client *client);
/*
 * Follows an error that names another node: MOVED, and with may_ask also ASK. False: it names none,
 * or a useless one.
 */
bool dueq__route_follow(dueq_client *client, const struct dueq__node *node,
                        const struct dueq__reply *reply, bool may_ask);
/*
 * The place that holds the connection on which calls last waited for queues of a slot. By now the
 * connection may be another slot's. NULL: the client has no cluster.
 */
struct dueq__wait_conn **dueq__route_wait_conn(dueq_client *client, int slot);
/* A node was lost, or takes no writes: the map may have changed. */
void dueq__route_want_refresh(dueq_client *client);
/* When dueq__route_pump() has something to do at the latest, in ms. */
int64_t dueq__route_next_ms(const dueq_client *client);
/* The connection on which the map is asked for; NULL: it is not asked for now. */
struct dueq__conn *dueq__route_conn(const dueq_client *client);

#endif

/*
 * The servers that a client speaks to, and which of them a request goes to.
 */
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
    DUEQ__EXPECT_TRACK /* of what a foreign wait sends before a request */
};
#define DUEQ__MAX_EXPECTED (DUEQ_MAX_PARTITIONS + 16)

/*
 * After so long without an answer, or a connection, a node is slow: another one may have taken
 * over.
 */
#define DUEQ__SLOW_MS 1000
/* How often calls that can go on without a node connect to it. */
#define DUEQ__RECONNECT_PAUSE_MS 1000

/* node.c: one server that the client speaks to: the only one, or a node of a cluster. */
struct dueq__node {
    char host[DUEQ__HOST_ROOM];
    struct dueq__address address; /* as it announces itself; no host: where the URL leads */
    struct dueq__conn conn;       /* for requests */
    struct dueq__server_info server_info;
    enum dueq__expect expected[DUEQ__MAX_EXPECTED];
    size_t expected_count;
    uint64_t max_reply_bytes; /* of the answer to the last call's request */
    int64_t stale_id; /* a lost connection that the server may still read a request from; 0: none */
    /*
     * Since when it is connected to, over all tries, or an answer of a lost connection is missing;
     * 0: it is connected.
     */
    int64_t down_since_ms;
    int64_t last_try_ms; /* the last try to connect */
    int64_t next_try_ms; /* calls that can go on without it do not connect before then */
    bool has_slots;      /* as far as is known */
    bool counted;        /* among the primaries, while they are counted */
    struct dueq__node *next;
};

enum dueq__wait_conn_use {
    DUEQ__WAIT_CONN_FREE, /* the call under way does not use it, or none is */
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
    int slot;
    bool late_reply;           /* a block was ended: a server that was paused may answer it again */
    int64_t unblock_again_ms;  /* when to repeat CLIENT UNBLOCK */
    int64_t block_deadline_ms; /* where the block has not ended by then, the server is gone */
    struct dueq__wait_conn *next;
};

/* node.c */
/* Makes a connection one of the client's, and closes one that is so no longer. */
void dueq__client_add_conn(dueq_client *client, struct dueq__conn *conn);
void dueq__client_remove_conn(dueq_client *client, struct dueq__conn *conn);
/*
 * The node of that address (NULL: where the URL leads), made if it is not known yet; NULL: out of
 * memory.
 */
struct dueq__node *dueq__node_at(dueq_client *client, const struct dueq__address *address);
void dueq__node_free(dueq_client *client, struct dueq__node *node);
/*
 * Starts a connection to a node; false: it cannot be, and the call is final, or it is tried again
 * at retry_ms.
 */
bool dueq__node_connect(dueq_client *client, struct dueq__conn *conn, struct dueq__node *node);
/*
 * Notes a try to connect to it, or that its connection was lost with an answer that is missing
 * since then.
 */
void dueq__node_note_try(struct dueq__node *node, int64_t since_ms);
/* Moves its connection on. */
void dueq__node_pump(dueq_client *client, struct dueq__node *node);
/* Is it being connected to, beside the call if need be? */
bool dueq__node_is_connecting(const struct dueq__node *node);
/* Has it not been reached for so long that a wait for several queues goes on without it? */
bool dueq__node_is_down(const struct dueq__node *node);
/* Has a connection to it just failed? */
bool dueq__node_backs_off(const struct dueq__node *node);
/* Is that one of those that are known to have slots? */
bool dueq__node_any_down(const dueq_client *client);
/* Is such an answer of the node still to come? */
bool dueq__node_expects(const struct dueq__node *node, enum dueq__expect expect);
/* Is one that the call waits for? */
bool dueq__node_expects_call(const struct dueq__node *node);
/* Queues a command on its connection; false: there is none. */
bool dueq__node_send(struct dueq__node *node, enum dueq__expect expect, const dueq_bytes *words,
                     size_t count);
bool dueq__node_send_resp(struct dueq__node *node, enum dueq__expect expect,
                          const struct dueq__resp *words);
/* Sends CLIENT LIST ID or CLIENT KILL ID (`verb`) about its lost connection. */
bool dueq__node_send_about_stale(struct dueq__node *node, enum dueq__expect expect,
                                 const char *verb);
/* Closes its connection; the server may still read what was sent on it. */
void dueq__node_drop(dueq_client *client, struct dueq__node *node);

/* route.c: which node of a cluster a request goes to. Of a single server all of it is plain. */
bool dueq__route_open(dueq_client *client); /* false: out of memory */
/* Forgets what is known. */
void dueq__route_close(dueq_client *client);
/* The node that has a queue; NULL: not known. */
struct dueq__node *dueq__route_node(const dueq_queue *queue);
/* The node that the call's request goes to; NULL: not known. */
struct dueq__node *dueq__route_target(const dueq_client *client);
/*
 * Of a cluster the i-th of the primaries that are known, in the order of their first slots; NULL:
 * there are not so many.
 */
struct dueq__node *dueq__route_primary(const dueq_client *client, size_t index);
/* Asks for the map if that is due, and sets client->node for the call; false: not known yet. */
bool dueq__route_pump(dueq_client *client);
/*
 * Follows what an error of a node says of another one; may_ask: also to a node that imports the
 * slot. False: it says nothing of use.
 */
bool dueq__route_follow(dueq_client *client, const struct dueq__node *node,
                        const struct dueq__reply *reply, bool may_ask);
/* A node was lost, or is none that takes writes: the map may have changed. */
void dueq__route_want_refresh(dueq_client *client);
/*
 * When dueq__route_pump() has something to do at the latest, in ms, and what it waits for (NULL:
 * nothing).
 */
int64_t dueq__route_next_ms(const dueq_client *client);
struct dueq__conn *dueq__route_conn(const dueq_client *client);

#endif

/* A call that may wait for one of several queues. */
#ifndef DUEQ_WAIT_H
#define DUEQ_WAIT_H

#include "../net/net.h"
#include "keys.h"

/* What a call that waits blocks on, on the waiting connection: wait_block.c. */
enum dueq__wait_block {
    DUEQ__BLOCK_WAKE_TOKENS, /* the wake tokens of its queues */
    DUEQ__BLOCK_TOKENS,      /* a list with a token for each item */
    DUEQ__BLOCK_LIST, /* the items' own list: one is parked in another for the request to take */
    DUEQ__BLOCK_NONE
};

/* What it is told meanwhile, on the listening connection: invalidation.c. */
enum dueq__told {
    DUEQ__TOLD_NOTHING,
    DUEQ__TOLD_TIMES,  /* the next time, by a channel */
    DUEQ__TOLD_CHANGES /* that keys have changed, by the server */
};
#define DUEQ__MAX_TRACKED 3

/* The listening connection; it stays subscribed when a call ends. */
struct dueq__subscription {
    struct dueq__conn *conn;
    bool up;            /* started, and not yet seen closed */
    bool on;            /* the server has confirmed the channel */
    unsigned refusals;  /* to tell of changes, in a row */
    dueq_bytes channel; /* it was asked for; owned */
    int64_t told;       /* its number where the command connection has its changes told; 0: none */
};

/* One of the queues that a call waits for: wait.c. */
struct dueq__watch {
    dueq_queue *queue;
    size_t place;    /* in the caller's array */
    dueq_bytes wake; /* the key of its wake token, of its tokens or list; its channel */
    int64_t look_us; /* when to look, by the monotonic clock */
    bool ask;        /* it is to be asked */
    bool timekeeper; /* the server counts on this client: to look at look_us, or for a lock */
    bool token;      /* a token or item is held that no request has declared yet */
};

struct dueq__wait {
    size_t count; /* items of the call */
    int64_t lease_ms, default_lease_ms;
    struct dueq__watch *watches; /* in the order in which they are asked; owned */
    size_t watch_count;
    size_t at, begun;         /* the one being asked; how many were asked at least once */
    int64_t now_ms, pause_us; /* the answer's: the server's clock, and how long to wait */
    bool locks;               /* it is for a lock, not for messages */
    enum dueq__wait_block block;
    enum dueq__told told_of;
    dueq_bytes parked; /* BLOCK_LIST: the list that an item goes to until a request takes it */
    dueq_bytes tracked[DUEQ__MAX_TRACKED]; /* TOLD_CHANGES: the keys whose changes are told */
    size_t tracked_count;
    dueq_bytes tokened; /* and the one of them for whose items tokens are put into the list */
    bool found;         /* the call's result is what it waited for */
    bool fruitless;     /* the call has found nothing so far */
    bool told;          /* of changes since the last request */
    int64_t changed_us; /* when to look because of one; DUEQ__NEVER: there was none */
    /* Makes the request about watches[at]; stay: the call goes on waiting when there is nothing. */
    dueq_status (*ask)(dueq_client *client, bool stay);
    /* Puts a command together that gives back what the server counts on this client for; or NULL. */
    void (*let_go)(dueq_client *client, const struct dueq__watch *watch, struct dueq__resp *words);
    int64_t slack_us;   /* how much later than it was told it looks */
    int64_t until_ms;   /* the caller's patience; 0: it does not wait */
    int64_t end_ms;     /* when the call ends at the latest */
    int64_t probe_ms;   /* when to probe, or to give a probe up */
    int64_t unblock_ms; /* when to repeat CLIENT UNBLOCK */
    int64_t ahead_ms;   /* the server's clock less the monotonic one */
    unsigned probes;    /* sent in this wait, and one more by chance */
    bool probing;       /* and one is under way */
    bool blocked;       /* a blocking command is under way on the waiting connection */
    bool unblocking;    /* and CLIENT UNBLOCK was sent for it */
    size_t quarantined; /* entries that were quarantined during the wait */
};

/* ---- wait.c -------------------------------------------------------------------------------------- */

/*
 * Begins such a call on `count` queues with their wake tokens, which are filled in afterwards; then
 * dueq__wait_ask() for the first. timeout_ms: 0 not at all, DUEQ_FOREVER.
 */
dueq_status dueq__wait_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             int64_t timeout_ms);
/* Sends a request about watches[at]. */
dueq_status dueq__wait_ask(dueq_client *client, size_t at);
/* The answer brought nothing; look in pause_us (0 or more), or leave that to others (-1). */
void dueq__wait_nothing(dueq_client *client, int64_t now, int64_t pause_us);
/* Looks at each of its queues by then at the latest, by the monotonic clock. */
void dueq__wait_look_by(dueq_client *client, int64_t look_us);
/* A connection that it waits on could not be had: it looks now and then. */
void dueq__wait_blind(dueq_client *client);
void dueq__wait_pump(dueq_client *client);
void dueq__wait_probed(dueq_client *client, const struct dueq__reply *reply);
/* When dueq__wait_pump() has something to do at the latest, by the monotonic clock. */
int64_t dueq__wait_next_us(const dueq_client *client);

/* ---- wait_block.c -------------------------------------------------------------------------------------- */

/* Sends the blocking command, which ends by itself after left_ms; false: it could not be sent. */
bool dueq__wait_block_send(dueq_client *client, int64_t left_ms);
/* Takes the answer in: notes which queues are to be asked. */
void dueq__wait_block_answer(dueq_client *client, const struct dueq__reply *reply);
/* Gives a token or item back that was meant for somebody who has time for it. */
void dueq__wait_block_give_back(dueq_client *client, const struct dueq__watch *watch);

/* ---- invalidation.c ------------------------------------------------------------------------------------- */

/* Will this call be told anything? */
bool dueq__invalidation_wanted(const dueq_client *client);
void dueq__invalidation_pump(dueq_client *client);
/* When dueq__invalidation_pump() has something to do at the latest, in ms. */
int64_t dueq__invalidation_next_ms(const dueq_client *client);
/* Right before a request: has the server tell of changes from here on, where that is possible. */
void dueq__invalidation_track(dueq_client *client);
void dueq__invalidation_tracked(dueq_client *client, const struct dueq__reply *reply);
/* The command connection was lost: nothing is told on its behalf any more. */
void dueq__invalidation_untold(dueq_client *client);
/* dueq__wait_nothing() of a call that changes are told to; where none can be, it looks now and then. */
void dueq__invalidation_nothing(dueq_client *client, int64_t now, int64_t pause_ms);
void dueq__invalidation_hang_up(dueq_client *client);

/* ---- wait_end.c: how a wait ends --------------------------------------------------------------------- */

/* The answer is this, which the call owns from now on; NULL: it could not be made, and the error is set. */
void dueq__wait_found(dueq_client *client, dueq_result *result);
/* The answer is there (wait.found), or there is none: ends the block, and what is owed to others. */
void dueq__wait_end(dueq_client *client);
/* Repeats an UNBLOCK that had no effect, and gives leaving up at its end. */
void dueq__wait_end_pump(dueq_client *client);
bool dueq__wait_unblock(dueq_client *client);
void dueq__wait_unblocked(dueq_client *client, const struct dueq__reply *reply);
/* Ends the block the hard way. */
void dueq__wait_close(dueq_client *client);
/* Gives a wait up: hands on what it may hold, as far as that goes without blocking. */
void dueq__wait_abandon(dueq_client *client);

#endif

/* A call that may wait for one of several queues. Included by internal.h. */
#ifndef DUEQ_WAIT_H
#define DUEQ_WAIT_H

struct dueq__reply;
struct dueq__words;

/* What a call that waits blocks on, on the waiting connection: block.c. */
enum dueq__block {
    DUEQ__BLOCK_MARKERS, /* the wake markers of its queues */
    DUEQ__BLOCK_TOKENS,  /* a list with a token for each item */
    DUEQ__BLOCK_LIST,    /* the items' own list: one is parked in another for the request to take */
    DUEQ__BLOCK_CHANNEL, /* nothing; it is subscribed to a channel that tells the next time */
    DUEQ__BLOCK_TIMER    /* nothing */
};

/* One of the queues that a call waits for: wait.c. */
struct dueq__watch {
    dueq_queue *queue;
    size_t place;    /* in the caller's array */
    dueq_bytes wake; /* the key of its wake marker; of its tokens, list or channel */
    int64_t look_us; /* when to look, by the monotonic clock */
    bool ask;        /* it is to be asked */
    bool claim;      /* the server counts on this client: to look at look_us, or for a lock */
    bool torch;      /* a marker, token or item is held that no request has declared yet */
};

struct dueq__wait {
    size_t count; /* items of the call */
    int64_t lease_ms, default_lease_ms;
    struct dueq__watch *watches; /* in the order in which they are asked; owned */
    size_t watch_count;
    size_t at, begun; /* the one being asked; how many were asked at least once */
    bool duty;        /* the request declares a torch or a claim */
    unsigned repeats; /* of a request that needed another queue, in a row */
    bool locks;       /* it is for a lock, not for messages */
    enum dueq__block block;
    /* Makes the request about watches[at]; stay: the call goes on waiting when there is nothing. */
    dueq_status (*ask)(dueq_client *client, bool stay);
    /* Puts a command together that gives back what the server counts on this client for; or NULL. */
    void (*let_go)(dueq_client *client, const struct dueq__watch *watch, struct dueq__words *words);
    int64_t until_ms;   /* the caller's patience; 0: it does not wait */
    int64_t end_ms;     /* when the call ends at the latest */
    int64_t probe_ms;   /* when to probe, or to give a probe up */
    int64_t unblock_ms; /* when to repeat CLIENT UNBLOCK */
    int64_t ahead_ms;   /* the server's clock less the monotonic one */
    unsigned probes;    /* sent in this wait, and one more by chance */
    bool probing;       /* and one is under way */
    bool blocked;       /* a blocking command is under way on the waiting connection */
    bool unblocking;    /* and CLIENT UNBLOCK was sent for it */
    size_t damaged;
};

/* ---- wait.c -------------------------------------------------------------------------------------- */

/*
 * Begins such a call on `count` queues with their wake markers, which are filled in afterwards; then
 * dueq__wait_ask() for the first. timeout_ms: 0 not at all, DUEQ_FOREVER.
 */
dueq_status dueq__wait_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             int64_t timeout_ms);
dueq_status dueq__wait_check(dueq_queue *queue, int64_t timeout_ms);
/* Sends a request about watches[at]. */
dueq_status dueq__wait_ask(dueq_client *client, size_t at);
/* The answer brought nothing; look in pause_us (0 or more), or leave that to others (-1). */
void dueq__wait_nothing(dueq_client *client, int64_t now, int64_t pause_us);
void dueq__wait_pump(dueq_client *client);
void dueq__wait_probed(dueq_client *client, const struct dueq__reply *reply);
/* When dueq__wait_pump() has something to do at the latest, by the monotonic clock. */
int64_t dueq__wait_next_us(const dueq_client *client);

/* Closes the waiting connection, and forgets what was subscribed on it. */
void dueq__wait_hang_up(dueq_client *client);

/* ---- block.c -------------------------------------------------------------------------------------- */

/* Does the call still have to block, or to subscribe? */
bool dueq__block_due(const dueq_client *client);
/* Is the waiting connection subscribed to something that this call does not wait for? */
bool dueq__block_strange(const dueq_client *client);
/* Sends the blocking command, which ends by itself after left_ms; false: it could not be sent. */
bool dueq__block_send(dueq_client *client, int64_t left_ms);
/* Takes the answer in: notes which queues are to be asked, or when. */
void dueq__block_answer(dueq_client *client, const struct dueq__reply *reply);
/* Gives a marker, token or item back that was meant for somebody who has time for it. */
void dueq__block_give_back(dueq_client *client, const struct dueq__watch *watch);

/* ---- leave.c: how a wait ends --------------------------------------------------------------------- */

/* The answer is there (call->result), or there is none: ends the block, and what is owed to others. */
void dueq__wait_leave(dueq_client *client);
/* Repeats an UNBLOCK that had no effect, and gives leaving up at its end. */
void dueq__wait_leave_pump(dueq_client *client);
bool dueq__wait_unblock(dueq_client *client);
void dueq__wait_unblocked(dueq_client *client, const struct dueq__reply *reply);
/* Ends the block the hard way. */
void dueq__wait_close(dueq_client *client);
/* Gives a wait up: hands on what it may hold, as far as that goes without blocking. */
void dueq__wait_abandon(dueq_client *client);

#endif

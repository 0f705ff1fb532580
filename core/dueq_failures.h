/* A part of dueq.h: what dueq_failures() returns. */
#ifndef DUEQ_FAILURES_H
#define DUEQ_FAILURES_H

#include "dueq.h"

/* What happened to a message. */
typedef enum dueq_failure_kind {
    DUEQ_FAILED = 1,  /* its delivery ended by retry, and it is delivered again */
    DUEQ_CRASHED = 2, /* its lease ended before it was settled */
    DUEQ_BURIED = 3,  /* its delivery ended by bury */
    DUEQ_DIED = 4     /* it died: its attempts or crashes are used up, or it is corrupt */
} dueq_failure_kind;

/* "failed", "crashed", "buried", "died"; "unknown" for anything else. Static. */
DUEQ_API const char *dueq_failure_name(dueq_failure_kind kind);

/*
 * A failure of a message. A queue keeps the last DUEQ_MAX_FAILURES of all messages. All pointers
 * live as long as the result.
 */
typedef struct dueq_failure {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_failure. */
    /*
     * When the message failed, by the server's clock. For a crash: when a reserve noticed the
     * crash.
     */
    int64_t time_ms;
    /*
     * failed: the message was retried. crashed: its lease ended. buried: a consumer buried it.
     * died: its attempts or crashes are used up, or it is damaged.
     */
    dueq_failure_kind kind;
    dueq_bytes id; /* the id of the message */
    /*
     * The ticket of the delivery. The worker that has the ticket in its `leases` had the message.
     */
    dueq_bytes ticket;
    uint32_t delivery;  /* the number of the delivery, from 1 on */
    int64_t created_ms; /* when the message was pushed, by the producer's clock */
    /* The host of the process that settled the message. Size 0: no process did, as for a crash. */
    dueq_bytes host;
    int64_t pid;      /* the number of that process; 0: no process settled the message */
    dueq_bytes error; /* the first 500 bytes of the error; may be empty */
    /* The end of what was made. */
} dueq_failure;

/* The failure of an item, in a result of dueq_failures(); else NULL. */
DUEQ_API const dueq_failure *dueq_result_failure(const dueq_result *result, size_t index);

#endif

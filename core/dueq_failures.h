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
    dueq_bytes id;
    dueq_bytes ticket; /* of the delivery; the dueq_worker that lists this ticket had the message */
    dueq_failure_kind kind;
    uint32_t delivery;  /* the number of the delivery: 1 for the first */
    int64_t time_ms;    /* when it happened; of a crash: when a reserve noticed it */
    int64_t created_ms; /* as in dueq_message */
    dueq_bytes host;    /* of the process that settled the message; empty if none did (a crash) */
    int64_t pid;        /* of that process; 0: none */
    dueq_bytes error;   /* the first 500 bytes of the error's text; may be empty */
} dueq_failure;

/* The failure of an item, in a result of dueq_failures(); else NULL. */
DUEQ_API const dueq_failure *dueq_result_failure(const dueq_result *result, size_t index);

#endif

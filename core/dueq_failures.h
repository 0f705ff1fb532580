/* A part of dueq.h: what failed in a queue, as failures answers it. */
#ifndef DUEQ_FAILURES_H
#define DUEQ_FAILURES_H

#include "dueq.h"

/* What happened to a message. */
typedef enum dueq_failure_kind {
    DUEQ_FAILED = 1,  /* its delivery ended by retry, and it is delivered again */
    DUEQ_CRASHED = 2, /* its lease ended */
    DUEQ_BURIED = 3,  /* its delivery ended by bury */
    DUEQ_DIED = 4     /* it died: its attempts or crashes are used up, or it is damaged */
} dueq_failure_kind;

/* "failed", "crashed", "buried", "died"; "unknown" for anything else. Static. */
DUEQ_API const char *dueq_failure_name(dueq_failure_kind kind);

/* One failure. A queue keeps the last DUEQ_MAX_FAILURES. All pointers live as long as the result. */
typedef struct dueq_failure {
    dueq_bytes id;
    dueq_bytes ticket; /* of the delivery; of a worker's holding it tells who had it */
    dueq_failure_kind kind;
    uint32_t delivery;  /* its number: 1 of the first */
    int64_t time_ms;    /* by the server's clock: of a crash when it was noticed */
    int64_t created_ms; /* when the message was pushed, as dueq_message has it */
    dueq_bytes host;    /* whose process said so; empty where none did, as of a crash */
    int64_t pid;        /* the process; 0: none */
    dueq_bytes error;   /* its first 500 bytes; may be empty */
} dueq_failure;

/* failures; else NULL. */
DUEQ_API const dueq_failure *dueq_result_failure(const dueq_result *result, size_t index);

#endif

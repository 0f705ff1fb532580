/* A part of dueq.h: what dueq_outcome() returns. */
#ifndef DUEQ_ENDS_H
#define DUEQ_ENDS_H

#include "dueq.h"

/* The end of a message. All pointers live as long as the result. */
typedef struct dueq_end {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_end. */
    dueq_bytes id;       /* the id of the message */
    const char *outcome; /* how it ended: acked, dead, cancelled, expired or purged */
    int64_t time_ms;     /* when it ended, by the server's clock */
    int64_t created_ms;  /* when the message was pushed, by the producer's clock */
    /*
     * How long the message waited: from its push until its last delivery began, or until it ended
     * without one. -1: not known.
     */
    int64_t waited_ms;
    /* How long its last delivery ran. -1: no delivery ended it, or it is not known. */
    int64_t ran_ms;
    uint32_t deliveries; /* how many deliveries it had */
    dueq_bytes host;     /* the host of the process that ended it; Size 0: not known */
    int64_t pid;         /* the number of that process; 0: not known */
    int has_result;      /* whether it was acknowledged with a result */
    dueq_bytes result;   /* the result; empty if it has none */
    dueq_bytes error;    /* of a dead message, the text of its last error; may be empty */
    /* Until when the end is kept. 0: as long as the dead message is in the queue. */
    int64_t until_ms;
    /* The end of what was made. */
} dueq_end;

/* The end of a message, in a result of dueq_outcome(); else NULL. */
DUEQ_API const dueq_end *dueq_result_end(const dueq_result *result, size_t index);

#endif

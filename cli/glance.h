/* Queues at a glance, and why they are stuck: what dueq top and dueq web show. */
#ifndef DUEQ_CLI_GLANCE_H
#define DUEQ_CLI_GLANCE_H

#include "roster.h"

enum {
    GLANCE_MINUTES = 30, /* of history */
    GLANCE_GROUPS = 8,   /* errors that a queue shows */
    GLANCE_LOOKED = 50,  /* messages of a state that these are read from */
    GLANCE_ERROR = 160,  /* bytes of such an error */
    WHY_ROOM = 600       /* bytes of why a queue is stuck */
};

/* What a server that has queues says of its memory, in bytes. */
struct memory {
    char server[300]; /* its address, for people */
    int64_t used;     /* as far as the limit counts it */
    int64_t limit;    /* maxmemory; 0: none */
    bool evicts;      /* it deletes keys when it is full, and the URL does not accept that */
};

struct memories {
    struct memory *list;
    size_t count;
};

/* Messages whose errors are the same, but for their numbers. */
struct glance_group {
    char text[GLANCE_ERROR];
    dueq_state state; /* dead, or of those that are tried again */
    int64_t count, last_ms;
};

/* A queue, a partition of one, or the sums of all partitions of one. */
struct glance {
    const char *queue;
    const char *whole; /* that its consumers are registered with: the same, but of a partition */
    size_t parts;      /* of sums: how many rows behind it are of its partitions; else 0 */
    dueq_status status;
    char problem[200]; /* why it could not be read */
    dueq_counts counts;
    double in, out; /* pushed and delivered in a second; below 0: not known yet */
    dueq_rate minutes[GLANCE_MINUTES]; /* the latest last, also those without an event */
    struct glance_group groups[GLANCE_GROUPS];
    size_t group_count;
    int64_t workers, lapsed, held, working, slots;
};

/* Start from {0}; end with glance_end(). */
struct glances {
    struct roster roster; /* has the names that the rows point to */
    struct memories memories;
    struct glance *rows;
    size_t count;
    int64_t read_ms; /* when all of it was read, by time_monotonic_ms(); 0: never */
    int64_t took_ms;
};

/* ---- memory.c ---- */

/*
 * Asks the servers now, each by a connection of its own, for the URL's timeout at most; of a cluster those that the calls
 * before came to know. The list has those that answered, and permit it. End with memory_end().
 */
void memory_read(struct cli *cli, struct memories *memories);
void memory_end(struct memories *memories);
/* Whether it refuses what takes memory, or is about to. */
bool memory_full(const struct memory *memory);

/* ---- glance.c ---- */

/*
 * Reads these queues, or, where there are none, all of the server, and puts them in the place of what was read before.
 * A row has the sums of a queue's partitions where these were not named, but all queues or that one are wanted; theirs
 * follow. Of a queue that fails, its row has the status. Returns what concerns the server, and so all of them: then *glances stays
 * as it was. between: is called after each queue; may be NULL.
 */
dueq_status glance_read(struct cli *cli, char *names[], size_t count, struct glances *glances,
                        void (*between)(struct cli *cli));
/* Reads the numbers alone, of the queues that are there. `between` is called. */
dueq_status glance_read_counts(struct cli *cli, struct glances *glances,
                               void (*between)(struct cli *cli));
/* How many of a queue's messages are in the state. */
int64_t glance_count(const dueq_counts *counts, dueq_state state);
/* Whether a status concerns the server, and so all queues. */
bool glance_general(dueq_status status);
const struct glance *glance_find(const struct glances *glances, const char *queue);
/* Writes why a call failed. */
void glance_problem(const struct cli *cli, dueq_status status, char *problem, size_t room);
void glance_end(struct glances *glances);

/* ---- errors.c ---- */

/* The text of those without an error whose leases ended. */
extern const char glance_crashed[];
/*
 * The class of what a message failed of: the first line of its error with # in the place of each number, or in words that
 * there is none. False: it has not failed.
 */
bool glance_class(const dueq_message *message, char text[GLANCE_ERROR]);
/* Adds the errors of a page of messages. */
void glance_group_page(struct glance *row, const dueq_result *page);

/* ---- why.c ---- */

/* Why messages of the queue wait or fail, in words, which may hold what others wrote. False: nothing is wrong. */
bool why_queue(const struct glances *glances, const struct glance *row, char why[WHY_ROOM]);
/* What is wrong with the server, where it answers. */
bool why_server(const struct glances *glances, char why[WHY_ROOM]);

#endif

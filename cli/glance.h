/* Queues at a glance, and why they are stuck: what dueq top and dueq web show. */
#ifndef DUEQ_CLI_GLANCE_H
#define DUEQ_CLI_GLANCE_H

#include "dueq_server.h"
#include "roster.h"

enum {
    GLANCE_MINUTES = 30, /* of history */
    GLANCE_GROUPS = 8,   /* errors that a queue shows */
    GLANCE_LOOKED = 50,  /* messages of a state that these are read from */
    GLANCE_ERROR = 160,  /* bytes of such an error */
    WHY_ROOM = 600       /* bytes of why a queue is stuck */
};

/* What a server that has queues says of itself. */
struct health {
    char server[300];  /* its address, for people */
    int64_t used;      /* memory in bytes, as far as the limit counts it */
    int64_t limit;     /* maxmemory; 0: none */
    int64_t evicted;   /* keys that it has deleted since its start because its memory was full */
    bool evicts;       /* it deletes keys when it is full, and the URL does not accept that */
    const char *disk;  /* what failed to be written to disk; NULL: nothing. Static */
    bool disk_refuses; /* and therefore it refuses all writes */
    bool replica;      /* it refuses all writes */
    int64_t replicas,
        replicas_wanted; /* with fewer than min-replicas-to-write it refuses all writes */
    int64_t ahead_ms;    /* its clock, less this machine's */
};

struct healths {
    struct health *list;
    size_t count;
};

/* What can be wrong: X(NAME, code, what to do). metrics has the code as a label. */
#define WHY_CAUSES(X)                                                                              \
    X(UNREADABLE, "unreadable", "see what the error says")                                         \
    X(DISK, "disk", "see the server's log: the disk is full, or it may not write there")           \
    X(READ_ONLY, "read_only", "name the primary in the URL, or make this server one")              \
    X(REPLICAS, "replicas", "start the replicas again, or lower min-replicas-to-write")            \
    X(FULL, "full", "raise maxmemory, or dueq purge what nobody needs")                            \
    X(EVICTED, "evicted", "CONFIG SET maxmemory-policy noeviction; then dueq check each queue")    \
    X(EVICTING, "evicting", "CONFIG SET maxmemory-policy noeviction")                              \
    X(CLOCK, "clock", "let NTP set both clocks, by slewing")                                       \
    X(OUTBOX, "outbox", "mend the other queue; dueq peek QUEUE outbox shows them")                 \
    X(NOBODY, "nobody", "start workers for it, or see why they do not reserve")                    \
    X(HUNG, "hung", "dueq running QUEUE shows the messages; restart the workers that hang")        \
    X(BEHIND, "behind", "more workers, or faster ones")                                            \
    X(POISON, "poison", "dueq peek QUEUE dead says why; then dueq kick or dueq purge")             \
    X(CRASHING, "crashing", "see why workers are killed")                                          \
    X(FAILING, "failing", "dueq failures QUEUE says why")                                          \
    X(PAUSED, "paused", "dueq resume QUEUE, when it may go on")

enum cause {
#define WHY_ENUM(name, code, fix) CAUSE_##name,
    WHY_CAUSES(WHY_ENUM)
#undef WHY_ENUM
        CAUSES
};

/* What a person has to do: nothing, it is meant; look some time; act now. */
enum why_level { WHY_MEANT, WHY_LOOK, WHY_ACT };

struct why {
    enum cause cause;
    enum why_level level;
    char text[WHY_ROOM]; /* may hold what others wrote */
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
    bool leased_now; /* where no worker is registered: the lease of a message lasts */
    int urgency;     /* the level of what is wrong, of a partition with its queue; -1: nothing is */
};

/* Start from {0}; end with glance_end(). */
struct glances {
    struct roster roster; /* has the names that the rows point to */
    struct healths healths;
    struct glance *rows;
    size_t count;
    int64_t read_ms; /* when all of it was read, by time_monotonic_ms(); 0: never */
    int64_t took_ms;
};

/* ---- health.c ---- */

/*
 * Asks the servers now, each by a connection of its own, for the URL's timeout at most; of a cluster those that the calls
 * before came to know. The list has those that answered, and permit it. End with health_end().
 */
void health_read(struct cli *cli, struct healths *healths);
void health_end(struct healths *healths);
/* The same of one server. False: it does not answer, or this user may not ask. */
bool health_of(const struct cli *cli, dueq_server *conn, struct health *health);
/* Whether it refuses what takes memory, or is about to. */
bool health_full(const struct health *health);
/* Whether it takes writes. */
bool health_writable(const struct health *health);

/* ---- glance.c ---- */

/*
 * Reads these queues, or, where there are none, all of the server, and puts them in the place of what was read before: those
 * that need a person most come first.
 * A row has the sums of a queue's partitions where these were not named, but all queues or that one are wanted; theirs
 * follow. Of a queue that fails, its row has the status. Returns what concerns the server, and so all of them: then *glances stays
 * as it was. between: is called after each queue; may be NULL.
 */
dueq_status glance_read(struct cli *cli, char *names[], size_t count, struct glances *glances,
                        void (*between)(struct cli *cli));
/* Reads consumers, and makes the rows, of which it reads nothing. End with glance_end() whatever it returns. */
dueq_status glance_begin(struct cli *cli, char *names[], size_t count, struct glances *glances);
/* Reads one row, which is not of the sums of partitions; before: what it was the last time, or NULL. */
void glance_read_row(struct cli *cli, const struct glance *before, bool errors, struct glance *row);
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

/* ---- why.c: the diagnosis that all screens show ---- */

/* Why messages of the queue wait or fail. False: nothing is wrong. */
bool why_queue(const struct glances *glances, const struct glance *row, struct why *why);
/* What is wrong with a server, which answers. several: the text names this one. */
bool why_server(const struct health *health, bool several, struct why *why);
/* The worst of all servers. */
bool why_servers(const struct glances *glances, struct why *why);
const char *why_code(enum cause cause);
const char *why_level_name(enum why_level level);
/* What to do about a cause. */
const char *why_fix(enum cause cause);

#endif

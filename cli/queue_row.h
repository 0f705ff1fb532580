/*
 * A row for each queue: its counts, rates, errors and workers, and why it is stuck. dueq top,
 * metrics, doctor and web show them.
 */
#ifndef DUEQ_CLI_QUEUE_ROW_H
#define DUEQ_CLI_QUEUE_ROW_H

#include "dueq_server.h"
#include "workers_view.h"

enum {
    ROW_MINUTES = 30,       /* of history */
    ROW_ERROR_GROUPS = 8,   /* errors that a queue shows */
    ROW_ERRORS_READ = 50,   /* messages of a state that these are read from */
    ERROR_CLASS_SIZE = 160, /* bytes of such an error */
    DIAGNOSIS_SIZE = 600    /* bytes of why a queue is stuck */
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
#define CAUSES_LIST(X)                                                                             \
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
    CAUSES_LIST(WHY_ENUM)
#undef WHY_ENUM
        CAUSES
};

/* What a person has to do: nothing, it is meant; look some time; act now. */
enum severity { SEVERITY_MEANT, SEVERITY_LOOK, SEVERITY_ACT };

struct diagnosis {
    enum cause cause;
    enum severity level;
    char text[DIAGNOSIS_SIZE]; /* may hold what others wrote */
};

/* Messages whose errors are the same, but for their numbers. */
struct error_group {
    char text[ERROR_CLASS_SIZE];
    dueq_state state; /* dead, or of those that are tried again */
    int64_t count, last_ms;
};

/* A queue, a partition of one, or the sums of all partitions of one. */
struct queue_row {
    const char *queue;
    const char *whole; /* that its consumers are registered with: the same, but of a partition */
    size_t parts;      /* of sums: how many rows behind it are of its partitions; else 0 */
    dueq_status status;
    char problem[200]; /* why it could not be read */
    dueq_counts counts;
    double in, out;                 /* pushed and delivered in a second; below 0: not known yet */
    dueq_rate minutes[ROW_MINUTES]; /* the latest last, also those without an event */
    struct error_group groups[ROW_ERROR_GROUPS];
    size_t group_count;
    int64_t workers, offline, held, working, slots;
    bool leased_now; /* where no worker is registered: the lease of a message lasts */
    int urgency;     /* the level of what is wrong, of a partition with its queue; -1: nothing is */
};

/* Start from {0}; end with queue_rows_end(). */
struct queue_rows {
    struct workers_view workers; /* has the names that the rows point to */
    struct healths healths;
    struct queue_row *list;
    size_t count;
    int64_t read_ms; /* when all of it was read, by time_monotonic_ms(); 0: never */
    int64_t took_ms;
};

/* health.c */

/*
 * Asks the servers now, each by a connection of its own, for the URL's timeout at most; of a
 * cluster those that the calls before came to know. The list has those that answered, and permit
 * it. End with health_end().
 */
void health_read(struct cli *cli, struct healths *healths);
void health_end(struct healths *healths);
/* The same of one server. False: it does not answer, or this user may not ask. */
bool health_of(const struct cli *cli, dueq_server *conn, struct health *health);
/* Whether it refuses what takes memory, or is about to. */
bool health_full(const struct health *health);
/* Whether it takes writes. */
bool health_writable(const struct health *health);

/* queue_row.c */

/*
 * Reads these queues, or, where there are none, all of the server, and puts them in the place of
 * what was read before: those that need a person most come first. A row has the sums of a queue's
 * partitions where these were not named, but all queues or that one are wanted; theirs follow. Of a
 * queue that fails, its row has the status. Returns what concerns the server, and so all of them:
 * then *rows stays as it was. between: is called after each queue; may be NULL.
 */
dueq_status queue_rows_read(struct cli *cli, char *names[], size_t count, struct queue_rows *rows,
                            void (*between)(struct cli *cli));
/*
 * Reads consumers, and makes the rows, of which it reads nothing. End with queue_rows_end()
 * whatever it returns.
 */
dueq_status queue_rows_begin(struct cli *cli, char *names[], size_t count, struct queue_rows *rows);
/*
 * Reads one row, which is not of the sums of partitions; before: what it was the last time, or
 * NULL.
 */
void queue_row_read(struct cli *cli, const struct queue_row *before, bool errors,
                    struct queue_row *row);
/* Reads the numbers alone, of the queues that are there. `between` is called. */
dueq_status queue_rows_read_counts(struct cli *cli, struct queue_rows *rows,
                                   void (*between)(struct cli *cli));
/* How many of a queue's messages are in the state. */
int64_t state_count(const dueq_counts *counts, dueq_state state);
/* Whether a status concerns the server, and so all queues. */
bool is_server_status(dueq_status status);
const struct queue_row *queue_rows_find(const struct queue_rows *rows, const char *queue);
/* Writes why a call failed. */
void describe_failure(const struct cli *cli, dueq_status status, char *problem, size_t room);
void queue_rows_end(struct queue_rows *rows);

/* error_class.c */

/* The text of those without an error whose leases ended. */
extern const char error_crashed[];
/*
 * The class of what a message failed of: the first line of its error with # in the place of each
 * number, or in words that there is none. False: it has not failed.
 */
bool error_class(const dueq_message *message, char text[ERROR_CLASS_SIZE]);
/* Adds the errors of a page of messages. */
void error_groups_add_page(struct queue_row *row, const dueq_result *page);

/* diagnosis.c: the diagnosis that all screens show */

/* Why messages of the queue wait or fail. False: nothing is wrong. */
bool diagnose_queue(const struct queue_rows *rows, const struct queue_row *row,
                    struct diagnosis *why);
/* What is wrong with a server, which answers. several: the text names this one. */
bool diagnose_server(const struct health *health, bool several, struct diagnosis *why);
/* The worst of all servers. */
bool diagnose_servers(const struct queue_rows *rows, struct diagnosis *why);
const char *cause_code(enum cause cause);
const char *severity_name(enum severity level);
/* What to do about a cause. */
const char *cause_fix(enum cause cause);

#endif

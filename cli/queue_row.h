/*
 * A row for each queue: its counts, rates, errors and workers, and why the queue is stuck. dueq
 * top, metrics, doctor and web show the rows.
 */
#ifndef DUEQ_CLI_QUEUE_ROW_H
#define DUEQ_CLI_QUEUE_ROW_H

#include "servers/dueq_server.h"
#include "workers_view.h"

enum {
    ROW_MINUTES = 30,       /* minutes of history */
    ROW_ERROR_GROUPS = 8,   /* different errors that a row has, at most */
    ROW_ERRORS_READ = 50,   /* messages of one state that a row reads for them */
    ROW_GROUPS_READ = 50,   /* groups that a row of a stuck queue reads */
    ERROR_CLASS_SIZE = 160, /* bytes of one such error */
    DIAGNOSIS_SIZE = 600    /* bytes of a diagnosis */
};

/* The state of a server that has queues, as the server reports it. */
struct health {
    char server[300]; /* its address, to be shown */
    int64_t used;     /* bytes of memory that count towards the limit */
    int64_t limit;    /* maxmemory; 0: none */
    /* keys that the server has deleted since its start because its memory was full */
    int64_t evicted;
    /* the server deletes keys when its memory is full, and the URL does not accept that */
    bool evicts;
    const char *disk;  /* what the server failed to write to disk; NULL: nothing. Static memory */
    bool disk_refuses; /* the server refuses all writes because of `disk` */
    bool replica;      /* the server is a replica, and refuses all writes */
    /* Connected replicas, and min-replicas-to-write: with fewer the server refuses all writes. */
    int64_t replicas, replicas_wanted;
    int64_t ahead_ms; /* its clock minus the clock of this machine */
};

struct healths {
    struct health *list;
    size_t count;
};

/*
 * Causes of trouble: X(NAME, code, what a person should do). `dueq metrics` has the code as a
 * label.
 */
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
    X(LIMIT, "limit", "dueq limits QUEUE shows the limits, dueq limit QUEUE sets others")          \
    X(GROUPS, "groups", "dueq groups QUEUE shows them; dueq limit and dueq hold change that")      \
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

/*
 * How urgent the trouble is. MEANT: somebody wants this state. LOOK: look at it some time. ACT: act
 * now.
 */
enum severity { SEVERITY_MEANT, SEVERITY_LOOK, SEVERITY_ACT };

struct diagnosis {
    enum cause cause;
    enum severity level;
    char text[DIAGNOSIS_SIZE]; /* may contain text that others wrote: escape it */
};

/* Messages whose errors differ only in their numbers. */
struct error_group {
    char text[ERROR_CLASS_SIZE];
    dueq_state state; /* DEAD, or the state of messages that are tried again */
    int64_t count, last_ms;
};

/* A queue, a partition, or the sums of all partitions of a queue. */
struct queue_row {
    const char *queue;
    /* the queue that consumers register with: of a partition its whole queue, else the same */
    const char *whole;
    size_t parts; /* in a row of sums: how many of the next rows are its partitions; else 0 */
    dueq_status status;
    char problem[200]; /* why the queue could not be read */
    dueq_counts counts;
    double in, out; /* messages pushed and delivered per second; below 0: not known yet */
    dueq_rate minutes[ROW_MINUTES]; /* the latest is last; minutes without an event are zero */
    struct error_group groups[ROW_ERROR_GROUPS];
    size_t group_count;
    /*
     * Of a stuck queue: "acme (hold)", a group that is held or at a limit while no group that waits
     * may be served. "": there is none, or it is not known.
     */
    char at_group_limit[DUEQ_MAX_GROUP + 32];
    int64_t workers, offline, leased, running, slots;
    bool leased_now; /* no worker is registered, but a message has a lease that lasts */
    /* The severity of the worst trouble, here or (of a partition) in the whole queue; -1: none. */
    int urgency;
};

/* Start from {0}; end with queue_rows_end(). */
struct queue_rows {
    struct workers_view workers; /* owns the names that the rows point to */
    struct healths healths;
    struct queue_row *list;
    size_t count;
    int64_t read_ms; /* when the rows were read, by time_monotonic_ms(); 0: never */
    int64_t took_ms;
};

/* health.c */

/*
 * Asks all servers that have queues, each over a connection of its own, for the URL's timeout at
 * most. Of a cluster, asks the nodes that earlier calls have found. The list has the servers that
 * answered and permit INFO. End with health_end().
 */
void health_read(struct cli *cli, struct healths *healths);
void health_end(struct healths *healths);
/* The same for one server. False: the server does not answer, or the user has no permission. */
bool health_of(const struct cli *cli, dueq_server *conn, struct health *health);
/* Whether the server refuses commands that take memory, or will soon. */
bool health_full(const struct health *health);
/* Whether the server accepts writes. */
bool health_writable(const struct health *health);

/* queue_row.c */

/*
 * Reads the named queues, or all queues of the server without names, and replaces the rows. The
 * most urgent rows come first. A queue with partitions has a row of sums and then the rows of its
 * partitions, unless the partitions themselves were named. A queue that fails has the failure in
 * its row. Returns a failure of the server, which concerns all queues; *rows is unchanged then.
 * between: called after each queue; may be NULL.
 */
dueq_status queue_rows_read(struct cli *cli, char *names[], size_t count, struct queue_rows *rows,
                            void (*between)(struct cli *cli));
/*
 * Reads the consumers and makes the rows, but does not read the queues. Whatever this returns, end
 * with queue_rows_end().
 */
dueq_status queue_rows_begin(struct cli *cli, char *names[], size_t count, struct queue_rows *rows);
/*
 * Reads the queue of one row, which must not be a row of sums. before: the queue's row of the last
 * reading, or NULL.
 */
void queue_row_read(struct cli *cli, const struct queue_row *before, bool errors,
                    struct queue_row *row);
/* Reads only the counts of the queues in *rows. Calls `between` after each. */
dueq_status queue_rows_read_counts(struct cli *cli, struct queue_rows *rows,
                                   void (*between)(struct cli *cli));
/* How many of a queue's messages are in the state. */
int64_t state_count(const dueq_counts *counts, dueq_state state);
/* Whether a status concerns the server, and therefore all queues. */
bool is_server_status(dueq_status status);
const struct queue_row *queue_rows_find(const struct queue_rows *rows, const char *queue);
/* Writes the reason of a failed call. */
void describe_failure(const struct cli *cli, dueq_status status, char *problem, size_t room);
void queue_rows_end(struct queue_rows *rows);

/* error_class.c */

/* The class of messages whose lease ended and which have no error. */
extern const char error_crashed[];
/*
 * The class of a message's error: the first line of the error, with # for each number. For a
 * message without error, a text says so. False: the message has not failed.
 */
bool error_class(const dueq_message *message, char text[ERROR_CLASS_SIZE]);
/* Adds the errors of a page of messages to the row's groups. */
void error_groups_add_page(struct queue_row *row, const dueq_result *page);

/* diagnosis.c: what is wrong, in the words of top, doctor, metrics and web */

/* Whether a message waits for so long that the queue counts as stuck. */
bool is_stuck(const dueq_counts *counts);
/* Why the queue's messages wait or fail. False: nothing is wrong. */
bool diagnose_queue(const struct queue_rows *rows, const struct queue_row *row,
                    struct diagnosis *why);
/*
 * What is wrong with a server that answered. several: there are other servers, so the text names
 * this one.
 */
bool diagnose_server(const struct health *health, bool several, struct diagnosis *why);
/* The most severe diagnosis of all servers. */
bool diagnose_servers(const struct queue_rows *rows, struct diagnosis *why);
const char *cause_code(enum cause cause);
const char *severity_name(enum severity level);
/* What a person should do about a cause. */
const char *cause_fix(enum cause cause);

#endif

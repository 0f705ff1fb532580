/*
 * dueq doctor: what would hurt in production. A check of something has a code, and says a finding
 * in a sentence.
 */
#ifndef DUEQ_CLI_DOCTOR_H
#define DUEQ_CLI_DOCTOR_H

#include "../cli.h"
#include "dueq_server.h"

/*
 * The one table of checks: X(NAME, code, what it looks at). The help and docs/reference.md have the
 * same.
 */
#define DOCTOR_CHECKS(X)                                                                           \
    X(REACH, "reach", "servers that do not answer")                                                \
    X(VERSION, "version", "known faults of the server's version")                                  \
    X(EVICTION, "eviction", "a maxmemory-policy that deletes queues")                              \
    X(MEMORY, "memory", "no maxmemory, or little left of it")                                      \
    X(FRAGMENTATION, "fragmentation", "memory that is lost or swapped out")                        \
    X(PERSISTENCE, "persistence", "what a crash of the server loses")                              \
    X(DISK, "disk", "writes to disk that failed or are slow")                                      \
    X(CLOCK, "clock", "clocks that are apart")                                                     \
    X(LATENCY, "latency", "how long a round trip takes")                                           \
    X(HZ, "hz", "how often the server's own timer runs")                                           \
    X(TIMEOUT, "timeout", "connections that are closed, or stay for ever")                         \
    X(CONNECTIONS, "connections", "how many more connections there can be")                        \
    X(BUFFERS, "buffers", "limits of answers")                                                     \
    X(SLOW, "slow", "slow scripts of dueq's in the slow log")                                      \
    X(ACCESS, "access", "what this user is not permitted to do")                                   \
    X(OPEN, "open", "a server that everybody can use")                                             \
    X(REPLICAS, "replicas", "replicas: none, away, behind, or not waited for")                     \
    X(CLUSTER, "cluster", "slots without a node, too few nodes, a slow failover")                  \
    X(SENTINEL, "sentinel", "sentinels: too few, no quorum, of different minds")                   \
    X(SLOTS, "slots", "partitions of a queue that are on few nodes")                               \
    X(QUEUES, "queues", "whether the queues can be listed")                                        \
    X(STUCK, "stuck", "ready messages that nobody takes, or late")                                 \
    X(PAUSED, "paused", "queues that are paused and fill up")                                      \
    X(DEAD, "dead", "dead messages that grow in number")                                           \
    X(CRASHED, "crashed", "leases that ended, consumers that crash")                               \
    X(OUTBOX, "outbox", "messages that do not get to another queue")                               \
    X(DAMAGED, "damaged", "entries that were quarantined")                                         \
    X(UNIQUE, "unique", "ids that are kept in great number")

enum check {
#define DOCTOR_ENUM(name, code, about) CHECK_##name,
    DOCTOR_CHECKS(DOCTOR_ENUM)
#undef DOCTOR_ENUM
        CHECKS
};

/*
 * From NOTE on it is worth knowing, from WARNING on the exit code is 1. UNKNOWN: the check could
 * not be made.
 */
enum level { LEVEL_OK, LEVEL_NOTE, LEVEL_WARNING, LEVEL_PROBLEM, LEVEL_UNKNOWN };

/* So many of the URL's timeouts the answers of one server may take together. */
enum { PATIENCE = 5 };

enum role { ROLE_PRIMARY, ROLE_REPLICA, ROLE_SENTINEL };

struct server {
    dueq_server *conn;
    enum role role;
    bool answers;
    bool silent; /* it stopped answering: nothing more is asked, and nothing follows from that */
    int64_t used_ms; /* for its answers so far */
    char *info;      /* what it says of itself; NULL: it does not answer, or may not be asked */
    enum check said; /* the check that said what all screens say of it; CHECKS: none did */
    char config[64]; /* the setting that was asked for last */
    char slots[16384 / 8]; /* of a cluster: a bit for each that it has */
};

struct doctor {
    struct cli *cli;
    bool wanted[CHECKS];
    bool always[CHECKS]; /* what is bad is said, whatever is wanted: other checks need it */
    const char *chosen[DUEQ_MAX_QUEUES]; /* queues; none: all */
    size_t chosen_count;
    struct server *servers;
    size_t count;
    struct cli_names names; /* of the queues that are looked at */
    bool bad;
};

/* doctor.c: findings */

/*
 * Says what a check found, if it is wanted. server, queue, fix: NULL where there is none. The text
 * is one sentence without its full stop, the fix what to do about it.
 */
void doctor_say(struct doctor *doctor, enum check check, enum level level, const char *server,
                const char *queue, const char *fix, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/*
 * The same of a server. Of one that stopped answering nothing is said: what is missing is its
 * answer alone.
 */
#define say_of(doctor, server, check, level, fix, ...)                                             \
    ((server)->silent ? (void)0                                                                    \
                      : doctor_say((doctor), CHECK_##check, LEVEL_##level,                         \
                                   dueq_server_address((server)->conn), NULL, (fix), __VA_ARGS__))

/* servers.c: which there are, and what they answer */

/* Finds the servers, and says which do not answer. */
void servers_find(struct doctor *doctor);
void servers_close(struct doctor *doctor);
/*
 * Asks one; NULL ends the words. NULL: it refused or failed, and dueq_server_error_text() says why.
 * A server that does not answer within the URL's timeout, or took PATIENCE times as long for all
 * answers so far, is not asked again.
 */
const dueq_answer *server_ask(struct doctor *doctor, struct server *server, const char *word, ...)
    __attribute__((sentinel));
/* Whether a field of INFO is there; its text until the end of the line, or its number. */
bool info_text(const struct server *server, const char *name, char *out, size_t room);
bool info_number(const struct server *server, const char *name, double *number);
/* The same that says that the check cannot be made where it is not there. */
bool info_needed(struct doctor *doctor, const struct server *server, enum check check,
                 const char *name, double *number);
/* A setting, in server->config; NULL: it may not be asked, or there is none. */
const char *server_config(struct doctor *doctor, struct server *server, const char *name);
/* The same that says that the check cannot be made. */
const char *server_needs(struct doctor *doctor, struct server *server, enum check check,
                         const char *name);
/* The value of a name in a list of pairs; NULL: there is none. */
const dueq_answer *value_of(const dueq_answer *pairs, const char *name);
bool is_cluster(const struct doctor *doctor);
/* The primary that has a queue. NULL: not known. */
struct server *server_of(struct doctor *doctor, const char *queue);

/* The checks, each of all that it is about */

void check_version(struct doctor *doctor, struct server *server);
void check_memory(struct doctor *doctor, struct server *server);
/* What all screens say of a server: cli/diagnosis.c. */
void check_health(struct doctor *doctor, struct server *server);
void check_disk(struct doctor *doctor, struct server *server);
void check_settings(struct doctor *doctor, struct server *server);
void check_slow(struct doctor *doctor, struct server *server);
void check_times(struct doctor *doctor);
void check_access(struct doctor *doctor, struct server *server);
void check_replicas(struct doctor *doctor, struct server *server);
void check_cluster(struct doctor *doctor);
void check_sentinels(struct doctor *doctor);
void check_queues(struct doctor *doctor);

#endif

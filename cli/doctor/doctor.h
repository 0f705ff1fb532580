/*
 * dueq doctor finds what would do harm in production. Each check has a code, and reports each
 * finding in a sentence.
 */
#ifndef DUEQ_CLI_DOCTOR_H
#define DUEQ_CLI_DOCTOR_H

#include "../cli.h"
#include "servers/dueq_server.h"

/*
 * The only table of checks: X(NAME, code, what it looks at). The help prints it, and
 * docs/reference.md explains each check.
 */
#define DOCTOR_CHECKS(X)                                                                           \
    X(REACH, "reach", "servers that do not answer")                                                \
    X(VERSION, "version", "known faults of the server's version")                                  \
    X(LUA, "lua", "whether the server runs Lua")                                                   \
    X(EVICTION, "eviction", "a maxmemory-policy that deletes queues")                              \
    X(MEMORY, "memory", "no maxmemory, or little left of it")                                      \
    X(FRAGMENTATION, "fragmentation", "memory that is wasted or swapped out")                      \
    X(PERSISTENCE, "persistence", "what a crash of the server loses")                              \
    X(DISK, "disk", "writes to disk that failed or are slow")                                      \
    X(CLOCK, "clock", "clocks that are apart")                                                     \
    X(LATENCY, "latency", "how long a round trip takes")                                           \
    X(HZ, "hz", "how often the server's own timer runs")                                           \
    X(TIMEOUT, "timeout", "connections that are closed, or stay for ever")                         \
    X(CONNECTIONS, "connections", "how many more connections there can be")                        \
    X(BUFFERS, "buffers", "limits on the size of answers")                                         \
    X(SLOW, "slow", "slow scripts of dueq's in the slow log")                                      \
    X(ACCESS, "access", "what this user is not permitted to do")                                   \
    X(OPEN, "open", "a server that everybody can use")                                             \
    X(REPLICAS, "replicas", "replicas: none, away, behind, or not waited for")                     \
    X(CLUSTER, "cluster", "slots without a node, too few nodes, a slow failover")                  \
    X(SENTINEL, "sentinel", "sentinels: too few, no quorum, or in disagreement")                   \
    X(SLOTS, "slots", "partitions of a queue that are on few nodes")                               \
    X(QUEUES, "queues", "whether the queues can be listed")                                        \
    X(STUCK, "stuck", "ready messages that no consumer takes, or only late")                       \
    X(PAUSED, "paused", "queues that are paused and fill up")                                      \
    X(DEAD, "dead", "dead messages, and messages that fail")                                       \
    X(TASKS, "tasks", "tasks that wait for a worker that knows them")                              \
    X(CRASHED, "crashed", "leases that ended, consumers that crash")                               \
    X(OUTBOX, "outbox", "messages that cannot move to another queue")                              \
    X(DAMAGED, "damaged", "entries that were quarantined")                                         \
    X(UNIQUE, "unique", "many ids that are kept to refuse repeated pushes")

enum check {
#define DOCTOR_ENUM(name, code, about) CHECK_##name,
    DOCTOR_CHECKS(DOCTOR_ENUM)
#undef DOCTOR_ENUM
        CHECKS
};

/*
 * NOTE: worth knowing. WARNING and above: the exit code is 1. UNKNOWN: the check was not possible.
 */
enum level { LEVEL_OK, LEVEL_NOTE, LEVEL_WARNING, LEVEL_PROBLEM, LEVEL_UNKNOWN };

/* All answers of one server together may take this many times the URL's timeout. */
enum { PATIENCE = 5 };

enum role { ROLE_PRIMARY, ROLE_REPLICA, ROLE_SENTINEL };

struct server {
    dueq_server *conn;
    enum role role;
    bool answers;
    /* it stopped answering: it gets no more questions, and no finding may follow from that */
    bool silent;
    int64_t used_ms;       /* milliseconds that its answers took so far */
    char *info;            /* the answer to INFO; NULL: no answer, or no permission */
    enum check said;       /* the check that reported its diagnosis; CHECKS: none did */
    char config[64];       /* the value of the last setting that was read */
    char slots[16384 / 8]; /* of a cluster: a bit for each slot of the node */
};

struct doctor {
    struct cli *cli;
    bool wanted[CHECKS];
    /* bad findings are reported even if not wanted: other checks depend on them */
    bool always[CHECKS];
    const char *chosen[DUEQ_MAX_QUEUES]; /* from --queue; none: all queues */
    size_t chosen_count;
    struct server *servers;
    size_t count;
    struct cli_names names; /* the queues to check */
    bool bad;
};

/* doctor.c: findings */

/*
 * Reports a finding, if the check is wanted. server, queue, fix: NULL if there is none. The text is
 * one sentence without its full stop; fix says what to do.
 */
void doctor_say(struct doctor *doctor, enum check check, enum level level, const char *server,
                const char *queue, const char *fix, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/*
 * The same for a server. A server that stopped answering gets no finding: only its answer is
 * missing.
 */
#define say_of(doctor, server, check, level, fix, ...)                                             \
    ((server)->silent ? (void)0                                                                    \
                      : doctor_say((doctor), CHECK_##check, LEVEL_##level,                         \
                                   dueq_server_address((server)->conn), NULL, (fix), __VA_ARGS__))

/* servers.c: finds servers and asks them */

/* Finds the servers, and reports those that do not answer. */
void servers_find(struct doctor *doctor);
void servers_close(struct doctor *doctor);
/*
 * Sends a command; NULL ends its words. Returns NULL after a refusal or failure, which
 * dueq_server_error_text() explains. A server gets no more questions once an answer took longer
 * than the URL's timeout, or all its answers PATIENCE times that.
 */
const dueq_answer *server_ask(struct doctor *doctor, struct server *server, const char *word, ...)
    __attribute__((sentinel));
/* Whether INFO has the field. Gives its text up to the end of the line, or its number. */
bool info_text(const struct server *server, const char *name, char *out, size_t room);
bool info_number(const struct server *server, const char *name, double *number);
/* The same, but reports UNKNOWN if INFO does not have the field. */
bool info_needed(struct doctor *doctor, const struct server *server, enum check check,
                 const char *name, double *number);
/* A setting, copied to server->config. NULL: no permission, or no such setting. */
const char *server_config(struct doctor *doctor, struct server *server, const char *name);
/* The same, but reports UNKNOWN instead of NULL. */
const char *server_needs(struct doctor *doctor, struct server *server, enum check check,
                         const char *name);
/* The value of a name in a list of names and values; NULL: there is none. */
const dueq_answer *value_of(const dueq_answer *pairs, const char *name);
bool is_cluster(const struct doctor *doctor);
/* The primary that has the queue. NULL: unknown. */
struct server *server_of(struct doctor *doctor, const char *queue);

/* The checks */

void check_version(struct doctor *doctor, struct server *server);
void check_lua(struct doctor *doctor, struct server *server);
void check_memory(struct doctor *doctor, struct server *server);
/* Reports the server's diagnosis (cli/diagnosis.c), which top, metrics and web show too. */
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

/* The keys of a queue in the server, and the call of a script with them: keys.c. */
#ifndef DUEQ_KEYS_H
#define DUEQ_KEYS_H

#include "../net/net.h"

/*
 * Each key of a queue, and the word with which it ends. Behind that word REPLY has the session
 * (op.c), LOCK and LOCK_WAKE a lock's name (verbs/lock.c), END_WAKE an id (verbs/ends.c).
 * PARTITIONS and MEMBERS are of a queue with partitions (partition/), CONSUMERS and DESCRIBED of
 * registered consumers (verbs/workers.c). Another system's queue has keys of its own from MSG on.
 */
#define DUEQ__KEYS(X)                                                                              \
    X(REPLY, "reply")                                                                              \
    X(RATES, "rates")                                                                              \
    X(MSG, "msg")                                                                                  \
    X(READY, "ready")                                                                              \
    X(DELAYED, "delayed")                                                                          \
    X(LEASED, "leased")                                                                            \
    X(DEAD, "dead")                                                                                \
    X(WAKE, "wake")                                                                                \
    X(META, "meta")                                                                                \
    X(ATTEMPTS, "attempts")                                                                        \
    X(QUARANTINE, "quarantine")                                                                    \
    X(OUTBOX, "outbox")                                                                            \
    X(HANDOVER, "handover")                                                                        \
    X(RECEIVED, "received")                                                                        \
    X(HIGH, "high")                                                                                \
    X(LOW, "low")                                                                                  \
    X(UNIQUE, "unique")                                                                            \
    X(LOCK, "lock")                                                                                \
    X(LOCK_WAKE, "lock_wake")                                                                      \
    X(PARTITIONS, "partitions")                                                                    \
    X(MEMBERS, "members")                                                                          \
    X(CONSUMERS, "consumers")                                                                      \
    X(DESCRIBED, "described")                                                                      \
    X(TIMINGS, "timings")                                                                          \
    X(FAILURES, "failures")                                                                        \
    X(TARGETS, "targets")                                                                          \
    X(GROUPS, "groups")                                                                            \
    X(LINES, "lines")                                                                              \
    X(TURNS, "turns")                                                                              \
    X(LIMITS, "limits")                                                                            \
    X(WORKING, "working")                                                                          \
    X(PARKED, "parked")                                                                            \
    X(TIMERS, "timers")                                                                            \
    X(RATED, "rated")                                                                              \
    X(HOLDS, "holds")                                                                              \
    X(SERVED_EVEN, "served_even")                                                                  \
    X(SERVED_ODD, "served_odd")                                                                    \
    X(BATCHES, "batches")                                                                          \
    X(GUESTS, "guests")                                                                            \
    X(BATCH_ENDS, "batch_ends")                                                                    \
    X(ENDS, "ends")                                                                                \
    X(KEPT, "kept")                                                                                \
    X(STARTED, "started")                                                                          \
    X(AWAITED, "awaited")                                                                          \
    X(END_WAKE, "end_wake")                                                                        \
    X(BEGUN, "begun")

enum dueq__key {
#define DUEQ__KEY_OF(name, suffix) DUEQ__KEY_##name,
    DUEQ__KEYS(DUEQ__KEY_OF)
#undef DUEQ__KEY_OF
        DUEQ__KEY_COUNT,
    DUEQ__KEY_FIRST = DUEQ__KEY_MSG
};

extern const char *const dueq__key_suffix[DUEQ__KEY_COUNT];
dueq_status dueq__name_check(const void *name, size_t size, struct dueq__error *error);
/*
 * Fills keys[] with one allocation (keys[0].data) of all the queue's own keys; false: out of
 * memory.
 */
bool dueq__keys_make(dueq_bytes keys[DUEQ__KEY_COUNT], const void *name, size_t size);
/* The queue's name in its keys. */
dueq_bytes dueq__keys_name(const dueq_bytes keys[DUEQ__KEY_COUNT]);

struct dueq__script {
    const char *name;
    const char *sha1;             /* 40 hexadecimal digits; NULL: a plain command */
    const char *const *fragments; /* of its source, NULL behind the last */
    size_t key_count;
    unsigned char keys[DUEQ__KEY_COUNT]; /* indexes of a queue's keys, in the order of KEYS */
    const struct dueq__script *next;     /* runs a request to which this one answers nil */
};

/* The scripts that C files name. scripts.inc has all. */
extern const struct dueq__script dueq__script_push, dueq__script_push_later, dueq__script_push_full,
    dueq__script_push_own, dueq__script_push_own_later, dueq__script_push_replace,
    dueq__script_push_replace_full, dueq__script_push_group, dueq__script_push_group_later,
    dueq__script_push_group_full, dueq__script_schedule, dueq__script_reserve,
    dueq__script_reserve_timed, dueq__script_reserve_noted, dueq__script_reserve_full,
    dueq__script_reserve_groups, dueq__script_reserve_groups_full, dueq__script_ack,
    dueq__script_ack_full, dueq__script_ack_group, dueq__script_ack_wake, dueq__script_ack_outbox,
    dueq__script_ack_push, dueq__script_ack_push_result, dueq__script_relay_take,
    dueq__script_relay_put, dueq__script_relay_count, dueq__script_relay_done,
    dueq__script_relay_forget, dueq__script_recall, dueq__script_assignment, dueq__script_register,
    dueq__script_measure, dueq__script_repartition, dueq__script_open_batch,
    dueq__script_push_batch, dueq__script_push_member, dueq__script_push_noted,
    dueq__script_push_to, dueq__script_ack_noted, dueq__script_ack_end, dueq__script_outcome,
    dueq__script_lock, dueq__script_relock, dueq__script_check, dueq__script_clock;

/* The whole source; the caller frees it. NULL: out of memory. */
char *dueq__script_source(const struct dueq__script *script);
/* Writes EVALSHA with a script and a queue's keys. The caller adds the arguments. */
void dueq__script_write(struct dueq__resp *words, const struct dueq__script *script,
                        const dueq_bytes keys[DUEQ__KEY_COUNT]);

#endif

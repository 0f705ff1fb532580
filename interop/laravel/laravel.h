/*
 * Laravel's queues. queue.c: open, close, size, clear, delete, release. push.c: push, with
 * payload.c. pop.c: pop, with job.c, and migrate. tracking.c: how a waiting call learns of changes.
 */
#ifndef DUEQ_LARAVEL_INSIDE_H
#define DUEQ_LARAVEL_INSIDE_H

#include "../dueq_laravel.h"
#include "../foreign.h"
#include "../json.h"
#include "../strbuf.h"
#include "../subscription.h"

enum { /* indexes of the queue's keys */
       DUEQ__LARAVEL_JOBS = DUEQ__KEY_FIRST,
       DUEQ__LARAVEL_LATER,
       DUEQ__LARAVEL_RESERVED,
       DUEQ__LARAVEL_NOTIFY,
       DUEQ__LARAVEL_QUARANTINE
};

struct dueq_laravel {
    dueq_queue queue;
    /* Of the call that waits: tracking.c. */
    size_t tracked_count; /* how many keys of tracked[] it tracks */
    bool found_nothing;   /* it has found nothing so far */
    bool tracking;        /* the server was asked to tell of changes since the last request */
    /* When to look because of a change, by the monotonic clock; DUEQ__NEVER: no change. */
    int64_t changed_us;
};

/* The queue whose call is under way. */
static inline dueq_laravel *dueq__laravel_of(const dueq_client *client) {
    return (dueq_laravel *)client->op->queue;
}

extern const struct dueq__script dueq__script_laravel_push, dueq__script_laravel_pop,
    dueq__script_laravel_migrate, dueq__script_laravel_delete, dueq__script_laravel_release,
    dueq__script_laravel_size, dueq__script_laravel_clear;

#define DUEQ__LARAVEL_DEPTH 512 /* levels of nesting that PHP's json_decode() reads */
#define DUEQ__UUID_SIZE 36

/* payload.c */

/* Errors: INVALID, or TOO_LARGE: a ready-made payload has more than DUEQ_MAX_BODY bytes. */
dueq_status dueq__laravel_check(const dueq_laravel_draft *draft, struct dueq__error *error);
/*
 * Adds the payload of a checked draft without a ready-made one. uuid receives the payload's uuid.
 */
void dueq__laravel_write(const dueq_laravel_draft *draft, struct dueq__strbuf *text,
                         char uuid[DUEQ__UUID_SIZE]);

/* True for seconds such as "10" or "10,60", of up to nine digits each. */
bool dueq__laravel_is_backoff(dueq_bytes text);

/* job.c */

/* The result of pop's answer; NULL: *error says why there is none. */
dueq_result *dueq__laravel_popped(const struct dueq__reply *reply, struct dueq__error *error);

/* tracking.c: functions of a struct dueq__foreign_wait */

/* How many keys of tracked[] a call tracks: those with times, or the list of jobs as well. */
#define DUEQ__LARAVEL_TIMES 2
#define DUEQ__LARAVEL_ALL 3
void dueq__laravel_listen(dueq_client *client);
int64_t dueq__laravel_listen_ms(const dueq_client *client);
void dueq__laravel_track(dueq_client *client);
void dueq__laravel_tracked(dueq_client *client, const struct dueq__reply *reply);
/*
 * dueq__wait_found_nothing() for a call of Laravel. While the server tells no changes, it looks
 * each second.
 */
void dueq__laravel_nothing(dueq_client *client, int64_t now, int64_t pause_ms);

#endif

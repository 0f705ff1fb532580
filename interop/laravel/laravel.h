/*
 * Laravel's queues, inside: queue.c (the queue, size, clear, delete, release), push.c with payload.c, pop.c
 * (also migrate) with job.c. The scripts are core/scripts/laravel.
 */
#ifndef DUEQ_LARAVEL_INSIDE_H
#define DUEQ_LARAVEL_INSIDE_H

#include "../dueq_laravel.h"
#include "../foreign.h"
#include "../json.h"
#include "../strbuf.h"
#include "../subscription.h"

enum { /* its keys: foreign.c makes them */
       DUEQ__LARAVEL_JOBS = DUEQ__KEY_FIRST,
       DUEQ__LARAVEL_LATER,
       DUEQ__LARAVEL_RESERVED,
       DUEQ__LARAVEL_NOTIFY,
       DUEQ__LARAVEL_QUARANTINE
};

struct dueq_laravel {
    dueq_queue queue;
    /* Of the call that waits: tracking.c. */
    size_t tracks;      /* so many of the keys have their changes told */
    bool fruitless;     /* it has found nothing so far */
    bool told;          /* it asked for changes since its last request */
    int64_t changed_us; /* when to look because of one; DUEQ__NEVER: there was none */
};

/* The one whose call is under way. */
static inline dueq_laravel *dueq__laravel_of(const dueq_client *client) {
    return (dueq_laravel *)client->call.queue;
}

extern const struct dueq__script dueq__script_laravel_push, dueq__script_laravel_pop,
    dueq__script_laravel_migrate, dueq__script_laravel_delete, dueq__script_laravel_release,
    dueq__script_laravel_size, dueq__script_laravel_clear;

#define DUEQ__LARAVEL_DEPTH 512 /* how deep PHP's json_decode() goes */
#define DUEQ__UUID_SIZE 36

/* ---- payload.c: what is pushed ---------------------------------------------------------------------- */

/* INVALID, or TOO_LARGE for what is too large by itself. */
dueq_status dueq__laravel_check(const dueq_laravel_draft *draft, struct dueq__error *error);
/* Adds the payload of a checked draft that is not ready-made; uuid: receives its own. */
void dueq__laravel_write(const dueq_laravel_draft *draft, struct dueq__strbuf *text,
                         char uuid[DUEQ__UUID_SIZE]);

/* "10" or "10,60": seconds, up to nine digits each. */
bool dueq__laravel_is_backoff(dueq_bytes text);

/* ---- job.c: what is popped -------------------------------------------------------------------------- */

/* From the answer of pop.lua; NULL with error set. */
dueq_result *dueq__laravel_popped(const struct dueq__reply *reply, struct dueq__error *error);

/* ---- tracking.c: what a call that waits is told (struct dueq__foreign_wait) ------------------------- */

/* How many of the keys a call has tracked: times, or jobs without a token as well. */
#define DUEQ__LARAVEL_TIMES 2
#define DUEQ__LARAVEL_ALL 3
void dueq__laravel_listen(dueq_client *client);
int64_t dueq__laravel_listen_ms(const dueq_client *client);
void dueq__laravel_track(dueq_client *client);
void dueq__laravel_tracked(dueq_client *client, const struct dueq__reply *reply);
/* dueq__wait_found_nothing() of a call that changes are told to; where none can be, it looks now and then. */
void dueq__laravel_nothing(dueq_client *client, int64_t now, int64_t pause_ms);

#endif

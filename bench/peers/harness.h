/* What the adapters of peers in C have in common: the words of the contract (README.md). */
#ifndef DUEQ_BENCH_PEER_HARNESS_H
#define DUEQ_BENCH_PEER_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_SIZE 200

/* Handles a job; false: it was the last that is wanted. */
typedef bool handle_job(const char *body);

struct job {
    const char *body;
    int64_t due_ms; /* since 1970; 0: at once */
};

#define ID_SIZE 64

/* A queue; each function dies by itself when something fails. */
struct peer {
    void (*connect)(void);
    /* `id`, unless NULL: becomes what cancel() takes, up to ID_SIZE bytes with a 0. */
    void (*push)(const struct job *job, char *id);
    /* NULL: the peer has no such thing, and no_bulk says why. */
    void (*push_many)(const struct job *jobs, size_t count);
    const char *no_bulk;
    /* Returns when all that push_many() was given is stored; NULL: push_many() returns then. */
    void (*flush)(void);
    /* Takes a job back that is not due yet. */
    void (*cancel)(const char *id);
    /*
     * Works at a setting until a job was the last, and acknowledges what it has. Bodies have
     * BODY_SIZE bytes. Calls tell_ready() before it takes a job.
     */
    void (*work)(const char *setting, handle_job *handle);
};

/* Says what failed, and ends the process. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The value of an environment variable that must be there. */
const char *environment(const char *name);
double now_seconds(void);
/* Says what the worker is set to, as an object of JSON. */
void tell_ready(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Runs one command: adapter CACHE COMMAND ARGS... */
int run_peer(const struct peer *peer, int count, char **words);

#endif

/* Consumers that wait, many in one process, and what the server is sent meanwhile. */
#ifndef DUEQ_BENCH_FLEET_H
#define DUEQ_BENCH_FLEET_H

#include <poll.h>

#include "driver.h"

/* Consumers, each with a client of its own, driven by poll() on its descriptor */

enum consumer_state { WAITING, WORKING };

struct consumer {
    dueq_client *client;
    dueq_queue **queues; /* owned, like the client */
    size_t queue_count;
    enum consumer_state state;
    dueq_consumer *loop;
    dueq_bytes ticket; /* of what it works on */
    double since_us;   /* of this state, CLOCK_MONOTONIC */
    double done_us;    /* when its work is done */
    size_t taken;
};

struct fleet {
    struct consumer *consumers;
    size_t count;
    struct pollfd *set; /* one entry for each consumer */
    double work_us;     /* that each message takes */
    size_t taken, done;
    /* A message came, before it is worked on; own is the caller's. */
    void (*note)(struct fleet *fleet, struct consumer *consumer, const dueq_message *message);
    void *own;
};

/*
 * A fleet with room for so many consumers; each is added with a client of its own and queues of
 * that.
 */
void fleet_begin(struct fleet *fleet, size_t room);
void fleet_add(struct fleet *fleet, dueq_client *client, dueq_queue **queues, size_t queue_count);
/* The same on one queue, which must be empty; returns when all of them wait. */
void fleet_open(struct fleet *fleet, const char *socket, const char *name, size_t count);
/* Lets them work until `done` messages are done in all (0: never), or until that time of
 * CLOCK_MONOTONIC. */
void fleet_drive(struct fleet *fleet, size_t done, double until_us);
/* Lets them work until so many are done; dies when that takes longer than a minute. */
void fleet_finish(struct fleet *fleet, size_t done);
/* Lets them work for so long, whatever comes. */
void fleet_run(struct fleet *fleet, double ms);
void fleet_close(struct fleet *fleet);

/* What the server is sent */

struct traffic {
    double sent;  /* commands that clients sent */
    double calls; /* those, and what scripts called inside */
};

/*
 * Counts from the server's own account: MONITOR, which tells the commands of scripts from others,
 * and INFO for CLIENT UNBLOCK, which MONITOR leaves out.
 */
struct meter {
    redisContext *control, *monitor;
    long long unblocks;
};

void meter_open(struct meter *meter, const char *socket);
/*
 * What was sent since the last reading, without the meter's own commands. Probes and registrations
 * of consumers are left out too, as is what they measured: these come by the clock, and `idle`
 * counts them.
 */
struct traffic meter_read(struct meter *meter);
void meter_close(struct meter *meter);

#endif

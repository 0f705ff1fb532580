/*
 * The benchmark's driver: each subcommand takes one measure at a running server and prints it as
 * one JSON object. run.py starts the server, repeats and compares.
 */
#ifndef DUEQ_BENCH_DRIVER_H
#define DUEQ_BENCH_DRIVER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "dueq.h"

#define BODY_SIZE 200
#define LEASE_MS 600000

/* bench.c */

/* Says what failed, and ends the process. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Dies with the client's own words unless the status is DUEQ_OK. */
void must(const dueq_client *client, dueq_status status);
void *must_allocate(size_t count, size_t size);

struct link {
    dueq_client *client;
    dueq_queue *queue;
};

dueq_client *client_open(const char *url);
/* A client of its own, and a queue of it. */
struct link link_open(const char *socket, const char *name);
void link_close(struct link *link);
/* Begins to take one message, waiting for ever. */
void submit_reserve(struct link *link);
/* The same, and returns when the consumer has settled in its wait; the queue must be empty. */
void begin_wait(struct link *link);

redisContext *bare_open(const char *socket);
/* Sends a command and returns its reply, which is no error. */
redisReply *bare_command(redisContext *bare, const char *format, ...);
/* The next reply to what was appended; dies on an error. */
redisReply *bare_reply(redisContext *bare);

double now_us(clockid_t clock);
/* The clock of the CPU time that the server's process has used: in nanoseconds, unlike INFO's. */
clockid_t server_clock(redisContext *bare);

/* Numbers that are the same in each run. */
uint32_t draw(uint32_t below);
/* Prints a list of numbers as JSON. */
void print_list(const char *name, const double *numbers, size_t count);

/* One measure each */

/*
 * cost.c: messages pushed, reserved and acknowledged in calls of `batch`; "scripts", "loop" or
 * "bare".
 */
void measure_cost(const char *socket, const char *name, size_t batch, size_t messages);
/*
 * life.c: one step of a message's life, by bare commands or by dueq: "push" (delayed), "due" (all
 * are already), "falling-50", "falling-500" and "falling-2000" (one by one, so many a second, for
 * one that waits), "cancel", "reschedule", "push-ready", "ready"; "due-calls" and "ready-calls": by
 * reserve and ack instead of a consumer; "push-groups", "groups" and "groups-calls": as
 * "push-ready", "ready" and "ready-calls", of 1,000 groups. Says when it is ready, and goes on at
 * each line on stdin.
 */
void measure_life(const char *socket, bool bare, const char *step, size_t batch, size_t count);
/* client.c: pushes or consumes messages, for client.py, which counts this process' instructions. */
void run_client(const char *socket, const char *way, size_t count);
/*
 * lateness.c: when delayed messages reach one waiting consumer, and plain timers of the same kind.
 */
void measure_lateness(const char *socket, size_t messages);
void measure_timers(size_t count);
/* idle.c: the commands that the server was sent while so many consumers waited. */
void measure_idle(const char *socket, double seconds, size_t consumers);
/*
 * waking.c: the commands that one message costs with so many consumers waiting, and how late it
 * comes.
 */
void measure_waking(const char *socket, size_t consumers, size_t messages);
/* The longest time for which one of them waited while messages of a burst lay ready. */
void measure_burst_wake(const char *socket, size_t consumers, size_t messages);
/* How late after the end of a lease a waiting consumer gets the message. */
void measure_lease_end(const char *socket, size_t count);
/* memory.c: the server's bytes of a message in each state, over those of its body. */
void measure_memory(const char *socket, size_t messages, size_t body_size);
void measure_group_memory(const char *socket, size_t messages);
/*
 * durable.c: the server's CPU time and the time of a push, "one" by one, a hundred in a call
 * ("batch") or by a "pusher"; durable: each call waits for the server's replica.
 */
void measure_durable(const char *socket, const char *way, bool durable, size_t messages);
/* limits_depth.c: what the verbs cost in a short and in a long queue of delayed messages. */
void measure_depth(const char *short_socket, const char *long_socket, size_t shallow, size_t deep);
/* limits_burst.c: messages due in the same ms: their order, and how long others wait meanwhile. */
void measure_burst(const char *socket, size_t messages, size_t batch, bool own_ids);
/*
 * scale.c: messages pushed to a queue of partitions in calls of `batch`; and delivered to one
 * consumer.
 */
void measure_partitions_push(const char *url, size_t partitions, size_t messages, size_t batch);
void measure_partitions_work(const char *url, size_t partitions, size_t messages, size_t batch);
/*
 * One process that consumes so many queues, or one queue of so many partitions: "ready" when it
 * waits; at a line on stdin it gets a message in each, which fall due one after the other, and says
 * when they came; at the next it ends.
 */
void measure_many(const char *url, bool partitions, size_t count);

#endif

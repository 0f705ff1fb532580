/* The workers of queues, the messages that they have leased, and past failures. */
#ifndef DUEQ_CLI_WORKERS_VIEW_H
#define DUEQ_CLI_WORKERS_VIEW_H

#include "cli.h"

/* workers_view.c */

/* A consumer, as it registered with one of its queues. */
struct consumer {
    const char *queue;
    const dueq_worker *worker;
};

/* Start from {0}; end with workers_end(). */
struct workers_view {
    struct cli_names queues; /* the queues whose consumers were read */
    dueq_result **pages;
    size_t page_count;
    struct consumer *list; /* sorted by host, process and session */
    size_t count;
};

/* realloc() for count * each bytes. Calls cli_out_of_memory() on failure. */
void *cli_grown(void *list, size_t count, size_t each);
/* Reads the consumers of the named queues, or of all queues of the server without names. */
dueq_status workers_read(struct cli *cli, char *names[], size_t count,
                         struct workers_view *workers);
/*
 * The same, but goes on after a queue that fails, such as one on a node that is away, and reports
 * the failure. Returns the exit code.
 */
int workers_report(struct cli *cli, char *names[], size_t count, struct workers_view *workers);
void workers_end(struct workers_view *workers);
/* How many entries from `first` on are the same consumer: the number of its queues. */
size_t workers_queue_count(const struct workers_view *workers, size_t first);
/* Offline, and the consumer was not stopping: it crashed, or has lost the server. */
bool worker_crashed(const dueq_worker *worker);
/* The consumer's state in one word. */
const char *worker_state(const dueq_worker *worker, bool works);
/* The consumer that says it holds the ticket, and what it says of it; NULL: none. */
const struct consumer *workers_holder(const struct workers_view *workers, dueq_bytes ticket,
                                      const dueq_lease **lease);

/* The consumer that works longest on one message of the queue, and the message; NULL: none. */
const struct consumer *workers_longest(const struct workers_view *workers, const char *queue,
                                       const dueq_lease **lease);

/* inspect.c */

/* A message that a consumer says it has leased. */
struct running {
    const struct consumer *consumer;
    const dueq_lease *lease;
};

/*
 * Gets the message and the queue or partition that has it. seen: how many were shown before. False:
 * show no more.
 */
typedef bool running_see(void *context, const char *queue, const struct running *running,
                         const dueq_message *message, size_t seen);
/* Looks up the messages that these consumers leased first and still have, at most `most`. */
dueq_status running_read(struct cli *cli, const struct workers_view *workers, size_t most,
                         running_see *see, void *context);

/* history.c */

/* Start from {0}; end with history_end(). */
struct history {
    dueq_result **pages;
    size_t page_count;
    const dueq_failure **list; /* the latest is first */
    size_t count;
    /* one of the failures is a crash; the registrations of consumers may tell whose */
    bool crashed;
};

/* Reads the failures of this message. Skips those of an earlier message with the same id. */
dueq_status history_of(struct cli *cli, dueq_queue *queue, const dueq_message *message,
                       struct history *history);
void history_end(struct history *history);
/*
 * For a message of cli->queue: reads its failures, and also the consumers if they can tell more:
 * inspect.c.
 */
dueq_status inspect_read(struct cli *cli, const dueq_message *message, struct workers_view *workers,
                         struct history *history);
/*
 * Which process failed, from the failure itself, or from the consumer that held the delivery.
 * False: unknown.
 */
bool history_by(const dueq_failure *failure, const struct workers_view *workers, dueq_bytes *host,
                int64_t *pid);

#endif

/* The workers of queues, the messages that they have leased, and what failed. */
#ifndef DUEQ_CLI_WORKERS_VIEW_H
#define DUEQ_CLI_WORKERS_VIEW_H

#include "cli.h"

/* workers_view.c */

/* A consumer, as one of its queues knows it. */
struct consumer {
    const char *queue;
    const dueq_worker *worker;
};

/* Start from {0}; end with workers_end(). */
struct workers_view {
    struct cli_names queues; /* whose consumers these are */
    dueq_result **pages;
    size_t page_count;
    struct consumer *list; /* by host, process and session */
    size_t count;
};

/* realloc(), or the end of the command. */
void *cli_grown(void *list, size_t count, size_t each);
/* Reads the consumers of the named queues; without names, of all queues of the server. */
dueq_status workers_read(struct cli *cli, char *names[], size_t count,
                         struct workers_view *workers);
/*
 * The same, past queues that fail, each of which is reported, as those on a node that is away.
 * Returns the exit code.
 */
int workers_report(struct cli *cli, char *names[], size_t count, struct workers_view *workers);
void workers_end(struct workers_view *workers);
/* One consumer is as often in the list, from there on, as it has queues. */
size_t workers_queue_count(const struct workers_view *workers, size_t first);
bool worker_offline(const dueq_worker *worker);
/* The same, and it was not stopping: it crashed, or is cut off. */
bool worker_crashed(const dueq_worker *worker);
/* In one word what it does, or what became of it. */
const char *worker_state(const dueq_worker *worker, bool works);
/* The consumer that holds this ticket, and how; NULL: none says so. */
const struct consumer *workers_holder(const struct workers_view *workers, dueq_bytes ticket,
                                      const dueq_holding **holding);

/* The consumer of the queue that works on a message longest, and on which; NULL: none works. */
const struct consumer *workers_longest(const struct workers_view *workers, const char *queue,
                                       const dueq_holding **holding);

/* inspect.c */

/* One message that a consumer says it holds. */
struct running {
    const struct consumer *consumer;
    const dueq_holding *holding;
};

/*
 * Sees such a message, and the queue or partition that has it, after so many others. False: it
 * wants no more.
 */
typedef bool running_see(void *context, const char *queue, const struct running *running,
                         const dueq_message *message, size_t seen);
/* Looks up what these consumers have held longest and hold still, up to `most` messages. */
dueq_status running_read(struct cli *cli, const struct workers_view *workers, size_t most,
                         running_see *see, void *context);

/* history.c */

/* Start from {0}; end with history_end(). */
struct history {
    dueq_result **pages;
    size_t page_count;
    const dueq_failure **list; /* the latest first */
    size_t count;
    bool crashed; /* one is a crash: consumers know whose */
};

/* Reads what failed of this message, and not of an earlier one of its id. */
dueq_status history_of(struct cli *cli, dueq_queue *queue, const dueq_message *message,
                       struct history *history);
void history_end(struct history *history);
/*
 * Of a message of cli->queue: what failed, and, where these tell more of it, the consumers:
 * inspect.c.
 */
dueq_status inspect_read(struct cli *cli, const dueq_message *message, struct workers_view *workers,
                         struct history *history);
/*
 * Whose process it was, by the failure or by a consumer that held the delivery. False: it is not
 * known.
 */
bool history_by(const dueq_failure *failure, const struct workers_view *workers, dueq_bytes *host,
                int64_t *pid);

#endif

#include "workers_view.h"

#include <stdlib.h>
#include <string.h>

/* Reads the consumers of queues, for `workers`, `inspect` and `running`. */

enum { PAGE = DUEQ_MAX_BATCH };

void cli_add_partitioned(struct cli_names *names) {
    for (size_t i = 0, count = names->count; i < count; i++) {
        const char *name = names->list[i], *mark = cli_partition_mark(name);
        if (mark)
            cli_add_name(names, (dueq_bytes){name, (size_t)(mark - name)});
    }
    cli_sort_names(names);
}

void *cli_grown(void *list, size_t count, size_t each) {
    void *longer = realloc(list, count * each);
    if (!longer)
        cli_out_of_memory();
    return longer;
}

static void add_page(struct workers_view *workers, const char *queue, dueq_result *page) {
    size_t more = dueq_result_count(page);
    workers->pages = cli_grown(workers->pages, workers->page_count + 1, sizeof(dueq_result *));
    workers->pages[workers->page_count++] = page;
    if (more)
        workers->list = cli_grown(workers->list, workers->count + more, sizeof *workers->list);
    for (size_t i = 0; i < more; i++)
        workers->list[workers->count++] = (struct consumer){queue, dueq_result_worker(page, i)};
}

static dueq_status read_queue(struct cli *cli, const char *name, struct workers_view *workers) {
    dueq_queue *queue;
    dueq_bytes cursor = {0};
    dueq_status status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    while (status == DUEQ_OK) {
        dueq_result *page;
        status = cli_wait(cli, dueq_workers_submit(queue, cursor, PAGE), &page);
        if (status != DUEQ_OK)
            break;
        add_page(workers, name, page);
        cursor = dueq_result_cursor(page);
        if (!cursor.size)
            break;
    }
    dueq_queue_close(queue);
    return status;
}

static int compare(dueq_bytes one, dueq_bytes other) {
    size_t least = one.size < other.size ? one.size : other.size;
    int order = memcmp(one.data, other.data, least);
    return order ? order : (one.size > other.size) - (one.size < other.size);
}

static int by_process(const void *first, const void *second) {
    const struct consumer *one = first, *other = second;
    int order = compare(one->worker->host, other->worker->host);
    if (!order)
        order = (one->worker->pid > other->worker->pid) - (one->worker->pid < other->worker->pid);
    if (!order)
        order = compare(one->worker->session, other->worker->session);
    if (!order)
        order = strcmp(one->queue, other->queue);
    /* The latest registration comes first. */
    return order ? order
                 : (one->worker->seen_ms < other->worker->seen_ms) -
                       (one->worker->seen_ms > other->worker->seen_ms);
}

static dueq_status read_names(struct cli *cli, char *names[], size_t count,
                              struct workers_view *workers) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; i < count; i++)
        cli_add_name(&workers->queues, (dueq_bytes){names[i], strlen(names[i])});
    if (!count)
        status = cli_read_names(cli, &workers->queues);
    /* Consumers of partitions register with the whole queue. */
    cli_add_partitioned(&workers->queues);
    return status;
}

static void arrange(struct workers_view *workers) {
    if (workers->count)
        qsort(workers->list, workers->count, sizeof *workers->list, by_process);
    /* A consumer that registered between two pages is in both. */
    size_t kept = 0;
    for (size_t i = 0; i < workers->count; i++) {
        const struct consumer *last = kept ? &workers->list[kept - 1] : NULL;
        if (!last || last->queue != workers->list[i].queue ||
            compare(last->worker->session, workers->list[i].worker->session) != 0)
            workers->list[kept++] = workers->list[i];
    }
    workers->count = kept;
}

dueq_status workers_read(struct cli *cli, char *names[], size_t count,
                         struct workers_view *workers) {
    dueq_status status = read_names(cli, names, count, workers);
    for (size_t i = 0; status == DUEQ_OK && i < workers->queues.count; i++)
        status = read_queue(cli, workers->queues.list[i], workers);
    arrange(workers);
    return status;
}

int workers_report(struct cli *cli, char *names[], size_t count, struct workers_view *workers) {
    int code = cli_report(cli, read_names(cli, names, count, workers), NULL);
    bool whole = code == CLI_DONE;
    for (size_t i = 0; whole && i < workers->queues.count; i++) {
        const char *name = workers->queues.list[i];
        code = cli_worse(code, cli_report(cli, read_queue(cli, name, workers), name));
    }
    arrange(workers);
    return code;
}

void workers_end(struct workers_view *workers) {
    for (size_t i = 0; i < workers->page_count; i++)
        dueq_result_free(workers->pages[i]);
    free(workers->pages);
    free(workers->list);
    cli_free_names(&workers->queues);
}

size_t workers_queue_count(const struct workers_view *workers, size_t first) {
    const struct consumer *list = workers->list;
    size_t next = first + 1;
    while (next < workers->count &&
           compare(list[first].worker->session, list[next].worker->session) == 0)
        next++;
    return next - first;
}

bool worker_crashed(const dueq_worker *worker) { return worker->offline && !worker->stopping; }

const char *worker_state(const dueq_worker *worker, bool works) {
    if (worker->offline)
        return worker->stopping ? "stopped" : "offline";
    return worker->stopping ? "stops" : works ? "works" : "waits";
}

const struct consumer *workers_holder(const struct workers_view *workers, dueq_bytes ticket,
                                      const dueq_lease **lease) {
    for (size_t i = 0; i < workers->count; i++) {
        const dueq_worker *worker = workers->list[i].worker;
        for (size_t k = 0; k < worker->lease_count; k++)
            if (compare(dueq_worker_lease(worker, k)->ticket, ticket) == 0) {
                *lease = dueq_worker_lease(worker, k);
                return &workers->list[i];
            }
    }
    return NULL;
}

const struct consumer *workers_longest(const struct workers_view *workers, const char *queue,
                                       const dueq_lease **lease) {
    const struct consumer *found = NULL;
    for (size_t i = 0; i < workers->count; i++) {
        const struct consumer *consumer = &workers->list[i];
        const dueq_worker *worker = consumer->worker;
        if (strcmp(consumer->queue, queue) != 0 || worker->offline)
            continue;
        for (size_t k = 0; k < worker->lease_count; k++)
            if (dueq_worker_lease(worker, k)->running &&
                (!found || dueq_worker_lease(worker, k)->since_ms < (*lease)->since_ms)) {
                found = consumer;
                *lease = dueq_worker_lease(worker, k);
            }
    }
    return found;
}

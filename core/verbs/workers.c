#include <stdlib.h>

#include "verbs.h"

/*
 * A consumer registers with a text that describes it, and dueq_workers() reads the texts. The first
 * line has numbers: register.lua puts the time and `left` before those of the consumer. The next
 * three lines have host, program and version. Each further line is a message that is leased to the
 * consumer: for how long in ms, 1 if the program works on it (else 0), its partition plus 1 (0: the
 * queue has no partitions), and its ticket. If the consumer says which tasks its program knows, an
 * empty line and a line for each task's name follow.
 */

/* Registering */

static void decode_registered(dueq_client *client, const struct dueq__reply *reply) {
    int64_t registered;
    if (dueq__reply_number(reply, &registered) && (registered >= 0 && registered <= 2))
        dueq__op_finish(client, registered == 1   ? DUEQ_OK
                                : registered == 0 ? DUEQ_EMPTY
                                                  : DUEQ_NOT_FOUND);
    else
        dueq__answer_unexpected(client);
}

dueq_status dueq__register_submit(dueq_queue *queue, bool whole, const char *session,
                                  int64_t left_ms, dueq_bytes says) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status =
        dueq__verb_begin(queue, &dueq__script_register, false, 1, decode_registered, &words);
    if (status)
        return status;
    dueq__resp_text(&words, session);
    dueq__resp_number(&words, left_ms);
    dueq__arg_put(&words, &says, 1);
    dueq__resp_text(&words, whole ? "1" : "0");
    return dueq__op_submit(queue->client, &words);
}

/* Reading */

const struct dueq__item_type dueq__type_worker = {sizeof(dueq_worker)};

const dueq_worker *dueq_result_worker(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_worker, index);
}

/*
 * Takes off a number of up to 15 digits and the character `after`. False: the text begins
 * otherwise.
 */
static bool take_number(dueq_bytes *text, int64_t *number, char after) {
    const char *at = text->data, *end = at + text->size;
    if (!dueq__take_digits(&at, end, 15, number) || at == end || *at++ != after)
        return false;
    *text = (dueq_bytes){at, (size_t)(end - at)};
    return true;
}

/* Takes off a line. False: no line is left, or the line is no name (dueq__is_name()). */
static bool take_line(dueq_bytes *text, dueq_bytes *line) {
    return dueq__take_word(text, '\n', line) && dueq__is_name(*line);
}

/* Takes off the end of a stopped consumer's first line: how many messages it works on, and a 1. */
static bool take_stopping(dueq_bytes *text, dueq_worker *worker) {
    int64_t one;
    worker->stopping =
        take_number(text, &worker->running, ' ') && take_number(text, &one, '\n') && one == 1;
    return worker->stopping;
}

static size_t count_lines(dueq_bytes text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((const char *)text.data)[i] == '\n';
    return count;
}

static bool read_lease(dueq_bytes *text, int64_t said_ms, dueq_lease *lease) {
    int64_t age, running, partition;
    struct dueq__ticket parts;
    if (!take_number(text, &age, ' ') || !take_number(text, &running, ' ') || running > 1 ||
        !take_number(text, &partition, ' ') || partition > DUEQ_MAX_PARTITIONS ||
        !take_line(text, &lease->ticket) || !dueq__ticket_read(lease->ticket, &parts))
        return false;
    lease->id = parts.id;
    lease->partition = partition - 1;
    lease->since_ms = said_ms > age ? said_ms - age : 0;
    lease->running = (int)running;
    return true;
}

/* The names of tasks at the end of the text, behind an empty line. Empty: the text has none. */
static dueq_bytes read_tasks(dueq_bytes text) {
    static const dueq_bytes none;
    dueq_bytes name, left;
    if (!text.size || *(const char *)text.data != '\n')
        return none;
    dueq_bytes tasks = {(const char *)text.data + 1, text.size - 1};
    for (left = tasks; left.size;)
        if (!take_line(&left, &name))
            return none;
    tasks.size -= tasks.size > 0; /* without the end of the last line */
    return tasks;
}

/*
 * Reads the text that a consumer registered with, which core/consumer/presence.c wrote, and its
 * leases into `leases`. False: the text has another form.
 */
static bool read_worker(dueq_bytes text, dueq_worker *worker, dueq_lease *leases) {
    int64_t said_ms, left_ms, age;
    if (!dueq__is_name(worker->session) || worker->seen_ms > DUEQ_MAX_TIME_MS ||
        !take_number(&text, &said_ms, ' ') || said_ms > DUEQ_MAX_TIME_MS ||
        !take_number(&text, &left_ms, ' ') || left_ms > DUEQ_MAX_TIME_MS ||
        !take_number(&text, &worker->pid, ' ') || !take_number(&text, &worker->slots, ' ') ||
        !take_number(&text, &age, ' ') || !take_number(&text, &worker->leased, ' ') ||
        !(take_number(&text, &worker->running, '\n') || take_stopping(&text, worker)) ||
        !take_line(&text, &worker->host) || !take_line(&text, &worker->program) ||
        !take_line(&text, &worker->version))
        return false;
    worker->since_ms = said_ms > age ? said_ms - age : 0;
    worker->until_ms = worker->seen_ms + left_ms;
    worker->offline = worker->until_ms <= worker->now_ms;
    worker->leases = leases;
    while (text.size && *(const char *)text.data != '\n' &&
           worker->lease_count < DUEQ_MAX_WORKER_LEASES)
        if (!read_lease(&text, said_ms, &leases[worker->lease_count++]))
            return false;
    worker->tasks = read_tasks(text);
    return true;
}

const dueq_lease *dueq_worker_lease(const dueq_worker *worker, size_t index) {
    const dueq_lease *leases = worker->leases;
    return index < worker->lease_count ? &leases[index] : NULL;
}

enum { WORKERS_NOW = 0, WORKERS_CURSOR = 1, WORKERS_FIXED = 2, WORKERS_EACH = 3 };

dueq_result *dueq__result_workers(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t words = dueq__reply_count(reply), lines = 0, room = 0;
    int64_t now;
    dueq_bytes cursor, text;
    if (words < WORKERS_FIXED || (words - WORKERS_FIXED) % WORKERS_EACH ||
        !dueq__reply_number(dueq__reply_item(reply, WORKERS_NOW), &now) ||
        !dueq__reply_bytes(dueq__reply_item(reply, WORKERS_CURSOR), &cursor))
        return dueq__result_malformed(NULL, error, "workers");
    for (size_t i = WORKERS_FIXED; i < words; i += WORKERS_EACH)
        if (dueq__reply_bytes(dueq__reply_item(reply, i + 2), &text))
            room += (lines = count_lines(text)) < DUEQ_MAX_WORKER_LEASES ? lines
                                                                         : DUEQ_MAX_WORKER_LEASES;
    dueq_result *result =
        dueq__result_new(&dueq__type_worker, (words - WORKERS_FIXED) / WORKERS_EACH, 0, error);
    if (!result)
        return NULL;
    result->cursor = cursor;
    result->leases = calloc(room + 1, sizeof *result->leases);
    if (!result->leases)
        return dueq__result_no_memory(result, error);
    size_t most = result->count;
    dueq_lease *leases = result->leases;
    result->count = 0;
    for (size_t i = 0; i < most; i++) {
        size_t at = WORKERS_FIXED + i * WORKERS_EACH;
        dueq_worker worker = {.now_ms = now};
        if (!dueq__reply_bytes(dueq__reply_item(reply, at), &worker.session) ||
            !dueq__reply_number(dueq__reply_item(reply, at + 1), &worker.seen_ms) ||
            !dueq__reply_bytes(dueq__reply_item(reply, at + 2), &text))
            return dueq__result_malformed(result, error, "workers");
        if (!read_worker(text, &worker, leases))
            continue;
        leases += worker.lease_count;
        memcpy(result->items[result->count].value, &worker, sizeof worker);
        result->items[result->count++].id = worker.session;
    }
    return result;
}

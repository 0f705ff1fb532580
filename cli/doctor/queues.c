#include <stdlib.h>
#include <string.h>

#include "../queue_row.h"
#include "doctor.h"

#define PAGE "100"
#define ROOM_OF_KEY (DUEQ_MAX_NAME + 24)
#define OVERDUE_MS 10000
#define MANY_DEAD 1000
#define MANY_IDS 100000
#define MANY_CRASHED 5
#define MESSAGES_READ 50 /* of each state */
#define TASKS_NAMED 5
#define TASK_SIZE 256

/*
 * The checks of one queue. A check that finds nothing says nothing here: check_queues() then prints
 * one ok for all queues.
 */
struct queue {
    struct doctor *doctor;
    const char *name;
    const struct queue_rows *rows;
    const dueq_counts *counts;
    bool *found; /* by check */
};

#define say_queue(queue, check, level, fix, ...)                                                   \
    do {                                                                                           \
        (queue)->found[CHECK_##check] = true;                                                      \
        doctor_say((queue)->doctor, CHECK_##check, LEVEL_##level, NULL, (queue)->name, (fix),      \
                   __VA_ARGS__);                                                                   \
    } while (0)

static void name_key(const struct queue *queue, const char *what, char key[ROOM_OF_KEY]) {
    snprintf(key, ROOM_OF_KEY, "dueq:{%s}:%s", queue->name, what);
}

/* The check that reports a cause; CHECKS: a more thorough check of its own does. */
static enum check check_of(enum cause cause) {
    switch (cause) {
    case CAUSE_DISK:
        return CHECK_DISK;
    case CAUSE_READ_ONLY:
    case CAUSE_REPLICAS:
        return CHECK_REPLICAS;
    case CAUSE_FULL:
        return CHECK_MEMORY;
    case CAUSE_EVICTED:
        return CHECK_EVICTION;
    case CAUSE_NOBODY:
    case CAUSE_HUNG:
    case CAUSE_BEHIND:
    case CAUSE_LIMIT:
    case CAUSE_GROUPS:
        return CHECK_STUCK;
    case CAUSE_PAUSED:
        return CHECK_PAUSED;
    case CAUSE_OUTBOX:
        return CHECK_OUTBOX;
    case CAUSE_POISON:
    case CAUSE_FAILING:
        return CHECK_DEAD;
    case CAUSE_CRASHING:
        return CHECK_CRASHED;
    default:
        return CHECKS;
    }
}

static const enum level levels[] = {LEVEL_NOTE, LEVEL_WARNING, LEVEL_PROBLEM};

void check_health(struct doctor *doctor, struct server *server) {
    struct health health;
    struct diagnosis why;
    server->said = CHECKS;
    if (server->silent || (server->role == ROLE_REPLICA && doctor->count > 1))
        return;
    if (!health_of(doctor->cli, server->conn, &health)) {
        server_ask(doctor, server, "PING", NULL); /* finds out whether it is silent */
        return;
    }
    if (!diagnose_server(&health, false, &why) || check_of(why.cause) == CHECKS)
        return;
    server->said = check_of(why.cause);
    doctor_say(doctor, server->said, levels[why.level], dueq_server_address(server->conn), NULL,
               cause_fix(why.cause), "%s", why.text);
}

/*
 * Reports the queue's diagnosis, which top, metrics and web show too. Returns its check; CHECKS: no
 * diagnosis.
 */
static enum check check_why(struct queue *queue, const struct queue_row *row) {
    struct diagnosis why;
    const enum check check = diagnose_queue(queue->rows, row, &why) ? check_of(why.cause) : CHECKS;
    const bool servers =
        check != CHECKS && why.cause < CAUSE_OUTBOX && why.cause != CAUSE_UNREADABLE;
    if (check != CHECKS && !servers) {
        queue->found[check] = true;
        doctor_say(queue->doctor, check, levels[why.level], NULL, queue->name, cause_fix(why.cause),
                   "%s", why.text);
    }
    return check;
}

static void check_dead(struct queue *queue) {
    const dueq_counts *counts = queue->counts;
    if (counts->dead >= MANY_DEAD)
        say_queue(queue, DEAD, WARNING, "dueq kick, or dueq purge QUEUE dead: they stay until then",
                  "%lld dead messages take memory", (long long)counts->dead);
    else if (counts->dead > 0)
        say_queue(queue, DEAD, NOTE, "dueq peek QUEUE dead says why", "%lld messages are dead",
                  (long long)counts->dead);
}

static void check_damaged(struct queue *queue) {
    const dueq_counts *counts = queue->counts;
    if (counts->quarantined > 0)
        say_queue(queue, DAMAGED, WARNING, "dueq check QUEUE; see who else writes these keys",
                  "%lld entries were damaged and put aside", (long long)counts->quarantined);
}

/* Tasks of messages that no worker of the queue knows. */
struct unknown {
    size_t messages, count;
    char names[TASKS_NAMED][TASK_SIZE];
};

/* Whether a worker of Python or PHP has written that it does not know the task of the message. */
static bool is_unknown(const dueq_message *message) {
    static const char error[] = "UnknownTask: there is no task ";
    return message->error.size &&
           memmem(message->error.data, message->error.size, error, sizeof error - 1) != NULL;
}

static bool has_line(dueq_bytes text, dueq_bytes line) {
    const char *at = text.data, *end = at + text.size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        if (size == line.size && memcmp(at, line.data, size) == 0)
            return true;
        at += size + 1;
    }
    return false;
}

/*
 * Whether the queue has workers, each says which tasks it knows, and none knows the task of this
 * message.
 */
static bool is_known_to_none(const struct queue *queue, const char *whole,
                             const dueq_message *message) {
    const struct workers_view *workers = &queue->rows->workers;
    dueq_bytes task = cli_header(message, "task", "");
    bool any = false;
    for (size_t i = 0; task.size && i < workers->count; i++) {
        const dueq_worker *worker = workers->list[i].worker;
        if (worker->offline || strcmp(workers->list[i].queue, whole) != 0)
            continue;
        if (!worker->tasks.size || has_line(worker->tasks, task))
            return false;
        any = true;
    }
    return any;
}

static void add_unknown(struct unknown *unknown, const dueq_message *message) {
    dueq_bytes task = cli_header(message, "task", "");
    char name[TASK_SIZE];
    size_t at = 0;
    snprintf(name, sizeof name, "%.*s", (int)task.size, (const char *)task.data);
    while (at < unknown->count && strcmp(unknown->names[at], name) != 0)
        at++;
    unknown->messages++;
    if (at == unknown->count && at < TASKS_NAMED)
        strcpy(unknown->names[unknown->count++], name);
}

/* Looks at the first messages of each state in which messages of an unknown task wait. */
static dueq_status find_unknown(struct queue *queue, const char *whole, struct unknown *unknown) {
    static const dueq_state states[] = {DUEQ_READY, DUEQ_DELAYED, DUEQ_DEAD};
    struct cli *cli = queue->doctor->cli;
    dueq_queue *opened;
    dueq_status status = dueq_queue_open(cli->client, queue->name, strlen(queue->name), &opened);
    if (status == DUEQ_OK)
        dueq_queue_preview(opened, CLI_PREVIEW);
    for (size_t i = 0; status == DUEQ_OK && i < sizeof states / sizeof *states; i++) {
        dueq_result *page;
        if (!state_count(queue->counts, states[i]))
            continue;
        status = cli_wait(cli, dueq_peek_submit(opened, states[i], (dueq_bytes){0}, MESSAGES_READ),
                          &page);
        for (size_t j = 0; j < dueq_result_count(page); j++) {
            const dueq_message *message = dueq_result_message(page, j);
            if (!message)
                continue;
            /* A dead message may be of a task that the programs had long ago. */
            bool waits = states[i] != DUEQ_DEAD;
            if (is_unknown(message) || (waits && is_known_to_none(queue, whole, message)))
                add_unknown(unknown, message);
        }
        dueq_result_free(page);
    }
    dueq_queue_close(opened);
    return status;
}

static void check_tasks(struct queue *queue, const char *whole) {
    static const char fix[] = "start workers that know them, or route them to the queue of such "
                              "workers; dueq kick makes dead ones ready";
    struct unknown unknown = {0};
    char names[TASKS_NAMED * (TASK_SIZE + 2)] = "";
    dueq_status status = find_unknown(queue, whole, &unknown);
    for (size_t i = 0, size = 0; i < unknown.count; i++)
        size += (size_t)sprintf(names + size, "%s%s", i ? ", " : "", unknown.names[i]);
    if (status != DUEQ_OK)
        say_queue(queue, TASKS, UNKNOWN, "see the findings about the servers",
                  "its messages cannot be read: %s: %s", dueq_status_name(status),
                  dueq_error_text(queue->doctor->cli->client));
    else if (unknown.messages)
        say_queue(queue, TASKS, WARNING, fix,
                  "no worker knows the tasks of %zu of the messages that were looked at: %s",
                  unknown.messages, names);
}

/*
 * Counts the entries of `attempts` ("DELIVERIES FORGIVEN CRASHES SUFFIX ERROR") of messages that
 * lost a consumer.
 */
static size_t count_crashed(const dueq_answer *entries) {
    size_t crashed = 0;
    for (size_t i = 1; i < dueq_answer_count(entries); i += 2) {
        long crashes = 0;
        sscanf(dueq_answer_text(dueq_answer_item(entries, i)).data, "%*d %*d %ld", &crashes);
        crashed += crashes > 0;
    }
    return crashed;
}

/*
 * Finds leases that ended and whose messages no consumer took back, and messages that lost a
 * consumer before.
 */
static void check_leases(struct queue *queue, struct server *server) {
    static const char fix[] = "see why workers are killed; a longer lease, or a heartbeat";
    static const char what[] = "of the messages that were looked at lost their worker before";
    struct doctor *doctor = queue->doctor;
    char leased[ROOM_OF_KEY], attempts[ROOM_OF_KEY], now[24];
    name_key(queue, "leased", leased);
    name_key(queue, "attempts", attempts);
    snprintf(now, sizeof now, "%lld", (long long)queue->counts->now_ms - OVERDUE_MS);
    const dueq_answer *answer = server_ask(doctor, server, "ZCOUNT", leased, "-inf", now, NULL);
    int64_t over = answer ? dueq_answer_number(answer) : 0;
    answer =
        answer ? server_ask(doctor, server, "HSCAN", attempts, "0", "COUNT", PAGE, NULL) : NULL;
    const dueq_answer *entries = answer ? dueq_answer_item(answer, 1) : NULL;
    size_t crashed = answer ? count_crashed(entries) : 0;
    if (server->silent)
        queue->found[CHECK_CRASHED] = true; /* no ok either: the answer is missing */
    else if (!answer)
        say_queue(queue, CRASHED, UNKNOWN, "permit this user +zcount +hscan",
                  "its leases cannot be read: %s", dueq_server_error_text(server->conn));
    else if (over > 0)
        say_queue(queue, CRASHED, WARNING, "start workers for it: the next reserve takes them",
                  "%lld leases ended, and nobody takes these messages", (long long)over);
    else if (crashed >= MANY_CRASHED)
        say_queue(queue, CRASHED, WARNING, fix, "%zu %s", crashed, what);
    else if (crashed > 0)
        say_queue(queue, CRASHED, NOTE, fix, "%zu %s", crashed, what);
}

static void check_ids(struct queue *queue, struct server *server) {
    char key[ROOM_OF_KEY];
    const dueq_counts *counts = queue->counts;
    name_key(queue, "unique", key);
    const dueq_answer *count = server_ask(queue->doctor, server, "ZCARD", key, NULL);
    int64_t ids = count ? dueq_answer_number(count) : 0;
    int64_t existing = counts->ready + counts->delayed + counts->leased + counts->dead;
    if (server->silent)
        queue->found[CHECK_UNIQUE] = true;
    else if (!count)
        say_queue(queue, UNIQUE, UNKNOWN, "permit this user +zcard",
                  "its ids cannot be counted: %s", dueq_server_error_text(server->conn));
    else if (ids >= MANY_IDS && ids > 10 * existing)
        say_queue(queue, UNIQUE, WARNING, "push with a shorter unique",
                  "%lld ids are kept as unique, for %lld messages", (long long)ids,
                  (long long)existing);
}

/* Asks the queue's server for what stats does not count. */
static void check_keys(struct queue *queue, struct server *server) {
    const struct doctor *doctor = queue->doctor;
    if (server && doctor->wanted[CHECK_CRASHED])
        check_leases(queue, server);
    if (server && doctor->wanted[CHECK_UNIQUE])
        check_ids(queue, server);
    if (!server)
        say_queue(queue, QUEUES, UNKNOWN, "see the findings about the servers",
                  "it is not known which server has it");
}

/*
 * Checks one queue. False: stop, because the other queues would fail like this one, each after all
 * retries of a call.
 */
static bool look(struct doctor *doctor, const struct queue_rows *rows, struct queue_row *row,
                 bool found[CHECKS]) {
    struct queue queue = {doctor, row->queue, rows, &row->counts, found};
    struct server *server = server_of(doctor, row->queue);
    if (server && (!server->answers || server->silent)) {
        say_queue(&queue, QUEUES, PROBLEM, "see the finding about the node",
                  "its node %s does not answer", dueq_server_address(server->conn));
        return true;
    }
    queue_row_read(doctor->cli, NULL, true, row);
    if (row->status == DUEQ_OK) {
        if (check_why(&queue, row) != CHECK_DEAD)
            check_dead(&queue);
        check_damaged(&queue);
        if (doctor->wanted[CHECK_TASKS])
            check_tasks(&queue, row->whole);
        check_keys(&queue, server);
    } else {
        say_queue(&queue, QUEUES, UNKNOWN, "see the findings about the servers",
                  "it cannot be read: %s: %s", dueq_status_name(row->status), row->problem);
    }
    return row->status == DUEQ_OK || !dueq_status_retriable(row->status);
}

/* The checks of queues, and their text of ok when no queue has a finding. */
static const struct {
    enum check check;
    const char *fine;
} fine[] = {{CHECK_STUCK, "no queue has ready messages that nobody takes in time"},
            {CHECK_PAUSED, "no queue is paused"},
            {CHECK_DEAD, "no queue has dead messages"},
            {CHECK_TASKS, "no task waits that no worker knows"},
            {CHECK_CRASHED, "no lease ended before its message was settled"},
            {CHECK_OUTBOX, "no message is stopped on its way to another queue"},
            {CHECK_DAMAGED, "no entry was damaged"},
            {CHECK_UNIQUE, "no queue keeps many ids to refuse repeated pushes"}};

/* Whether a server that has queues still answers. */
static bool is_any_left(const struct doctor *doctor) {
    for (size_t i = 0; i < doctor->count; i++)
        if (doctor->servers[i].role != ROLE_SENTINEL && doctor->servers[i].answers &&
            !doctor->servers[i].silent)
            return true;
    return false;
}

void check_queues(struct doctor *doctor) {
    struct queue_rows rows = {0};
    bool found[CHECKS] = {0}, any = false;
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        any = any || doctor->wanted[fine[i].check];
    if (!any || !doctor->names.count)
        return;
    if (!is_any_left(doctor)) {
        doctor_say(doctor, CHECK_QUEUES, LEVEL_UNKNOWN, NULL, NULL,
                   "see the findings about the servers",
                   "no server answers for the queues any more");
        return;
    }
    status = queue_rows_begin(doctor->cli, doctor->names.list, doctor->names.count, &rows);
    if (status != DUEQ_OK) {
        found[CHECK_QUEUES] = true;
        doctor_say(doctor, CHECK_QUEUES, LEVEL_UNKNOWN, NULL, NULL,
                   "see the findings about the servers", "the consumers cannot be read: %s: %s",
                   dueq_status_name(status), dueq_error_text(doctor->cli->client));
        any = false;
    }
    if (any)
        health_read(doctor->cli, &rows.healths);
    for (size_t i = 0; any && i < rows.count; i++)
        if (!rows.list[i].parts)
            any = look(doctor, &rows, &rows.list[i], found);
    for (size_t i = 0; i < sizeof fine / sizeof *fine && !found[CHECK_QUEUES]; i++)
        if (!found[fine[i].check])
            doctor_say(doctor, fine[i].check, LEVEL_OK, NULL, NULL, NULL, "%s", fine[i].fine);
    queue_rows_end(&rows);
}

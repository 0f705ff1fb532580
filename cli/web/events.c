#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../system.h"
#include "web.h"

enum {
    NAMES_MS = 2000, /* queues are listed again after this time */
    /* After a reading, the pause is at least this many times as long as the reading took. */
    PATIENT = 10,
    PROBE_MS = 500, /* between two probes of the server */
    /* without an answer for this long, the page says that the server does not answer */
    LATE_MS = 1000,
    PATIENCE_MS = 2000, /* after this long the call is given up, and its connection dropped */
    SLICE_MS = 100,
    NOBODY_MS = 3000 /* without a viewer for this long, the thread stops asking */
};

/* The kinds of events. The last event of each kind is kept for new viewers. */
enum event { QUEUES, WHY, HISTORY, EVENTS };

struct piece {
    struct buffer text;
    uint64_t number; /* of the event, each higher than the one before; 0: no event */
};

/* The state that all viewers share. One thread asks the server, however many viewers there are. */
struct events {
    struct web *web;
    pthread_t thread;
    pthread_mutex_t lock;        /* guards the members up to `no_memory` */
    pthread_cond_t looked, told; /* looked: a viewer came. told: there is a new event */
    bool ending;
    int64_t watched_ms; /* when a viewer last asked for events */
    int64_t asked_ms;   /* start of the call that waits for an answer; 0: no call waits */
    uint64_t number;    /* number of the last event, from 1 on */
    struct piece pieces[EVENTS];
    char *failure; /* an event: why the last reading failed. NULL: it succeeded */
    /* Memory ran out in the last reading, so there is no event that says so. */
    bool no_memory;
    /* names: of all queues. wholes: also the queues whose partitions are in names. */
    struct cli_names names, wholes;
    int64_t names_ms, due_ms; /* when to read the names and the queues again */
    struct queue_rows rows;   /* the last diagnosis; why_ms: when to read it again */
    int64_t why_ms;
    int64_t history_ms; /* the last history ends at the beginning of this minute */
    size_t probed;      /* the queue of the last probe */
};

/* The command's state of the thread. cli_wait() waits by wait_call(). */
struct poller {
    struct cli cli;
    struct events *events;
    struct piece piece; /* the event that is being written */
    FILE *out;          /* writes into the piece */
};

/* The server's answers */

static bool note(struct events *events, int64_t asked_ms) {
    pthread_mutex_lock(&events->lock);
    events->asked_ms = asked_ms;
    const bool ending = events->ending;
    pthread_mutex_unlock(&events->lock);
    return !ending;
}

/*
 * Completes a call for cli_wait(). INTERRUPTED: given up after PATIENCE_MS. A silent connection may
 * stay silent after the server is back, so it is dropped.
 */
static dueq_status wait_call(struct cli *cli) {
    struct events *events = ((struct poller *)(void *)cli)->events;
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = DUEQ_PENDING;
    while (note(events, begin_ms) && time_monotonic_ms() - begin_ms < PATIENCE_MS) {
        status = dueq_wait(cli->client, SLICE_MS);
        if (status != DUEQ_PENDING && status != DUEQ_INTERRUPTED)
            break;
        status = DUEQ_PENDING;
    }
    if (status == DUEQ_PENDING) {
        dueq_abandon(cli->client);
        return DUEQ_INTERRUPTED;
    }
    note(events, time_monotonic_ms());
    return status;
}

static dueq_status read_counts(struct cli *cli, const char *name, dueq_counts *counts) {
    dueq_queue *queue;
    dueq_result *result = NULL;
    dueq_status status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = cli_wait(cli, dueq_stats_submit(queue), &result);
    *counts =
        status == DUEQ_OK ? *dueq_result_counts(result) : (dueq_counts){.now_ms = time_now_ms()};
    dueq_result_free(result);
    dueq_queue_close(queue);
    return status;
}

/* Events */

/* Writes a queue's counts. A queue that cannot be read has its status, and no counts. */
static dueq_status put_queue(struct cli *cli, const char *name, FILE *out) {
    dueq_counts counts = DUEQ_COUNTS;
    dueq_status status = read_counts(cli, name, &counts);
    if (is_server_status(status))
        return status;
    json_object *object = json_of_counts(name, &counts);
    if (status != DUEQ_OK)
        json_object_object_add(object, "status", json_name(dueq_status_name(status)));
    api_put_line(out, "data: ", object);
    return DUEQ_OK;
}

static void put_failure(const char *status, const char *text, FILE *out) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "status", json_name(status));
    json_object_object_add(object, "text", json_name(text));
    api_put_line(out, "event: failure\ndata: ", object);
    fputc('\n', out);
}

static void put_silence(int64_t ms, FILE *out) {
    char text[80];
    snprintf(text, sizeof text, "the server has not answered for %d s", (int)((ms + 500) / 1000));
    put_failure(dueq_status_name(DUEQ_TIMEOUT), text, out);
}

/*
 * When to repeat something that took from begin_ms until now: after `least` ms, or `times` as long
 * as it took, whichever is longer.
 */
static int64_t again_ms(int64_t begin_ms, int64_t least, int64_t times) {
    const int64_t now_ms = time_monotonic_ms(), rest_ms = times * (now_ms - begin_ms);
    return now_ms + (rest_ms > least ? rest_ms : least);
}

static dueq_status put_queues(struct events *events, struct cli *cli, FILE *out) {
    dueq_status status = DUEQ_OK;
    const int64_t begin_ms = time_monotonic_ms();
    if (begin_ms >= events->names_ms) {
        cli_free_names(&events->names);
        cli_free_names(&events->wholes);
        status = cli_read_names(cli, &events->names);
        for (size_t i = 0; i < events->names.count; i++)
            cli_add_name(&events->wholes,
                         (dueq_bytes){events->names.list[i], strlen(events->names.list[i])});
        cli_add_partitioned(&events->wholes);
        /* Listing the queues scans all keys of the server, so a large server is scanned seldom. */
        events->names_ms = status != DUEQ_OK ? 0 : again_ms(begin_ms, NAMES_MS, PATIENT * PATIENT);
    }
    fputs("event: queues\n", out);
    for (size_t i = 0; status == DUEQ_OK && i < events->names.count; i++)
        status = put_queue(cli, events->names.list[i], out);
    fputs("data:\n\n", out);
    return status;
}

static dueq_status put_why(struct events *events, struct cli *cli, FILE *out) {
    dueq_status status =
        queue_rows_read(cli, events->wholes.list, events->wholes.count, &events->rows, NULL);
    fputs("event: why\n", out);
    if (status == DUEQ_OK)
        put_diagnoses(&events->rows, "data: ", out);
    else
        put_unreadable(cli, status, "data: ", out);
    fputs("data:\n\n", out);
    return is_server_status(status) ? status : DUEQ_OK;
}

enum { MINUTE_MS = 60000 };

static int64_t minute_of(const struct queue_row *row) {
    return row->counts.now_ms / MINUTE_MS * MINUTE_MS;
}

static json_object *series(const struct queue_row *row, size_t first, size_t field) {
    json_object *list = json_object_new_array();
    for (size_t i = first; i < ROW_MINUTES - 1; i++) {
        const int64_t *value =
            (const int64_t *)(const void *)((const char *)&row->minutes[i] + field);
        json_object_array_add(list, json_object_new_int64(*value));
    }
    return list;
}

/*
 * Writes the minutes that are over, from the first one with an event. The present minute is left
 * out: it would look like a drop.
 */
static void put_minutes(const struct queue_row *row, FILE *out) {
    size_t first = 0;
    while (first < ROW_MINUTES - 1 && !row->minutes[first].pushed && !row->minutes[first].acked &&
           !row->minutes[first].retried)
        first++;
    if (first == ROW_MINUTES - 1)
        return;
    const int64_t start_ms = minute_of(row) - (int64_t)(ROW_MINUTES - 1 - first) * MINUTE_MS;
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue",
                           json_text((dueq_bytes){row->queue, strlen(row->queue)}));
    json_object_object_add(object, "start_ms", json_object_new_int64(start_ms));
    json_object_object_add(object, "pushed", series(row, first, offsetof(dueq_rate, pushed)));
    json_object_object_add(object, "acked", series(row, first, offsetof(dueq_rate, acked)));
    json_object_object_add(object, "retried", series(row, first, offsetof(dueq_rate, retried)));
    api_put_line(out, "data: ", object);
}

/* Writes the history from the rows that put_why() has read. */
static dueq_status put_history(struct events *events, struct cli *cli, FILE *out) {
    (void)cli;
    fputs("event: history\n", out);
    for (size_t i = 0; i < events->rows.count; i++)
        if (!events->rows.list[i].status)
            put_minutes(&events->rows.list[i], out);
    fputs("data:\n\n", out);
    return DUEQ_OK;
}

/* The minute in which the last queue was read. */
static int64_t latest_minute(const struct queue_rows *rows) {
    int64_t latest = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (minute_of(&rows->list[i]) > latest)
            latest = minute_of(&rows->list[i]);
    return latest;
}

typedef dueq_status put_event(struct events *events, struct cli *cli, FILE *out);

static void begin(struct poller *poller) {
    poller->out = buffer_open(&poller->piece.text);
    if (!poller->out)
        cli_out_of_memory();
}

/* Ends the event. The caller owns the piece. */
static struct piece end(struct poller *poller) {
    FILE *const out = poller->out;
    poller->out = NULL;
    if (!buffer_close(&poller->piece.text, out))
        cli_out_of_memory();
    const struct piece piece = poller->piece;
    poller->piece = (struct piece){0};
    return piece;
}

/* Publishes an event, in the place of the last one of its kind. */
static void tell(struct events *events, enum event event, struct piece piece) {
    pthread_mutex_lock(&events->lock);
    free(events->pieces[event].text.data);
    piece.number = ++events->number;
    events->pieces[event] = piece;
    if (event == QUEUES) {
        free(events->failure);
        events->failure = NULL;
    }
    pthread_cond_broadcast(&events->told);
    pthread_mutex_unlock(&events->lock);
}

static dueq_status make(struct poller *poller, enum event event, put_event *put) {
    begin(poller);
    dueq_status status = put(poller->events, &poller->cli, poller->out);
    const struct piece piece = end(poller);
    if (status == DUEQ_OK)
        tell(poller->events, event, piece);
    else
        free(piece.text.data);
    return status;
}

static void fail(struct poller *poller, dueq_status status) {
    struct events *events = poller->events;
    begin(poller);
    const char *text = dueq_error_text(poller->cli.client);
    if (status == DUEQ_INTERRUPTED)
        put_silence(PATIENCE_MS, poller->out);
    else
        put_failure(dueq_status_name(status), *text ? text : dueq_status_text(status), poller->out);
    const struct piece piece = end(poller);
    pthread_mutex_lock(&events->lock);
    free(events->failure);
    events->failure = piece.text.data;
    pthread_cond_broadcast(&events->told);
    pthread_mutex_unlock(&events->lock);
}

/* The thread */

static dueq_status look(struct poller *poller) {
    struct events *events = poller->events;
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = make(poller, QUEUES, put_queues);
    events->due_ms = again_ms(begin_ms, EVENTS_MS, PATIENT);
    if (status == DUEQ_OK && time_monotonic_ms() >= events->why_ms) {
        const int64_t why_ms = time_monotonic_ms();
        status = make(poller, WHY, put_why);
        events->why_ms = again_ms(why_ms, DIAGNOSES_MS, PATIENT);
        const int64_t minute_ms = latest_minute(&events->rows);
        if (status == DUEQ_OK && minute_ms != events->history_ms) {
            make(poller, HISTORY, put_history);
            events->history_ms = minute_ms;
        }
    }
    return status;
}

/*
 * Asks for the counts of one queue, each time another, between two readings: so the page knows
 * whether the server answers.
 */
static dueq_status probe(struct poller *poller) {
    struct events *events = poller->events;
    struct cli *cli = &poller->cli;
    dueq_counts counts = DUEQ_COUNTS;
    dueq_result *page = NULL;
    dueq_status status;
    if (events->names.count > 0) {
        events->probed = (events->probed + 1) % events->names.count;
        status = read_counts(cli, events->names.list[events->probed], &counts);
    } else {
        status = cli_wait(cli, dueq_queues_submit(cli->client, (dueq_bytes){NULL, 0}), &page);
        dueq_result_free(page);
    }
    return is_server_status(status) ? status : DUEQ_OK;
}

static void ask_server(void *context) {
    struct poller *poller = context;
    struct events *events = poller->events;
    poller->cli.client = web_client(events->web);
    const bool due = time_monotonic_ms() >= events->due_ms;
    dueq_status status = due ? look(poller) : probe(poller);
    if (status != DUEQ_OK) {
        fail(poller, status);
        events->due_ms = 0;
    }
}

static void ask(struct events *events) {
    struct poller poller = {.cli = {.finishing = true, .wait = wait_call}, .events = events};
    const bool no_memory = !cli_try(ask_server, &poller);
    if (poller.out)
        buffer_close(&poller.piece.text, poller.out);
    free(poller.piece.text.data);
    if (poller.cli.client)
        web_client_back(events->web, poller.cli.client);
    note(events, 0);
    pthread_mutex_lock(&events->lock);
    events->no_memory = no_memory;
    pthread_mutex_unlock(&events->lock);
    if (no_memory)
        events->due_ms = 0;
}

/* Drops the events: they would be old when the next viewer comes. */
static void forget(struct events *events) {
    for (int i = 0; i < EVENTS; i++) {
        free(events->pieces[i].text.data);
        events->pieces[i] = (struct piece){0};
    }
    free(events->failure);
    events->failure = NULL;
    events->due_ms = events->why_ms = events->names_ms = events->history_ms = 0;
}

static void wait_until(struct events *events, pthread_cond_t *what, int64_t ms) {
    system_wait(what, &events->lock, ms);
}

static void *run(void *context) {
    struct events *events = context;
    pthread_mutex_lock(&events->lock);
    while (!events->ending) {
        if (time_monotonic_ms() - events->watched_ms > NOBODY_MS) {
            forget(events);
            pthread_cond_wait(&events->looked, &events->lock);
            continue;
        }
        pthread_mutex_unlock(&events->lock);
        ask(events);
        pthread_mutex_lock(&events->lock);
        int64_t next_ms = time_monotonic_ms() + PROBE_MS;
        if (events->due_ms > 0 && events->due_ms < next_ms)
            next_ms = events->due_ms;
        while (!events->ending && time_monotonic_ms() < next_ms)
            wait_until(events, &events->looked, next_ms);
    }
    pthread_mutex_unlock(&events->lock);
    return NULL;
}

struct events *events_new(struct web *web) {
    struct events *events = calloc(1, sizeof *events);
    sigset_t all, before;
    if (!events)
        cli_out_of_memory();
    events->web = web;
    events->watched_ms = INT64_MIN / 2;
    events->number = 1;
    pthread_mutex_init(&events->lock, NULL);
    system_cond_init(&events->looked);
    system_cond_init(&events->told);
    /* The serving thread handles signals. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&events->thread, NULL, run, events) != 0)
        cli_out_of_memory();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return events;
}

void events_end(struct events *events) {
    pthread_mutex_lock(&events->lock);
    events->ending = true;
    pthread_cond_broadcast(&events->looked);
    pthread_mutex_unlock(&events->lock);
    pthread_join(events->thread, NULL);
    forget(events);
    cli_free_names(&events->names);
    cli_free_names(&events->wholes);
    queue_rows_end(&events->rows);
    pthread_cond_destroy(&events->looked);
    pthread_cond_destroy(&events->told);
    pthread_mutex_destroy(&events->lock);
    free(events);
}

/* The streams */

/* Writes whether the server answers now. Only this makes the page say "live". */
static void put_state(const struct events *events, FILE *out) {
    const int64_t silent_ms = events->asked_ms ? time_monotonic_ms() - events->asked_ms : 0;
    if (events->no_memory)
        fputs("event: failure\ndata: " HTTP_NO_MEMORY "\n", out);
    else if (events->failure)
        fputs(events->failure, out);
    else if (silent_ms >= LATE_MS)
        put_silence(silent_ms, out);
    else if (events->pieces[QUEUES].number > 0)
        fprintf(out, "event: live\ndata: {\"silent_ms\":%d}\n\n", (int)silent_ms);
    else
        fputs(":\n\n", out);
}

bool events_stream(const struct http_request *request, void *context, uint64_t *seen, FILE *out) {
    struct events *events = ((struct web *)context)->events;
    const int64_t begin_ms = time_monotonic_ms();
    if (*seen && !http_wait(request, 0))
        return false;
    pthread_mutex_lock(&events->lock);
    events->watched_ms = begin_ms;
    pthread_cond_signal(&events->looked);
    if (events->number == *seen)
        wait_until(events, &events->told, begin_ms + PULSE_MS);
    for (int i = 0; i < EVENTS; i++)
        if (events->pieces[i].number > *seen)
            fwrite(events->pieces[i].text.data, 1, events->pieces[i].text.size, out);
    put_state(events, out);
    *seen = events->number;
    pthread_mutex_unlock(&events->lock);
    return true;
}

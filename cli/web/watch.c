#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "web.h"

enum {
    NAMES_MS = 2000,    /* names are read again after so long, */
    PATIENT = 10,       /* and all after so many times as it took */
    PROBE_MS = 500,     /* between two questions to the server */
    LATE_MS = 1000,     /* a call without an answer for so long: the server does not answer */
    PATIENCE_MS = 2000, /* then the call is given up, and goes on a new connection */
    SLICE_MS = 100,
    NOBODY_MS = 3000 /* since when nobody has looked on */
};

/* What is told: the last event of each kind. */
enum event { QUEUES, WHY, HISTORY, EVENTS };

struct piece {
    struct buffer text;
    uint64_t number; /* grows with each that is made; 0: there is none */
};

/* What all see: however many look on, one thread asks the server. */
struct watch {
    struct web *web;
    pthread_t thread;
    pthread_mutex_t lock;        /* of all up to `failure` */
    pthread_cond_t looked, told; /* somebody looks on; there is something to tell */
    bool ending;
    int64_t looked_ms; /* when somebody looked last */
    int64_t asked_ms;  /* since when the server has not answered; 0: nobody waits for it */
    uint64_t number;   /* of the last event, from 1 on */
    struct piece pieces[EVENTS];
    char *failure;                  /* an event: why the last look failed. NULL: it did not */
    struct cli_names names, wholes; /* wholes: also of the queues that partitions are of */
    int64_t names_ms, due_ms;       /* when the names and the queues are to be read again */
    struct glances glances;         /* what is wrong, and when that is to be read again */
    int64_t why_ms;
    int64_t history_ms; /* the minute whose beginning the history that was told ends at */
    size_t probed;      /* the queue that was asked for last */
};

/* What runs in the thread: a run of the program, almost. The client waits for its answers by wait_call(). */
struct looker {
    struct cli cli;
    struct watch *watch;
};

/* ---- The server's answers ------------------------------------------------------------------------- */

static bool note(struct watch *watch, int64_t asked_ms) {
    pthread_mutex_lock(&watch->lock);
    watch->asked_ms = asked_ms;
    const bool ending = watch->ending;
    pthread_mutex_unlock(&watch->lock);
    return !ending;
}

/* Completes a call for cli_wait(). A connection that went silent may stay so after the server is back: it is left. */
static dueq_status wait_call(struct cli *cli) {
    struct watch *watch = ((struct looker *)(void *)cli)->watch;
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = DUEQ_PENDING;
    while (note(watch, begin_ms) && time_monotonic_ms() - begin_ms < PATIENCE_MS) {
        status = dueq_wait(cli->client, SLICE_MS);
        if (status != DUEQ_PENDING && status != DUEQ_INTERRUPTED)
            break;
        status = DUEQ_PENDING;
    }
    if (status == DUEQ_PENDING) {
        dueq_abandon(cli->client);
        return DUEQ_INTERRUPTED;
    }
    note(watch, time_monotonic_ms());
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

/* ---- Events --------------------------------------------------------------------------------------- */

/* One that cannot be read is there with its status, and without counts. */
static dueq_status put_queue(struct cli *cli, const char *name, FILE *out) {
    dueq_counts counts;
    dueq_status status = read_counts(cli, name, &counts);
    if (glance_general(status))
        return status;
    json_object *object = json_of_counts(name, &counts);
    if (status != DUEQ_OK)
        json_object_object_add(object, "status", json_name(dueq_status_name(status)));
    look_line(out, "data: ", object);
    return DUEQ_OK;
}

static void put_failure(const char *status, const char *text, FILE *out) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "status", json_name(status));
    json_object_object_add(object, "text", json_name(text));
    look_line(out, "event: failure\ndata: ", object);
    fputc('\n', out);
}

static void put_silence(int64_t ms, FILE *out) {
    char text[80];
    snprintf(text, sizeof text, "the server has not answered for %d s", (int)((ms + 500) / 1000));
    put_failure(dueq_status_name(DUEQ_TIMEOUT), text, out);
}

/* When it is to be done again that took so long: at the latest of `least` and many times as long. */
static int64_t again_ms(int64_t begin_ms, int64_t least, int64_t times) {
    const int64_t now_ms = time_monotonic_ms(), rest_ms = times * (now_ms - begin_ms);
    return now_ms + (rest_ms > least ? rest_ms : least);
}

static dueq_status put_queues(struct watch *watch, struct cli *cli, FILE *out) {
    dueq_status status = DUEQ_OK;
    const int64_t begin_ms = time_monotonic_ms();
    if (begin_ms >= watch->names_ms) {
        cli_free_names(&watch->names);
        cli_free_names(&watch->wholes);
        status = cli_read_names(cli, &watch->names);
        for (size_t i = 0; i < watch->names.count; i++)
            cli_add_name(&watch->wholes,
                         (dueq_bytes){watch->names.list[i], strlen(watch->names.list[i])});
        cli_add_wholes(&watch->wholes);
        /* It is a walk over all keys of the server: not often where that takes long. */
        watch->names_ms = status != DUEQ_OK ? 0 : again_ms(begin_ms, NAMES_MS, PATIENT * PATIENT);
    }
    fputs("event: queues\n", out);
    for (size_t i = 0; status == DUEQ_OK && i < watch->names.count; i++)
        status = put_queue(cli, watch->names.list[i], out);
    fputs("data:\n\n", out);
    return status;
}

static dueq_status put_why(struct watch *watch, struct cli *cli, FILE *out) {
    dueq_status status =
        glance_read(cli, watch->wholes.list, watch->wholes.count, &watch->glances, NULL);
    fputs("event: why\n", out);
    if (status == DUEQ_OK)
        look_whys(&watch->glances, "data: ", out);
    else
        look_unread(cli, status, "data: ", out);
    fputs("data:\n\n", out);
    return glance_general(status) ? status : DUEQ_OK;
}

enum { MINUTE_MS = 60000 };

static int64_t minute_of(const struct glance *row) {
    return row->counts.now_ms / MINUTE_MS * MINUTE_MS;
}

static json_object *series(const struct glance *row, size_t first, size_t field) {
    json_object *list = json_object_new_array();
    for (size_t i = first; i < GLANCE_MINUTES - 1; i++) {
        const int64_t *value =
            (const int64_t *)(const void *)((const char *)&row->minutes[i] + field);
        json_object_array_add(list, json_object_new_int64(*value));
    }
    return list;
}

/* The minutes that are over, from the first with an event on. The one under way would look like a fall. */
static void put_minutes(const struct glance *row, FILE *out) {
    size_t first = 0;
    while (first < GLANCE_MINUTES - 1 && !row->minutes[first].pushed &&
           !row->minutes[first].acked && !row->minutes[first].retried)
        first++;
    if (first == GLANCE_MINUTES - 1)
        return;
    const int64_t start_ms = minute_of(row) - (int64_t)(GLANCE_MINUTES - 1 - first) * MINUTE_MS;
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue",
                           json_text((dueq_bytes){row->queue, strlen(row->queue)}));
    json_object_object_add(object, "start_ms", json_object_new_int64(start_ms));
    json_object_object_add(object, "pushed", series(row, first, offsetof(dueq_rate, pushed)));
    json_object_object_add(object, "acked", series(row, first, offsetof(dueq_rate, acked)));
    json_object_object_add(object, "retried", series(row, first, offsetof(dueq_rate, retried)));
    look_line(out, "data: ", object);
}

/* As it was read for why. */
static dueq_status put_history(struct watch *watch, struct cli *cli, FILE *out) {
    (void)cli;
    fputs("event: history\n", out);
    for (size_t i = 0; i < watch->glances.count; i++)
        if (!watch->glances.rows[i].status)
            put_minutes(&watch->glances.rows[i], out);
    fputs("data:\n\n", out);
    return DUEQ_OK;
}

/* The minute under way when the last queue was read. */
static int64_t latest_minute(const struct glances *glances) {
    int64_t latest = 0;
    for (size_t i = 0; i < glances->count; i++)
        if (minute_of(&glances->rows[i]) > latest)
            latest = minute_of(&glances->rows[i]);
    return latest;
}

typedef dueq_status put_event(struct watch *watch, struct cli *cli, FILE *out);

static FILE *begin(struct piece *piece) {
    FILE *out = buffer_open(&piece->text);
    if (!out)
        cli_out_of_memory();
    return out;
}

static void end(struct piece *piece, FILE *out) {
    if (!buffer_close(&piece->text, out))
        cli_out_of_memory();
}

/* The last one is told no more. */
static void tell(struct watch *watch, enum event event, struct piece piece) {
    pthread_mutex_lock(&watch->lock);
    free(watch->pieces[event].text.data);
    piece.number = ++watch->number;
    watch->pieces[event] = piece;
    if (event == QUEUES) {
        free(watch->failure);
        watch->failure = NULL;
    }
    pthread_cond_broadcast(&watch->told);
    pthread_mutex_unlock(&watch->lock);
}

static dueq_status make(struct watch *watch, struct cli *cli, enum event event, put_event *put) {
    struct piece piece = {0};
    FILE *out = begin(&piece);
    dueq_status status = put(watch, cli, out);
    end(&piece, out);
    if (status == DUEQ_OK)
        tell(watch, event, piece);
    else
        free(piece.text.data);
    return status;
}

static void fail(struct watch *watch, const struct cli *cli, dueq_status status) {
    struct piece piece = {0};
    FILE *out = begin(&piece);
    const char *text = dueq_error_text(cli->client);
    if (status == DUEQ_INTERRUPTED)
        put_silence(PATIENCE_MS, out);
    else
        put_failure(dueq_status_name(status), *text ? text : dueq_status_text(status), out);
    end(&piece, out);
    pthread_mutex_lock(&watch->lock);
    free(watch->failure);
    watch->failure = piece.text.data;
    pthread_cond_broadcast(&watch->told);
    pthread_mutex_unlock(&watch->lock);
}

/* ---- The thread ----------------------------------------------------------------------------------- */

static dueq_status look(struct watch *watch, struct cli *cli) {
    const int64_t begin_ms = time_monotonic_ms();
    dueq_status status = make(watch, cli, QUEUES, put_queues);
    watch->due_ms = again_ms(begin_ms, WATCH_MS, PATIENT);
    if (status == DUEQ_OK && time_monotonic_ms() >= watch->why_ms) {
        const int64_t why_ms = time_monotonic_ms();
        status = make(watch, cli, WHY, put_why);
        watch->why_ms = again_ms(why_ms, WHY_MS, PATIENT);
        const int64_t minute_ms = latest_minute(&watch->glances);
        if (status == DUEQ_OK && minute_ms != watch->history_ms) {
            make(watch, cli, HISTORY, put_history);
            watch->history_ms = minute_ms;
        }
    }
    return status;
}

/* Whether the server answers is known between two looks, too: one queue is asked, each time another. */
static dueq_status probe(struct watch *watch, struct cli *cli) {
    dueq_counts counts;
    dueq_result *page = NULL;
    dueq_status status;
    if (watch->names.count > 0) {
        watch->probed = (watch->probed + 1) % watch->names.count;
        status = read_counts(cli, watch->names.list[watch->probed], &counts);
    } else {
        status = cli_wait(cli, dueq_queues_submit(cli->client, (dueq_bytes){NULL, 0}), &page);
        dueq_result_free(page);
    }
    return glance_general(status) ? status : DUEQ_OK;
}

static void ask(struct watch *watch) {
    struct looker looker = {.cli = {.finishing = true, .wait = wait_call}, .watch = watch};
    looker.cli.client = web_client(watch->web);
    const bool due = time_monotonic_ms() >= watch->due_ms;
    dueq_status status = (due ? look : probe)(watch, &looker.cli);
    if (status != DUEQ_OK) {
        fail(watch, &looker.cli, status);
        watch->due_ms = 0;
    }
    web_client_back(watch->web, looker.cli.client);
    note(watch, 0);
}

/* What was told last is old by the time that somebody looks on again. */
static void forget(struct watch *watch) {
    for (int i = 0; i < EVENTS; i++) {
        free(watch->pieces[i].text.data);
        watch->pieces[i] = (struct piece){0};
    }
    free(watch->failure);
    watch->failure = NULL;
    watch->due_ms = watch->why_ms = watch->names_ms = watch->history_ms = 0;
}

static void wait_until(struct watch *watch, pthread_cond_t *what, int64_t ms) {
    const struct timespec until = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000};
    pthread_cond_timedwait(what, &watch->lock, &until);
}

static void *run(void *context) {
    struct watch *watch = context;
    pthread_mutex_lock(&watch->lock);
    while (!watch->ending) {
        if (time_monotonic_ms() - watch->looked_ms > NOBODY_MS) {
            forget(watch);
            pthread_cond_wait(&watch->looked, &watch->lock);
            continue;
        }
        pthread_mutex_unlock(&watch->lock);
        ask(watch);
        pthread_mutex_lock(&watch->lock);
        int64_t next_ms = time_monotonic_ms() + PROBE_MS;
        if (watch->due_ms > 0 && watch->due_ms < next_ms)
            next_ms = watch->due_ms;
        while (!watch->ending && time_monotonic_ms() < next_ms)
            wait_until(watch, &watch->looked, next_ms);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

struct watch *watch_new(struct web *web) {
    struct watch *watch = calloc(1, sizeof *watch);
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (!watch)
        cli_out_of_memory();
    watch->web = web;
    watch->looked_ms = INT64_MIN / 2;
    watch->number = 1;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->looked, &monotonic);
    pthread_cond_init(&watch->told, &monotonic);
    pthread_condattr_destroy(&monotonic);
    /* Signals are for the thread that serves. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&watch->thread, NULL, run, watch) != 0)
        cli_out_of_memory();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return watch;
}

void watch_end(struct watch *watch) {
    pthread_mutex_lock(&watch->lock);
    watch->ending = true;
    pthread_cond_broadcast(&watch->looked);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    forget(watch);
    cli_free_names(&watch->names);
    cli_free_names(&watch->wholes);
    glance_end(&watch->glances);
    pthread_cond_destroy(&watch->looked);
    pthread_cond_destroy(&watch->told);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* ---- The streams ---------------------------------------------------------------------------------- */

/* How it is now: the page says "live" by this alone. */
static void put_state(const struct watch *watch, FILE *out) {
    const int64_t silent_ms = watch->asked_ms ? time_monotonic_ms() - watch->asked_ms : 0;
    if (watch->failure)
        fputs(watch->failure, out);
    else if (silent_ms >= LATE_MS)
        put_silence(silent_ms, out);
    else if (watch->pieces[QUEUES].number > 0)
        fprintf(out, "event: live\ndata: {\"silent_ms\":%d}\n\n", (int)silent_ms);
    else
        fputs(":\n\n", out);
}

bool watch_stream(const struct http_request *request, void *context, uint64_t *seen, FILE *out) {
    struct watch *watch = ((struct web *)context)->watch;
    const int64_t begin_ms = time_monotonic_ms();
    if (*seen && !http_wait(request, 0))
        return false;
    pthread_mutex_lock(&watch->lock);
    watch->looked_ms = begin_ms;
    pthread_cond_signal(&watch->looked);
    if (watch->number == *seen)
        wait_until(watch, &watch->told, begin_ms + PULSE_MS);
    for (int i = 0; i < EVENTS; i++)
        if (watch->pieces[i].number > *seen)
            fwrite(watch->pieces[i].text.data, 1, watch->pieces[i].text.size, out);
    put_state(watch, out);
    *seen = watch->number;
    pthread_mutex_unlock(&watch->lock);
    return true;
}

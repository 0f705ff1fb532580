#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "schedule.h"

/*
 * The message of a schedule: its id is PREFIX and the name, its body the envelope of its jobs
 * (reference.md, "Expressions of schedules").
 */

#define PREFIX DUEQ__SCHEDULE_PREFIX
/* The catch-up "skip" skips a time that is longer ago. A firing that failed is retried after it. */
#define GRACE_MS 60000
/* Where more than MOST times are due, the others wait for this long. */
#define REST_MS 12000
#define NUMBER_SIZE 24
#define LAST_SIZE 13
/* The most jobs that a schedule pushes when it fires; its next message is one more. */
#define MOST (DUEQ_MAX_BATCH - 1)
/* The most bytes of these jobs, where there is more than one. */
#define MOST_BYTES ((size_t)16 * 1024 * 1024)

static const char *const catchups[] = {"once", "skip", "all"};

/* The content of a schedule's message. */
struct plan {
    dueq_bytes name, expression, zone, catchup, app, release;
    int64_t time_ms;
    dueq_bytes last; /* when the schedule last pushed a job: LAST_SIZE digits; size 0: never */
    dueq_bytes job;
    struct dueq__cron cron;
    struct dueq__zone clocks;
};

static dueq_status read_times(struct plan *plan, struct dueq__error *error) {
    dueq_status status = dueq__cron_read(plan->expression, &plan->cron, error);
    return status ? status : dueq__zone_read(plan->zone, &plan->clocks, error);
}

static int64_t next_time(const struct plan *plan, int64_t after_ms) {
    return dueq__cron_next(&plan->cron, &plan->clocks, after_ms);
}

dueq_status dueq_schedule_next(dueq_bytes expression, dueq_bytes zone, int64_t after_ms,
                               int64_t *next_ms, char *problem, size_t room) {
    struct dueq__error error = {0};
    struct plan plan = {.expression = expression, .zone = zone};
    dueq_status status = read_times(&plan, &error);
    if (!status)
        *next_ms = next_time(&plan, after_ms);
    snprintf(problem, room, "%s", error.text);
    return status;
}

/* The message */

struct message {
    char id[DUEQ_MAX_ID + 1], time[NUMBER_SIZE];
    dueq_header headers[7];
};

static void add_header(dueq_draft *draft, struct message *room, const char *name,
                       dueq_bytes value) {
    room->headers[draft->header_count++] = (dueq_header){dueq__text(name), value};
}

/* The draft of the schedule's message for a time. The draft points into the plan and `room`. */
static dueq_draft draft_message(const struct plan *plan, int64_t time_ms, struct message *room) {
    dueq_draft draft = {.struct_size = sizeof draft,
                        .body = plan->job,
                        .priority = DUEQ_HIGH,
                        .headers = room->headers};
    int size = snprintf(room->id, sizeof room->id, PREFIX "%.*s", (int)plan->name.size,
                        (const char *)plan->name.data);
    snprintf(room->time, sizeof room->time, "%013" PRId64, time_ms);
    draft.id = (dueq_bytes){room->id, (size_t)size};
    draft.at_ms = time_ms;
    draft.backoff = (dueq_backoff){.kind = DUEQ_BACKOFF_FIXED, .base_ms = GRACE_MS};
    /* schedule.lua needs this order. */
    add_header(&draft, room, "time", dueq__text(room->time));
    if (plan->last.size)
        add_header(&draft, room, "last", plan->last);
    add_header(&draft, room, "schedule", plan->expression);
    if (!dueq__zone_is_utc(plan->zone))
        add_header(&draft, room, "zone", plan->zone);
    if (!dueq__bytes_equal(plan->catchup, dueq__text(catchups[DUEQ_CATCHUP_ONCE])))
        add_header(&draft, room, "catchup", plan->catchup);
    if (plan->app.size)
        add_header(&draft, room, "app", plan->app);
    if (plan->release.size)
        add_header(&draft, room, "release", plan->release);
    return draft;
}

static dueq_bytes header(const dueq_message *message, const char *name, const char *otherwise) {
    for (size_t i = 0; i < message->header_count; i++)
        if (dueq__bytes_equal(message->headers[i].name, dueq__text(name)))
            return message->headers[i].value;
    return dueq__text(otherwise);
}

static bool is_catchup(dueq_bytes word) {
    bool found = false;
    for (size_t i = 0; i < sizeof catchups / sizeof *catchups; i++)
        found = found || dueq__bytes_equal(word, dueq__text(catchups[i]));
    return found;
}

int dueq_is_schedule(const dueq_message *message) {
    return message->id.size > strlen(PREFIX) &&
           memcmp(message->id.data, PREFIX, strlen(PREFIX)) == 0 &&
           header(message, "schedule", "").size > 0;
}

static dueq_status read_message(const dueq_message *message, struct plan *plan,
                                struct dueq__error *error) {
    if (!dueq_is_schedule(message))
        return dueq__fail(error, DUEQ_INVALID, "it is not the message of a schedule");
    const char *id = message->id.data;
    plan->name = (dueq_bytes){id + strlen(PREFIX), message->id.size - strlen(PREFIX)};
    plan->expression = header(message, "schedule", "");
    plan->zone = header(message, "zone", "");
    plan->catchup = header(message, "catchup", catchups[DUEQ_CATCHUP_ONCE]);
    plan->app = header(message, "app", "");
    plan->release = header(message, "release", "");
    plan->last = header(message, "last", "");
    if (plan->last.size != LAST_SIZE)
        plan->last.size = 0;
    plan->job = message->body;
    if (!dueq__read_number(header(message, "time", ""), 0, DUEQ_MAX_TIME_MS, &plan->time_ms) ||
        !is_catchup(plan->catchup) || plan->name.size > DUEQ_MAX_SCHEDULE)
        return dueq__fail(error, DUEQ_INVALID,
                          "the schedule's message has no time, or no name or catch-up of one");
    return read_times(plan, error);
}

/* Jobs */

/* The jobs' template as a draft. The caller frees *headers, also after an error. */
static dueq_status read_job(const struct plan *plan, dueq_draft *job, dueq_header **headers,
                            struct dueq__stored_backoff *backoff, struct dueq__error *error) {
    dueq_message message = {0};
    *headers = NULL;
    if (!dueq__envelope_read(plan->job, &message, NULL, 0))
        return dueq__fail(error, DUEQ_CORRUPT, "the schedule's message has no envelope of a job");
    *headers = calloc(message.header_count + 1, sizeof **headers);
    if (!*headers)
        return dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    dueq__envelope_read_all(plan->job, &message, *headers, message.header_count, backoff);
    *job = (dueq_draft)DUEQ_DRAFT;
    job->body = message.body;
    job->max_attempts = message.max_attempts;
    job->lease_ms = message.lease_ms;
    job->headers = *headers;
    job->header_count = message.header_count;
    job->priority = message.priority;
    job->max_crashes = message.max_crashes;
    job->ttl_ms = message.expires_ms;
    job->drop = message.drop;
    job->dead_letter = message.dead_letter;
    job->group = message.group;
    job->backoff = backoff->backoff;
    job->keep_ms = message.keep_ms;
    return DUEQ_OK;
}

/*
 * The times for which jobs are pushed now: with the catch-up "all" each that has come, up to MOST,
 * else the last one at most. *next: the time after them. Returns their number.
 */
static size_t due_times(const struct plan *plan, int64_t now, int64_t times[MOST], int64_t *next) {
    int64_t time = plan->time_ms;
    size_t count = 0;
    if (dueq__bytes_equal(plan->catchup, dueq__text(catchups[DUEQ_CATCHUP_ALL]))) {
        for (; time <= now && count < MOST && count * plan->job.size < MOST_BYTES;
             time = next_time(plan, time))
            times[count++] = time;
        *next = time;
        return count;
    }
    /* Skips most of the missed times: looks for a time in a window before now, which grows. */
    for (int64_t window = 3600000; time < now - window; window *= 32) {
        int64_t found = next_time(plan, now - window);
        if (found <= now)
            time = found;
        if (found <= now || window > DUEQ_MAX_TIME_MS)
            break;
    }
    for (*next = next_time(plan, time); *next <= now; *next = next_time(plan, time))
        time = *next;
    times[0] = time;
    return dueq__bytes_equal(plan->catchup, dueq__text(catchups[DUEQ_CATCHUP_ONCE])) ||
           time >= now - GRACE_MS;
}

/* The server's time */

/*
 * Times are computed by the server's clock, as this machine's clock may be wrong. So the client
 * first asks the server for its time. This is what the call needs when the answer comes.
 */
struct time_request {
    struct plan plan;
    dueq_bytes ticket; /* of the schedule that fires; size 0: the schedule is declared */
    dueq_bytes key;    /* of the jobs; with partitions: or their group */
    bool key_is_group; /* `key` is their group */
    dueq_durability durability;
    char text[]; /* copies of the bytes to which the members point */
};

static dueq_bytes copy(char **at, dueq_bytes bytes) {
    dueq_bytes made = {*at, bytes.size};
    if (bytes.size)
        memcpy(*at, bytes.data, bytes.size);
    *at += bytes.size;
    return made;
}

static dueq_status fire(dueq_queue *queue, const struct time_request *request, int64_t now) {
    const struct plan *plan = &request->plan;
    struct dueq__error *error = &queue->client->error;
    int64_t times[MOST], next;
    struct dueq__stored_backoff backoff;
    dueq_header *headers;
    dueq_draft job;
    /* A failover may have set the server's clock back since the message was delivered. */
    size_t count = due_times(plan, now > plan->time_ms ? now : plan->time_ms, times, &next);
    dueq_draft *drafts = calloc(count + 1, sizeof *drafts);
    char (*ids)[DUEQ_MAX_ID + 1] = calloc(count + 1, sizeof *ids);
    dueq_status status = read_job(plan, &job, &headers, &backoff, error);
    struct message room;
    if (!status && !(drafts && ids))
        status = dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (!status) {
        for (size_t i = 0; i < count; i++) {
            int size = snprintf(ids[i], sizeof ids[i], "%.*s:%" PRId64, (int)plan->name.size,
                                (const char *)plan->name.data, times[i]);
            drafts[i] = job;
            drafts[i].id = (dueq_bytes){ids[i], (size_t)size};
            drafts[i].at_ms = times[i];
        }
        struct plan after = *plan;
        char last[NUMBER_SIZE];
        if (count) {
            snprintf(last, sizeof last, "%013" PRId64, times[count - 1]);
            after.last = dueq__text(last);
        }
        drafts[count] = draft_message(&after, next, &room);
        if (next <= now)
            drafts[count].at_ms = now + REST_MS;
        status = dueq__fire_submit(queue, request->ticket, drafts, count + 1);
    }
    free(headers);
    free(drafts);
    free(ids);
    return status;
}

static dueq_status declare(dueq_queue *queue, const struct time_request *request, int64_t now) {
    struct message room;
    int64_t next = next_time(&request->plan, now);
    if (next >= DUEQ_MAX_TIME_MS)
        return dueq__fail(&queue->client->error, DUEQ_INVALID, "the schedule is never due");
    dueq_draft draft = draft_message(&request->plan, next, &room);
    draft.replace = DUEQ_REPLACE;
    draft.key = request->key;
    draft.durability = request->durability;
    if (!request->key_is_group)
        return dueq__push_submit(queue, &dueq__script_schedule, &draft, 1);
    return queue->partitioned->push(queue,
                                    &(struct dueq__push_request){.script = &dueq__script_schedule,
                                                                 .keys_are_groups = true,
                                                                 .drafts = &draft,
                                                                 .count = 1});
}

/* The operation that asked for the time ends with the result of the push. */
static void on_pushed(dueq_client *client, dueq_status status, dueq_result *result) {
    dueq__op_end(client, result, status);
}

static void decode_time(dueq_client *client, const struct dueq__reply *reply) {
    const struct time_request *request = client->op->verb;
    dueq_queue *queue = client->op->queue;
    int64_t now;
    if (!dueq__reply_number(reply, &now) || now < 0 || now > DUEQ_MAX_TIME_MS) {
        dueq__answer_unexpected(client);
        return;
    }
    struct dueq__op *push = dueq__op_child(client, on_pushed);
    dueq_status status = DUEQ_NO_MEMORY;
    if (push)
        status = request->ticket.size ? fire(queue, request, now) : declare(queue, request, now);
    dueq__op_child_submitted(client, push, status);
}

/* Asks the server for its time, and then fires the schedule, or declares it for this job. */
static dueq_status request_time(dueq_queue *queue, const struct plan *plan, dueq_bytes ticket,
                                const dueq_draft *job) {
    dueq_client *client = queue->client;
    bool by_group = queue->partitioned && job->group.size;
    dueq_bytes key = by_group ? job->group : job->key;
    struct dueq__resp words;
    dueq_status status =
        dueq__verb_begin(queue, &dueq__script_clock, false, 1, decode_time, &words);
    if (status)
        return status;
    struct time_request *request = dueq__op_state(
        client, sizeof *request + plan->name.size + plan->expression.size + plan->zone.size +
                    plan->catchup.size + plan->app.size + plan->release.size + plan->last.size +
                    plan->job.size + ticket.size + key.size);
    if (!request) {
        dueq__resp_free(&words);
        return dueq__op_no_memory(client);
    }
    char *at = request->text;
    request->plan = *plan;
    request->plan.name = copy(&at, plan->name);
    request->plan.expression = copy(&at, plan->expression);
    request->plan.zone = copy(&at, plan->zone);
    request->plan.catchup = copy(&at, plan->catchup);
    request->plan.app = copy(&at, plan->app);
    request->plan.release = copy(&at, plan->release);
    request->plan.last = copy(&at, plan->last);
    request->plan.job = copy(&at, plan->job);
    request->ticket = copy(&at, ticket);
    request->key = copy(&at, key);
    request->key_is_group = by_group;
    request->durability = job->durability;
    return dueq__op_submit(client, &words);
}

/* Firing */

dueq_status dueq_fire_submit(dueq_queue *queue, const dueq_message *message) {
    struct dueq__error *error = &queue->client->error;
    struct dueq__ticket parts;
    struct plan plan = {0};
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__arg_check_unpartitioned(queue, "fire");
    if (!status)
        status = read_message(message, &plan, error);
    if (!status)
        status = dueq__arg_check_ticket(queue, message->ticket, &parts);
    return status ? status : request_time(queue, &plan, message->ticket, &(dueq_draft)DUEQ_DRAFT);
}

dueq_status dueq_fire(dueq_queue *queue, const dueq_message *message, dueq_result **result) {
    return dueq__verb_run(queue->client, dueq_fire_submit(queue, message), result);
}

dueq_status dueq_schedule_run_submit(dueq_queue *queue, const dueq_message *message) {
    struct dueq__error *error = &queue->client->error;
    struct dueq__stored_backoff backoff;
    dueq_header *headers = NULL;
    struct plan plan = {0};
    dueq_draft job;
    dueq_status status = read_message(message, &plan, error);
    if (!status)
        status = read_job(&plan, &job, &headers, &backoff, error);
    if (!status)
        status = dueq_push_submit(queue, &job, 1);
    free(headers);
    return status;
}

/* Declaring */

static dueq_status check(const dueq_plan *schedule, struct dueq__error *error) {
    const dueq_draft *job = schedule->job;
    dueq_status status =
        dueq__text_check("a schedule's name", schedule->name, DUEQ_MAX_SCHEDULE, error);
    if (!status && job->batch.size)
        status = dueq__fail(error, DUEQ_INVALID, "the jobs of a schedule are in no batch");
    if (!status && (job->id.size || job->delay_ms || job->at_ms || job->unique_ms || job->replace))
        status = dueq__fail(error, DUEQ_INVALID,
                            "the schedule gives its jobs their ids and times: the job has none");
    if (!status)
        status =
            dueq__ranges_check(&(struct dueq__range){"the catch-up", NULL, (int)schedule->catchup,
                                                     0, DUEQ_CATCHUP_ALL},
                               1, error);
    if (!status && schedule->app.size)
        status = dueq__text_check("a schedule's app", schedule->app, DUEQ_MAX_RELEASE, error);
    if (!status && schedule->release.size)
        status =
            dueq__text_check("a schedule's release", schedule->release, DUEQ_MAX_RELEASE, error);
    return status ? status : dueq__draft_check(job, false, error);
}

/*
 * A job's time to live counts from each push. So the template has the length of the time to live in
 * ms where the envelope of a message has its end.
 */
static void write_job(const dueq_draft *job, unsigned char *out) {
    dueq__envelope_write(job, NULL, (dueq_bytes){0}, out);
    for (int64_t i = 7, left = job->ttl_ms; left; left >>= 8)
        out[DUEQ__ENVELOPE_FIXED + i--] = (unsigned char)left;
}

/* schedule: in the layout of this library, whatever header the program was compiled with. */
static dueq_status submit(dueq_queue *queue, const dueq_plan *schedule) {
    struct dueq__error *error = &queue->client->error;
    dueq__client_check_fork(queue->client);
    dueq_status status = check(schedule, error);
    if (status)
        return status;
    struct plan plan = {schedule->name,       schedule->expression,
                        schedule->zone,       .catchup = dueq__text(catchups[schedule->catchup]),
                        .app = schedule->app, .release = schedule->release};
    status = read_times(&plan, error);
    size_t size = dueq__envelope_write(schedule->job, NULL, (dueq_bytes){0}, NULL);
    if (!status && size > DUEQ_MAX_BODY / 4)
        status = dueq__fail(error, DUEQ_TOO_LARGE,
                            "the schedule's job has %zu bytes; at most %zu are allowed", size,
                            DUEQ_MAX_BODY / 4);
    unsigned char *job = status ? NULL : malloc(size);
    if (!status && !job)
        status = dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (!status) {
        write_job(schedule->job, job);
        plan.job = (dueq_bytes){job, size};
        status = request_time(queue, &plan, (dueq_bytes){0}, schedule->job);
    }
    free(job);
    return status;
}

dueq_status dueq_schedule_submit(dueq_queue *queue, const dueq_plan *schedule) {
    struct dueq__error *error = &queue->client->error;
    struct dueq__given job;
    dueq_plan plan;
    dueq_status status = dueq__struct_check(schedule, &dueq__layout_plan, error);
    if (status)
        return status;
    dueq__struct_copy(&plan, schedule, &dueq__layout_plan);
    status = dueq__given_read(&job, plan.job, 1, &dueq__layout_draft, error);
    plan.job = job.items;
    if (!status)
        status = submit(queue, &plan);
    free(job.copies);
    return status;
}

dueq_status dueq_schedule(dueq_queue *queue, const dueq_plan *schedule) {
    return dueq__verb_run(queue->client, dueq_schedule_submit(queue, schedule), NULL);
}

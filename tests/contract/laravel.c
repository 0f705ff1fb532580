/* What is done with a queue of Laravel's. */
#include "run.h"

static void do_open(struct run *run, json_object *step) {
    dueq_bytes name = field(step, "name") ? bytes(run, step, "name") : BYTES(run->situation->test);
    dueq_laravel *queue;
    dueq_status status =
        dueq_laravel_open(run->client, name.data, name.size, bytes(run, step, "prefix"), &queue);
    compare_status(run, field(step, "expect"), status);
    if (status)
        return;
    dueq_laravel_close(run->laravel);
    run->laravel = queue;
}

static dueq_laravel *queue_of(struct run *run) {
    dueq_bytes name = BYTES(run->situation->test);
    if (!run->laravel && dueq_laravel_open(run->client, name.data, name.size, (dueq_bytes){0},
                                           &run->laravel) != DUEQ_OK)
        wrong(run, "%s", dueq_error_text(run->client));
    return run->laravel;
}

/* "10" of 10, "10,60" of [10, 60]. */
static dueq_bytes backoff_of(struct run *run, json_object *draft) {
    json_object *found = field(draft, "backoff_s");
    dueq_bytes text = {"", 0};
    if (found && !json_object_is_type(found, json_type_array))
        return BYTES(json_object_get_string(found));
    for (size_t i = 0; found && i < json_object_array_length(found); i++) {
        if (i)
            text = join(run, text, BYTES(","));
        text = join(run, text, BYTES(json_object_get_string(json_object_array_get_idx(found, i))));
    }
    return text;
}

static dueq_laravel_draft draft_of(struct run *run, json_object *found) {
    return (dueq_laravel_draft){.struct_size = sizeof(dueq_laravel_draft),
                                .payload = bytes(run, found, "payload"),
                                .job = bytes(run, found, "job"),
                                .data = bytes(run, found, "data"),
                                .command_name = bytes(run, found, "command_name"),
                                .command = bytes(run, found, "command"),
                                .display_name = bytes(run, found, "display_name"),
                                .delay_ms = number(found, "delay_ms", 0),
                                .at_ms = number(found, "at_ms", 0),
                                .max_tries = (uint32_t)number(found, "max_tries", 0),
                                .max_exceptions = (uint32_t)number(found, "max_exceptions", 0),
                                .timeout_s = (uint32_t)number(found, "timeout_s", 0),
                                .backoff = backoff_of(run, found),
                                .retry_until_s = number(found, "retry_until_s", 0),
                                .fail_on_timeout =
                                    json_object_get_boolean(field(found, "fail_on_timeout"))};
}

static json_object *found_at(json_object *step, size_t index) {
    json_object *drafts = field(step, "drafts");
    return drafts ? json_object_array_get_idx(drafts, index % json_object_array_length(drafts))
                  : step;
}

static void do_push(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *list = field(step, "drafts");
    size_t count = (list ? json_object_array_length(list) : 1) * (size_t)number(step, "times", 1);
    dueq_laravel_draft *drafts = keep(run, count * sizeof *drafts);
    dueq_result *result;
    for (size_t i = 0; i < count; i++)
        drafts[i] = draft_of(run, found_at(step, i));
    compare_status(run, expect, dueq_laravel_push(queue_of(run), drafts, count, &result));
    compare_statuses(run, expect, result);
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        dueq_bytes id = dueq_result_id(result, i);
        remember(run, word(found_at(step, i), "as"), NULL, id, (dueq_bytes){0});
        if (field(expect, "id"))
            compare_bytes(run, "the id", field(expect, "id"), id);
    }
    dueq_result_free(result);
}

static void compare_backoff(struct run *run, json_object *expected, dueq_bytes got) {
    dueq_bytes text = {"", 0};
    for (size_t i = 0; i < json_object_array_length(expected); i++) {
        if (i)
            text = join(run, text, BYTES(","));
        text =
            join(run, text, BYTES(json_object_get_string(json_object_array_get_idx(expected, i))));
    }
    if (!same(text, got))
        wrong(run, "the backoff is %s instead of %s", shown(run, got), shown(run, text));
}

static void compare_data(struct run *run, json_object *expected, dueq_bytes got) {
    dueq_bytes wanted = expected ? value(run, expected) : BYTES("null");
    compare_json(run, "the data", wanted, got.size ? got : BYTES("null"));
}

static void compare_job(struct run *run, json_object *expected, const dueq_job *job) {
    const struct text_field texts[] = {
        {"payload", &job->payload}, {"reserved", &job->reserved},
        {"id", &job->id},           {"uuid", &job->uuid},
        {"name", &job->job},        {"display_name", &job->display_name}};
    const struct number_field numbers[] = {{"attempts", job->attempts},
                                           {"max_tries", job->max_tries},
                                           {"timeout_s", job->timeout_s},
                                           {"retry_until_s", job->retry_until_s},
                                           {"until_in_ms", job->until_ms}};
    json_object_object_foreach(expected, name, wanted) {
        bool known = compare_field(run, name, wanted, texts, sizeof texts / sizeof *texts, numbers,
                                   sizeof numbers / sizeof *numbers);
        if (!strcmp(name, "data"))
            compare_data(run, wanted, job->data);
        else if (!strcmp(name, "backoff_s"))
            compare_backoff(run, wanted, job->backoff);
        else if (!known)
            wrong(run, "no field of a job: %s", name);
    }
    remember(run, word(expected, "as"), NULL, job->uuid.size ? job->uuid : job->id, job->reserved);
}

static void do_pop(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *expected = field(expect, "jobs");
    dueq_result *result;
    compare_status(run, expect,
                   dueq_laravel_pop(queue_of(run), (size_t)number(step, "count", 1),
                                    number(step, "timeout_ms", 0),
                                    number(step, "retry_after_ms", 0), &result));
    size_t count = dueq_result_count(result);
    if (field(expect, "count"))
        compare_number(run, "the number of jobs", field(expect, "count"), (int64_t)count);
    if (expected && json_object_array_length(expected) != count)
        wrong(run, "%zu jobs instead of %zu", count, json_object_array_length(expected));
    for (size_t i = 0; expected && i < count; i++)
        compare_job(run, json_object_array_get_idx(expected, i), dueq_result_job(result, i));
    dueq_result_free(result);
}

static void do_delete(struct run *run, json_object *step) {
    size_t count = 1;
    dueq_bytes *reserved = field(step, "job") ? &captured(run, step, "job")->ticket
                                              : list(run, step, "reserved", &count);
    dueq_result *result;
    compare_status(run, field(step, "expect"),
                   dueq_laravel_delete(queue_of(run), reserved, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    dueq_result_free(result);
}

static void do_release(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"),
                   dueq_laravel_release(queue_of(run), &captured(run, step, "job")->ticket, 1,
                                        number(step, "delay_ms", 0), NULL));
}

static void do_migrate(struct run *run, json_object *step) {
    dueq_moved moved = DUEQ_MOVED;
    compare_status(run, field(step, "expect"),
                   dueq_laravel_migrate(queue_of(run), (size_t)number(step, "most", DUEQ_MAX_BATCH),
                                        number(step, "timeout_ms", 0), &moved));
    compare_moved(run, field(step, "expect"), &moved);
}

static void do_size(struct run *run, json_object *step) {
    dueq_sizes sizes = DUEQ_SIZES;
    compare_status(run, field(step, "expect"), dueq_laravel_size(queue_of(run), &sizes));
    compare_sizes(run, field(step, "expect"), &sizes);
}

static void do_clear(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    size_t cleared = 0;
    compare_status(run, expect, dueq_laravel_clear(queue_of(run), &cleared));
    if (field(expect, "cleared"))
        compare_number(run, "the number of cleared", field(expect, "cleared"), (int64_t)cleared);
}

const struct verb laravel_verbs[] = {
    {"laravel open", do_open},       {"laravel push", do_push},
    {"laravel later", do_push},      {"laravel pop", do_pop},
    {"laravel delete", do_delete},   {"laravel release", do_release},
    {"laravel migrate", do_migrate}, {"laravel size", do_size},
    {"laravel clear", do_clear},     {NULL, NULL}};

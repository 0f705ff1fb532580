#include "cli.h"

#include <string.h>

#include "json.h"

static const char *const priorities[] = {"low", "normal", "high"};

const char *cli_priority_name(dueq_priority priority) { return priorities[priority - DUEQ_LOW]; }

dueq_bytes cli_header(const dueq_message *message, const char *name, const char *otherwise) {
    for (size_t i = 0; i < message->header_count; i++) {
        dueq_bytes found = message->headers[i].name;
        if (found.size == strlen(name) && memcmp(found.data, name, found.size) == 0)
            return message->headers[i].value;
    }
    return (dueq_bytes){otherwise, strlen(otherwise)};
}

dueq_state cli_state(const struct cli *cli, const char *name) {
    for (dueq_state state = DUEQ_READY; state <= DUEQ_OUTBOX; state++)
        if (strcmp(name, dueq_state_name(state)) == 0)
            return state;
    cli_usage(cli, "%s is no state: ready, delayed, leased, dead or outbox", name);
}

static void add_number(json_object *object, const char *name, int64_t value) {
    json_object_object_add(object, name, json_object_new_int64(value));
}

static void add_text(json_object *object, const char *name, dueq_bytes text) {
    if (text.size > 0)
        json_object_object_add(object, name, json_text(text));
}

void json_add_progress(json_object *object, const dueq_message *message) {
    if (message->progress < 0)
        return;
    char text[TIME_ROOM];
    snprintf(text, sizeof text, "%.4g", message->progress);
    json_object_object_add(object, "progress", json_object_new_double_s(message->progress, text));
    add_text(object, "progress_note", message->progress_note);
}

json_object *json_of_head(const char *queue, const dueq_message *message) {
    json_object *object = json_object_new_object(), *headers = json_object_new_object();
    json_object_object_add(object, "queue", json_text((dueq_bytes){queue, strlen(queue)}));
    json_object_object_add(object, "id", json_text(message->id));
    add_text(object, "ticket", message->ticket);
    json_object_object_add(object, "state", json_name(dueq_state_name(message->state)));
    json_object_object_add(object, "priority", json_name(cli_priority_name(message->priority)));
    add_number(object, "attempt", message->attempt);
    add_number(object, "max_attempts", message->max_attempts);
    add_number(object, "crashes", message->crashes);
    add_number(object, "max_crashes", message->max_crashes);
    add_number(object, "deliveries", message->deliveries);
    add_number(object, "created_ms", message->created_ms);
    add_number(object, "time_ms", message->time_ms);
    json_object_object_add(object, "expires_ms", json_time(message->expires_ms));
    add_number(object, "now_ms", message->now_ms);
    json_object_object_add(object, "drop", json_object_new_boolean(message->drop != 0));
    add_text(object, "dead_letter", message->dead_letter);
    add_text(object, "group", message->group);
    add_text(object, "batch", message->batch);
    add_text(object, "batch_queue", message->batch_queue);
    if (message->keep_ms)
        add_number(object, "keep_ms", message->keep_ms);
    json_add_progress(object, message);
    for (size_t i = 0; i < message->header_count; i++) {
        json_object *name = json_text(message->headers[i].name);
        json_object_object_add(headers, json_object_get_string(name),
                               json_text(message->headers[i].value));
        json_object_put(name);
    }
    json_object_object_add(object, "headers", headers);
    add_text(object, "error", message->error);
    return object;
}

json_object *json_of_message(const char *queue, const dueq_message *message) {
    json_object *object = json_of_head(queue, message);
    json_add_bytes(object, "body", message->body);
    return object;
}

json_object *json_of_preview(const char *queue, const dueq_message *message) {
    json_object *object = json_of_head(queue, message);
    const bool cut = message->body.size < message->body_size;
    json_add_bytes(object, "preview", cut ? text_whole(message->body) : message->body);
    add_number(object, "size", (int64_t)message->body_size);
    return object;
}

void cli_json_message(const struct cli *cli, const dueq_message *message) {
    json_line(json_of_message(cli->queue_name, message));
}

void cli_label(const char *name) { fprintf(cli_out, "%-11s ", name); }

static void row(const char *name, dueq_bytes value) {
    cli_label(name);
    cli_put(value);
    fputc('\n', cli_out);
}

static void row_if_any(const char *name, dueq_bytes value) {
    if (value.size > 0)
        row(name, value);
}

static void row_of_limit(const char *name, uint32_t count, uint32_t limit) {
    cli_label(name);
    if (limit > 0)
        fprintf(cli_out, "%u of %u\n", count, limit);
    else
        fprintf(cli_out, "%u of any number\n", count);
}

void cli_put_time(int64_t ms, int64_t now_ms) {
    char text[TIME_ROOM], span[TIME_ROOM];
    const bool ahead = ms >= now_ms;
    fprintf(cli_out, "%s (%s%s%s)", time_format(ms, text), ahead ? "in " : "",
            time_format_span(ahead ? ms - now_ms : now_ms - ms, span), ahead ? "" : " ago");
}

void cli_print_time(int64_t ms, int64_t now_ms) {
    cli_put_time(ms, now_ms);
    fputc('\n', cli_out);
}

void cli_print_state(const dueq_message *message) {
    static const char *const meaning[] = {"", "", "due", "until", "since", "until"};
    cli_label("state");
    fputs(dueq_state_name(message->state), cli_out);
    if (message->state >= DUEQ_DELAYED && message->state <= DUEQ_OUTBOX) {
        fprintf(cli_out, " %s ", meaning[message->state]);
        cli_print_time(message->time_ms, message->now_ms);
    } else {
        fputc('\n', cli_out);
    }
}

void cli_print_progress(const dueq_message *message) {
    if (message->progress < 0)
        return;
    cli_label("progress");
    fprintf(cli_out, "%.4g%%%s", 100 * message->progress, message->progress_note.size ? ", " : "");
    cli_put(message->progress_note);
    fputc('\n', cli_out);
}

void cli_print_message(const struct cli *cli, const dueq_message *message) {
    if (cli->json) {
        cli_json_message(cli, message);
        return;
    }
    row("id", message->id);
    cli_print_state(message);
    cli_label("priority");
    fprintf(cli_out, "%s\n", cli_priority_name(message->priority));
    row_of_limit("attempt", message->attempt, message->max_attempts);
    row_of_limit("crashes", message->crashes, message->max_crashes);
    cli_label("deliveries");
    fprintf(cli_out, "%u\n", message->deliveries);
    cli_label("created");
    cli_print_time(message->created_ms, message->now_ms);
    if (message->expires_ms) {
        cli_label("expires");
        cli_print_time(message->expires_ms, message->now_ms);
    }
    row_if_any("ticket", message->ticket);
    row_if_any("dead-letter", message->dead_letter);
    row_if_any("group", message->group);
    if (message->keep_ms) {
        char span[TIME_ROOM];
        cli_label("keep");
        fprintf(cli_out, "%s\n", time_format_span(message->keep_ms, span));
    }
    cli_print_progress(message);
    if (message->drop) {
        cli_label("drop");
        fputs("yes\n", cli_out);
    }
    for (size_t i = 0; i < message->header_count; i++) {
        cli_label("header");
        cli_put(message->headers[i].name);
        fputc('=', cli_out);
        cli_put(message->headers[i].value);
        fputc('\n', cli_out);
    }
    row_if_any("error", message->error);
    row("body", message->body);
}

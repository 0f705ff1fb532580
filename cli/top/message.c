#include <string.h>

#include "../json.h"
#include "top.h"

/* BODY_SHOWN: bytes of a body that are shown. */
enum { BODY_SHOWN = 65536, HEX_EACH = 16, LABEL = 11 };

static void put_row(struct top_page *page, enum top_style style, const char *label,
                    dueq_bytes value) {
    FILE *out = page_line(page);
    fprintf(out, "%-*s ", LABEL, label);
    if (value.size)
        fwrite(value.data, 1, value.size < 4096 ? value.size : 4096, out);
    page_put(page, style, false);
}

static void put_time(struct top_page *page, const char *label, int64_t ms, int64_t now_ms) {
    char time[TIME_ROOM], away[TIME_ROOM];
    bool ahead = ms > now_ms;
    page_say(page, TOP_PLAIN, "%-*s %s (%s%s%s)", LABEL, label, time_format(ms, time),
             ahead ? "in " : "", time_format_span(ahead ? ms - now_ms : now_ms - ms, away),
             ahead ? "" : " ago");
}

static void put_holder(const struct top *top, const dueq_message *message, struct top_page *page) {
    const dueq_lease *lease = NULL;
    const struct consumer *holder = workers_holder(&top->rows.workers, message->ticket, &lease);
    if (!holder) {
        page_say(page, TOP_WARN,
                 "%-*s none that says so: it came just now, or its holder has no "
                 "heartbeat",
                 LABEL, "leased by");
        return;
    }
    const dueq_worker *worker = holder->worker;
    page_say(page, worker->offline ? TOP_BAD : TOP_PLAIN, "%-*s %.*s process %lld, %.*s%s", LABEL,
             "leased by", (int)worker->host.size, (const char *)worker->host.data,
             (long long)worker->pid, (int)worker->program.size, (const char *)worker->program.data,
             !worker->offline   ? ""
             : worker->stopping ? ", which was stopped"
                                : ", which is offline");
    put_time(page, lease->running ? "runs since" : "leased since", lease->since_ms,
             message->now_ms);
}

static void put_failures(const struct top *top, int64_t now_ms, struct top_page *page) {
    const struct history *history = &top->history;
    for (size_t i = history->count; i-- > 0;) {
        const dueq_failure *failure = history->list[i];
        char away[TIME_ROOM], by[200] = "";
        dueq_bytes host;
        int64_t pid;
        if (history_by(failure, &top->rows.workers, &host, &pid))
            snprintf(by, sizeof by, ", %.*s process %lld", (int)host.size, (const char *)host.data,
                     (long long)pid);
        page_say(page, failure->kind == DUEQ_DIED ? TOP_BAD : TOP_WARN,
                 "%-*s %s ago, delivery %u%s%s%.*s", LABEL, dueq_failure_name(failure->kind),
                 time_format_span(now_ms > failure->time_ms ? now_ms - failure->time_ms : 0, away),
                 failure->delivery, by, failure->error.size ? ": " : "", (int)failure->error.size,
                 (const char *)failure->error.data);
    }
}

static void put_history(const struct top *top, const dueq_message *message, struct top_page *page) {
    bool leased = message->state == DUEQ_LEASED;
    char attempts[TIME_ROOM] = "any number", crashes[TIME_ROOM] = "any number";
    if (message->max_attempts)
        snprintf(attempts, sizeof attempts, "%u", message->max_attempts);
    if (message->max_crashes)
        snprintf(crashes, sizeof crashes, "%u", message->max_crashes);
    put_time(page, "pushed", message->created_ms, message->now_ms);
    put_failures(top, message->now_ms, page);
    page_say(page, TOP_PLAIN, "%-*s %u: %u of %s failed, %u of %s crashed", LABEL, "delivered",
             message->deliveries, message->attempt - (leased && message->attempt), attempts,
             message->crashes, crashes);
    if (leased)
        put_holder(top, message, page);
    if (message->expires_ms)
        put_time(page, "expires", message->expires_ms, message->now_ms);
    if (message->dead_letter.size)
        put_row(page, TOP_PLAIN, "dead-letter", message->dead_letter);
    if (message->group.size)
        put_row(page, TOP_PLAIN, "group", message->group);
    if (message->error.size)
        put_row(page, TOP_WARN, "error", message->error);
}

/* The body */

static void put_lines(struct top_page *page, dueq_bytes text) {
    const char *at = text.data, *end = at + text.size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        /* A line that is too long continues in the next one. */
        size_t most = (size_t)page->width;
        if (size > most)
            for (size = most; size > 1 && ((unsigned char)at[size] & 0xC0) == 0x80;)
                size--;
        FILE *out = page_line(page);
        fwrite(at, 1, size, out);
        page_put(page, TOP_PLAIN, false);
        at += size + (at + size == stop);
    }
}

static void put_hex(struct top_page *page, dueq_bytes body) {
    const unsigned char *data = body.data;
    for (size_t at = 0; at < body.size; at += HEX_EACH) {
        FILE *out = page_line(page);
        fprintf(out, "%08zx ", at);
        for (size_t i = at; i < at + HEX_EACH; i++)
            if (i < body.size)
                fprintf(out, " %02x", data[i]);
            else
                fputs("   ", out);
        fputs("  ", out);
        for (size_t i = at; i < at + HEX_EACH && i < body.size; i++)
            fputc(data[i] >= 0x20 && data[i] < 0x7F ? data[i] : '.', out);
        page_put(page, TOP_PLAIN, false);
    }
}

static json_object *parse(dueq_bytes body) {
    json_tokener *tokener = json_tokener_new();
    if (!tokener)
        cli_out_of_memory();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    json_object *parsed = json_tokener_parse_ex(tokener, body.data, (int)body.size);
    json_tokener_free(tokener);
    return parsed;
}

static void put_body(const struct top *top, dueq_bytes body, struct top_page *page) {
    static const char *const names[] = {"", "text", "JSON", "hex"};
    const bool cut = body.size > BODY_SHOWN;
    json_object *json = cut ? NULL : parse(body);
    dueq_bytes shown = {body.data, cut ? BODY_SHOWN : body.size};
    bool is_text = text_is_utf8(body) && !(body.size && memchr(body.data, 0, body.size));
    enum top_body how = top->body != TOP_AUTO ? top->body
                        : json                ? TOP_JSON
                        : is_text             ? TOP_TEXT
                                              : TOP_HEX;
    page_say(page, TOP_TITLE, "Body: %zu bytes, as %s%s%s", body.size, names[how],
             cut ? ", of which the first 65536" : "",
             how == TOP_JSON && !json ? ": it is no JSON (or too long)" : "");
    if (how == TOP_HEX) {
        put_hex(page, shown);
    } else if (how == TOP_JSON && json) {
        const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY |
                                                                    JSON_C_TO_STRING_NOSLASHESCAPE);
        put_lines(page, (dueq_bytes){text, strlen(text)});
    } else {
        put_lines(page, shown);
    }
    json_object_put(json);
}

void draw_message(const struct top *top, struct top_page *page) {
    const dueq_message *message = dueq_result_message(top->message, 0);
    static const char *const meaning[] = {"", "", "due", "until", "since", "until"};
    put_row(page, TOP_TITLE, "queue", (dueq_bytes){top->queue, strlen(top->queue)});
    put_row(page, TOP_TITLE, "id", (dueq_bytes){top->id, strlen(top->id)});
    page->fixed = page->count;
    if (!message) {
        page_say(page, TOP_DIM, "%s",
                 top->message_status ? dueq_status_text(top->message_status) : "Reading...");
        return;
    }
    page_say(page, TOP_PLAIN, "%-*s %s, priority %s", LABEL, "state",
             dueq_state_name(message->state), cli_priority_name(message->priority));
    if (message->state >= DUEQ_DELAYED && message->state <= DUEQ_OUTBOX)
        put_time(page, meaning[message->state], message->time_ms, message->now_ms);
    put_history(top, message, page);
    for (size_t i = 0; i < message->header_count; i++) {
        const dueq_header *header = &message->headers[i];
        page_say(page, TOP_PLAIN, "%-*s %.*s=%.*s", LABEL, "header", (int)header->name.size,
                 (const char *)header->name.data, (int)header->value.size,
                 (const char *)header->value.data);
    }
    put_body(top, message->body, page);
}

void draw_help(const struct top *top, struct top_page *page) {
    static const char *const lines[] = {
        "Up Down PgUp PgDn Home End   move",
        "Enter                        open the queue or message; a queue with partitions",
        "                             (their number in parentheses) shows or hides them",
        "Esc, Backspace               back",
        "Tab, 1 2 3                   queues, workers, errors",
        "Left Right                   in a queue: ready, delayed, leased, dead, outbox",
        "n N                          the next page of messages or groups; the first page",
        "b                            in a message: its body as text, JSON, hex",
        "g                            in a queue: its groups, with their limits",
        "h e P                        hold a group (asks); end its hold; purge it: delete",
        "                             its waiting and delayed messages (asks)",
        "p r                          pause, resume the queue",
        "k                            kick a dead message: it is delivered again (asks)",
        "K                            kick all dead messages with this error (asks)",
        "c                            cancel a message: it is deleted (asks)",
        "+ -, Space                   refresh less, more often; read all now",
        "q                            quit",
        "LATE99: the p99 of the time from when messages were due until their delivery.",
        "DONE: acknowledged in each of the last minutes. !: why messages wait or fail.",
        "WRK: registered workers; consumers without heartbeat do not register.",
    };
    (void)top;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        page_say(page, TOP_PLAIN, "%s", lines[i]);
}

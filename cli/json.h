/* JSON of what dueq knows. */
#ifndef DUEQ_CLI_JSON_H
#define DUEQ_CLI_JSON_H

#include <json-c/json.h>

#include "workers_view.h"

/* json-c answers NULL, and adds null for what it has no memory for. */
json_object *json_made(json_object *object);
#define json_object_new_object() json_made(json_object_new_object())
#define json_object_new_array() json_made(json_object_new_array())
#define json_object_new_int64(value) json_made(json_object_new_int64(value))
#define json_object_new_boolean(value) json_made(json_object_new_boolean(value))
#define json_object_new_double_s(value, text) json_made(json_object_new_double_s(value, text))
#define json_object_new_string(text) json_made(json_object_new_string(text))
#define json_object_new_string_len(text, size) json_made(json_object_new_string_len(text, size))
/* Calls cli_out_of_memory() where json-c could not add it. */
void json_added(int result);
#define json_object_object_add(object, name, value)                                                \
    json_added(json_object_object_add(object, name, value))
#define json_object_array_add(array, value) json_added(json_object_array_add(array, value))

/* A string; JSON must be UTF-8: what is not is shown as U+FFFD. */
json_object *json_text(dueq_bytes bytes);
json_object *json_name(const char *text);
/* A point of time, or null for 0. */
json_object *json_time(int64_t ms);
/* A JSON text as it is, but for its line ends. */
json_object *json_raw(dueq_bytes json);
/* Adds bytes by a name, or by NAME_base64 where they are not UTF-8. */
void json_add_bytes(json_object *object, const char *name, dueq_bytes bytes);
/* Adds who a consumer is: workers.c. */
void cli_json_worker(json_object *object, const dueq_worker *worker);
/*
 * Writes it as one line, without a line end. json-c's own writer leaves out what it has no memory
 * for. The file's writer tells of failures.
 */
void json_write(FILE *out, json_object *object);
/* The object as a line; free() it. */
char *json_line_of(json_object *object);
/* A part of a string that is UTF-8 as it stands in JSON, between the quotes. */
void json_write_part(FILE *out, dueq_bytes text);
/*
 * What the shell prints with --json, and the API of the web answers. The caller frees the object.
 */
json_object *json_of_message(const char *queue, const dueq_message *message);
/* The same without the body, which would be last, */
json_object *json_of_head(const char *queue, const dueq_message *message);
/*
 * and with the start of it, whole characters, as `preview` and the size of the whole in its place.
 */
json_object *json_of_preview(const char *queue, const dueq_message *message);
/* One whose envelope is damaged: all that is known of it is its id. */
json_object *json_of_damaged(const char *queue, dueq_bytes id, dueq_state state);
json_object *json_of_counts(const char *queue, const dueq_counts *counts);
/* A consumer that is registered with so many queues. */
json_object *json_of_worker(const struct consumer *list, size_t count);
/* Who holds a message, if one of the consumers says so, and what failed before. */
json_object *json_of_inspected(const char *queue, const dueq_message *message,
                               const struct workers_view *workers, const struct history *history);
json_object *json_of_failure(const dueq_failure *failure, const struct workers_view *workers);
/* One that a consumer has held long. */
json_object *json_of_running(const char *queue, const struct running *running,
                             const dueq_message *message);
json_object *json_of_rate(const dueq_rate *rate);
/* Of the message of a schedule. */
json_object *json_of_schedule(const char *queue, const dueq_message *message);
/* What came of one thing; state: that a cancelled message was in; 0: none. */
json_object *json_of_item(const char *key, dueq_bytes subject, dueq_status status,
                          dueq_state state);
/* Prints one object on a line; json_line(): and frees it. */
void cli_put_json(json_object *json);
void json_line(json_object *object);
/* As cli_log(); as JSON with these fields, which it frees. */
void json_say(enum cli_level level, json_object *fields, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

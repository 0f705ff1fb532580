/* JSON for messages, queues, workers and other things of dueq. */
#ifndef DUEQ_CLI_JSON_H
#define DUEQ_CLI_JSON_H

#include <json-c/json.h>

#include "workers_view.h"

/*
 * Where memory runs out, json-c returns NULL, and writes null for a missing object. json_made()
 * calls cli_out_of_memory() for NULL, and the macros below apply it to each new object.
 */
json_object *json_made(json_object *object);
#define json_object_new_object() json_made(json_object_new_object())
#define json_object_new_array() json_made(json_object_new_array())
#define json_object_new_int64(value) json_made(json_object_new_int64(value))
#define json_object_new_boolean(value) json_made(json_object_new_boolean(value))
#define json_object_new_double_s(value, text) json_made(json_object_new_double_s(value, text))
#define json_object_new_string(text) json_made(json_object_new_string(text))
#define json_object_new_string_len(text, size) json_made(json_object_new_string_len(text, size))
/* Calls cli_out_of_memory() if json-c could not add a value. */
void json_added(int result);
#define json_object_object_add(object, name, value)                                                \
    json_added(json_object_object_add(object, name, value))
#define json_object_array_add(array, value) json_added(json_object_array_add(array, value))

/* A string. JSON is UTF-8, so U+FFFD replaces each byte that is not. */
json_object *json_text(dueq_bytes bytes);
json_object *json_name(const char *text);
/* A point of time, or null for 0. */
json_object *json_time(int64_t ms);
/* A JSON text, unchanged but for its line ends. */
json_object *json_raw(dueq_bytes json);
/* Adds bytes as NAME if they are UTF-8, and otherwise as NAME_base64. */
void json_add_bytes(json_object *object, const char *name, dueq_bytes bytes);
/* Adds the fields that name a consumer and its process: workers.c. */
void cli_json_worker(json_object *object, const dueq_worker *worker);
/*
 * Writes the object on one line, without a line end. This is not json-c's own writer, which drops
 * parts of the text when memory runs out. A failed write shows in the file's own error flag.
 */
void json_write(FILE *out, json_object *object);
/* The object as one line. Free with free(). */
char *json_line_of(json_object *object);
/* Writes UTF-8 as a part of a JSON string, without the quotes. */
void json_write_part(FILE *out, dueq_bytes text);
/*
 * Adds a field of the struct `from` to `object`: for the lists of fields in dueq_verbs.h, whose
 * kinds are those of core/results.py.
 */
#define JSON_FIELD(kind, member) json_object_object_add(object, #member, JSON_##kind(from->member));
#define JSON_COUNT(number) json_object_new_int64(number)
#define JSON_OPTIONAL(number) ((number) ? json_object_new_int64(number) : NULL)
#define JSON_INDEX(number) ((number) < 0 ? NULL : json_object_new_int64(number))
#define JSON_FLAG(flag) json_object_new_boolean(flag)
#define JSON_TEXT(bytes) json_text(bytes)
#define JSON_NAME(bytes) ((bytes).size ? json_text(bytes) : NULL)
#define JSON_WORD(text) json_name(text)
#define JSON_TIME(ms) json_object_new_int64(ms)
#define JSON_MAYBE_TIME(ms) json_time(ms)
#define JSON_SPAN(ms) json_object_new_int64(ms)
#define JSON_MEASURED(ms) JSON_INDEX(ms)
/*
 * Below: what commands print with --json, and what the API of dueq web answers. The caller frees
 * the object.
 */
json_object *json_of_message(const char *queue, const dueq_message *message);
/* Adds `progress` and `progress_note`, if the job of the message has said how far it is. */
void json_add_progress(json_object *object, const dueq_message *message);
/* The message without `body`, which is the last member. */
json_object *json_of_head(const char *queue, const dueq_message *message);
/*
 * The message with `preview`, the first whole characters of the body, and with the size of the
 * body.
 */
json_object *json_of_preview(const char *queue, const dueq_message *message);
/* A message whose envelope is damaged: only its id is known. */
json_object *json_of_damaged(const char *queue, dueq_bytes id, dueq_state state);
json_object *json_of_counts(const char *queue, const dueq_counts *counts);
/* A consumer, which stands `count` times in the list: once for each of its queues. */
json_object *json_of_worker(const struct consumer *list, size_t count);
/* A message, the consumer that says it holds the message, and its earlier failures. */
json_object *json_of_inspected(const char *queue, const dueq_message *message,
                               const struct workers_view *workers, const struct history *history);
json_object *json_of_failure(const dueq_failure *failure, const struct workers_view *workers);
json_object *json_of_group(const dueq_group *group);
json_object *json_of_batch(const dueq_batch *batch);
/* How a message ended. */
json_object *json_of_end(const char *queue, const dueq_end *end);
json_object *json_of_limits(const char *queue, const dueq_bounds *limits);
/* A message that a consumer has leased for long. */
json_object *json_of_running(const char *queue, const struct running *running,
                             const dueq_message *message);
json_object *json_of_rate(const dueq_rate *rate);
/* A schedule, from its message. */
json_object *json_of_schedule(const char *queue, const dueq_message *message);
/* The outcome for one id, ticket or name. state: of a cancelled message; 0: none. */
json_object *json_of_item(const char *key, dueq_bytes subject, dueq_status status,
                          dueq_state state);
/* Prints one object on a line. json_line() also frees it. */
void cli_put_json(json_object *json);
void json_line(json_object *object);
/* cli_log() of a text; JSON logs also get `fields`. Frees `fields`. */
void json_say(enum cli_level level, json_object *fields, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

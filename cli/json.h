/* JSON of what dueq knows. */
#ifndef DUEQ_CLI_JSON_H
#define DUEQ_CLI_JSON_H

#include <json-c/json.h>

#include "cli.h"

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
/* The object as a line, which is its own. */
const char *json_line_of(json_object *object);
/* Prints one object on a line, and frees it. */
void json_line(json_object *object);
/* As cli_say(); as JSON with these fields, which it frees. */
void json_say(enum cli_level level, json_object *fields, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/* Queues of other systems: what `dueq redisson` and `dueq laravel` share. */
#ifndef DUEQ_CLI_FOREIGN_H
#define DUEQ_CLI_FOREIGN_H

#include "../cli.h"
#include "../json.h"

/* foreign.c */

/* Each is about the queue that is open, Redisson's or Laravel's, and returns the exit code. */

/*
 * Moves what is due, step by step, and prints how much at the end: of what is due now with `once`,
 * else until SIGTERM or SIGINT; a failure that may pass is no end then.
 */
int foreign_move(struct cli *cli, bool once);
/* Counts the queue, and prints it. */
int foreign_size(struct cli *cli);
/* Takes away what is in it for good, and prints how many there were. */
int foreign_clear(struct cli *cli);

/* value.c: what Redisson's codecs write */

/* The codec and the layout that a word names, or cli_usage(). */
dueq_codec value_codec(const struct cli *cli, const char *name);
dueq_layout value_layout(const struct cli *cli, const char *name);
/* The kind that the word of --type names, or cli_usage(); NULL: what the codec is for. */
dueq_kind value_kind(const struct cli *cli, const char *type, dueq_codec codec);
/* Reads the text of a value of that kind, which must outlive it. False: said why. */
bool value_read(dueq_kind kind, dueq_bytes text, dueq_value *value);
/* Writes a value to stdout, as value_read() would take it; `alone`: with nothing else. */
void value_put(const dueq_value *value, bool alone);
/* Adds "type" and "value", or "value_base64" for bytes that are not UTF-8. */
void value_add(json_object *object, const dueq_value *value);

#endif

/* Queues of other systems: declarations for `dueq redisson` and `dueq laravel`. */
#ifndef DUEQ_CLI_FOREIGN_H
#define DUEQ_CLI_FOREIGN_H

#include "../cli.h"
#include "../json.h"

/* foreign.c */

/* These functions work on the open queue, Redisson's or Laravel's, and return the exit code. */

/*
 * Moves due values, step by step, and prints their number at the end. With `once` it ends when no
 * more are due. Without, it goes on until SIGTERM or SIGINT, also after a failure that may pass.
 */
int foreign_move(struct cli *cli, bool once);
/* Counts the queue, and prints it. */
int foreign_size(struct cli *cli);
/* Deletes the waiting values or jobs, and prints their number. */
int foreign_clear(struct cli *cli);

/* value.c: values of Redisson's codecs */

/* The codec and the layout that a word names. Both call cli_usage() for an unknown word. */
dueq_codec value_codec(const struct cli *cli, const char *name);
dueq_layout value_layout(const struct cli *cli, const char *name);
/*
 * The kind that --type names; calls cli_usage() for an unknown one. type NULL: the usual kind of
 * the codec.
 */
dueq_kind value_kind(const struct cli *cli, const char *type, dueq_codec codec);
/* Reads a value of this kind from a text, which must outlive the value. False: logged why. */
bool value_read(dueq_kind kind, dueq_bytes text, dueq_value *value);
/* Writes a value to cli_out, as value_read() reads it. alone: nothing else stands on its lines. */
void value_put(const dueq_value *value, bool alone);
/* Adds "type" and "value", or "value_base64" for bytes that are not UTF-8. */
void value_add(json_object *object, const dueq_value *value);

#endif

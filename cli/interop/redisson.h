/* The verbs of `dueq redisson`: what their files share. */
#ifndef DUEQ_CLI_REDISSON_H
#define DUEQ_CLI_REDISSON_H

#include "foreign.h"

/* What the options of a verb say. */
struct redisson_wish {
    dueq_codec codec;
    dueq_layout layout;
    const char *type;
    int64_t delay_ms, at_ms, wait_ms;
    size_t count;
    bool delayed, lines, raw, once;
};

/* What getopt calls the options. */
enum {
    CODEC = 'c',
    LAYOUT = 'y',
    TYPE = 't',
    DELAY = 'd',
    AT = 'a',
    LINES = 'n',
    COUNT = 'm',
    WAIT = 'w',
    RAW = 'r',
    ONCE = 'o'
};

/* End the list of a verb's options. */
#define REDISSON_OPTIONS                                                                           \
    {"codec", required_argument, NULL, CODEC}, {"layout", required_argument, NULL, LAYOUT},        \
        CLI_OPTIONS

/*
 * Reads the options, wants so many words after the destination, and opens it. False: *code is the
 * exit code, said why.
 */
bool redisson_begin(struct cli *cli, int argc, char *argv[], const struct option *options,
                    int least, int most, struct redisson_wish *wish, int *code);
/*
 * The value that the next word is, or standard input. False: *code is the exit code, said why. Free
 * *store with free().
 */
bool redisson_value(struct cli *cli, char *argv[], const struct redisson_wish *wish,
                    dueq_value *value, void **store, int *code);

extern const struct command redisson_take, redisson_poll, redisson_peek, redisson_remove,
    redisson_contains; /* redisson_values.c */

#define CODEC_HELP                                                                                 \
    "  --codec WORD        the codec of the Redisson clients of this queue: kryo5 (the default\n"  \
    "                      of Redisson and dueq), bytes, string, long, jackson, typed-json,\n"     \
    "                      jackson3, typed-json3 (JsonJackson3Codec, TypedJsonJackson3Codec)\n"
#define LAYOUT_HELP                                                                                \
    "  --layout WORD       the format of waiting values: new (Redisson 3.21.1 and later), or\n"    \
    "                      old (that of the values that wait; new if none waits)\n"
#define TYPE_HELP                                                                                  \
    "  --type WORD         the value's type in Java: string, int, long, double, bool, bytes,\n"    \
    "                      null, json (string; with the codecs bytes and long their type)\n"

#endif

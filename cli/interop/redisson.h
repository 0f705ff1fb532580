/* The verbs of `dueq redisson`: declarations for their files. */
#ifndef DUEQ_CLI_REDISSON_H
#define DUEQ_CLI_REDISSON_H

#include "foreign.h"

/* The values of a verb's options. */
struct redisson_wish {
    dueq_codec codec;
    dueq_layout layout;
    const char *type;
    int64_t delay_ms, at_ms, wait_ms;
    size_t count;
    bool delayed, lines, raw, once;
};

/* The codes that getopt returns for the options. */
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

/* The last options of each verb. */
#define REDISSON_OPTIONS                                                                           \
    {"codec", required_argument, NULL, CODEC}, {"layout", required_argument, NULL, LAYOUT},        \
        CLI_OPTIONS

/*
 * Reads the options, checks that `least` to `most` words follow the destination, and opens it.
 * False: logged why; *code is the exit code.
 */
bool redisson_begin(struct cli *cli, int argc, char *argv[], const struct option *options,
                    int least, int most, struct redisson_wish *wish, int *code);
/*
 * Reads the value from the next word, or from standard input. False: logged why; *code is the exit
 * code. Free *store with free().
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
    "                      old (the format of the values that wait; new if none waits)\n"
#define TYPE_HELP                                                                                  \
    "  --type WORD         the value's type in Java: string, int, long, double, bool, bytes,\n"    \
    "                      null, json (string; with the codec bytes: bytes, with long: long)\n"

#endif

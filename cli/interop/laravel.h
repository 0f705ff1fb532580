/* The verbs of `dueq laravel`: declarations for their files. */
#ifndef DUEQ_CLI_LARAVEL_H
#define DUEQ_CLI_LARAVEL_H

#include "foreign.h"

/* The values of a verb's options. */
struct laravel_wish {
    dueq_laravel_draft draft;
    dueq_bytes prefix;
    const char *payload, *object, *data, *reserved;
    char *backoff;
    int64_t wait_ms, retry_after_ms;
    size_t count;
    bool delayed, lines, finish, once;
};

/* The codes that getopt returns for the options. */
enum {
    PREFIX = 'p',
    DATA = 'j',
    PAYLOAD = 'f',
    OBJECT = 'b',
    LINES = 'n',
    DELAY = 'd',
    AT = 'a',
    TRIES = 't',
    MAX_EXCEPTIONS = 'x',
    TIMEOUT = 's',
    BACKOFF = 'k',
    RETRY_UNTIL = 'u',
    FAIL_ON_TIMEOUT = 'i',
    DISPLAY_NAME = 'e',
    COUNT = 'm',
    WAIT = 'w',
    RETRY_AFTER = 'l',
    DELETE = 'g',
    RESERVED = 'r',
    ONCE = 'o'
};

/* The last options of each verb. */
#define LARAVEL_OPTIONS {"prefix", required_argument, NULL, PREFIX}, CLI_OPTIONS

/* Reads the options, and checks that `least` to `most` words follow the queue's name. */
void laravel_options(struct cli *cli, int argc, char *argv[], const struct option *options,
                     int least, int most, struct laravel_wish *wish);
/* Opens the queue that the next word names. False: logged why; *code is the exit code. */
bool laravel_open(struct cli *cli, char *argv[], const struct laravel_wish *wish, int *code);

extern const struct command laravel_pop, laravel_delete, laravel_release; /* laravel_jobs.c */

#define PREFIX_HELP                                                                                \
    "  --prefix TEXT       the prefix of Laravel's keys, such as shop_database_: its setting\n"    \
    "                      database.redis.options.prefix (none)\n"

#endif

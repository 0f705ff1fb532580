/* The options of a message to push. */
#ifndef DUEQ_CLI_DRAFT_H
#define DUEQ_CLI_DRAFT_H

#include "cli.h"

/* Made from core/options.toml by core/verbs.py: the options of a push. */
/* clang-format off */
enum {
    DRAFT_DELAY = 0x200,
    DRAFT_AT,
    DRAFT_ID,
    DRAFT_MAX_ATTEMPTS,
    DRAFT_LEASE,
    DRAFT_HEADERS,
    DRAFT_PRIORITY,
    DRAFT_TTL,
    DRAFT_BACKOFF,
    DRAFT_MAX_CRASHES,
    DRAFT_DROP,
    DRAFT_DEAD_LETTER,
    DRAFT_UNIQUE,
    DRAFT_REPLACE,
    DRAFT_REPLICAS,
    DRAFT_DISK,
    DRAFT_DURABLE_TIMEOUT,
    DRAFT_GROUP,
    DRAFT_KEEP,
    DRAFT_BATCH
};

/* These go into the list of a command's options. */
#define DRAFT_OPTIONS                                                                              \
    {"delay", required_argument, NULL, DRAFT_DELAY},                                               \
    {"at", required_argument, NULL, DRAFT_AT},                                                     \
    {"id", required_argument, NULL, DRAFT_ID},                                                     \
    {"max-attempts", required_argument, NULL, DRAFT_MAX_ATTEMPTS},                                 \
    {"lease", required_argument, NULL, DRAFT_LEASE},                                               \
    {"header", required_argument, NULL, DRAFT_HEADERS},                                            \
    {"priority", required_argument, NULL, DRAFT_PRIORITY},                                         \
    {"ttl", required_argument, NULL, DRAFT_TTL},                                                   \
    {"backoff", required_argument, NULL, DRAFT_BACKOFF},                                           \
    {"max-crashes", required_argument, NULL, DRAFT_MAX_CRASHES},                                   \
    {"drop", no_argument, NULL, DRAFT_DROP},                                                       \
    {"dead-letter", required_argument, NULL, DRAFT_DEAD_LETTER},                                   \
    {"unique", required_argument, NULL, DRAFT_UNIQUE},                                             \
    {"replace", optional_argument, NULL, DRAFT_REPLACE},                                           \
    {"replicas", required_argument, NULL, DRAFT_REPLICAS},                                         \
    {"disk", no_argument, NULL, DRAFT_DISK},                                                       \
    {"durable-timeout", required_argument, NULL, DRAFT_DURABLE_TIMEOUT},                           \
    {"group", required_argument, NULL, DRAFT_GROUP},                                               \
    {"keep", required_argument, NULL, DRAFT_KEEP},                                                 \
    {"batch", required_argument, NULL, DRAFT_BATCH}

/* The texts of --help, by groups. */
#define DRAFT_HELP_MESSAGE                                                                         \
    "  --delay DURATION     due after this time from now: 250ms, 1.5s, 30m, 2h, 7d, 1h30m; a\n"    \
    "                       number without a unit is seconds\n"                                    \
    "  --at TIME            due at this time: 2026-12-01T10:00:00Z, or seconds since 1970\n"       \
    "  --lease DURATION     how long a consumer may work on it (30s)\n"                            \
    "  --header NAME=VALUE  add a header; may be repeated\n"                                       \
    "  --priority high|normal|low\n"                                                               \
    "                       high is delivered before normal, and normal before low (normal)\n"     \
    "  --ttl DURATION       delete the message if it is not delivered within this time after\n"    \
    "                       the push\n"                                                            \
    "  --group NAME         groups take turns; in a group the order of the pushes holds\n"         \
    "  --keep DURATION      keep its end, and its result, for this time: dueq result shows them\n" \
    "  --batch ID           the batch that counts how the message ends (dueq open-batch)\n"

#define DRAFT_HELP_ID                                                                              \
    "  --id ID              find and cancel the message by this id. While it is in the queue, a\n" \
    "                       second push of the id stores nothing and ends with 1\n"                \
    "  --unique DURATION    refuse the id for this long after the push, even when the message\n"   \
    "                       is done (without --unique it can be pushed again then)\n"              \
    "  --replace            replace a message of this id that is in the queue\n"                   \
    "  --replace=body       the same, but a ready or delayed one keeps its due time and its\n"     \
    "                       place\n"

#define DRAFT_HELP_FAILURE                                                                         \
    "  --max-attempts N     failures (retry) until it is dead (16); 1: no retry; none: no limit\n" \
    "  --backoff HOW        the delay of a retry without --delay (exponential:1s:1h:equal):\n"     \
    "                       0                   at once\n"                                         \
    "                       5s                  always the same\n"                                 \
    "                       1s,5s,30s           one after the other, and then always the last\n"   \
    "                       linear:10s:5m       10s, 20s, 30s ... at most 5m\n"                    \
    "                       exponential:1s:60s  1s, 2s, 4s, 8s ... at most 60s\n"                  \
    "                       :full or :equal appended: a random part of that, or of its half\n"     \
    "  --max-crashes N      leases that end without an answer until it is dead (5); none: no\n"    \
    "                       limit\n"                                                               \
    "  --drop               delete it instead of keeping it as dead\n"                             \
    "  --dead-letter QUEUE  move it to this queue instead of keeping it as dead\n"

#define DRAFT_HELP_DURABILITY                                                                      \
    "  --replicas N         wait until N replicas of the server have received the message\n"       \
    "  --disk               wait until it is on the server's disk, and on the disks of the N\n"    \
    "                       replicas\n"                                                            \
    "  --durable-timeout DURATION\n"                                                               \
    "                       how long to wait (2s). After that push ends with 3; the message is\n"  \
    "                       stored, and its id is printed\n"

/* clang-format on */
/* The end of what was made. */

/* The values of these options. Start from DRAFT_NONE; end with draft_end(). */
struct draft {
    dueq_draft draft; /* without a body */
    dueq_header *headers;
    int64_t list_ms[DUEQ_MAX_BACKOFF_LIST];
    bool given, delayed;
};
#define DRAFT_NONE {.draft = DUEQ_DRAFT}

/*
 * Takes one of the options above and its value, which the draft borrows. Calls cli_usage() if the
 * value is wrong.
 */
void draft_option(const struct cli *cli, struct draft *draft, int option, const char *given);
/*
 * Call this after the last option: checks that the options fit together, and completes
 * draft->draft.
 */
void draft_ready(const struct cli *cli, struct draft *draft);
void draft_end(struct draft *draft);

#endif

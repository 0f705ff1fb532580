/* The options of a message to push. */
#ifndef DUEQ_CLI_DRAFT_H
#define DUEQ_CLI_DRAFT_H

#include "cli.h"

enum {
    DRAFT_DELAY = 0x200,
    DRAFT_AT,
    DRAFT_ID,
    DRAFT_MAX_ATTEMPTS,
    DRAFT_LEASE,
    DRAFT_HEADER,
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
    DRAFT_DURABLE_TIMEOUT
};

/* These go into the list of a command's options. */
#define DRAFT_OPTIONS                                                                              \
    {"delay", required_argument, NULL, DRAFT_DELAY}, {"at", required_argument, NULL, DRAFT_AT},    \
        {"id", required_argument, NULL, DRAFT_ID},                                                 \
        {"max-attempts", required_argument, NULL, DRAFT_MAX_ATTEMPTS},                             \
        {"lease", required_argument, NULL, DRAFT_LEASE},                                           \
        {"header", required_argument, NULL, DRAFT_HEADER},                                         \
        {"priority", required_argument, NULL, DRAFT_PRIORITY},                                     \
        {"ttl", required_argument, NULL, DRAFT_TTL},                                               \
        {"backoff", required_argument, NULL, DRAFT_BACKOFF},                                       \
        {"max-crashes", required_argument, NULL, DRAFT_MAX_CRASHES},                               \
        {"drop", no_argument, NULL, DRAFT_DROP},                                                   \
        {"dead-letter", required_argument, NULL, DRAFT_DEAD_LETTER},                               \
        {"unique", required_argument, NULL, DRAFT_UNIQUE},                                         \
        {"replace", optional_argument, NULL, DRAFT_REPLACE},                                       \
        {"replicas", required_argument, NULL, DRAFT_REPLICAS},                                     \
        {"disk", no_argument, NULL, DRAFT_DISK}, {                                                 \
        "durable-timeout", required_argument, NULL, DRAFT_DURABLE_TIMEOUT                          \
    }

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

#include "draft.h"

#include <stdlib.h>
#include <string.h>

static dueq_bytes text(const char *option) { return (dueq_bytes){option, strlen(option)}; }

static void add_header(const struct cli *cli, struct draft *draft, const char *given) {
    const char *equals = strchr(given, '=');
    if (!equals || equals == given)
        cli_usage(cli, "--header %s is not NAME=VALUE", given);
    dueq_header *headers =
        realloc(draft->headers, (draft->draft.header_count + 1) * sizeof *headers);
    if (!headers)
        cli_out_of_memory();
    draft->headers = headers;
    headers[draft->draft.header_count++] =
        (dueq_header){{given, (size_t)(equals - given)}, text(equals + 1)};
}

static dueq_priority read_priority(const struct cli *cli, const char *given) {
    for (dueq_priority priority = DUEQ_LOW; priority <= DUEQ_HIGH; priority++)
        if (strcmp(given, cli_priority_name(priority)) == 0)
            return priority;
    cli_usage(cli, "--priority %s is not high, normal or low", given);
}

static dueq_bytes read_text(const struct cli *cli, const char *option, const char *given) {
    if (!given[0])
        cli_usage(cli, "--%s is empty", option);
    return text(given);
}

static void read_delay(const struct cli *cli, struct draft *draft, const char *given) {
    draft->draft.delay_ms = cli_duration(cli, "delay", given);
    draft->delayed = true;
}

static void read_replace(const struct cli *cli, struct draft *draft, const char *given) {
    if (given && strcmp(given, "body") != 0)
        cli_usage(cli, "--replace=%s is unknown; write --replace or --replace=body", given);
    draft->draft.replace = given ? DUEQ_REPLACE_BODY : DUEQ_REPLACE;
}

/* --backoff */

static _Noreturn void not_a_backoff(const struct cli *cli, const char *given) {
    cli_usage(cli,
              "--backoff %s is not a backoff; write 5s, or 1s,5s,30s, or exponential:1s:60s, or "
              "linear:10s:5m, and append :full or :equal for jitter",
              given);
}

/* Cuts the text at the separator. Returns the part before; *rest is the part behind, or NULL. */
static char *cut(char *from, char separator, char **rest) {
    *rest = strchr(from, separator);
    if (*rest)
        *(*rest)++ = '\0';
    return from;
}

static bool read_jitter(const char *word, dueq_jitter *jitter) {
    static const char *const names[] = {"none", "full", "equal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) {
            *jitter = (dueq_jitter)i;
            return true;
        }
    return false;
}

/* Reads a duration. False: the text is none, and *ms is unchanged. */
static bool read_duration(const char *text, int64_t *ms) {
    const int64_t read_ms = dueq_duration_ms(text);
    if (read_ms >= 0)
        *ms = read_ms;
    return read_ms >= 0;
}

/* "5s" is a fixed backoff, "1s,5s" a list. */
static bool read_delays(struct draft *draft, char *delays) {
    dueq_backoff *backoff = &draft->draft.backoff;
    for (char *rest = delays; rest;) {
        if (backoff->list_count == DUEQ_MAX_BACKOFF_LIST ||
            !read_duration(cut(rest, ',', &rest), &draft->list_ms[backoff->list_count++]))
            return false;
    }
    if (backoff->list_count > 1) {
        backoff->kind = DUEQ_BACKOFF_LIST;
        backoff->list_ms = draft->list_ms;
    } else {
        backoff->kind = DUEQ_BACKOFF_FIXED;
        backoff->base_ms = draft->list_ms[0];
        backoff->list_count = 0;
    }
    return true;
}

/*
 * "DELAY", "DELAY,DELAY...", "exponential:BASE[:CAP]" or "linear:BASE[:CAP]", each with [:JITTER].
 */
static void read_backoff(const struct cli *cli, struct draft *draft, const char *given) {
    dueq_backoff *backoff = &draft->draft.backoff;
    char *copy = strdup(given), *rest;
    if (!copy)
        cli_out_of_memory();
    memset(backoff, 0, sizeof *backoff);
    char *first = cut(copy, ':', &rest);
    bool good;
    if (strcmp(first, "exponential") == 0 || strcmp(first, "linear") == 0) {
        backoff->kind = first[0] == 'e' ? DUEQ_BACKOFF_EXPONENTIAL : DUEQ_BACKOFF_LINEAR;
        good = rest && read_duration(cut(rest, ':', &rest), &backoff->base_ms);
        if (good && rest && read_duration(rest, &backoff->cap_ms))
            rest = NULL;
        else if (good && rest && strchr(rest, ':'))
            good = read_duration(cut(rest, ':', &rest), &backoff->cap_ms);
    } else {
        good = read_delays(draft, first);
    }
    good = good && (!rest || read_jitter(rest, &backoff->jitter));
    free(copy);
    if (!good)
        not_a_backoff(cli, given);
}

/* --max-attempts and --max-crashes */

/* Reads a limit. of_one: what a limit of 1 means, for the error. */
static uint32_t read_limit(const struct cli *cli, const char *option, const char *given,
                           const char *of_one) {
    if (strcmp(given, "none") == 0)
        return DUEQ_NO_LIMIT;
    if (strcmp(given, "0") == 0)
        cli_usage(cli, "--%s 0: use none for no limit, 1 for %s", option, of_one);
    return (uint32_t)cli_number(cli, option, given, 1, DUEQ_MAX_MAX_ATTEMPTS);
}

/* Made from core/options.toml by core/verbs.py: the options of a push. */
void draft_option(const struct cli *cli, struct draft *drafting, int option, const char *given) {
    dueq_draft *draft = &drafting->draft;
    drafting->given = true;
    switch (option) {
    case DRAFT_DELAY:
        read_delay(cli, drafting, given);
        break;
    case DRAFT_AT:
        draft->at_ms = cli_point(cli, "at", given);
        break;
    case DRAFT_ID:
        draft->id = read_text(cli, "id", given);
        break;
    case DRAFT_MAX_ATTEMPTS:
        draft->max_attempts = read_limit(cli, "max-attempts", given, "no retry");
        break;
    case DRAFT_LEASE:
        draft->lease_ms = cli_duration(cli, "lease", given);
        break;
    case DRAFT_HEADERS:
        add_header(cli, drafting, given);
        break;
    case DRAFT_PRIORITY:
        draft->priority = read_priority(cli, given);
        break;
    case DRAFT_TTL:
        draft->ttl_ms = cli_duration(cli, "ttl", given);
        break;
    case DRAFT_BACKOFF:
        read_backoff(cli, drafting, given);
        break;
    case DRAFT_MAX_CRASHES:
        draft->max_crashes = read_limit(cli, "max-crashes", given, "no second delivery after one");
        break;
    case DRAFT_DROP:
        draft->drop = 1;
        break;
    case DRAFT_DEAD_LETTER:
        draft->dead_letter = read_text(cli, "dead-letter", given);
        break;
    case DRAFT_UNIQUE:
        draft->unique_ms = cli_duration(cli, "unique", given);
        break;
    case DRAFT_REPLACE:
        read_replace(cli, drafting, given);
        break;
    case DRAFT_REPLICAS:
        draft->durability.replicas = (int)cli_number(cli, "replicas", given, 0, DUEQ_MAX_REPLICAS);
        break;
    case DRAFT_DISK:
        draft->durability.disk = 1;
        break;
    case DRAFT_DURABLE_TIMEOUT:
        draft->durability.timeout_ms = cli_duration(cli, "durable-timeout", given);
        break;
    case DRAFT_GROUP:
        draft->group = read_text(cli, "group", given);
        break;
    case DRAFT_KEEP:
        draft->keep_ms = cli_duration(cli, "keep", given);
        break;
    case DRAFT_BATCH:
        draft->batch = read_text(cli, "batch", given);
        break;
    }
}
/* The end of what was made. */

void draft_ready(const struct cli *cli, struct draft *drafting) {
    dueq_draft *draft = &drafting->draft;
    if (drafting->delayed && draft->at_ms)
        cli_usage(cli, "--delay and --at exclude each other");
    if (draft->drop && draft->dead_letter.size > 0)
        cli_usage(cli, "--drop and --dead-letter exclude each other");
    if ((draft->unique_ms > 0 || draft->replace != DUEQ_REFUSE) && draft->id.size == 0)
        cli_usage(cli, "--unique and --replace need an --id");
    draft->headers = drafting->headers;
}

void draft_end(struct draft *drafting) { free(drafting->headers); }

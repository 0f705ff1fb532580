#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "queue_row.h"

enum {
    STUCK_MS = 10000, /* a message that waits longer is stuck */
    LONG_MS = 300000, /* and after this long a person must act */
    NOW = 5,          /* the last minutes, which show whether a trouble persists */
    APART_MS = 5000,  /* clocks that differ by this much are reported */
    TIMES_LONGER = 3  /* a message hangs that runs this many times longer than others */
};

const char *cause_code(enum cause cause) {
#define CODE(name, code, fix) code,
    static const char *const codes[] = {CAUSES_LIST(CODE)};
    return codes[cause];
}

const char *cause_fix(enum cause cause) {
#define FIX(name, code, fix) fix,
    static const char *const fixes[] = {CAUSES_LIST(FIX)};
    return fixes[cause];
}

const char *severity_name(enum severity level) {
    static const char *const names[] = {"meant", "look", "act"};
    return names[level];
}

/* Fills in *why. Always returns true, which means: something is wrong. */
static bool __attribute__((format(printf, 4, 5)))
because(struct diagnosis *why, enum cause cause, enum severity level, const char *format, ...) {
    va_list arguments;
    why->cause = cause;
    why->level = level;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return true;
}

/* Servers */

bool diagnose_server(const struct health *health, bool several, struct diagnosis *why) {
    char used[NUMBER_ROOM], limit[NUMBER_ROOM], apart[TIME_ROOM];
    char server[sizeof health->server + 1];
    snprintf(server, sizeof server, "%s%s", several ? " " : "", several ? health->server : "");
    if (health->replica)
        return because(why, CAUSE_READ_ONLY, SEVERITY_ACT,
                       "the server%s is a replica: it refuses pushes and reserves", server);
    if (health->disk_refuses)
        return because(why, CAUSE_DISK, SEVERITY_ACT, "the server%s refuses all writes: %s", server,
                       health->disk);
    if (health->replicas < health->replicas_wanted)
        return because(why, CAUSE_REPLICAS, SEVERITY_ACT,
                       "the server%s refuses all writes: it has %lld of the %lld replicas that "
                       "min-replicas-to-write wants",
                       server, (long long)health->replicas, (long long)health->replicas_wanted);
    if (health_full(health))
        return because(why, CAUSE_FULL, SEVERITY_ACT,
                       "the server%s is full: %s of %s bytes (maxmemory): it refuses pushes",
                       server, text_number(health->used, used), text_number(health->limit, limit));
    if (health->evicted)
        return because(why, CAUSE_EVICTED, health->evicts ? SEVERITY_ACT : SEVERITY_LOOK,
                       "the server%s has deleted %lld keys since its start because its memory was "
                       "full: messages may be lost",
                       server, (long long)health->evicted);
    if (health->evicts)
        return because(why, CAUSE_EVICTING, SEVERITY_LOOK,
                       "the server%s may evict messages when its memory is full: set "
                       "maxmemory-policy noeviction",
                       server);
    if (llabs(health->ahead_ms) >= APART_MS)
        return because(why, CAUSE_CLOCK, SEVERITY_LOOK,
                       "the clock of the server%s is %s %s this machine's: due times and leases "
                       "go by the server's",
                       server, time_format_span(llabs(health->ahead_ms), apart),
                       health->ahead_ms > 0 ? "ahead of" : "behind");
    return health->disk &&
           because(why, CAUSE_DISK, SEVERITY_LOOK, "the server%s: %s", server, health->disk);
}

bool diagnose_servers(const struct queue_rows *rows, struct diagnosis *why) {
    struct diagnosis other;
    bool found = false;
    for (size_t i = 0; i < rows->healths.count; i++)
        if (diagnose_server(&rows->healths.list[i], rows->healths.count > 1, &other) &&
            (!found || other.level > why->level)) {
            *why = other;
            found = true;
        }
    return found;
}

/* Queues */

static int64_t sum(const struct queue_row *row, size_t minutes, size_t offset) {
    int64_t all = 0;
    for (size_t i = ROW_MINUTES - minutes; i < ROW_MINUTES; i++)
        all += *(const int64_t *)((const char *)&row->minutes[i] + offset);
    return all;
}
#define SUM(row, minutes, event) sum(row, minutes, offsetof(dueq_rate, event))

/* How long the oldest message has waited that could be delivered now. */
static int64_t waited_ms(const dueq_counts *counts) {
    int64_t first = counts->ready ? counts->oldest_ms : 0;
    if (counts->next_event_ms && counts->next_event_ms < counts->now_ms &&
        (!first || counts->next_event_ms < first))
        first = counts->next_event_ms;
    return first ? counts->now_ms - first : 0;
}

bool is_stuck(const dueq_counts *counts) { return waited_ms(counts) >= STUCK_MS; }

static const dueq_worker *last_offline(const struct workers_view *workers,
                                       const struct queue_row *row) {
    const dueq_worker *last = NULL;
    for (size_t i = 0; i < workers->count; i++) {
        const dueq_worker *worker = workers->list[i].worker;
        if (strcmp(workers->list[i].queue, row->whole) == 0 && worker->offline &&
            (!last || worker->seen_ms > last->seen_ms))
            last = worker;
    }
    return last;
}

#define SHOWN(bytes) (int)(bytes).size, (const char *)(bytes).data

static bool is_at_limit(const struct queue_row *row) {
    return row->counts.at_limit[0] || row->at_group_limit[0];
}

/* Limits or holds keep its messages waiting, and not the workers. */
static bool at_limit(const struct queue_row *row, const char *waited, struct diagnosis *why) {
    const bool by_rate = strcmp(row->counts.at_limit, "rate") == 0;
    const bool is_long = waited_ms(&row->counts) >= LONG_MS;
    if (!row->counts.at_limit[0])
        return because(why, CAUSE_GROUPS, is_long ? SEVERITY_LOOK : SEVERITY_MEANT,
                       "all groups that wait are held or at a limit, such as %s; the oldest waits "
                       "for %s",
                       row->at_group_limit, waited);
    return because(why, CAUSE_LIMIT, is_long ? SEVERITY_LOOK : SEVERITY_MEANT,
                   "at its limit of the %s: leased %lld; the oldest waits for %s",
                   by_rate ? "rate" : "concurrency", (long long)row->counts.leased, waited);
}

static bool nobody(const struct workers_view *workers, const struct queue_row *row,
                   const char *waited, struct diagnosis *why) {
    const dueq_worker *offline = last_offline(workers, row);
    char ago[TIME_ROOM];
    /* A delivery after that worker went offline went to other consumers. */
    bool others = offline
                      ? offline->now_ms - offline->until_ms >= 120000 && SUM(row, 2, reserved) > 0
                      : row->leased_now;
    if ((row->out > 0 || others) && is_at_limit(row))
        return at_limit(row, waited, why);
    if (row->out > 0 || others)
        return because(why, CAUSE_BEHIND, SEVERITY_LOOK,
                       "waits for %s: no worker is registered; consumers without heartbeat have "
                       "%lld",
                       waited, (long long)row->counts.leased);
    if (!offline)
        return because(why, CAUSE_NOBODY, SEVERITY_ACT,
                       "no workers: none is registered; the oldest waits for %s", waited);
    return because(why, CAUSE_NOBODY, SEVERITY_ACT,
                   "no workers: the last, %.*s process %lld, %s%s%s; waits for %s",
                   SHOWN(offline->host), (long long)offline->pid,
                   offline->stopping ? "stopped " : "offline for ",
                   time_format_span(offline->now_ms - offline->until_ms, ago),
                   offline->stopping ? " ago" : "", waited);
}

/* The highest p99 of the run times in the last half hour; 0: none ran. */
static int64_t usual_run_ms(const struct queue_row *row) {
    int64_t longest = 0;
    for (size_t i = 0; i < ROW_MINUTES; i++)
        if (row->minutes[i].run_p99_ms > longest)
            longest = row->minutes[i].run_p99_ms;
    return longest;
}

/* Whether messages that run far longer than others occupy all slots of the workers. */
static bool all_hang(const struct workers_view *workers, const struct queue_row *row) {
    int64_t least = usual_run_ms(row) * TIMES_LONGER, hanging = 0;
    least = least > STUCK_MS ? least : STUCK_MS;
    for (size_t i = 0; i < workers->count; i++) {
        const dueq_worker *worker = workers->list[i].worker;
        if (strcmp(workers->list[i].queue, row->whole) != 0 || worker->offline)
            continue;
        for (size_t k = 0; k < worker->lease_count; k++)
            hanging += dueq_worker_lease(worker, k)->running &&
                       worker->now_ms - dueq_worker_lease(worker, k)->since_ms >= least;
    }
    return hanging >= row->slots;
}

static bool waits(const struct workers_view *workers, const struct queue_row *row,
                  struct diagnosis *why) {
    char waited[TIME_ROOM], held[TIME_ROOM];
    const dueq_lease *oldest = NULL;
    const struct consumer *slow = workers_longest(workers, row->whole, &oldest);
    const int64_t ms = waited_ms(&row->counts);
    time_format_span(ms, waited);
    if (!row->workers)
        return nobody(workers, row, waited, why);
    if (slow && all_hang(workers, row))
        return because(why, CAUSE_HUNG, SEVERITY_ACT,
                       "hung: works on %.*s for %s (%.*s process %lld); others wait for %s",
                       SHOWN(oldest->id),
                       time_format_span(row->counts.now_ms - oldest->since_ms, held),
                       SHOWN(slow->worker->host), (long long)slow->worker->pid, waited);
    if (is_at_limit(row))
        return at_limit(row, waited, why);
    return because(why, CAUSE_BEHIND, ms >= LONG_MS ? SEVERITY_ACT : SEVERITY_LOOK,
                   "behind: the oldest waits for %s; workers %lld, running %lld, room for %lld",
                   waited, (long long)row->workers, (long long)row->running, (long long)row->slots);
}

/* ACT if a tenth of the messages die now, or half of the deliveries fail. */
static enum severity how_bad(const struct queue_row *row) {
    const int64_t died = SUM(row, NOW, died), failed = SUM(row, NOW, retried);
    const int64_t acked = SUM(row, NOW, acked);
    return (died > 1 && 9 * died >= acked) || (failed > 2 && failed >= acked) ? SEVERITY_ACT
                                                                              : SEVERITY_LOOK;
}

static bool fails(const struct queue_row *row, struct diagnosis *why) {
    int64_t died = SUM(row, ROW_MINUTES, died), retried = SUM(row, ROW_MINUTES, retried);
    int64_t acked = SUM(row, ROW_MINUTES, acked);
    const struct error_group *group = row->group_count ? &row->groups[0] : NULL;
    bool crashes = group && strcmp(group->text, error_crashed) == 0;
    if (!died && !(retried && retried >= acked) && !crashes)
        return false;
    const enum cause cause = died ? CAUSE_POISON : crashes ? CAUSE_CRASHING : CAUSE_FAILING;
    because(why, cause, how_bad(row), "%s: %lld died and %lld failed in 30 min", cause_code(cause),
            (long long)died, (long long)retried);
    if (!group)
        return true;
    char *end = why->text + strlen(why->text);
    const size_t room = sizeof why->text - (size_t)(end - why->text);
    if (state_count(&row->counts, group->state) > ROW_ERRORS_READ)
        snprintf(end, room, "; %lld of the first %d with: %s", (long long)group->count,
                 ROW_ERRORS_READ, group->text);
    else
        snprintf(end, room, "; %lld with: %s", (long long)group->count, group->text);
    return true;
}

/* For a row of sums: how many partitions have trouble, and the worst diagnosis. */
static bool why_parts(const struct queue_rows *rows, const struct queue_row *sums,
                      struct diagnosis *why) {
    struct diagnosis each, worst = {0};
    const struct queue_row *found = NULL;
    size_t count = 0;
    for (size_t i = 1; i <= sums->parts; i++) {
        if (!diagnose_queue(rows, &sums[i], &each))
            continue;
        if (!count++ || each.level > worst.level) {
            worst = each;
            found = &sums[i];
        }
    }
    return count &&
           because(why, worst.cause, worst.level, "%zu of %zu partitions; %s %.*s", count,
                   sums->parts, cli_partition_mark(found->queue), DIAGNOSIS_SIZE - 100, worst.text);
}

bool diagnose_queue(const struct queue_rows *rows, const struct queue_row *row,
                    struct diagnosis *why) {
    const dueq_counts *counts = &row->counts;
    /*
     * With several servers the diagnosis of the server has this: only the cluster knows which
     * queues a server has.
     */
    const struct health *only = rows->healths.count == 1 ? &rows->healths.list[0] : NULL;
    char limit[NUMBER_ROOM];
    if (row->parts)
        return why_parts(rows, row, why);
    /*
     * The server is the cause: where it refuses writes, workers can neither register nor reserve.
     */
    if (only && !health_writable(only) && !health_full(only))
        return diagnose_server(only, false, why);
    if (row->status)
        return because(why, CAUSE_UNREADABLE, SEVERITY_ACT, "cannot be read: %s", row->problem);
    if (counts->outbox && counts->outbox_error[0])
        return because(why, CAUSE_OUTBOX, SEVERITY_ACT, "outbox: %lld cannot move to %s",
                       (long long)counts->outbox, counts->outbox_error);
    if (counts->paused)
        return because(why, CAUSE_PAUSED, SEVERITY_MEANT,
                       "paused: it delivers nothing until it is resumed");
    if (strcmp(counts->at_limit, "unreadable") == 0)
        return because(why, CAUSE_LIMIT, SEVERITY_ACT,
                       "its limits cannot be read: it delivers nothing until they are set anew");
    if (is_stuck(counts))
        return waits(&rows->workers, row, why);
    if (fails(row, why))
        return true;
    return only && health_full(only) &&
           because(why, CAUSE_FULL, SEVERITY_ACT,
                   "full: the server is at its limit of %s bytes: it refuses pushes and kicks, and "
                   "delivers what it has",
                   text_number(only->limit, limit));
}

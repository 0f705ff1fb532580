#include <stddef.h>
#include <string.h>

#include "glance.h"

enum { STUCK_MS = 10000 /* what waits for longer is stuck */ };

/* The first server that is full; NULL: none is. */
static const struct memory *full(const struct memories *memories) {
    for (size_t i = 0; i < memories->count; i++)
        if (memory_full(&memories->list[i]))
            return &memories->list[i];
    return NULL;
}

static int64_t sum(const struct glance *row, size_t offset) {
    int64_t all = 0;
    for (size_t i = 0; i < GLANCE_MINUTES; i++)
        all += *(const int64_t *)((const char *)&row->minutes[i] + offset);
    return all;
}
#define SUM(row, event) sum(row, offsetof(dueq_rate, event))

/* For how long what could be delivered has waited. */
static int64_t waited_ms(const dueq_counts *counts) {
    int64_t first = counts->ready ? counts->oldest_ms : 0;
    if (counts->next_ms && counts->next_ms < counts->now_ms && (!first || counts->next_ms < first))
        first = counts->next_ms;
    return first ? counts->now_ms - first : 0;
}

static const dueq_worker *last_lapsed(const struct roster *roster, const struct glance *row) {
    const dueq_worker *last = NULL;
    for (size_t i = 0; i < roster->count; i++) {
        const dueq_worker *worker = roster->list[i].worker;
        if (strcmp(roster->list[i].queue, row->whole) == 0 && roster_lapsed(worker) &&
            (!last || worker->seen_ms > last->seen_ms))
            last = worker;
    }
    return last;
}

#define SHOWN(bytes) (int)(bytes).size, (const char *)(bytes).data

static bool no_workers(const struct roster *roster, const struct glance *row, const char *waited,
                       char *why, size_t room) {
    const dueq_worker *lapsed = last_lapsed(roster, row);
    char ago[TIME_ROOM];
    if (row->counts.leased || row->out > 0)
        return snprintf(why, room,
                        "waits for %s: no worker is registered; consumers without heartbeat hold "
                        "%lld",
                        waited, (long long)row->counts.leased);
    if (!lapsed)
        return snprintf(why, room, "no workers: none is registered; the oldest waits for %s",
                        waited);
    return snprintf(why, room,
                    "no workers: the last, %.*s process %lld, lapsed %s ago; waits for %s",
                    SHOWN(lapsed->host), (long long)lapsed->pid,
                    time_format_brief(lapsed->now_ms - lapsed->until_ms, ago), waited);
}

static bool waits(const struct roster *roster, const struct glance *row, char *why, size_t room) {
    char waited[TIME_ROOM], held[TIME_ROOM];
    const dueq_holding *oldest = NULL;
    const struct consumer *slow = roster_longest(roster, row->whole, &oldest);
    time_format_brief(waited_ms(&row->counts), waited);
    if (!row->workers)
        return no_workers(roster, row, waited, why, room);
    if (slow && row->counts.now_ms - oldest->since_ms >= STUCK_MS)
        return snprintf(
            why, room, "slow: works on %.*s for %s (%.*s process %lld); others wait for %s",
            SHOWN(oldest->id), time_format_brief(row->counts.now_ms - oldest->since_ms, held),
            SHOWN(slow->worker->host), (long long)slow->worker->pid, waited);
    return snprintf(
        why, room, "behind: the oldest waits for %s; workers %lld, at work on %lld, room for %lld",
        waited, (long long)row->workers, (long long)row->working, (long long)row->slots);
}

static bool fails(const struct glance *row, char *why, size_t room) {
    int64_t died = SUM(row, died), retried = SUM(row, retried), acked = SUM(row, acked);
    const struct glance_group *group = row->group_count ? &row->groups[0] : NULL;
    bool crashes = group && strcmp(group->text, glance_crashed) == 0;
    if (!died && !(retried && retried >= acked) && !crashes)
        return false;
    int size = snprintf(why, room, "%s: %lld died and %lld failed in 30 min",
                        died      ? "poison"
                        : crashes ? "crashing"
                                  : "failing",
                        (long long)died, (long long)retried);
    if (!group || size < 0 || (size_t)size >= room)
        return true;
    why += size;
    room -= (size_t)size;
    if (glance_count(&row->counts, group->state) > GLANCE_LOOKED)
        snprintf(why, room, "; %lld of the first %d with: %s", (long long)group->count,
                 GLANCE_LOOKED, group->text);
    else
        snprintf(why, room, "; %lld with: %s", (long long)group->count, group->text);
    return true;
}

/* Of sums: how many partitions have something, and what the first of these has. */
static bool why_parts(const struct glances *glances, const struct glance *sums, char *why,
                      size_t room) {
    char each[WHY_ROOM], first[WHY_ROOM];
    const struct glance *found = NULL;
    size_t count = 0;
    for (size_t i = 1; i <= sums->parts; i++) {
        if (!why_queue(glances, &sums[i], each))
            continue;
        if (!count++) {
            strcpy(first, each);
            found = &sums[i];
        }
    }
    return count && snprintf(why, room, "%zu of %zu partitions; %s %.*s", count, sums->parts,
                             cli_part_of(found->queue), WHY_ROOM - 100, first);
}

bool why_queue(const struct glances *glances, const struct glance *row, char why[WHY_ROOM]) {
    const size_t room = WHY_ROOM;
    const dueq_counts *counts = &row->counts;
    bool stuck = waited_ms(counts) >= STUCK_MS;
    /* Of a cluster the line of the server says it, not the queue: only the cluster knows which queues a server has. */
    const struct memory *only = glances->memories.count == 1 ? full(&glances->memories) : NULL;
    char limit[NUMBER_ROOM];
    if (row->parts)
        return why_parts(glances, row, why, room);
    if (row->status)
        return snprintf(why, room, "cannot be read: %s", row->problem);
    if (counts->paused)
        return snprintf(why, room, "paused: it delivers nothing until it is resumed");
    if (counts->outbox && counts->outbox_error[0])
        return snprintf(why, room, "outbox: %lld cannot move to %s", (long long)counts->outbox,
                        counts->outbox_error);
    if (stuck)
        return waits(&glances->roster, row, why, room);
    if (fails(row, why, room))
        return true;
    return only && snprintf(why, room,
                            "full: the server is at its limit of %s bytes: it refuses pushes and "
                            "kicks, and delivers what it has",
                            text_number(only->limit, limit));
}

bool why_server(const struct glances *glances, char why[WHY_ROOM]) {
    const struct memories *memories = &glances->memories;
    const struct memory *found = full(memories);
    const bool several = memories->count > 1;
    char used[NUMBER_ROOM], limit[NUMBER_ROOM];
    if (found)
        return snprintf(why, WHY_ROOM,
                        "the server%s%s is full: %s of %s bytes (maxmemory): it refuses pushes",
                        several ? " " : "", several ? found->server : "",
                        text_number(found->used, used), text_number(found->limit, limit));
    for (size_t i = 0; i < memories->count; i++)
        if (memories->list[i].evicts)
            return snprintf(why, WHY_ROOM,
                            "the server%s%s may evict messages when its memory is full: set "
                            "maxmemory-policy noeviction",
                            several ? " " : "", several ? memories->list[i].server : "");
    return false;
}

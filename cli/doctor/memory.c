#include <string.h>

#include "doctor.h"

#define MIB (1024.0 * 1024.0)
/* With less memory in use than this, fragmentation means nothing. */
#define LITTLE (64 * MIB)

static void check_eviction(struct doctor *doctor, const struct server *server, double limit) {
    static const char fix[] = "CONFIG SET maxmemory-policy noeviction, and the same in its file";
    char policy[32];
    if (!info_text(server, "maxmemory_policy", policy, sizeof policy))
        say_of(doctor, server, EVICTION, UNKNOWN, fix, "INFO does not tell maxmemory_policy");
    else if (strcmp(policy, "noeviction") == 0)
        say_of(doctor, server, EVICTION, OK, NULL, "maxmemory-policy is noeviction");
    else if (strncmp(policy, "volatile-", 9) == 0)
        say_of(doctor, server, EVICTION, WARNING, fix,
               "maxmemory-policy %s deletes locks and reply memories when memory is full", policy);
    else if (limit > 0)
        say_of(doctor, server, EVICTION, PROBLEM, fix,
               "maxmemory-policy %s deletes whole queues, without an error, when memory is full",
               policy);
    else
        say_of(doctor, server, EVICTION, WARNING, fix,
               "maxmemory-policy %s deletes whole queues once somebody sets a maxmemory, and it is "
               "reached",
               policy);
}

static void check_room(struct doctor *doctor, const struct server *server, double limit,
                       double used) {
    double machine;
    if (server->said == CHECK_MEMORY)
        return;
    info_number(server, "total_system_memory", &machine);
    if (limit <= 0)
        say_of(doctor, server, MEMORY, WARNING,
               "set maxmemory: to half of the machine's memory if the server saves snapshots or "
               "rewrites its append-only file",
               "there is no maxmemory: it grows until the system kills it (%.0f of %.0f MiB now)",
               used / MIB, machine / MIB);
    else if (used >= 0.9 * limit)
        say_of(doctor, server, MEMORY, PROBLEM,
               "raise maxmemory, or see below which queues are full",
               "%.0f%% of maxmemory are in use: pushes fail with FULL, or soon do",
               100 * used / limit);
    else if (used >= 0.75 * limit)
        say_of(doctor, server, MEMORY, WARNING,
               "raise maxmemory, or see below which queues are full",
               "%.0f%% of maxmemory are in use", 100 * used / limit);
    else if (machine > 0 && limit > 0.9 * machine)
        say_of(doctor, server, MEMORY, WARNING, "lower maxmemory",
               "maxmemory is %.0f%% of the machine's memory, and a snapshot or rewrite needs more "
               "on top",
               100 * limit / machine);
    else
        say_of(doctor, server, MEMORY, OK, NULL, "%.0f%% of maxmemory (%.0f MiB) are in use",
               100 * used / limit, limit / MIB);
}

static void check_fragmentation(struct doctor *doctor, const struct server *server, double used) {
    double resident;
    if (!info_needed(doctor, server, CHECK_FRAGMENTATION, "used_memory_rss", &resident))
        return;
    if (used >= LITTLE && resident < 0.8 * used)
        say_of(doctor, server, FRAGMENTATION, WARNING,
               "give the machine memory, or this server a lower maxmemory",
               "%.0f MiB of its %.0f MiB are not in memory: a part of it is swapped out",
               (used - resident) / MIB, used / MIB);
    else if (used >= LITTLE && resident > 1.5 * used)
        say_of(doctor, server, FRAGMENTATION, WARNING,
               "CONFIG SET activedefrag yes, or restart it in a quiet hour",
               "it takes %.0f MiB for %.0f MiB of data", resident / MIB, used / MIB);
    else
        say_of(doctor, server, FRAGMENTATION, OK, NULL, "it takes %.0f MiB for %.0f MiB of data",
               resident / MIB, used / MIB);
}

void check_memory(struct doctor *doctor, struct server *server) {
    double limit, used;
    info_number(server, "maxmemory", &limit);
    check_eviction(doctor, server, limit);
    if (info_needed(doctor, server, CHECK_MEMORY, "used_memory", &used) &&
        info_needed(doctor, server, CHECK_MEMORY, "maxmemory", &limit))
        check_room(doctor, server, limit, used);
    if (info_needed(doctor, server, CHECK_FRAGMENTATION, "used_memory", &used))
        check_fragmentation(doctor, server, used);
}

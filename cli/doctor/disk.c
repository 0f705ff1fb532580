#include <string.h>

#include "doctor.h"

/* A fork of the server for a snapshot or a rewrite stops all calls. Longer than this is slow. */
#define SLOW_FORK_US 200000

static void check_append_only(struct doctor *doctor, struct server *server) {
    const char *when = server_needs(doctor, server, CHECK_PERSISTENCE, "appendfsync");
    if (!when)
        return;
    if (strcmp(when, "no") == 0)
        say_of(doctor, server, PERSISTENCE, WARNING, "CONFIG SET appendfsync everysec",
               "a crash of the machine loses what the system has not written to disk, up to half a "
               "minute (appendfsync no)");
    else if (strcmp(when, "everysec") == 0)
        say_of(doctor, server, PERSISTENCE, NOTE,
               "where that is too much: appendfsync always, or pushes with disk and replicas",
               "a crash of the machine loses up to two seconds of accepted messages (appendfsync "
               "everysec)");
    else
        say_of(doctor, server, PERSISTENCE, OK, NULL, "appendfsync is %s", when);
}

static void check_snapshots(struct doctor *doctor, struct server *server) {
    static const char fix[] = "CONFIG SET appendonly yes, and the same in its file";
    const char *save = server_config(doctor, server, "save");
    if (!save)
        say_of(doctor, server, PERSISTENCE, UNKNOWN, fix,
               "it has no append-only file, and does not tell whether it saves snapshots: a crash "
               "loses all messages, or those since the last snapshot");
    else if (!*save)
        say_of(doctor, server, PERSISTENCE, PROBLEM, fix,
               "there is no persistence: a restart loses all messages%s",
               server->role == ROLE_REPLICA ? " unless its primary has them" : "");
    else
        say_of(doctor, server, PERSISTENCE, WARNING, fix,
               "there are only snapshots (save %s): a crash loses the messages since the last one",
               save);
}

/*
 * ElastiCache has a log in several zones from Valkey 9.0 on, by a setting that neither INFO nor
 * CONFIG shows: "Durability in ElastiCache" in its user guide.
 */
static void check_elasticache(struct doctor *doctor, struct server *server) {
    double version;
    if (info_number(server, "valkey_version", &version) && version >= 9)
        say_of(doctor, server, PERSISTENCE, UNKNOWN,
               "see EffectiveDurability in aws elasticache describe-replication-groups; "
               "modify-replication-group --durability sync; then --ignore persistence",
               "ElastiCache does not tell its durability here: with sync no accepted message is "
               "lost, with async up to 10 seconds of them, with disabled all that the replicas do "
               "not have");
    else
        say_of(doctor, server, PERSISTENCE, WARNING,
               "upgrade it to Valkey 9.0 or later, and set its durability to sync",
               "ElastiCache of this version has no durability: messages that the replicas do not "
               "have are lost with their node");
}

static void check_forks(struct doctor *doctor, const struct server *server) {
    double us = 0;
    if (!info_needed(doctor, server, CHECK_DISK, "latest_fork_usec", &us))
        return;
    if (us > SLOW_FORK_US)
        say_of(doctor, server, DISK, WARNING,
               "turn transparent huge pages off, or spread the queues over more servers",
               "the last copy of the process for the disk stopped all calls for %.0f ms",
               us / 1000);
    else if (server->said != CHECK_DISK)
        say_of(doctor, server, DISK, OK, NULL,
               "the last copy of the process for the disk took %.1f ms", us / 1000);
}

void check_disk(struct doctor *doctor, struct server *server) {
    char system[64];
    double on;
    if (info_text(server, "os", system, sizeof system) && strstr(system, "ElastiCache"))
        check_elasticache(doctor, server);
    else if (info_needed(doctor, server, CHECK_PERSISTENCE, "aof_enabled", &on))
        (on > 0 ? check_append_only : check_snapshots)(doctor, server);
    check_forks(doctor, server);
}

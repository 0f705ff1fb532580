#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define FAR_BEHIND (64 * 1024 * 1024)
#define QUIET_S 10

static void check_replica(struct doctor *doctor, struct server *server) {
    char link[8];
    bool alone = doctor->count == 1;
    if (info_text(server, "master_link_status", link, sizeof link) && strcmp(link, "up") != 0)
        say_of(doctor, server, REPLICAS, PROBLEM,
               "see its log: network, masterauth, or a too small client-output-buffer-limit",
               "this replica does not get what its primary stores (master_link_status %s)", link);
    else if (!alone)
        say_of(doctor, server, REPLICAS, OK, NULL, "this replica follows its primary");
}

/*
 * Checks a replica by its field of INFO: "ip=127.0.0.1,port=7001,state=online,offset=14,lag=0".
 * False: it is not in step.
 */
static bool check_follower(struct doctor *doctor, const struct server *server, int number,
                           double stored) {
    char name[16], text[256];
    snprintf(name, sizeof name, "slave%d", number);
    if (!info_text(server, name, text, sizeof text))
        return true;
    const char *offset = strstr(text, "offset="), *lag = strstr(text, "lag=");
    double behind = offset ? stored - strtod(offset + 7, NULL) : 0;
    long quiet = lag ? strtol(lag + 4, NULL, 10) : 0;
    int address = (int)strcspn(text, "s");
    if (!strstr(text, "state=online"))
        say_of(doctor, server, REPLICAS, WARNING, "wait until it is in step, or see its log",
               "the replica %.*s still receives its first copy, and cannot take over yet",
               address > 0 ? address - 1 : 0, text);
    else if (behind > FAR_BEHIND || quiet > QUIET_S)
        say_of(doctor, server, REPLICAS, WARNING, "see its load and the network",
               "the replica %.*s is %.1f MiB and %ld s behind: a failover to it loses that much",
               address > 0 ? address - 1 : 0, text, behind / (1024 * 1024), quiet);
    else
        return true;
    return false;
}

static void check_primary(struct doctor *doctor, struct server *server) {
    double count, stored, good;
    if (!info_needed(doctor, server, CHECK_REPLICAS, "connected_slaves", &count))
        return;
    info_number(server, "master_repl_offset", &stored);
    const char *least = server_config(doctor, server, "min-replicas-to-write");
    bool in_step = true;
    for (int i = 0; i < (int)count; i++)
        in_step = check_follower(doctor, server, i, stored) && in_step;
    if (least && info_number(server, "min_slaves_good_slaves", &good) && good < atoi(least))
        return; /* check_health() has reported this */
    if (count == 0 && is_cluster(doctor))
        say_of(doctor, server, REPLICAS, WARNING, "give it a replica: CLUSTER REPLICATE",
               "it has no replica: when it is gone, so are its queues, and by "
               "cluster-require-full-coverage those of all nodes");
    else if (count == 0)
        say_of(doctor, server, REPLICAS, NOTE,
               "a replica and sentinels, or a cluster: docs/servers.md",
               "it has no replica: when it is gone, so are the queues until it is back");
    else if (!least)
        say_of(doctor, server, REPLICAS, UNKNOWN, "permit this user +config|get",
               "the setting min-replicas-to-write cannot be asked for: %s",
               dueq_server_error_text(server->conn));
    else if (atoi(least) == 0)
        say_of(doctor, server, REPLICAS, NOTE, "CONFIG SET min-replicas-to-write 1",
               "when it is cut off and replaced it still accepts pushes, which are lost "
               "(min-replicas-to-write 0)");
    else if (in_step)
        say_of(doctor, server, REPLICAS, OK, NULL, "%.0f replicas are in step", count);
}

void check_replicas(struct doctor *doctor, struct server *server) {
    (server->role == ROLE_REPLICA ? check_replica : check_primary)(doctor, server);
}

#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Clusters */

static double field(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

/* Compares how long the servers need to replace a primary with the timeout of a call. */
static void check_patience(struct doctor *doctor, struct server *server, enum check check,
                           const char *setting, double ms) {
    const int64_t call_ms = dueq_client_timeout_ms(doctor->cli->client);
    char span[TIME_ROOM], call[TIME_ROOM];
    if (ms >= (double)call_ms)
        doctor_say(doctor, check, LEVEL_NOTE, dueq_server_address(server->conn), NULL,
                   "a lower one, or a higher ?timeout= in the URL",
                   "%s is %s, and calls give up after %s: they fail at a failover", setting,
                   time_format_span((int64_t)ms, span), time_format_span(call_ms, call));
}

static void check_partitions_of(struct doctor *doctor, const char *name, size_t first, size_t count,
                                size_t primaries) {
    size_t *on = calloc(doctor->count, sizeof *on), most = 0;
    if (!on)
        cli_out_of_memory();
    for (size_t i = first; i < first + count; i++) {
        struct server *server = server_of(doctor, doctor->names.list[i]);
        size_t now = server ? ++on[server - doctor->servers] : 0;
        most = now > most ? now : most;
    }
    free(on);
    if (count >= primaries && most * primaries >= 2 * count && most > 1)
        doctor_say(doctor, CHECK_SLOTS, LEVEL_WARNING, NULL, name,
                   "move slots, or double the partitions: dueq repartition",
                   "%zu of its %zu partitions are on one of %zu primaries", most, count, primaries);
    else if (count < primaries)
        doctor_say(doctor, CHECK_SLOTS, LEVEL_NOTE, NULL, name, "dueq repartition",
                   "its %zu partitions leave some of %zu primaries without one", count, primaries);
    else
        doctor_say(doctor, CHECK_SLOTS, LEVEL_OK, NULL, name, NULL,
                   "its %zu partitions are spread over the primaries", count);
}

/*
 * Checks how partitions are spread. The names are sorted, so the partitions of a queue stand
 * together.
 */
static void check_slots(struct doctor *doctor, size_t primaries) {
    const struct cli_names *names = &doctor->names;
    if (!doctor->wanted[CHECK_SLOTS])
        return;
    for (size_t i = 0, next; i < names->count; i = next) {
        const char *mark = strrchr(names->list[i], '#');
        if (mark && (!mark[1] || mark[1 + strspn(mark + 1, "0123456789")]))
            mark = NULL;
        size_t size = mark ? (size_t)(mark - names->list[i]) + 1 : 0;
        for (next = i + 1;
             size && next < names->count && strncmp(names->list[next], names->list[i], size) == 0;)
            next++;
        char *name = strndup(names->list[i], size ? size - 1 : 0);
        if (!name)
            cli_out_of_memory();
        if (size && primaries > 1)
            check_partitions_of(doctor, name, i, next - i, primaries);
        free(name);
    }
}

static void check_node(struct doctor *doctor, struct server *server) {
    const dueq_answer *value = server_ask(doctor, server, "CLUSTER", "INFO", NULL);
    if (!value) {
        say_of(doctor, server, CLUSTER, UNKNOWN, "permit this user +cluster|info",
               "it does not tell the state of the cluster: %s",
               dueq_server_error_text(server->conn));
        return;
    }
    const char *text = dueq_answer_text(value).data;
    double assigned = field(text, "cluster_slots_assigned:"), ok = field(text, "cluster_slots_ok:");
    bool works = strstr(text, "cluster_state:ok");
    if (assigned < 16384)
        say_of(doctor, server, CLUSTER, PROBLEM, "redis-cli --cluster fix",
               "%.0f slots belong to no node, and queues in them do not work", 16384 - assigned);
    else if (ok < assigned)
        say_of(doctor, server, CLUSTER, PROBLEM, "start their nodes again, or fail them over",
               "%.0f slots are on nodes that do not answer", assigned - ok);
    else if (!works)
        say_of(doctor, server, CLUSTER, PROBLEM, "see the log of this node",
               "it says that the cluster is down");
    else
        say_of(doctor, server, CLUSTER, OK, NULL, "it says that the cluster works");
    const char *patience = server_config(doctor, server, "cluster-node-timeout");
    if (patience)
        check_patience(doctor, server, CHECK_CLUSTER, "cluster-node-timeout",
                       strtod(patience, NULL));
}

static void check_cut_off(struct doctor *doctor) {
    double on;
    struct server *server = doctor->count ? &doctor->servers[0] : NULL;
    if (server && server->info && info_number(server, "cluster_enabled", &on) && on > 0)
        say_of(doctor, server, CLUSTER, PROBLEM,
               "redis+cluster:// with some of its nodes in the URL",
               "it is a node of a cluster: queues of other nodes fail with MOVED");
}

void check_cluster(struct doctor *doctor) {
    size_t primaries = 0;
    if (!is_cluster(doctor)) {
        check_cut_off(doctor);
        return;
    }
    for (size_t i = 0; i < doctor->count; i++) {
        struct server *server = &doctor->servers[i];
        bool has_slots = false;
        for (size_t at = 0; at < sizeof server->slots; at++)
            has_slots = has_slots || server->slots[at];
        primaries += has_slots;
        if (server->info)
            check_node(doctor, server);
    }
    if (primaries < 3)
        doctor_say(doctor, CHECK_CLUSTER, LEVEL_WARNING, NULL, NULL,
                   "three primaries at least, on machines of their own",
                   "%zu primaries have slots: when one is gone there is no majority that replaces "
                   "it",
                   primaries);
    check_slots(doctor, primaries);
}

/* Sentinels */

static void check_sentinel(struct doctor *doctor, struct server *server, const char *name,
                           int64_t *port) {
    const dueq_answer *state = server_ask(doctor, server, "SENTINEL", "MASTER", name, NULL);
    if (!state) {
        const char *why = dueq_server_error_text(server->conn);
        if (strstr(why, "NOPERM"))
            say_of(doctor, server, SENTINEL, UNKNOWN, "permit sentinel_user +sentinel|master",
                   "it does not tell the state of the primary: %s", why);
        else
            say_of(doctor, server, SENTINEL, PROBLEM, "sentinel monitor, or take it out of the URL",
                   "it does not watch the primary %s: %s", name, why);
        return;
    }
    const dueq_answer *flags = value_of(state, "flags"), *at = value_of(state, "port");
    const dueq_answer *others = value_of(state, "num-other-sentinels"),
                      *agree = value_of(state, "quorum"), *replicas = value_of(state, "num-slaves"),
                      *down = value_of(state, "down-after-milliseconds");
    int64_t count = (others ? dueq_answer_number(others) : 0) + 1;
    int64_t quorum = agree ? dueq_answer_number(agree) : 0;
    bool good = count >= 3 && quorum <= count;
    if (at && !*port)
        *port = dueq_answer_number(at);
    else if (at && *port != dueq_answer_number(at))
        say_of(doctor, server, SENTINEL, PROBLEM, "wait for the failover's end, or reset it",
               "it names another primary than the first sentinel (port %lld)",
               (long long)dueq_answer_number(at));
    if (quorum > count)
        say_of(doctor, server, SENTINEL, PROBLEM, "SENTINEL SET NAME quorum, to a majority",
               "the quorum is %lld, and there are %lld sentinels: nobody is replaced",
               (long long)quorum, (long long)count);
    else if (count < 3)
        say_of(doctor, server, SENTINEL, WARNING, "three sentinels, on machines of their own",
               "it knows of %lld sentinels: when one is gone, nobody may replace the primary",
               (long long)count);
    if (flags && strstr(dueq_answer_text(flags).data, "down")) {
        say_of(doctor, server, SENTINEL, PROBLEM, "see the primary's log",
               "it says that the primary is down (%s)", (const char *)dueq_answer_text(flags).data);
        good = false;
    }
    if (replicas && dueq_answer_number(replicas) == 0) {
        say_of(doctor, server, SENTINEL, WARNING, "give the primary a replica",
               "the primary has no replica that could take over");
        good = false;
    }
    if (good)
        say_of(doctor, server, SENTINEL, OK, NULL, "%lld sentinels, quorum %lld", (long long)count,
               (long long)quorum);
    if (down)
        check_patience(doctor, server, CHECK_SENTINEL, "down-after-milliseconds",
                       (double)dueq_answer_number(down));
}

void check_sentinels(struct doctor *doctor) {
    int64_t port = 0;
    for (size_t i = 0; i < doctor->count; i++)
        if (doctor->servers[i].role == ROLE_SENTINEL && doctor->servers[i].info)
            check_sentinel(doctor, &doctor->servers[i], dueq_client_primary(doctor->cli->client),
                           &port);
}

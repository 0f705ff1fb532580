#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* The version */

struct version {
    int major, minor, patch;
};

#define MOST_VERSIONS 8

/*
 * Faults by which those who may run scripts can take a server over, with the versions that are
 * mended, in order. Older minor releases without an entry were never mended. All newer releases
 * are.
 */
static const struct fault {
    const char *cves;
    struct version redis[MOST_VERSIONS], valkey[MOST_VERSIONS];
} faults[] = {
    {"CVE-2025-49844",
     {{6, 2, 20}, {7, 2, 11}, {7, 4, 6}, {8, 0, 4}, {8, 2, 2}},
     {{7, 2, 11}, {8, 0, 6}, {8, 1, 4}}},
    {"CVE-2026-23631, CVE-2026-23479, CVE-2026-25243",
     {{6, 2, 22}, {7, 2, 14}, {7, 4, 9}, {8, 2, 6}, {8, 4, 3}, {8, 6, 3}},
     {{7, 2, 13}, {8, 0, 8}, {8, 1, 7}, {9, 0, 4}}},
};

static bool is_mended(struct version is, const struct version list[MOST_VERSIONS]) {
    const struct version *at = list;
    for (; at->major; at++)
        if (is.major == at->major && is.minor == at->minor)
            return is.patch >= at->patch;
    return is.major > at[-1].major || (is.major == at[-1].major && is.minor > at[-1].minor);
}

/* The CVEs of the faults that the version has, with commas. */
static void list_faults(struct version is, bool is_valkey, char *out, size_t room) {
    size_t size = 0;
    *out = '\0';
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!is_mended(is, is_valkey ? faults[i].valkey : faults[i].redis))
            size +=
                (size_t)snprintf(out + size, room - size, "%s%s", size ? ", " : "", faults[i].cves);
}

void check_version(struct doctor *doctor, struct server *server) {
    char version[32], cves[128];
    double append_only;
    bool is_valkey = info_text(server, "valkey_version", version, sizeof version);
    if (!is_valkey && !info_text(server, "redis_version", version, sizeof version)) {
        say_of(doctor, server, VERSION, UNKNOWN, "check it yourself, or --ignore this check",
               "INFO does not tell its version");
        return;
    }
    struct version is = {0};
    sscanf(version, "%d.%d.%d", &is.major, &is.minor, &is.patch);
    if (is.major < 6 || (is.major == 6 && is.minor < 2)) {
        say_of(doctor, server, VERSION, PROBLEM, "upgrade it",
               "it is Redis %s, and dueq needs 6.2 or later, or Valkey", version);
        return;
    }
    const char *name = is_valkey ? "Valkey" : "Redis";
    list_faults(is, is_valkey, cves, sizeof cves);
    if (*cves)
        say_of(doctor, server, VERSION, NOTE, "upgrade it, or see that your distribution mended it",
               "%s %s lets those who may run scripts take it over (%s)", name, version, cves);
    if (info_number(server, "aof_enabled", &append_only) && append_only > 0)
        say_of(
            doctor, server, VERSION, NOTE,
            "redis-check-aof --fix before it is started after a crash",
            "if %s %s is killed in the middle of a write, it may run half of a script when it is "
            "started the second time, and deliver a message twice",
            name, version);
    else if (!*cves)
        say_of(doctor, server, VERSION, OK, NULL, "%s %s", name, version);
}

/* Valkey has Lua in a module since 9.1, and Alpine has that module in a package of its own. */
void check_lua(struct doctor *doctor, struct server *server) {
    if (server_ask(doctor, server, "SCRIPT", "LOAD", "return", NULL)) {
        say_of(doctor, server, LUA, OK, NULL, "it runs Lua");
        return;
    }
    const char *why = dueq_server_error_text(server->conn);
    if (strstr(why, "scripting engine"))
        say_of(doctor, server, LUA, PROBLEM,
               "install its module for Lua (on Alpine: apk add valkey-lua), and start it again",
               "it runs no Lua, so no call of dueq works: %s", why);
    else
        say_of(doctor, server, LUA, UNKNOWN, "permit this user +script|load",
               "whether it runs Lua cannot be tried: %s", why);
}

/* Settings */

static void check_hz(struct doctor *doctor, const struct server *server) {
    double hz;
    if (!info_needed(doctor, server, CHECK_HZ, "configured_hz", &hz))
        return;
    if (hz < 10)
        say_of(
            doctor, server, HZ, WARNING, "CONFIG SET hz 10",
            "hz is %.0f: its timer runs every %.0f ms, and a wait that dueq has no permission to "
            "end lasts that much longer",
            hz, 1000 / hz);
    else
        say_of(doctor, server, HZ, OK, NULL, "hz is %.0f", hz);
}

static void check_timeouts(struct doctor *doctor, struct server *server) {
    const char *value = server_needs(doctor, server, CHECK_TIMEOUT, "timeout");
    if (!value)
        return;
    int seconds = atoi(value);
    if (seconds > 0 && seconds < 60)
        say_of(doctor, server, TIMEOUT, WARNING, "CONFIG SET timeout 0",
               "connections that are idle for %d s are closed, and workers connect again for each "
               "call after it",
               seconds);
    else if (seconds > 0)
        say_of(doctor, server, TIMEOUT, NOTE, "CONFIG SET timeout 0",
               "connections that are idle for %d s are closed: the next call connects again",
               seconds);
    value = server_needs(doctor, server, CHECK_TIMEOUT, "tcp-keepalive");
    if (value && atoi(value) == 0)
        say_of(doctor, server, TIMEOUT, WARNING, "CONFIG SET tcp-keepalive 60",
               "the server never notices that a machine with consumers is gone (tcp-keepalive 0), "
               "and wakes them instead of living ones");
    else if (value && seconds == 0)
        say_of(doctor, server, TIMEOUT, OK, NULL,
               "idle connections stay, and dead ones are noticed");
}

static void check_connections(struct doctor *doctor, const struct server *server) {
    double now, most;
    if (!info_needed(doctor, server, CHECK_CONNECTIONS, "connected_clients", &now) ||
        !info_needed(doctor, server, CHECK_CONNECTIONS, "maxclients", &most))
        return;
    if (now > 0.8 * most)
        say_of(doctor, server, CONNECTIONS, WARNING,
               "raise maxclients, or share clients: a consumer that waits has two connections",
               "%.0f of %.0f connections are in use: further ones are refused", now, most);
    else
        say_of(doctor, server, CONNECTIONS, OK, NULL, "%.0f of %.0f connections are in use", now,
               most);
}

static void check_buffers(struct doctor *doctor, struct server *server) {
    /*
     * The value is "normal HARD SOFT SECONDS slave ...". It may be cut, but not in its first words.
     */
    const char *value = server_needs(doctor, server, CHECK_BUFFERS, "client-output-buffer-limit");
    const char *normal = value ? strstr(value, "normal ") : NULL;
    if (!value)
        return;
    double hard = normal ? strtod(normal + strlen("normal "), NULL) : 0;
    if (hard > 0 && hard < 64 * 1024 * 1024)
        say_of(
            doctor, server, BUFFERS, WARNING,
            "CONFIG SET client-output-buffer-limit 'normal 0 0 0'",
            "a consumer is cut off, again and again, if the messages of one call have %.0f bytes",
            hard);
    else
        say_of(doctor, server, BUFFERS, OK, NULL, "answers may be large");
}

void check_settings(struct doctor *doctor, struct server *server) {
    check_hz(doctor, server);
    check_timeouts(doctor, server);
    check_connections(doctor, server);
    check_buffers(doctor, server);
}

/* The slow log */

#define SLOW_US 10000
#define VERY_SLOW_US 100000

/* Whether a command of the slow log is a script on keys of dueq's. */
static bool is_ours(const dueq_answer *words) {
    const char *name = dueq_answer_text(dueq_answer_item(words, 0)).data;
    for (size_t i = 1; strncasecmp(name, "eval", 4) == 0 && i < dueq_answer_count(words); i++)
        if (strncmp(dueq_answer_text(dueq_answer_item(words, i)).data, "dueq:{", 6) == 0)
            return true;
    return false;
}

void check_slow(struct doctor *doctor, struct server *server) {
    const dueq_answer *log = server_ask(doctor, server, "SLOWLOG", "GET", "128", NULL);
    int64_t slowest = 0;
    size_t count = 0;
    if (!log) {
        say_of(doctor, server, SLOW, UNKNOWN, "permit this user +slowlog|get",
               "the slow log cannot be read: %s", dueq_server_error_text(server->conn));
        return;
    }
    for (size_t i = 0; i < dueq_answer_count(log); i++) {
        const dueq_answer *entry = dueq_answer_item(log, i);
        int64_t us = dueq_answer_number(dueq_answer_item(entry, 2));
        if (us < SLOW_US || !is_ours(dueq_answer_item(entry, 3)))
            continue;
        count++;
        slowest = us > slowest ? us : slowest;
    }
    if (slowest >= VERY_SLOW_US)
        say_of(doctor, server, SLOW, WARNING,
               "smaller calls (--count, prefetch), or a faster machine; SLOWLOG RESET afterwards",
               "%zu scripts of dueq's ran for more than 10 ms, the slowest for %lld ms: all other "
               "calls wait meanwhile",
               count, (long long)slowest / 1000);
    else if (count > 0)
        say_of(doctor, server, SLOW, NOTE, "smaller calls (--count, prefetch)",
               "%zu scripts of dueq's ran for more than 10 ms, the slowest for %lld ms", count,
               (long long)slowest / 1000);
    else
        say_of(doctor, server, SLOW, OK, NULL, "no script of dueq's is in the slow log");
}

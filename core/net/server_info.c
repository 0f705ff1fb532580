#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

/* What a server says of itself by INFO. What it does not say, or is not permitted to, is not held against it. */

/* The value of a field, cut to what fits; empty: there is none. */
static void read_field(dueq_bytes info, const char *name, char *out, size_t room) {
    const char *at = memmem(info.data, info.size, name, strlen(name));
    size_t size = 0;
    if (at && (at == info.data || at[-1] == '\n')) {
        const char *end = (const char *)info.data + info.size;
        for (at += strlen(name); at + size < end && at[size] != '\r' && size + 1 < room;)
            size++;
        memcpy(out, at, size);
    }
    out[size] = '\0';
}

bool dueq__server_info_version(const struct dueq__url *url, dueq_bytes info,
                               struct dueq__error *error) {
    char version[24];
    int major, minor;
    read_field(info, "redis_version:", version, sizeof version);
    if (sscanf(version, "%d.%d", &major, &minor) != 2 || major > 6 || (major == 6 && minor >= 2))
        return true;
    dueq__fail(error, DUEQ_UNSUPPORTED,
               "the server at %s is Redis %s; dueq needs Redis 6.2 or later, or Valkey", url->shown,
               version);
    return false;
}

void dueq__server_info_memory(struct dueq__server *server, const struct dueq__url *url,
                              dueq_bytes info) {
    char limit[24];
    read_field(info, "maxmemory:", limit, sizeof limit);
    read_field(info, "maxmemory_policy:", server->policy, sizeof server->policy);
    server->known = true;
    /* It is shown to the user: what is no policy's name is none. */
    if (server->policy[strspn(server->policy, "abcdefghijklmnopqrstuvwxyz-")])
        server->policy[0] = '\0';
    server->evicts = strtoull(limit, NULL, 10) > 0 && server->policy[0] &&
                     strcmp(server->policy, "noeviction") != 0 && !url->evicting;
}

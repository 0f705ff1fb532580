#include <stdlib.h>
#include <string.h>

#include "dueq_peer.h"
#include "glance.h"

/* Above so much of the limit it is full, or as good as. */
enum { FULL_PERCENT = 98 };

/* The text of a field of INFO, to the end of its line; "": it is not there. */
static void read_field(const char *info, const char *name, char *out, size_t room) {
    const char *at = strstr(info, name);
    while (at && at != info && at[-1] != '\n')
        at = strstr(at + 1, name);
    at += at ? strlen(name) : 0;
    snprintf(out, room, "%.*s", at ? (int)strcspn(at, "\r\n") : 0, at ? at : "");
}

static int64_t read_bytes(const char *info, const char *name) {
    char text[24];
    read_field(info, name, text, sizeof text);
    return strtoll(text, NULL, 10);
}

static bool read_one(struct cli *cli, dueq_peer *peer, struct memory *memory) {
    static const dueq_bytes question[] = {{"INFO", 4}, {"memory", 6}};
    const dueq_answer *answer;
    char policy[32];
    snprintf(memory->server, sizeof memory->server, "%s", dueq_peer_address(peer));
    if (dueq_peer_ask(peer, question, 2, &answer) != DUEQ_OK)
        return false;
    const char *info = dueq_answer_text(answer).data;
    /* As the server itself counts what it compares with the limit. */
    memory->used =
        read_bytes(info, "used_memory:") - read_bytes(info, "mem_not_counted_for_evict:");
    memory->limit = read_bytes(info, "maxmemory:");
    read_field(info, "maxmemory_policy:", policy, sizeof policy);
    memory->evicts = memory->limit > 0 && policy[0] && strcmp(policy, "noeviction") != 0 &&
                     !dueq_client_accepts_evicting(cli->client);
    return true;
}

void memory_read(struct cli *cli, struct memories *memories) {
    dueq_peer *peer;
    *memories = (struct memories){0};
    for (size_t i = 0; !dueq_peer_open_primary(cli->client, i, &peer); i++) {
        memories->list = realloc(memories->list, (i + 1) * sizeof *memories->list);
        if (!memories->list)
            cli_out_of_memory();
        struct memory *memory = &memories->list[memories->count];
        *memory = (struct memory){0};
        memories->count += read_one(cli, peer, memory);
        dueq_peer_close(peer);
    }
}

void memory_end(struct memories *memories) {
    free(memories->list);
    *memories = (struct memories){0};
}

bool memory_full(const struct memory *memory) {
    return memory->limit > 0 && !memory->evicts &&
           memory->used >= memory->limit / 100 * FULL_PERCENT;
}

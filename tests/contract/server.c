/* The server beside the core. */
#include "run.h"

redisReply *raw(struct run *run, const dueq_bytes *words, size_t count) {
    const char **data = keep(run, count * sizeof *data);
    size_t *sizes = keep(run, count * sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        data[i] = words[i].data;
        sizes[i] = words[i].size;
    }
    redisReply *reply = redisCommandArgv(run->redis, (int)count, data, sizes);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        wrong(run, "%s", reply->str);
    return reply;
}

int64_t server_ms(struct run *run) {
    redisReply *reply = raw(run, &BYTES("TIME"), 1);
    int64_t seconds = strtoll(reply->element[0]->str, NULL, 10);
    int64_t micros = strtoll(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return seconds * 1000 + micros / 1000;
}

/* Does the list hold the name before this place too? */
static bool named_before(const struct opened *first, const struct opened *place) {
    while (first != place && !same(first->name, place->name))
        first = first->next;
    return first != place;
}

redisReply *script(struct run *run, const char *name, const dueq_bytes *words, size_t count) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.lua", run->folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        wrong(run, "neither a verb nor a script of the folder");
    char *source = keep(run, 65536);
    size_t size = fread(source, 1, 65536, file);
    fclose(file);
    size_t keys = 1, at = 4;
    for (const struct opened *opened = run->opened; opened; opened = opened->next)
        keys++;
    dueq_bytes *all = keep(run, (count + keys + 3) * sizeof *all);
    all[0] = BYTES("EVAL");
    all[1] = (dueq_bytes){source, size};
    all[3] = key_begin(run, run->name);
    for (const struct opened *opened = run->opened; opened; opened = opened->next)
        if (!named_before(run->opened, opened) && !same(opened->name, run->name))
            all[at++] = key_begin(run, opened->name);
    char *digits = keep(run, 24);
    snprintf(digits, 24, "%zu", at - 3);
    all[2] = BYTES(digits);
    memcpy(all + at, words, count * sizeof *words);
    return raw(run, all, at + count);
}

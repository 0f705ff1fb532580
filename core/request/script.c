#include "request.h"
#include "scripts.inc"

static void put(struct dueq__resp *words, const struct dueq__script *script, size_t key_count,
                const dueq_bytes keys[DUEQ__KEY_COUNT], const dueq_bytes other[DUEQ__KEY_COUNT]) {
    dueq__resp_text(words, "EVALSHA");
    dueq__resp_text(words, script->sha1);
    dueq__resp_number(words, (int64_t)(key_count + (other ? DUEQ__OTHER_COUNT : 0)));
    for (size_t i = 0; i < key_count; i++) {
        dueq_bytes key = keys[script->keys[i]];
        dueq__resp_bytes(words, key.data, key.size);
    }
    for (size_t i = 0; other && i < DUEQ__OTHER_COUNT; i++) {
        dueq_bytes key = other[dueq__key_other[i]];
        dueq__resp_bytes(words, key.data, key.size);
    }
}

void dueq__script_write(struct dueq__resp *words, const struct dueq__script *script,
                        const dueq_bytes keys[DUEQ__KEY_COUNT],
                        const dueq_bytes other[DUEQ__KEY_COUNT]) {
    put(words, script, script->key_count, keys, other);
}

void dueq__script_few(struct dueq__resp *words, const struct dueq__script *script,
                      const dueq_bytes keys[DUEQ__KEY_COUNT]) {
    put(words, script, script->few, keys, NULL);
}

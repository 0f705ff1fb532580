#include "request.h"

void dueq__script_write(struct dueq__resp *words, const struct dueq__script *script,
                        const dueq_bytes keys[DUEQ__KEY_COUNT]) {
    dueq__resp_text(words, "EVALSHA");
    dueq__resp_text(words, script->sha1);
    dueq__resp_number(words, (int64_t)script->key_count);
    for (size_t i = 0; i < script->key_count; i++) {
        dueq_bytes key = keys[script->keys[i]];
        dueq__resp_bytes(words, key.data, key.size);
    }
}

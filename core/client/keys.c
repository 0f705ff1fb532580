#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define BEFORE_NAME "dueq:{"
#define AFTER_NAME "}:"
#define AROUND_NAME (sizeof BEFORE_NAME AFTER_NAME - 1)

#define SUFFIX(name, suffix) suffix,
const char *const dueq__key_suffix[DUEQ__KEY_COUNT] = {DUEQ__KEYS(SUFFIX)};

dueq_status dueq__name_check(const void *name, size_t size, struct dueq__error *error) {
    if (size == 0)
        return dueq__fail(error, DUEQ_NAME, "the queue's name is empty");
    if (size > DUEQ_MAX_NAME)
        return dueq__fail(error, DUEQ_NAME,
                          "the queue's name has %zu bytes; at most %d are allowed", size,
                          DUEQ_MAX_NAME);
    if (!dueq__is_utf8(name, size, false))
        return dueq__fail(
            error, DUEQ_NAME,
            "the queue's name is not UTF-8, or has a control character (NUL, newline ...)");
    if (memchr(name, '{', size) || memchr(name, '}', size))
        return dueq__fail(error, DUEQ_NAME,
                          "the queue's name has a brace; braces mark the cluster slot in the keys");
    return DUEQ_OK;
}

bool dueq__keys_make(dueq_bytes keys[DUEQ__KEY_COUNT], const void *name, size_t size) {
    size_t total = 1;
    for (size_t i = 0; i < DUEQ__KEY_COUNT; i++)
        total += AROUND_NAME + size + strlen(dueq__key_suffix[i]);
    char *at = malloc(total);
    for (size_t i = 0; at && i < DUEQ__KEY_COUNT; i++) {
        int length = sprintf(at, BEFORE_NAME "%.*s" AFTER_NAME "%s", (int)size, (const char *)name,
                             dueq__key_suffix[i]);
        keys[i] = (dueq_bytes){at, (size_t)length};
        at += length;
    }
    return at;
}

dueq_bytes dueq__keys_name(const dueq_bytes keys[DUEQ__KEY_COUNT]) {
    dueq_bytes key = keys[DUEQ__KEY_MSG];
    return (dueq_bytes){(const char *)key.data + strlen(BEFORE_NAME),
                        key.size - AROUND_NAME - strlen(dueq__key_suffix[DUEQ__KEY_MSG])};
}

char *dueq__script_source(const struct dueq__script *script) {
    size_t size = 1;
    for (const char *const *fragment = script->fragments; *fragment; fragment++)
        size += strlen(*fragment);
    char *source = malloc(size), *end = source;
    for (const char *const *fragment = script->fragments; source && *fragment; fragment++)
        end = stpcpy(end, *fragment);
    return source;
}

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

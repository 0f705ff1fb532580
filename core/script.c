#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "scripts.inc"

#define NUMBER_SIZE 24

void dueq__words_init(struct dueq__words *words) { *words = (struct dueq__words){0}; }

void dueq__words_bytes(struct dueq__words *words, const void *data, size_t size) {
    if (words->failed)
        return;
    if (words->count == words->room) {
        size_t room = words->room ? words->room * 2 : 32;
        const char **wider = realloc(words->data, room * sizeof *wider);
        if (wider)
            words->data = wider;
        size_t *sizes = realloc(words->sizes, room * sizeof *sizes);
        if (sizes)
            words->sizes = sizes;
        if (!wider || !sizes) {
            words->failed = true;
            return;
        }
        words->room = room;
    }
    words->data[words->count] = size ? data : "";
    words->sizes[words->count++] = size;
}

void dueq__words_text(struct dueq__words *words, const char *text) {
    dueq__words_bytes(words, text, strlen(text));
}

void dueq__words_number(struct dueq__words *words, int64_t number) {
    struct dueq__number *cell = malloc(sizeof *cell + NUMBER_SIZE);
    if (!cell) {
        words->failed = true;
        return;
    }
    cell->next = words->numbers;
    words->numbers = cell;
    int size = snprintf(cell->text, NUMBER_SIZE, "%" PRId64, number);
    dueq__words_bytes(words, cell->text, (size_t)size);
}

void dueq__words_free(struct dueq__words *words) {
    while (words->numbers) {
        struct dueq__number *next = words->numbers->next;
        free(words->numbers);
        words->numbers = next;
    }
    free(words->data);
    free(words->sizes);
    dueq__words_init(words);
}

void dueq__script_words(struct dueq__words *words, const struct dueq__script *script,
                        const dueq_bytes keys[DUEQ__KEY_COUNT],
                        const dueq_bytes other[DUEQ__KEY_COUNT]) {
    dueq__words_text(words, "EVALSHA");
    dueq__words_text(words, script->sha1);
    dueq__words_number(words, (int64_t)(script->key_count + (other ? DUEQ__OTHER_COUNT : 0)));
    for (size_t i = 0; i < script->key_count; i++) {
        dueq_bytes key = keys[script->keys[i]];
        dueq__words_bytes(words, key.data, key.size);
    }
    for (size_t i = 0; other && i < DUEQ__OTHER_COUNT; i++) {
        dueq_bytes key = other[dueq__key_other[i]];
        dueq__words_bytes(words, key.data, key.size);
    }
}

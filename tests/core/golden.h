/*
 * Reads tests/golden/NAME.tsv: lines of fields between tabs; lines that begin with # are comments.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <string.h>

#include "support.h"

#define GOLDEN_FIELDS 16

struct golden {
    FILE *file;
    char *line;
    size_t room;
    size_t count; /* of the row's fields */
    char *field[GOLDEN_FIELDS];
};

static inline struct golden golden_open(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/golden/%s.tsv", DUEQ_TESTS, name);
    struct golden golden = {.file = fopen(path, "r")};
    if (!golden.file)
        fail_msg("cannot read %s", path);
    return golden;
}

/* Goes on to the next row; false: there is none, and the file is closed. */
static inline bool golden_next(struct golden *golden) {
    do {
        ssize_t size = getline(&golden->line, &golden->room, golden->file);
        if (size < 0) {
            fclose(golden->file);
            free(golden->line);
            return false;
        }
        if (size > 0 && golden->line[size - 1] == '\n')
            golden->line[size - 1] = '\0';
    } while (golden->line[0] == '#');
    golden->count = 0;
    for (char *at = golden->line; at; at = at ? at + 1 : NULL) {
        assert_in_range(golden->count, 0, GOLDEN_FIELDS - 1);
        golden->field[golden->count++] = at;
        if ((at = strchr(at, '\t')))
            *at = '\0';
    }
    return true;
}

/* A field as text: NULL for a dash (there is none), "" for ''. */
static inline const char *golden_text(const struct golden *golden, size_t index) {
    assert_in_range(index, 0, golden->count - 1);
    const char *text = golden->field[index];
    return strcmp(text, "-") == 0 ? NULL : strcmp(text, "''") == 0 ? "" : text;
}

/* A field that is a number; 0 for a dash. */
static inline int64_t golden_number(const struct golden *golden, size_t index) {
    const char *text = golden_text(golden, index);
    return text ? strtoll(text, NULL, 10) : 0;
}

/* A field in hexadecimal as bytes. The caller frees `data`. */
static inline dueq_bytes golden_bytes(const struct golden *golden, size_t index) {
    const char *text = golden_text(golden, index);
    size_t size = text ? strlen(text) / 2 : 0;
    unsigned char *data = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        data[i] = (unsigned char)byte;
    }
    return (dueq_bytes){data, size};
}

#endif

/* A text that grows: text.c. */
#ifndef DUEQ_TEXT_H
#define DUEQ_TEXT_H

#include "internal.h"

/* Starts as {0}. A failed allocation is remembered: `failed` is asked once, at the end. */
struct dueq__text {
    char *data;
    size_t size, room;
    bool failed;
};

void dueq__text_free(struct dueq__text *text);
/* Adds `size` bytes and returns where they go, until something else is added; NULL: out of memory. */
char *dueq__text_space(struct dueq__text *text, size_t size);
void dueq__text_bytes(struct dueq__text *text, dueq_bytes bytes);
void dueq__text_string(struct dueq__text *text, const char *string);
void dueq__text_byte(struct dueq__text *text, int byte);
/* In decimal. */
void dueq__text_number(struct dueq__text *text, int64_t number);
/*
 * Well-formed UTF-8 as a string of JSON, with its quotes. Escaped is what must be, in the short forms
 * where there are such, else as \u001F: to the byte as Jackson writes it. pairs: what is beyond U+FFFF is
 * escaped too, as a pair of surrogates, which is how Jackson 2 writes it; Jackson 3 writes it as it is.
 */
void dueq__text_json(struct dueq__text *text, dueq_bytes utf8, bool pairs);

/* A name out of foreign bytes for an error's text: as far as it is plain ASCII. */
struct dueq__shown {
    char text[96];
};
struct dueq__shown dueq__text_shown(dueq_bytes name);

#endif

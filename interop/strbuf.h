/* A text that grows: strbuf.c. */
#ifndef DUEQ_TEXT_H
#define DUEQ_TEXT_H

#include "verbs/verbs.h"

/* Starts as {0}. A failed allocation is remembered: `failed` is asked once, at the end. */
struct dueq__strbuf {
    char *data;
    size_t size, room;
    bool failed;
};

void dueq__strbuf_free(struct dueq__strbuf *text);
/* Adds `size` bytes and returns where they go, until something else is added; NULL: out of memory. */
char *dueq__strbuf_space(struct dueq__strbuf *text, size_t size);
void dueq__strbuf_bytes(struct dueq__strbuf *text, dueq_bytes bytes);
void dueq__strbuf_string(struct dueq__strbuf *text, const char *string);
void dueq__strbuf_byte(struct dueq__strbuf *text, int byte);
/* In decimal. */
void dueq__strbuf_number(struct dueq__strbuf *text, int64_t number);
/*
 * Well-formed UTF-8 as a string of JSON, with its quotes. Escaped is what must be, in the short forms
 * where there are such, else as \u001F: to the byte as Jackson writes it. pairs: what is beyond U+FFFF is
 * escaped too, as a pair of surrogates, which is how Jackson 2 writes it; Jackson 3 writes it as it is.
 */
void dueq__strbuf_json(struct dueq__strbuf *text, dueq_bytes utf8, bool pairs);

/* A name out of foreign bytes for an error's text: as far as it is plain ASCII. */
struct dueq__shown {
    char text[96];
};
struct dueq__shown dueq__strbuf_shown(dueq_bytes name);

#endif

/* A text that grows: strbuf.c. */
#ifndef DUEQ_TEXT_H
#define DUEQ_TEXT_H

#include "verbs/verbs.h"

/* Begins as {0}. A failed allocation sets `failed`, which the caller checks once, at the end. */
struct dueq__strbuf {
    char *data;
    size_t size, room;
    bool failed;
};

void dueq__strbuf_free(struct dueq__strbuf *text);
/* Adds `size` bytes for the caller to fill in before the next addition; NULL: out of memory. */
char *dueq__strbuf_space(struct dueq__strbuf *text, size_t size);
void dueq__strbuf_bytes(struct dueq__strbuf *text, dueq_bytes bytes);
void dueq__strbuf_string(struct dueq__strbuf *text, const char *string);
void dueq__strbuf_byte(struct dueq__strbuf *text, int byte);
/* Adds the number in decimal. */
void dueq__strbuf_number(struct dueq__strbuf *text, int64_t number);
/*
 * Adds well-formed UTF-8 as a JSON string with its quotes, to the byte as Jackson writes it: only
 * what JSON requires is escaped, by the short form (\n) where JSON has one, else as \u001F.
 * pairs: characters beyond U+FFFF are escaped as surrogate pairs. Jackson 2 does so, Jackson 3 not.
 */
void dueq__strbuf_json(struct dueq__strbuf *text, dueq_bytes utf8, bool pairs);

/*
 * A name from another program, for an error's text: up to its first byte that is no visible ASCII
 * character, and at most 95 bytes.
 */
struct dueq__shown {
    char text[96];
};
struct dueq__shown dueq__strbuf_shown(dueq_bytes name);

#endif

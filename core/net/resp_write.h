/* A command's words, in the form of the wire: resp_write.c. */
#ifndef DUEQ_RESP_WRITE_H
#define DUEQ_RESP_WRITE_H

#include "../base/base.h"

/* Bytes are copied. A failed allocation is remembered, and told when the command is sent. */
struct dueq__resp {
    char *bytes;
    size_t size, room, count;
    bool failed;
};

void dueq__resp_init(struct dueq__resp *words);
void dueq__resp_bytes(struct dueq__resp *words, const void *data, size_t size);
void dueq__resp_text(struct dueq__resp *words, const char *text);
void dueq__resp_number(struct dueq__resp *words, int64_t number);
/* Adds a word of that size and returns where its bytes go; NULL: out of memory. */
void *dueq__resp_space(struct dueq__resp *words, size_t size);
void dueq__resp_free(struct dueq__resp *words);
#define DUEQ__DIGITS 20 /* of the greatest number */
/* Writes a number in decimal, without a NUL; returns how many digits it has. */
size_t dueq__resp_digits(char out[DUEQ__DIGITS], uint64_t number);

#endif

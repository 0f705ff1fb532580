/*
 * A file in memory. Unlike open_memstream(), this one remembers a write that failed for lack of
 * memory.
 */
#ifndef DUEQ_CLI_BUFFER_H
#define DUEQ_CLI_BUFFER_H

#include "cli.h"

struct buffer {
    char *data; /* the bytes and a NUL, for the caller to free(). NULL: nothing was written */
    size_t size, room;
    bool failed;
};

/* *buffer must not move until buffer_close(). NULL: out of memory. */
FILE *buffer_open(struct buffer *buffer);
/* Closes the file. False: some of the bytes are missing. */
bool buffer_close(struct buffer *buffer, FILE *out);

#endif

/* A file in memory. open_memstream() tells nobody when memory ran out while it was written. */
#ifndef DUEQ_CLI_BUFFER_H
#define DUEQ_CLI_BUFFER_H

#include "cli.h"

struct buffer {
    char *data; /* what was written, and a NUL; free() it. NULL: nothing */
    size_t size, room;
    bool failed;
};

/* Keep *buffer in its place until buffer_close(). NULL: no memory. */
FILE *buffer_open(struct buffer *buffer);
/* Closes the file. False: not all of it is in the buffer. */
bool buffer_close(struct buffer *buffer, FILE *out);

#endif

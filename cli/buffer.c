#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

static ssize_t put(void *cookie, const char *data, size_t size) {
    struct buffer *buffer = cookie;
    if (buffer->failed)
        return 0;
    if (buffer->room - buffer->size <= size) {
        const size_t room = 2 * (buffer->size + size + 1);
        char *wider = realloc(buffer->data, room);
        buffer->failed = !wider;
        if (!wider)
            return 0;
        buffer->data = wider;
        buffer->room = room;
    }
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
    return (ssize_t)size;
}

FILE *buffer_open(struct buffer *buffer) {
    *buffer = (struct buffer){0};
    return system_writer(buffer, put);
}

bool buffer_close(struct buffer *buffer, FILE *out) { return fclose(out) == 0 && !buffer->failed; }

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)64 * 1024)

/* Reads more bytes behind `end`. False: the input ended, or a read failed. */
static bool read_more(struct cli *cli, struct input *input) {
    if (input->start > 0) {
        memmove(input->data, input->data + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    if (input->room - input->end < CHUNK) {
        size_t room = input->room < CHUNK ? 2 * CHUNK : 2 * input->room;
        char *data = realloc(input->data, room);
        if (!data) {
            input->failed = true;
            cli_system_error("standard input");
            return false;
        }
        input->data = data;
        input->room = room;
    }
    for (;;) {
        struct pollfd one = {STDIN_FILENO, POLLIN, 0};
        cli_check_signal(cli);
        /* In slices: a signal that comes just before poll() would not end a longer wait. */
        if (poll(&one, 1, 500) <= 0)
            continue;
        ssize_t size = read(STDIN_FILENO, input->data + input->end, input->room - input->end);
        if (size > 0) {
            input->end += (size_t)size;
            return true;
        }
        if (size == 0) {
            input->done = true;
            return false;
        }
        if (errno != EINTR && errno != EAGAIN) {
            input->failed = true;
            cli_system_error("standard input");
            return false;
        }
    }
}

bool input_all(struct cli *cli, dueq_bytes *bytes) {
    struct input input = {0};
    /* One byte more than a body may have is enough: the core refuses the body then. */
    while (input.end <= DUEQ_MAX_BODY && read_more(cli, &input))
        ;
    if (input.failed) {
        free(input.data);
        return false;
    }
    *bytes = (dueq_bytes){input.data, input.end};
    return true;
}

bool input_file(struct cli *cli, const char *path, dueq_bytes *bytes) {
    if (strcmp(path, "-") != 0) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        bool good = file >= 0 && dup2(file, STDIN_FILENO) >= 0;
        if (!good)
            cli_system_error(path);
        if (file >= 0)
            close(file);
        if (!good)
            return false;
    }
    return input_all(cli, bytes);
}

bool input_word(struct cli *cli, const char *word, dueq_bytes *bytes, void **store) {
    *store = NULL;
    if (word && strcmp(word, "-") != 0) {
        *bytes = (dueq_bytes){word, strlen(word)};
        return true;
    }
    if (isatty(STDIN_FILENO))
        cli_log(CLI_INFO, NULL, NULL, "reading from the terminal; end the input with Ctrl-D");
    if (!input_all(cli, bytes))
        return false;
    *store = (void *)(uintptr_t)bytes->data;
    return true;
}

/* The end of the first line, or NULL if no line has come whole. */
static const char *newline(struct input *input) {
    size_t from = input->start + input->scanned;
    const char *end =
        from < input->end ? memchr(input->data + from, '\n', input->end - from) : NULL;
    input->scanned = end ? (size_t)(end - input->data) - input->start : input->end - input->start;
    return end;
}

bool input_line(struct cli *cli, struct input *input, dueq_bytes *line) {
    const char *end;
    while (!(end = newline(input)) && !input->done) {
        if (input->end - input->start > DUEQ_MAX_BODY) {
            input->failed = true;
            cli_log(CLI_ERROR, NULL, NULL,
                    "standard input: a line is longer than a message may be, %zu bytes",
                    DUEQ_MAX_BODY);
            return false;
        }
        if (!read_more(cli, input) && input->failed)
            return false;
    }
    if (input->start == input->end)
        return false;
    char *start = input->data + input->start;
    size_t size = end ? (size_t)(end - start) : input->end - input->start;
    *line = (dueq_bytes){start, size};
    input->start += size + (end ? 1 : 0);
    input->scanned = 0;
    return true;
}

bool input_ready(struct input *input) {
    if (input->done || newline(input))
        return true;
    struct pollfd one = {STDIN_FILENO, POLLIN, 0};
    return poll(&one, 1, 0) > 0;
}

void input_end(struct input *input) { free(input->data); }

/*
 * A server that answers with any bytes, and a client's call against it. '|' parts what each
 * connection gets in turn.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz.h"

#define CONNECTIONS 4
#define ROUNDS 12

static int listener = -1;
static char directory[] = "/tmp/dueq-fuzz-XXXXXX", path[64], url[80];

static void clean(void) {
    unlink(path);
    rmdir(directory);
}

static void listen_once(void) {
    if (listener >= 0)
        return;
    CHECK(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/s", directory);
    snprintf(url, sizeof url, "unix://%s", path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 64) == 0);
    atexit(clean);
}

/* Takes the next connection in and answers it with its part of the bytes. */
static bool answer(dueq_bytes *rest, bool closes, int *fd) {
    *fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (*fd < 0)
        return false;
    const char *end = memchr(rest->data, '|', rest->size);
    size_t size = end ? (size_t)(end - (const char *)rest->data) : rest->size;
    ssize_t sent = send(*fd, rest->data, size, MSG_NOSIGNAL);
    CHECK(sent >= 0 || size == 0);
    if (closes)
        shutdown(*fd, SHUT_WR);
    size += end ? 1 : 0;
    *rest = (dueq_bytes){(const char *)rest->data + size, rest->size - size};
    return true;
}

/* Moves a submitted call on as the server answers; closes: each connection ends with its bytes. */
static dueq_status converse(dueq_client *client, dueq_status status, dueq_bytes rest, bool closes) {
    int connections[CONNECTIONS];
    size_t count = 0;
    for (int round = 0; round < ROUNDS && status == DUEQ_PENDING; round++) {
        struct pollfd set[DUEQ_MAX_SOCKETS];
        int timeout_ms;
        status = dueq_pump(client);
        while (count < CONNECTIONS && answer(&rest, closes, &connections[count]))
            count++;
        CHECK(dueq_poll_set(client, set, &timeout_ms) <= DUEQ_MAX_SOCKETS && timeout_ms >= -1);
    }
    while (count > 0)
        close(connections[--count]);
    return status;
}

/* What came of a call; NULL: nothing, or the call is given up. The caller frees it. */
static dueq_result *finish(dueq_client *client, dueq_status status) {
    dueq_result *result = NULL;
    if (status == DUEQ_PENDING) {
        dueq_abandon(client);
    } else {
        CHECK(dueq_take(client, &result) == status);
        CHECK(strcmp(dueq_status_name(status), "UNKNOWN") != 0);
        CHECK(status >= 0 ||
              (dueq_error_text(client)[0] && !result == (status != DUEQ_NOT_DURABLE)));
        fuzz_touch_result(result);
    }
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
        close(fd);
    return result;
}

#endif

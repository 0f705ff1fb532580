/* beanstalkd, whose protocol is plain enough to be spoken without a library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define TTR_SECONDS 60
#define PUT_SIZE (BODY_SIZE + 64)

static int line;
static char input[65536];
static size_t begin, end;

static void connect_line(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", environment("PEER_SOCKET"));
    line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof address))
        die("%s: %s", address.sun_path, strerror(errno));
}

static void send_bytes(const char *data, size_t size) {
    while (size > 0) {
        ssize_t sent = write(line, data, size);
        if (sent <= 0)
            die("write: %s", strerror(errno));
        data += sent;
        size -= (size_t)sent;
    }
}

/*
 * Makes `size` bytes, or a whole line where it is 0, stand at input + begin; returns their number.
 */
static size_t need(size_t size) {
    for (;;) {
        const char *stop = size ? NULL : memmem(input + begin, end - begin, "\r\n", 2);
        if (stop)
            return (size_t)(stop - input) - begin + 2;
        if (size && end - begin >= size)
            return size;
        memmove(input, input + begin, end - begin);
        end -= begin;
        begin = 0;
        ssize_t got = read(line, input + end, sizeof input - end);
        if (got <= 0)
            die("beanstalkd closed the connection");
        end += (size_t)got;
    }
}

static void expect(const char *word) {
    size_t size = need(0);
    if (strncmp(input + begin, word, strlen(word)))
        die("%.*s instead of %s", (int)size - 2, input + begin, word);
    begin += size;
}

/* It counts in whole seconds from now; a smaller number would bring the job before its time. */
static long delay_seconds(const struct job *job) {
    if (!job->due_ms)
        return 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t left_ms = job->due_ms - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
    return left_ms > 0 ? (long)((left_ms + 999) / 1000) : 0;
}

static size_t format_put(char *to, const struct job *job) {
    int head = sprintf(to, "put 0 %ld %d %d\r\n", delay_seconds(job), TTR_SECONDS, BODY_SIZE);
    memcpy(to + head, job->body, BODY_SIZE);
    memcpy(to + head + BODY_SIZE, "\r\n", 2);
    return (size_t)head + BODY_SIZE + 2;
}

static void push(const struct job *job, char *id) {
    char text[PUT_SIZE];
    send_bytes(text, format_put(text, job));
    size_t size = need(0);
    unsigned long long number;
    if (sscanf(input + begin, "INSERTED %llu\r\n", &number) != 1)
        die("%.*s instead of INSERTED", (int)size - 2, input + begin);
    begin += size;
    if (id)
        snprintf(id, ID_SIZE, "%llu", number);
}

static void cancel(const char *id) {
    char text[ID_SIZE + 16];
    send_bytes(text, (size_t)snprintf(text, sizeof text, "delete %s\r\n", id));
    expect("DELETED");
}

static void push_many(const struct job *jobs, size_t count) {
    char *text = calloc(count, PUT_SIZE);
    size_t size = 0;
    if (!text)
        die("out of memory");
    for (size_t i = 0; i < count; i++)
        size += format_put(text + size, &jobs[i]);
    send_bytes(text, size);
    free(text);
    for (size_t i = 0; i < count; i++)
        expect("INSERTED");
}

/* "best" sends the delete of a job and the next reserve in one write. */
static void work(const char *setting, handle_job *handle) {
    static const char reserve[] = "reserve\r\n";
    bool more = true, together = !strcmp(setting, "best");
    char body[BODY_SIZE + 1] = "", text[64];
    tell_ready("{\"together\": %s}", together ? "true" : "false");
    send_bytes(reserve, strlen(reserve));
    while (more) {
        size_t size = need(0);
        unsigned long long id;
        int bytes;
        if (sscanf(input + begin, "RESERVED %llu %d\r\n", &id, &bytes) != 2 || bytes != BODY_SIZE)
            die("%.*s instead of RESERVED", (int)size - 2, input + begin);
        begin += size;
        need(BODY_SIZE + 2);
        memcpy(body, input + begin, BODY_SIZE);
        begin += BODY_SIZE + 2;
        more = handle(body);
        size = (size_t)sprintf(text, "delete %llu\r\n%s", id, together ? reserve : "");
        send_bytes(text, size);
        expect("DELETED");
        if (!together)
            send_bytes(reserve, strlen(reserve));
    }
}

int main(int count, char **words) {
    static const struct peer peer = {.connect = connect_line,
                                     .push = push,
                                     .push_many = push_many,
                                     .cancel = cancel,
                                     .work = work};
    return run_peer(&peer, count, words);
}

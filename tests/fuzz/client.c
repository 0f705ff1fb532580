/*
 * A whole client against a server that answers with any bytes. The first byte chooses the call, the
 * second whether the server closes after its bytes; '|' parts what each connection gets in turn.
 */
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

static const dueq_bytes tickets[] = {{"034q4HWvPr75LHPWlJby2F", 22}, {"1.2AaIBtOKzz:bill", 17}};
static const dueq_bytes nothing = {"", 0}, name = {"n", 1};

static dueq_status submit_pushed(dueq_queue *queue, unsigned verb) {
    dueq_draft drafts[] = {DUEQ_DRAFT, {.body = {"b", 1}, .id = {"x", 1}, .delay_ms = 5}};
    switch (verb) {
    case 0:
        return dueq_push_submit(queue, drafts, 2);
    case 1:
        return dueq_push_submit(queue, drafts, 1);
    case 2:
        drafts[1].to = name;
        drafts[1].ttl_ms = 1000;
        return dueq_push_submit(queue, drafts, 2);
    default:
        return dueq_ack_push_submit(queue, tickets[1], NULL, drafts, 2);
    }
}

static dueq_status submit(dueq_client *client, dueq_queue *queues[2], unsigned verb) {
    dueq_queue *queue = queues[0];
    switch (verb % 26) {
    case 0:
        return dueq_reserve_submit(queue, 10, 0, 0);
    case 1:
        return dueq_reserve_submit(queue, 1, DUEQ_FOREVER, UINT32_MAX);
    case 2:
        return submit_pushed(queue, 0);
    case 3:
        return submit_pushed(queue, 1);
    case 4:
        return dueq_ack_submit(queue, tickets, 2);
    case 5:
        return dueq_retry_submit(queue, tickets[1], 10, nothing);
    case 6:
        return dueq_extend_submit(queue, tickets, 2, 10);
    case 7:
        return dueq_cancel_submit(queue, tickets, 2);
    case 8:
        return dueq_find_submit(queue, tickets[0]);
    case 9:
        return dueq_stats_submit(queue);
    case 10:
        return submit_pushed(queue, 2);
    case 11:
        return submit_pushed(queue, 3);
    case 12:
        return dueq_retry_submit(queue, tickets[1], DUEQ_BY_POLICY, name);
    case 13:
        return dueq_release_submit(queue, tickets, 2, 0);
    case 14:
        return dueq_bury_submit(queue, tickets[0], name);
    case 15:
        return dueq_kick_all_submit(queue, NULL, nothing, 10);
    case 16:
        return dueq_purge_submit(queue, DUEQ_DEAD, 10);
    case 17:
        return dueq_peek_submit(queue, DUEQ_LEASED, nothing, 10);
    case 18:
        return dueq_rates_submit(queue, 60);
    case 19:
        return dueq_queues_submit(client, nothing);
    case 20:
        return dueq_lock_submit(queue, name, 1000, 0);
    case 21:
        return dueq_lock_submit(queue, name, 1000, DUEQ_FOREVER);
    case 22:
        return dueq_unlock_submit(queue, name, tickets[0]);
    case 23:
        return dueq_reserve_any_submit(queues, 2, DUEQ_PREFERENCE, 10, 0, 0);
    case 24:
        return dueq_reserve_any_submit(queues, 2, DUEQ_ROUND_ROBIN, 1, DUEQ_FOREVER, 0);
    default:
        return dueq_reschedule_submit(queue, tickets[0], 0, 0);
    }
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

static void finish(dueq_client *client, dueq_status status) {
    if (status == DUEQ_PENDING) {
        dueq_abandon(client);
        return;
    }
    dueq_result *result = NULL;
    CHECK(dueq_take(client, &result) == status);
    CHECK(strcmp(dueq_status_name(status), "UNKNOWN") != 0);
    CHECK(status >= 0 || (dueq_error_text(client)[0] && !result));
    fuzz_touch_result(result);
    dueq_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 16384)
        return 0;
    listen_once();
    dueq_client *client;
    dueq_queue *queues[2];
    CHECK(dueq_open(url, &client) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "q", 1, &queues[0]) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "r", 1, &queues[1]) == DUEQ_OK);
    int connections[CONNECTIONS];
    size_t count = 0;
    dueq_bytes rest = {data + 2, size - 2};
    dueq_status status = submit(client, queues, data[0]);
    for (int round = 0; round < ROUNDS && status == DUEQ_PENDING; round++) {
        struct pollfd set[DUEQ_MAX_SOCKETS];
        int timeout_ms;
        status = dueq_pump(client);
        while (count < CONNECTIONS && answer(&rest, data[1] & 1, &connections[count]))
            count++;
        CHECK(dueq_poll_set(client, set, &timeout_ms) <= DUEQ_MAX_SOCKETS && timeout_ms >= -1);
    }
    finish(client, status);
    dueq_queue_close(queues[0]);
    dueq_queue_close(queues[1]);
    dueq_close(client);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
        close(fd);
    while (count > 0)
        close(connections[--count]);
    return 0;
}

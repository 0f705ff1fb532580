#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "request.h"

/*
 * One descriptor for event loops: an epoll instance with the sockets of a call under way and a timer for
 * the next thing to do. epoll_wait(2) reports it readable when one of these is ready (epoll(7)).
 */

void dueq__descriptor_init(struct dueq__descriptor *descriptor) {
    *descriptor = (struct dueq__descriptor){.epoll = -1, .timer = -1};
}

void dueq__descriptor_close(struct dueq__descriptor *descriptor) {
    if (descriptor->epoll >= 0)
        close(descriptor->epoll);
    if (descriptor->timer >= 0)
        close(descriptor->timer);
    dueq__descriptor_init(descriptor);
}

bool dueq__descriptor_make(dueq_client *client) {
    struct dueq__descriptor *descriptor = &client->descriptor;
    struct epoll_event event = {.events = EPOLLIN};
    if (descriptor->epoll >= 0)
        return true;
    descriptor->epoll = epoll_create1(EPOLL_CLOEXEC);
    descriptor->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor->epoll >= 0 && descriptor->timer >= 0 &&
        !epoll_ctl(descriptor->epoll, EPOLL_CTL_ADD, descriptor->timer, &event)) {
        for (struct dueq__conn *conn = client->conns; conn; conn = conn->next)
            conn->epoll = descriptor->epoll;
        return true;
    }
    dueq__descriptor_close(descriptor);
    return false;
}

void dueq__descriptor_sync(dueq_client *client) {
    const struct dueq__descriptor *descriptor = &client->descriptor;
    if (descriptor->epoll < 0)
        return;
    int64_t left_us = dueq__call_want(client);
    if (!dueq__call_under_way(client))
        left_us = -1;
    for (struct dueq__conn *conn = client->conns; conn; conn = conn->next) {
        struct epoll_event event = {.events = (uint32_t)conn->wanted,
                                    .data.fd = dueq__conn_fd(conn)};
        /* Two that resolve the same name have one descriptor, which the first that closes takes out. */
        if (conn->wanted == conn->watched && conn->state != DUEQ__CONN_RESOLVING)
            continue;
        if (event.events && epoll_ctl(descriptor->epoll, EPOLL_CTL_MOD, event.data.fd, &event))
            epoll_ctl(descriptor->epoll, EPOLL_CTL_ADD, event.data.fd, &event);
        else if (!event.events && conn->watched)
            epoll_ctl(descriptor->epoll, EPOLL_CTL_DEL, event.data.fd, NULL);
        conn->watched = conn->wanted;
    }
    /* All zero disarms it: what is due at once is due in a nanosecond. */
    struct itimerspec when = {0};
    if (left_us >= 0) {
        when.it_value.tv_sec = left_us / 1000000;
        when.it_value.tv_nsec = (long)(left_us % 1000000) * 1000 + 1;
    }
    timerfd_settime(descriptor->timer, 0, &when, NULL);
}

int dueq_descriptor(dueq_client *client) {
    dueq__client_check_fork(client);
    if (!dueq__descriptor_make(client))
        return -1;
    dueq__descriptor_sync(client);
    return client->descriptor.epoll;
}

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
    for (size_t i = 0; i < DUEQ_MAX_SOCKETS; i++)
        descriptor->watched[i] = -1;
}

void dueq__descriptor_close(struct dueq__descriptor *descriptor) {
    if (descriptor->epoll >= 0)
        close(descriptor->epoll);
    if (descriptor->timer >= 0)
        close(descriptor->timer);
    dueq__descriptor_init(descriptor);
}

static bool make(dueq_client *client) {
    struct dueq__descriptor *descriptor = &client->descriptor;
    struct epoll_event event = {.events = EPOLLIN};
    if (descriptor->epoll >= 0)
        return true;
    descriptor->epoll = epoll_create1(EPOLL_CLOEXEC);
    descriptor->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor->epoll >= 0 && descriptor->timer >= 0 &&
        !epoll_ctl(descriptor->epoll, EPOLL_CTL_ADD, descriptor->timer, &event)) {
        for (size_t i = 0; i < DUEQ_MAX_SOCKETS; i++)
            client->conns[i].epoll = descriptor->epoll;
        return true;
    }
    dueq__descriptor_close(descriptor);
    return false;
}

/* A socket that was closed has left the instance, and its number may be another's now. */
static void watch(const struct dueq__descriptor *descriptor, const struct pollfd *slot) {
    struct epoll_event event = {.events = (uint32_t)slot->events, .data.fd = slot->fd};
    if (epoll_ctl(descriptor->epoll, EPOLL_CTL_MOD, slot->fd, &event))
        epoll_ctl(descriptor->epoll, EPOLL_CTL_ADD, slot->fd, &event);
}

void dueq__descriptor_sync(dueq_client *client) {
    struct dueq__descriptor *descriptor = &client->descriptor;
    struct pollfd set[DUEQ_MAX_SOCKETS];
    int64_t left_us = -1;
    size_t count = 0;
    if (descriptor->epoll < 0)
        return;
    if (dueq__call_under_way(client))
        count = dueq__call_poll_set(client, set, &left_us);
    for (size_t i = 0; i < DUEQ_MAX_SOCKETS; i++) {
        bool wanted = false;
        for (size_t k = 0; k < count; k++)
            wanted = wanted || set[k].fd == descriptor->watched[i];
        if (descriptor->watched[i] >= 0 && !wanted)
            epoll_ctl(descriptor->epoll, EPOLL_CTL_DEL, descriptor->watched[i], NULL);
        descriptor->watched[i] = -1;
    }
    for (size_t i = 0; i < count; i++) {
        watch(descriptor, &set[i]);
        descriptor->watched[i] = set[i].fd;
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
    if (!make(client))
        return -1;
    dueq__descriptor_sync(client);
    return client->descriptor.epoll;
}

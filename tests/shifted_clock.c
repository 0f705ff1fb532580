/* Preloaded into a program: its wall clock is $CLOCK_AHEAD seconds ahead. Only that: waits go by the monotonic one. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead_s;

/* Before the program may change its environment. */
__attribute__((constructor)) static void keep(void) {
    const char *set = getenv("CLOCK_AHEAD");
    ahead_s = set ? atol(set) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (syscall(SYS_clock_gettime, clock, now))
        return -1;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now->tv_sec += ahead_s;
    return 0;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &exact))
        return -1;
    *now = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (seconds)
        *seconds = exact.tv_sec;
    return exact.tv_sec;
}

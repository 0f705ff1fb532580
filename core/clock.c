#include <time.h>

#include "internal.h"

static int64_t read_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t dueq__monotonic_ms(void) { return read_ms(CLOCK_MONOTONIC); }

int64_t dueq__wall_ms(void) { return read_ms(CLOCK_REALTIME); }

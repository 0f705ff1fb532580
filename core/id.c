#include <string.h>
#include <sys/random.h>

#include "internal.h"

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

__extension__ typedef unsigned __int128 wide;

void dueq__id_random(void *buffer, size_t size) {
    unsigned char *out = buffer;
    size_t done = 0;
    while (done < size) {
        ssize_t got = getrandom(out + done, size - done, 0);
        if (got > 0)
            done += (size_t)got;
    }
}

static void write_digits(wide number, char *out, size_t size) {
    for (size_t i = size; i-- > 0; number /= 62)
        out[i] = digits[(size_t)(number % 62)];
}

/* False when a character is no base-62 digit. */
static bool read_digits(const char *text, size_t size, wide *number) {
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        *number = *number * 62 + (size_t)(digit - digits);
    }
    return true;
}

/* 48 bits of milliseconds, 80 of chance; within a millisecond the next is one more than the last. */
void dueq__id_next(struct dueq__id_source *source, char out[DUEQ__ID_SIZE]) {
    int64_t now = dueq__wall_ms();
    if (now > source->last_ms) {
        source->last_ms = now;
        unsigned char chance[10];
        dueq__id_random(chance, sizeof chance);
        memcpy(&source->low, chance, 8);
        uint16_t rest;
        memcpy(&rest, chance + 8, 2);
        /* The top bit stays free, so that counting on cannot reach the milliseconds. */
        source->high = (uint64_t)now << 16 | (rest & 0x7FFFU);
    } else if (++source->low == 0) {
        source->high++;
    }
    write_digits((wide)source->high << 64 | source->low, out, DUEQ__ID_SIZE);
}

/* 45 bits of milliseconds, 14 of chance; always more than the last. */
void dueq__stamp_next(struct dueq__id_source *source, char out[DUEQ__STAMP_SIZE]) {
    uint16_t chance;
    dueq__id_random(&chance, sizeof chance);
    uint64_t stamp = (uint64_t)dueq__wall_ms() << 14 | (chance & 0x1FFFU);
    if (stamp <= source->last_stamp)
        stamp = source->last_stamp + 1;
    source->last_stamp = stamp;
    write_digits(stamp, out, DUEQ__STAMP_SIZE);
}

int64_t dueq__id_time(const char *id, size_t size) {
    wide number;
    if (size == DUEQ__ID_SIZE && read_digits(id, size, &number))
        return (int64_t)(number >> 80);
    if (size == DUEQ__STAMP_SIZE && read_digits(id, size, &number))
        return (int64_t)(number >> 14);
    return -1;
}

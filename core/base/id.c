#include <sys/random.h>
#include <unistd.h>

#include "base.h"

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

__extension__ typedef unsigned __int128 wide;

void dueq__id_random(void *buffer, size_t size) {
    while (getentropy(buffer, size) != 0)
        ;
}

int64_t dueq__random_below(int64_t below) {
    uint32_t chance;
    dueq__id_random(&chance, sizeof chance);
    return below * chance >> 32;
}

/*
 * 64 bits, which have room for 10 digits, are divided faster than 128 bits. PART_SCALE: 62 to the
 * power of PART.
 */
#define PART 10
#define PART_SCALE UINT64_C(839299365868340224)

static void write_digits(wide number, char *out, size_t size) {
    for (; size; number /= PART_SCALE) {
        uint64_t part = (uint64_t)(number % PART_SCALE);
        for (size_t left = size < PART ? size : PART; left; left--, part /= 62)
            out[--size] = digits[part % 62];
    }
}

/* The value of a base-62 digit; 62: the character is none. */
static unsigned digit_value(char digit) {
    unsigned ten = (unsigned)digit - '0', upper = (unsigned)digit - 'A',
             lower = (unsigned)digit - 'a';
    return ten < 10 ? ten : upper < 26 ? upper + 10 : lower < 26 ? lower + 36 : 62;
}

/* False: a character is no base-62 digit. */
static bool read_digits(const char *text, size_t size, wide *number) {
    unsigned value = 0;
    *number = 0;
    for (size_t at = 0; value < 62 && at < size; at++) {
        value = digit_value(text[at]);
        *number = *number * 62 + value;
    }
    return value < 62;
}

/*
 * An id has 48 bits of milliseconds and 80 random bits. In the same millisecond the next id is the
 * last id plus 1.
 */
void dueq__id_next(struct dueq__id_source *source, char out[DUEQ__ID_SIZE]) {
    int64_t now = dueq__wall_ms();
    if (now > source->last_ms) {
        source->last_ms = now;
        unsigned char chance[10];
        dueq__id_random(chance, sizeof chance);
        memcpy(&source->low, chance, 8);
        uint16_t rest;
        memcpy(&rest, chance + 8, 2);
        /* The top random bit is 0, so that adding 1 never changes the milliseconds. */
        source->high = (uint64_t)now << 16 | (rest & 0x7FFFU);
    } else if (++source->low == 0) {
        source->high++;
    }
    write_digits((wide)source->high << 64 | source->low, out, DUEQ__ID_SIZE);
}

/*
 * An incarnation has 45 bits of milliseconds and 14 bits, the lower 13 of which are random. Each is
 * greater than the last.
 */
void dueq__incarnation_next(struct dueq__id_source *source, char out[DUEQ__INCARNATION_SIZE]) {
    uint16_t chance;
    dueq__id_random(&chance, sizeof chance);
    uint64_t stamp = (uint64_t)dueq__wall_ms() << 14 | (chance & 0x1FFFU);
    if (stamp <= source->last_incarnation)
        stamp = source->last_incarnation + 1;
    source->last_incarnation = stamp;
    write_digits(stamp, out, DUEQ__INCARNATION_SIZE);
}

int64_t dueq__id_time(const char *id, size_t size) {
    wide number;
    if (size == DUEQ__ID_SIZE && read_digits(id, size, &number))
        return (int64_t)(number >> 80);
    if (size == DUEQ__INCARNATION_SIZE && read_digits(id, size, &number))
        return (int64_t)(number >> 14);
    return -1;
}

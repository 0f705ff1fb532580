#include "base.h"

/* A double is exact up to this many digits. */
#define MAX_DIGITS 15

/* Reads a number, which may have a fraction. Returns the number's end; NULL: there is no number. */
static const char *read_number(const char *text, double *number) {
    int64_t whole, fraction = 0;
    const char *at = text;
    double place = 1;
    dueq__take_digits(&at, NULL, MAX_DIGITS, &whole);
    ptrdiff_t digits = at - text;
    if (*at == '.') {
        const char *point = ++at;
        dueq__take_digits(&at, NULL, MAX_DIGITS, &fraction);
        digits += at - point;
        for (; point < at; point++)
            place *= 10;
    }
    *number = (double)whole + (double)fraction / place;
    return digits >= 1 && digits <= MAX_DIGITS ? at : NULL;
}

int64_t dueq_duration_ms(const char *text) {
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    const char *at = text;
    double sum = 0;
    do {
        double number;
        const char *end = read_number(at, &number);
        if (!end)
            return -1;
        const size_t size = strspn(end, "mshd");
        int64_t factor = end[0] == '\0' && at == text ? 1000 : 0;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (size == strlen(units[i].name) && memcmp(end, units[i].name, size) == 0)
                factor = units[i].ms;
        if (!factor)
            return -1;
        sum += number * (double)factor;
        at = end + size;
    } while (*at);
    return sum <= (double)DUEQ_MAX_TIME_MS ? (int64_t)(sum + 0.5) : -1;
}

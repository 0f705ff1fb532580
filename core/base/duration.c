#include "base.h"

/* At most this many digits are exact in a double. */
#define MAX_DIGITS 15

/* Reads a number, which may have a fraction. NULL: there is none. */
static const char *read_number(const char *text, double *number) {
    double value = 0, place = 1;
    int digits = 0;
    for (; *text >= '0' && *text <= '9'; text++, digits++)
        value = value * 10 + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, digits++)
            value += (*text - '0') * (place /= 10);
    *number = value;
    return digits >= 1 && digits <= MAX_DIGITS ? text : NULL;
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

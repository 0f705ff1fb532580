#include "cli.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

int64_t time_monotonic_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

int64_t time_monotonic_ms(void) { return time_monotonic_us() / 1000; }

/*
 * Reads seconds from the start of a text, as a decimal number. Returns milliseconds; -1: no number,
 * or too large a number. *end: behind the number.
 */
static int64_t read_seconds(const char *text, const char **end) {
    char number[20];
    const size_t size = strspn(text, "0123456789.");
    *end = text + size;
    if (size >= sizeof number)
        return -1;
    memcpy(number, text, size);
    number[size] = '\0';
    return dueq_duration_ms(number);
}

int64_t time_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

bool time_parse_point(const char *text, int64_t *ms) {
    const char *end;
    *ms = read_seconds(text, &end);
    if (!*end)
        return *ms > 0;

    struct tm given = {0};
    const char *at = strptime(text, "%Y-%m-%d", &given);
    if (!at || (*at != 'T' && *at != 't' && *at != ' '))
        return false;
    at = strptime(at + 1, "%H:%M:%S", &given);
    if (!at)
        return false;
    int64_t fraction = 0;
    if (*at == '.' && (fraction = read_seconds(at, &at)) < 0)
        return false;
    int offset = 0;
    if (*at == '+' || *at == '-') {
        struct tm zone = {0};
        int sign = *at == '-' ? -1 : 1;
        if (!isdigit((unsigned char)at[1]) || !isdigit((unsigned char)at[2]) ||
            !(at = strptime(at + 1, at[3] == ':' ? "%H:%M" : "%H%M", &zone)))
            return false;
        offset = sign * (zone.tm_hour * 60 + zone.tm_min);
    } else if (*at == 'Z' || *at == 'z') {
        at++;
    } else {
        return false;
    }
    int day = given.tm_mday;
    time_t seconds = timegm(&given);
    if (*at || given.tm_mday != day) /* timegm() turns February 30 into a day in March */
        return false;
    *ms = ((int64_t)seconds - offset * INT64_C(60)) * 1000 + fraction;
    return *ms > 0 && *ms <= DUEQ_MAX_TIME_MS;
}

const char *time_format(int64_t ms, char out[TIME_ROOM]) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    char date[TIME_ROOM - 8];
    if (!gmtime_r(&seconds, &utc) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc))
        date[0] = '\0';
    snprintf(out, TIME_ROOM, "%s.%03dZ", date, (int)(ms % 1000));
    return out;
}

const char *time_format_span(int64_t ms, char out[TIME_ROOM]) {
    long long seconds = ms / 1000;
    if (ms < 0)
        return strcpy(out, "-");
    if (ms < 1000)
        snprintf(out, TIME_ROOM, "%lldms", (long long)ms);
    else if (seconds < 60)
        snprintf(out, TIME_ROOM, "%lld.%llds", seconds, (long long)(ms % 1000 / 100));
    else if (seconds < 3600)
        snprintf(out, TIME_ROOM, "%lldm%llds", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        snprintf(out, TIME_ROOM, "%lldh%lldm", seconds / 3600, seconds / 60 % 60);
    else
        snprintf(out, TIME_ROOM, "%lldd%lldh", seconds / 86400, seconds / 3600 % 24);
    return out;
}

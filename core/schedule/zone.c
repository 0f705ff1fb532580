#include <stdio.h>
#include <stdlib.h>

#include "schedule.h"

/*
 * Reads files of the time zone database (RFC 8536). A file has the changes of the offset, and a
 * rule for the time after the last change.
 */

enum { HEADER = 44, MOST_BYTES = 256 * 1024, MOST_NAME = 64, DAY = 86400 };

/* Dates (days since 1970, by the proleptic Gregorian calendar) */

int64_t dueq__zone_day(int64_t year, int month, int day) {
    /* Years are counted from March, so that a leap day is the last day of its year. */
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, in_era = year - era * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

void dueq__zone_date(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, in_era = days - era * 146097;
    int64_t years = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * years + years / 4 - years / 100),
            from = (5 * in_year + 2) / 153;
    *day = (int)(in_year - (153 * from + 2) / 5 + 1);
    *month = (int)(from < 10 ? from + 3 : from - 9);
    *year = years + era * 400 + (*month <= 2);
}

/* The rule, in the form of TZ of POSIX */

/* Takes a whole number from `least` to `most`. False: there is none. */
static bool take_number(const char **at, int least, int most, int *number) {
    int64_t found;
    if (!dueq__take_digits(at, NULL, 9, &found))
        return false;
    *number = (int)found;
    return found >= least && found <= most;
}

/* Takes the name of an offset: "<-03>" or "CET". */
static bool take_name(const char **at) {
    const char *from = *at;
    if (**at == '<') {
        *at += strcspn(*at, ">");
        return *(*at)++ == '>';
    }
    *at += strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    return *at > from;
}

/* Takes "[+-]HH[:MM[:SS]]". */
static bool take_time(const char **at, int64_t *seconds) {
    int sign = **at == '-' ? -1 : 1, hours, minutes = 0, rest = 0;
    *at += **at == '-' || **at == '+';
    if (!take_number(at, 0, 167, &hours))
        return false;
    if (**at == ':' && (++*at, !take_number(at, 0, 59, &minutes)))
        return false;
    if (**at == ':' && (++*at, !take_number(at, 0, 59, &rest)))
        return false;
    *seconds = sign * ((int64_t)hours * 3600 + minutes * 60 + rest);
    return true;
}

/* Takes ",M3.5.0/2", ",J60" or ",59". */
static bool take_yearly(const char **at, struct dueq__yearly *yearly) {
    if (*(*at)++ != ',')
        return false;
    yearly->kind = **at == 'M' || **at == 'J' ? *(*at)++ : '0';
    yearly->time = 7200;
    bool good = yearly->kind != 'M' ? take_number(at, yearly->kind == 'J', 365, &yearly->day)
                                    : take_number(at, 1, 12, &yearly->month) && *(*at)++ == '.' &&
                                          take_number(at, 1, 5, &yearly->week) && *(*at)++ == '.' &&
                                          take_number(at, 0, 6, &yearly->day);
    if (good && **at == '/')
        good = (++*at, take_time(at, &yearly->time));
    return good;
}

/* Reads "CET-1CEST,M3.5.0,M10.5.0/3". In a rule an offset west of UTC is positive. */
static bool read_rule(const char *at, struct dueq__zone *zone) {
    if (!take_name(&at) || !take_time(&at, &zone->standard))
        return false;
    zone->standard = -zone->standard;
    zone->changing = *at != '\0';
    if (!zone->changing)
        return true;
    zone->summer = -(zone->standard + 3600);
    if (!take_name(&at) || (*at != ',' && !take_time(&at, &zone->summer)))
        return false;
    zone->summer = -zone->summer;
    return take_yearly(&at, &zone->begin) && take_yearly(&at, &zone->end) && !*at;
}

/* The change in that year, in seconds since 1970 as the clocks show them before the change. */
static int64_t yearly_time(const struct dueq__yearly *yearly, int64_t year) {
    int64_t day = dueq__zone_day(year, 1, 1) + yearly->day;
    bool leap = dueq__zone_day(year, 3, 1) - dueq__zone_day(year, 2, 1) == 29;
    if (yearly->kind == 'J')
        day -= !(leap && yearly->day >= 60);
    if (yearly->kind == 'M') {
        int64_t first = dueq__zone_day(year, yearly->month, 1);
        int64_t next = dueq__zone_day(year + yearly->month / 12, yearly->month % 12 + 1, 1);
        /* 1 January 1970 was a Thursday. */
        day = first + (yearly->day - (first + 4) % 7 + 7) % 7 + 7 * (yearly->week - 1);
        day -= day >= next ? 7 : 0;
    }
    return day * DAY + yearly->time;
}

/* Seasons */

static void narrow(struct dueq__season *season, int64_t at, struct dueq__change change) {
    if (change.at > at && change.at < season->stop)
        season->stop = change.at;
    if (change.at <= at && change.at >= season->start) {
        season->start = change.at;
        season->offset = change.offset;
    }
}

/* The season that a time is in, without the offset before its start. */
static struct dueq__season season_at(const struct dueq__zone *zone, int64_t at) {
    struct dueq__season season = {-DUEQ__ENDLESS, DUEQ__ENDLESS, zone->first, zone->first};
    int64_t last = zone->count ? zone->changes[zone->count - 1].at : -DUEQ__ENDLESS, year;
    int month, day;
    for (size_t i = 0; i < zone->count; i++)
        narrow(&season, at, zone->changes[i]);
    if (!zone->changing)
        return season;
    dueq__zone_date((at >= 0 ? at : at - DAY + 1) / DAY, &year, &month, &day);
    for (int64_t one = year - 1; one <= year + 1; one++) {
        struct dueq__change summer = {yearly_time(&zone->begin, one) - zone->standard,
                                      zone->summer};
        struct dueq__change winter = {yearly_time(&zone->end, one) - zone->summer, zone->standard};
        if (summer.at > last)
            narrow(&season, at, summer);
        if (winter.at > last)
            narrow(&season, at, winter);
    }
    return season;
}

struct dueq__season dueq__zone_season(const struct dueq__zone *zone, int64_t at) {
    struct dueq__season season = season_at(zone, at);
    if (season.start > -DUEQ__ENDLESS)
        season.before = season_at(zone, season.start - 1).offset;
    return season;
}

/* Files */

static int64_t big_endian(const unsigned char *at, size_t size) {
    uint64_t number = at[0] & 128 ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | at[i];
    return (int64_t)number;
}

/* The number of bytes that follow a header. time: the bytes of a time, 4 or 8. */
static size_t data_size(const unsigned char *header, size_t time) {
    const unsigned char *counts = header + 20; /* isut, isstd, leap, time, type, char */
    size_t number[6];
    for (size_t i = 0; i < 6; i++)
        number[i] = (size_t)big_endian(counts + 4 * i, 4) & 0xFFFFFF;
    return number[0] + number[1] + number[2] * (time + 4) + number[3] * (time + 1) + number[4] * 6 +
           number[5];
}

/*
 * False: the bytes are no file of version 2 or later. A NUL follows the bytes, which `size` does
 * not count.
 */
static bool read_file(const unsigned char *bytes, size_t size, struct dueq__zone *zone) {
    if (size < HEADER || memcmp(bytes, "TZif", 4) != 0 || bytes[4] < '2')
        return false;
    size_t at = HEADER + data_size(bytes, 4);
    if (at + HEADER > size)
        return false;
    const unsigned char *header = bytes + at;
    size_t count = (size_t)big_endian(header + 32, 4), types = (size_t)big_endian(header + 36, 4);
    at += HEADER + data_size(header, 8);
    if (at >= size || count > DUEQ__ZONE_CHANGES || types < 1 || types > 256)
        return false;
    const unsigned char *times = header + HEADER, *index = times + 8 * count, *type = index + count;
    zone->first = big_endian(type, 4);
    zone->count = count;
    for (size_t i = 0; i < count; i++) {
        if (index[i] >= types)
            return false;
        zone->changes[i] =
            (struct dueq__change){big_endian(times + 8 * i, 8), big_endian(type + 6 * index[i], 4)};
    }
    /* The rule is between two newlines. */
    char *rule = (char *)(uintptr_t)(bytes + at + 1), *end = strchr(rule, '\n');
    if (bytes[at] != '\n' || !end)
        return false;
    *end = '\0';
    return !*rule || read_rule(rule, zone);
}

/* Reads a zone's file in a folder. False: there is no such file, or it is no zone. */
static bool read_in(const char *folder, const char *name, struct dueq__zone *zone) {
    char path[512];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return false;
    FILE *file = fopen(path, "rbe");
    unsigned char *bytes = file ? malloc(MOST_BYTES + 1) : NULL;
    size_t size = bytes ? fread(bytes, 1, MOST_BYTES, file) : 0;
    if (bytes)
        bytes[size] = '\0';
    bool good = size > 0 && read_file(bytes, size, zone);
    free(bytes);
    if (file)
        fclose(file);
    return good;
}

bool dueq__zone_is_utc(dueq_bytes name) {
    static const char *const utc = "UTC";
    return !name.size || dueq__bytes_equal(name, dueq__text(utc));
}

dueq_status dueq__zone_read(dueq_bytes name, struct dueq__zone *zone, struct dueq__error *error) {
    static const char *const folders[] = {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                          "/usr/share/lib/zoneinfo", "/etc/zoneinfo"};
    char text[MOST_NAME + 1] = "";
    *zone = (struct dueq__zone){0};
    if (dueq__zone_is_utc(name))
        return DUEQ_OK;
    if (name.size <= MOST_NAME)
        memcpy(text, name.data, name.size);
    /* A name has no dots, so that no name leads out of the folder. */
    static const char usual[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    if (!*text || *text == '/' || strspn(text, usual) != name.size)
        return dueq__fail(error, DUEQ_INVALID, "not the name of a time zone, as \"Europe/Berlin\"");
    const char *own = getenv("TZDIR");
    bool good = own && read_in(own, text, zone);
    for (size_t i = 0; !good && i < sizeof folders / sizeof *folders; i++)
        good = read_in(folders[i], text, zone);
    const char *fallback = dueq__fallback_zones();
    if (!good && !(fallback && read_in(fallback, text, zone)))
        return dueq__fail(error, DUEQ_INVALID,
                          "there is no time zone %s in this machine's time zone database; packages "
                          "call that tzdata, and $TZDIR names its folder",
                          text);
    return DUEQ_OK;
}

#include <strings.h>

#include "schedule.h"

enum { MINUTE = 60, DAY = 86400, MINUTE_MS = 60000 };
#define LAST (DUEQ_MAX_TIME_MS / 1000)
#define LEAST_MS 1000
#define MOST_MS (INT64_C(366) * DAY * 1000)

/* Reading */

struct field {
    const char *what;
    unsigned least, most;
    const char *names; /* of three letters each, the first for `least`; NULL: none */
};

static const struct field fields[] = {
    {"minute", 0, 59, NULL},
    {"hour", 0, 23, NULL},
    {"day of the month", 1, 31, NULL},
    {"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec "},
    {"day of the week", 0, 7, "sun mon tue wed thu fri sat "}};
#define FIELDS (sizeof fields / sizeof *fields)

static const struct {
    const char *name, *expression;
} nicknames[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                 {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                 {"@hourly", "0 * * * *"}};

/* Takes a number in the field's range, or one of its names. */
static bool take_value(const char **at, const struct field *field, int64_t *value) {
    if (dueq__take_digits(at, NULL, 9, value))
        return *value >= field->least && *value <= field->most;
    for (const char *name = field->names; name && *name; name += 4)
        if (strncasecmp(*at, name, 3) == 0) {
            *value = (name - field->names) / 4 + field->least;
            *at += 3;
            return true;
        }
    return false;
}

/* Takes "*", "5" or "mon-fri". "/2" may follow "*" and a range. */
static bool take_item(const char **at, const struct field *field, uint64_t *bits) {
    int64_t first = field->least, last = field->most, step = 1;
    bool wide = **at == '*';
    if (wide) {
        ++*at;
    } else {
        if (!take_value(at, field, &first))
            return false;
        last = first;
        wide = **at == '-';
        if (wide && (++*at, !take_value(at, field, &last)))
            return false;
    }
    if (**at == '/' && (!wide || (++*at, !dueq__take_digits(at, NULL, 9, &step)) || step < 1))
        return false;
    for (int64_t value = first; value <= last; value += step)
        *bits |= UINT64_C(1) << value;
    return first <= last;
}

static bool take_field(const char **at, const struct field *field, uint64_t *bits) {
    *at += strspn(*at, " \t");
    do {
        if (!take_item(at, field, bits))
            return false;
    } while (*(*at) == ',' && ++*at);
    return **at == ' ' || **at == '\t' || !**at;
}

static dueq_status read_fields(const char *at, struct dueq__cron *cron, struct dueq__error *error) {
    uint64_t *const bits[FIELDS] = {&cron->minutes, &cron->hours, &cron->days, &cron->months,
                                    &cron->weekdays};
    bool star[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        at += strspn(at, " \t");
        star[i] = *at == '*';
        if (!take_field(&at, &fields[i], bits[i]))
            return dueq__fail(
                error, DUEQ_INVALID,
                "the %s of a cron expression is %u to %u, in forms as *, 5, 1-5, */10 "
                "and 1,15, and five fields are needed",
                fields[i].what, fields[i].least, fields[i].most);
    }
    at += strspn(at, " \t");
    if (*at)
        return dueq__fail(
            error, DUEQ_INVALID,
            "a cron expression has five fields: minute, hour, day of the month, month "
            "and day of the week");
    /* Sunday is 0, and also 7. */
    cron->weekdays = (cron->weekdays | cron->weekdays >> 7) & 127;
    cron->either = !star[2] && !star[4];
    cron->daily = !star[0] && !star[1];
    return DUEQ_OK;
}

/* Reads the interval after "every", as "90s" or "1h30m". */
static dueq_status read_interval(const char *at, struct dueq__cron *cron,
                                 struct dueq__error *error) {
    at += strspn(at, " \t");
    /* An interval has no fraction, and has a unit. A duration may have a fraction, or no unit. */
    bool whole = !strchr(at, '.') && at[strspn(at, "0123456789")];
    cron->every_ms = whole ? dueq_duration_ms(at) : -1;
    if (cron->every_ms >= LEAST_MS && cron->every_ms <= MOST_MS)
        return DUEQ_OK;
    return dueq__fail(error, DUEQ_INVALID,
                      "an interval is 1s to 366d, as in: every 90s, every 1h30m");
}

dueq_status dueq__cron_read(dueq_bytes text, struct dueq__cron *cron, struct dueq__error *error) {
    char copy[256] = "";
    *cron = (struct dueq__cron){0};
    if (!text.size || text.size >= sizeof copy || memchr(text.data, '\0', text.size))
        return dueq__fail(error, DUEQ_INVALID, "a cron expression has 1 to 255 bytes");
    memcpy(copy, text.data, text.size);
    const char *at = copy + strspn(copy, " \t");
    if (strncmp(at, "every ", 6) == 0)
        return read_interval(at + 6, cron, error);
    for (size_t i = 0; i < sizeof nicknames / sizeof *nicknames; i++)
        if (strcmp(at, nicknames[i].name) == 0)
            at = nicknames[i].expression;
    return read_fields(at, cron, error);
}

/* The next time */

static bool has(uint64_t bits, int64_t value) { return bits >> value & 1; }

/* The first minute of the day, from `from` on, that the expression has; -1: none. */
static int64_t minute_of_day(const struct dueq__cron *cron, int64_t from) {
    for (int64_t minute = from; minute < 24 * 60; minute++) {
        if (!has(cron->hours, minute / 60))
            minute += 59 - minute % 60;
        else if (has(cron->minutes, minute % 60))
            return minute;
    }
    return -1;
}

/*
 * The begin of the first minute that the expression has, from `from` on and before `to`. All are in
 * seconds since 1970 as the clocks show them. -1: none.
 */
static int64_t search(const struct dueq__cron *cron, int64_t from, int64_t to) {
    int64_t minutes = (from + MINUTE - 1) / MINUTE, day = minutes / (24 * 60);
    int64_t at = minutes % (24 * 60), year;
    for (int month, date; day * DAY < to; at = 0) {
        dueq__zone_date(day, &year, &month, &date);
        if (!has(cron->months, month)) {
            day = dueq__zone_day(year + month / 12, month % 12 + 1, 1);
            continue;
        }
        bool in_month = has(cron->days, date), in_week = has(cron->weekdays, (day + 4) % 7);
        if (cron->either ? in_month || in_week : in_month && in_week) {
            int64_t minute = minute_of_day(cron, at), found = day * DAY + minute * MINUTE;
            if (minute >= 0)
                return found < to ? found : -1;
        }
        day++;
    }
    return -1;
}

/* The first time in the season, from `from` on, in seconds since 1970; -1: none. */
static int64_t search_season(const struct dueq__cron *cron, const struct dueq__season *season,
                             int64_t from) {
    int64_t stop = season->stop < LAST ? season->stop : LAST, shown = from + season->offset;
    if (cron->daily && from == season->start &&
        search(cron, season->start + season->before, season->start + season->offset) >= 0)
        return season->start; /* the clocks skipped a time of the day: it comes at the change */
    if (cron->daily && shown < season->start + season->before)
        shown = season->start + season->before; /* a time that comes twice counts once */
    int64_t found = search(cron, shown, stop + season->offset);
    return found < 0 ? -1 : found - season->offset;
}

int64_t dueq__cron_next(const struct dueq__cron *cron, const struct dueq__zone *zone,
                        int64_t after_ms) {
    /* From 12 January 1970 on, no offset gives a time before 1970. */
    if (after_ms < INT64_C(1000) * DAY)
        after_ms = INT64_C(1000) * DAY;
    if (cron->every_ms) {
        int64_t next = (after_ms / cron->every_ms + 1) * cron->every_ms;
        return next < DUEQ_MAX_TIME_MS ? next : DUEQ_MAX_TIME_MS;
    }
    int64_t from = (after_ms / MINUTE_MS + 1) * MINUTE;
    while (from < LAST) {
        struct dueq__season season = dueq__zone_season(zone, from);
        int64_t found = search_season(cron, &season, from);
        if (found >= 0)
            return found * 1000;
        from = season.stop < LAST ? season.stop : LAST;
    }
    return DUEQ_MAX_TIME_MS;
}

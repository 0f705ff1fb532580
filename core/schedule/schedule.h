/*
 * Schedules: cron.c computes the times of an expression, zone.c reads time zones, fire.c declares
 * schedules and pushes their jobs.
 */
#ifndef DUEQ_SCHEDULE_H
#define DUEQ_SCHEDULE_H

#include "../verbs/verbs.h"

/* zone.c: time zones */

#define DUEQ__ZONE_CHANGES 1000          /* more than any zone of the database has */
#define DUEQ__ENDLESS (INT64_C(1) << 40) /* in seconds: beyond all times, also as -DUEQ__ENDLESS */

struct dueq__change {
    int64_t at;     /* in seconds since 1970 */
    int64_t offset; /* from then on the clocks are so many seconds ahead of UTC */
};

/* The day of each year on which the clocks change, in a form of POSIX TZ: Mm.w.d, Jn or n. */
struct dueq__yearly {
    char kind; /* 'M', 'J' (1 to 365, February 29th is not counted), or '0' (0 to 365) */
    int month, week, day;
    int64_t time; /* in seconds after the day's begin */
};

struct dueq__zone {
    int64_t first; /* the offset before the first change */
    size_t count;
    struct dueq__change changes[DUEQ__ZONE_CHANGES];
    /* After the last change: the standard offset and, where `changing`, summer time each year. */
    bool changing;
    int64_t standard, summer;
    struct dueq__yearly begin, end;
};

/*
 * A span of time in which the offset does not change. start, stop: in seconds since 1970. before:
 * the offset before `start`.
 */
struct dueq__season {
    int64_t start, stop, offset, before;
};

/* Whether the name is "UTC" or empty: then no file is read. */
bool dueq__zone_is_utc(dueq_bytes name);
/*
 * Reads a zone, as "Europe/Berlin", from the system's time zone database: in $TZDIR, else in one of
 * the usual folders, else in that of dueq_set_fallbacks(). Errors: INVALID.
 */
dueq_status dueq__zone_read(dueq_bytes name, struct dueq__zone *zone, struct dueq__error *error);
/* The season that a time is in. at: in seconds since 1970. */
struct dueq__season dueq__zone_season(const struct dueq__zone *zone, int64_t at);
/* The days since 1970 of a date, and the date of such a number. */
int64_t dueq__zone_day(int64_t year, int month, int day);
void dueq__zone_date(int64_t days, int64_t *year, int *month, int *day);

/* cron.c: expressions */

struct dueq__cron {
    int64_t every_ms; /* an interval; 0: the next members have the times, a bit for each value */
    uint64_t minutes, hours, days, months, weekdays;
    bool either; /* neither day field is *: a day that one of them has is enough */
    bool daily;  /* neither minute nor hour is *: the times are times of the day */
};

/* Reads an expression. Errors: INVALID. */
dueq_status dueq__cron_read(dueq_bytes text, struct dueq__cron *cron, struct dueq__error *error);
/* The first time after after_ms, in ms since 1970; DUEQ_MAX_TIME_MS: there is none. */
int64_t dueq__cron_next(const struct dueq__cron *cron, const struct dueq__zone *zone,
                        int64_t after_ms);

#endif

/*
 * Schedules: cron.c says when they are due, zone.c what the clocks show then, fire.c what becomes
 * of their messages.
 */
#ifndef DUEQ_SCHEDULE_H
#define DUEQ_SCHEDULE_H

#include "../verbs/verbs.h"

/* zone.c: what the clocks of a place show */

#define DUEQ__ZONE_CHANGES 1000          /* more than any zone has */
#define DUEQ__ENDLESS (INT64_C(1) << 40) /* seconds beyond all times, before and after */

struct dueq__change {
    int64_t at;     /* seconds since 1970, from then on */
    int64_t offset; /* so many seconds ahead of UTC */
};

/* A day of each year on which the clocks change, as of POSIX: Mm.w.d, or the n-th day. */
struct dueq__yearly {
    char kind; /* 'M', 'J' (1 to 365, February 29th is not counted), or '0' (0 to 365) */
    int month, week, day;
    int64_t time; /* of that day, in seconds */
};

struct dueq__zone {
    int64_t first; /* the offset before all changes */
    size_t count;
    struct dueq__change changes[DUEQ__ZONE_CHANGES];
    /*
     * After the last of them: a standard time, and a summer time between two days where `changing`.
     */
    bool changing;
    int64_t standard, summer;
    struct dueq__yearly begin, end;
};

/* While the clocks do not change: seconds since 1970, and the offsets then and before its start. */
struct dueq__season {
    int64_t start, stop, offset, before;
};

/* No name, or that: no file says what it is. */
bool dueq__zone_is_utc(dueq_bytes name);
/*
 * Reads a zone of the system's time zone database: in $TZDIR, or the usual folders. name:
 * "Europe/Berlin"; none is read for UTC. Errors: INVALID.
 */
dueq_status dueq__zone_read(dueq_bytes name, struct dueq__zone *zone, struct dueq__error *error);
struct dueq__season dueq__zone_season(const struct dueq__zone *zone, int64_t at);
/* Days since 1970 of a date, and back. */
int64_t dueq__zone_day(int64_t year, int month, int day);
void dueq__zone_date(int64_t days, int64_t *year, int *month, int *day);

/* cron.c: expressions */

struct dueq__cron {
    int64_t every_ms; /* an interval; 0: the fields that follow, a bit for each value */
    uint64_t minutes, hours, days, months, weekdays;
    bool either; /* days of the month and of the week are both named: one that fits is enough */
    bool daily;  /* minutes and hours are both named: at these times of the day */
};

/* Errors: INVALID. */
dueq_status dueq__cron_read(dueq_bytes text, struct dueq__cron *cron, struct dueq__error *error);
/* The first time after that one, in ms since 1970; DUEQ_MAX_TIME_MS: there is none. */
int64_t dueq__cron_next(const struct dueq__cron *cron, const struct dueq__zone *zone,
                        int64_t after_ms);

#endif

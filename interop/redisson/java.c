/* Writes numbers as Java does. */
#include <stdio.h>
#include <stdlib.h>

#include "codec.h"

#define MOST_DIGITS 17 /* enough to tell any two doubles apart */

/* A positive number: 0.DIGITS * 10^point, without zeros at the end of the digits. */
struct decimal {
    char digits[MOST_DIGITS + 1];
    int count, point;
};

/* Rounds to `count` digits. up: adds 1 to the last digit. */
static struct decimal round_to(double number, int count, bool up) {
    char text[MOST_DIGITS + 16];
    struct decimal decimal = {.count = count};
    snprintf(text, sizeof text, "%.*e", count - 1, number);
    decimal.point = atoi(strchr(text, 'e') + 1) + 1;
    decimal.digits[0] = text[0];
    /* The decimal point of the program's locale may have several bytes: count back from the 'e'. */
    for (int i = 1; i < count; i++)
        decimal.digits[i] = strchr(text, 'e')[i - count];
    int at = count - 1;
    for (; up && at >= 0 && ++decimal.digits[at] > '9'; at--)
        decimal.digits[at] = '0';
    if (at < 0) {
        decimal.digits[0] = '1';
        decimal.point++;
    }
    return decimal;
}

static double value_of(const struct decimal *decimal) {
    char text[MOST_DIGITS + 16];
    snprintf(text, sizeof text, "%.*se%d", decimal->count, decimal->digits,
             decimal->point - decimal->count);
    return strtod(text, NULL);
}

/*
 * The fewest digits, but at least two, that read as this number and no other; of several, the
 * nearest to the number (Double.toString() since Java 19; earlier Javas sometimes write one digit
 * more). Just above a power of two the nearest digits may read as another number, and the next ones
 * as this one.
 */
static struct decimal shortest(double number) {
    struct decimal decimal = {0};
    for (int count = 2; count <= MOST_DIGITS; count++) {
        decimal = round_to(number, count, false);
        if (value_of(&decimal) == number)
            break;
        decimal = round_to(number, count, true);
        if (value_of(&decimal) == number)
            break;
    }
    while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
        decimal.count--;
    return decimal;
}

/* Adds the digits from `begin` to before `end`, at least one, with zeros behind the last digit. */
static void add_digits(struct dueq__strbuf *text, const struct decimal *decimal, int begin,
                       int end) {
    do
        dueq__strbuf_byte(text, begin < decimal->count ? decimal->digits[begin] : '0');
    while (++begin < end);
}

void dueq__strbuf_double(struct dueq__strbuf *text, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bool negative = bits >> 63;
    if (negative)
        dueq__strbuf_byte(text, '-');
    if (number == 0) {
        dueq__strbuf_string(text, "0.0");
        return;
    }
    struct decimal decimal = shortest(negative ? -number : number);
    int count = decimal.count, point = decimal.point;
    /* Plain from 10^-3 to below 10^7; else one digit, the point, the rest and the power of ten. */
    if (point > 0 && point <= 7) {
        add_digits(text, &decimal, 0, point);
        dueq__strbuf_byte(text, '.');
        add_digits(text, &decimal, point, count);
    } else if (point <= 0 && point > -3) {
        dueq__strbuf_string(text, "0.");
        for (int zeros = point; zeros < 0; zeros++)
            dueq__strbuf_byte(text, '0');
        add_digits(text, &decimal, 0, count);
    } else {
        add_digits(text, &decimal, 0, 1);
        dueq__strbuf_byte(text, '.');
        add_digits(text, &decimal, 1, count);
        dueq__strbuf_byte(text, 'E');
        dueq__strbuf_number(text, point - 1);
    }
}

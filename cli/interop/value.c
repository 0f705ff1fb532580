#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

/* Room for a number or a word, and for blanks around it. */
#define SHORT 512

/* The words for the members of an enum, from 0 on; NULL: this member has no word. */
static const char *const codecs[] = {"kryo5",   "bytes",      "string",   "long",
                                     "jackson", "typed-json", "jackson3", "typed-json3"};
static const char *const layouts[] = {NULL, "new", "old"};
static const char *const kinds[] = {"null",   "bool",   "int",   "long",
                                    "double", "string", "bytes", "json"};
#define COUNT(words) (sizeof(words) / sizeof *(words))

/* The index of a word, or `count`. */
static size_t place(const char *word, const char *const words[], size_t count) {
    size_t i = 0;
    while (i < count && (!words[i] || strcmp(words[i], word) != 0))
        i++;
    return i;
}

dueq_codec value_codec(const struct cli *cli, const char *name) {
    size_t found = place(name, codecs, COUNT(codecs));
    if (found == COUNT(codecs))
        cli_usage(
            cli,
            "--codec %s is unknown: kryo5, bytes, string, long, jackson, typed-json, jackson3, "
            "typed-json3",
            name);
    return (dueq_codec)found;
}

dueq_layout value_layout(const struct cli *cli, const char *name) {
    size_t found = place(name, layouts, COUNT(layouts));
    if (found == COUNT(layouts))
        cli_usage(cli, "--layout %s is unknown: new or old", name);
    return (dueq_layout)found;
}

dueq_kind value_kind(const struct cli *cli, const char *type, dueq_codec codec) {
    if (!type)
        return codec == DUEQ_CODEC_BYTES  ? DUEQ_BINARY
               : codec == DUEQ_CODEC_LONG ? DUEQ_LONG
                                          : DUEQ_STRING;
    size_t found = place(type, kinds, COUNT(kinds));
    if (found == COUNT(kinds))
        cli_usage(cli, "--type %s is unknown: string, int, long, double, bool, bytes, json, null",
                  type);
    return (dueq_kind)found;
}

/* Reading */

/*
 * Copies the text without blanks and line ends behind it. False: it is empty, too long, or has a
 * NUL.
 */
static bool shorten(dueq_bytes text, char out[SHORT]) {
    const char *data = text.data;
    size_t size = text.size;
    while (size > 0 && data[size - 1] && strchr(" \t\r\n", data[size - 1]))
        size--;
    if (size == 0 || size >= SHORT || memchr(data, '\0', size))
        return false;
    memcpy(out, data, size);
    out[size] = '\0';
    return true;
}

static bool read_integer(const char *word, dueq_value *value) {
    char *end = NULL;
    errno = 0;
    value->integer = strtoll(word, &end, 10);
    return errno == 0 && end != word && !*end &&
           (value->kind == DUEQ_LONG ||
            (value->integer >= INT32_MIN && value->integer <= INT32_MAX));
}

static bool read_double(const char *word, dueq_value *value) {
    char *end = NULL;
    errno = 0;
    value->number = strtod(word, &end);
    return end != word && !*end && !(errno == ERANGE && isinf(value->number));
}

static bool read_boolean(const char *word, dueq_value *value) {
    value->integer = strcmp(word, "true") == 0;
    return value->integer || strcmp(word, "false") == 0;
}

/* Turns a JSON number into the narrowest kind that holds it. The codec checks any other text. */
static void narrow(const char *text, dueq_value *value) {
    char *end = NULL;
    size_t sign = text[0] == '-';
    if (!isdigit((unsigned char)text[sign]) ||
        (text[sign] == '0' && isdigit((unsigned char)text[sign + 1])) ||
        text[strspn(text, "0123456789+-.eE")])
        return;
    errno = 0;
    long long integer = strtoll(text, &end, 10);
    if (errno == 0 && !*end) {
        value->kind = integer < INT32_MIN || integer > INT32_MAX ? DUEQ_LONG : DUEQ_INTEGER;
        value->integer = integer;
    } else if (strpbrk(text, ".eE")) {
        double number = strtod(text, &end);
        if (!*end && isfinite(number)) {
            value->kind = DUEQ_DOUBLE;
            value->number = number;
        }
    }
}

bool value_read(dueq_kind kind, dueq_bytes text, dueq_value *value) {
    static const char *const what[] = {NULL, "true or false", "a whole number of 32 bits",
                                       "a whole number of 64 bits", "a number that a double holds"};
    static bool (*const readers[])(const char *, dueq_value *) = {NULL, read_boolean, read_integer,
                                                                  read_integer, read_double};
    char word[SHORT];
    *value = (dueq_value){.kind = kind};
    if (kind >= DUEQ_STRING) {
        value->bytes = text;
        if (kind == DUEQ_JSON && shorten(text, word))
            narrow(word, value);
    } else if (kind != DUEQ_NULL && !(shorten(text, word) && readers[kind](word, value))) {
        cli_log(CLI_ERROR, NULL, NULL, "%.*s is not %s, as its --type or --codec says",
                (int)(text.size < SHORT ? text.size : SHORT),
                text.size ? (const char *)text.data : "", what[kind]);
        return false;
    }
    return true;
}

/* Writing */

/* The shortest text that reads as this number, with a point: 0.1, 1.0, 1e+300. */
static const char *double_text(double number, char out[TIME_ROOM]) {
    if (!isfinite(number))
        return isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, TIME_ROOM, "%.*g", digits, number);
        if (strtod(out, NULL) == number)
            break;
    }
    if (!strpbrk(out, ".e"))
        strcat(out, ".0");
    return out;
}

void value_put(const dueq_value *value, bool alone) {
    char room[TIME_ROOM];
    switch (value->kind) {
    case DUEQ_NULL:
        fputs("null", cli_out);
        break;
    case DUEQ_BOOLEAN:
        fputs(value->integer ? "true" : "false", cli_out);
        break;
    case DUEQ_INTEGER:
    case DUEQ_LONG:
        fprintf(cli_out, "%lld", (long long)value->integer);
        break;
    case DUEQ_DOUBLE:
        fputs(double_text(value->number, room), cli_out);
        break;
    case DUEQ_STRING:
    case DUEQ_BINARY:
    case DUEQ_JSON:
        (alone ? cli_put_lines : cli_put)(value->bytes);
        break;
    }
}

void value_add(json_object *object, const dueq_value *value) {
    char room[TIME_ROOM];
    json_object_object_add(object, "type", json_name(kinds[value->kind]));
    switch (value->kind) {
    case DUEQ_NULL:
        json_object_object_add(object, "value", NULL);
        break;
    case DUEQ_BOOLEAN:
        json_object_object_add(object, "value", json_object_new_boolean(value->integer != 0));
        break;
    case DUEQ_INTEGER:
    case DUEQ_LONG:
        json_object_object_add(object, "value", json_object_new_int64(value->integer));
        break;
    case DUEQ_DOUBLE: {
        const char *text = double_text(value->number, room);
        json_object_object_add(object, "value",
                               isfinite(value->number) ? json_raw((dueq_bytes){text, strlen(text)})
                                                       : json_name(text));
        break;
    }
    case DUEQ_JSON:
        json_object_object_add(object, "value", json_raw(value->bytes));
        break;
    case DUEQ_STRING:
    case DUEQ_BINARY:
        json_add_bytes(object, "value", value->bytes);
        break;
    }
}

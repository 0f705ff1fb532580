#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

const char *dueq_status_name(dueq_status status) {
    switch (status) {
#define NAME_CASE(code, name, retriable, text)                                                     \
    case DUEQ_##name:                                                                              \
        return #name;
        DUEQ_STATUS_TABLE(NAME_CASE)
    }
    return "UNKNOWN";
}

const char *dueq_status_text(dueq_status status) {
    switch (status) {
#define TEXT_CASE(code, name, retriable, text)                                                     \
    case DUEQ_##name:                                                                              \
        return text;
        DUEQ_STATUS_TABLE(TEXT_CASE)
    }
    return "a status that this version does not know";
}

int dueq_status_retriable(dueq_status status) {
    switch (status) {
#define RETRIABLE_CASE(code, name, retriable, text)                                                \
    case DUEQ_##name:                                                                              \
        return retriable;
        DUEQ_STATUS_TABLE(RETRIABLE_CASE)
    }
    return 0;
}

const char *dueq_state_name(dueq_state state) {
    static const char *const names[] = {"unknown", "ready", "delayed", "leased", "dead"};
    return names[state >= DUEQ_READY && state <= DUEQ_DEAD ? (int)state : 0];
}

const char *dueq_version(void) { return DUEQ_VERSION; }

/* Would a terminal obey the character of this size, or show it as something else? */
static bool is_obeyed(const unsigned char *at, size_t size) {
    unsigned second = size > 1 ? at[1] : 0, third = size > 2 ? at[2] : 0;
    switch (at[0]) {
    case 0xC2: /* C1 controls */
        return second < 0xA0;
    case 0xD8: /* from here on marks of direction, and ends of lines: U+061C, U+200E ... U+2069 */
        return second == 0x9C;
    case 0xE2:
        return (second == 0x80 &&
                (third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE))) ||
               (second == 0x81 && third >= 0xA6 && third <= 0xA9);
    default:
        return at[0] < 0x20 || at[0] == 0x7F;
    }
}

void dueq__shown(char *out, size_t room, const char *text) {
    size_t left = strlen(text);
    char *end = out + room - 1;
    for (size_t size; left; text += size, left -= size) {
        const unsigned char *at = (const unsigned char *)text;
        size = dueq__utf8_length(at, left);
        bool good = size && !is_obeyed(at, size);
        size = size ? size : 1;
        if ((size_t)(end - out) < (good ? size : 4 * size))
            break;
        for (size_t i = 0; i < size; i++)
            out += good ? (*out = text[i], 1) : sprintf(out, "\\x%02x", at[i]);
    }
    *out = '\0';
}

dueq_status dueq__fail(struct dueq__error *error, dueq_status status, const char *format, ...) {
    error->status = status;
    error->passing = DUEQ__STAYS;
    if (!format) {
        snprintf(error->text, sizeof error->text, "%s", dueq_status_text(status));
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    char text[sizeof error->text];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dueq__shown(error->text, sizeof error->text, text);
    return status;
}

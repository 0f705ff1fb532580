#include <stdarg.h>
#include <stdio.h>

#include "base.h"

struct row {
    dueq_status status;
    const char *name;
    int retriable;
    const char *text;
};

static const struct row *find(dueq_status status) {
    static const struct row rows[] = {
#define ROW(code, name, retriable, text) {DUEQ_##name, #name, retriable, text},
        DUEQ_STATUS_TABLE(ROW)};
    static const struct row unknown = {0, "UNKNOWN", 0, "a status that this version does not know"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return &rows[i];
    return &unknown;
}

const char *dueq_status_name(dueq_status status) { return find(status)->name; }

const char *dueq_status_text(dueq_status status) { return find(status)->text; }

int dueq_status_retriable(dueq_status status) { return find(status)->retriable; }

const char *dueq_state_name(dueq_state state) {
    static const char *const names[] = {"unknown", "ready", "delayed", "leased", "dead", "outbox"};
    return names[state >= DUEQ_READY && state <= DUEQ_OUTBOX ? (int)state : 0];
}

const char *dueq_version(void) { return DUEQ_VERSION; }

/*
 * Whether a terminal would obey the character, or show the text in another order: control
 * characters, ends of lines and marks of direction.
 */
static bool is_terminal_control(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

static unsigned code_point(const unsigned char *at, size_t size) {
    unsigned code = size == 1 ? at[0] : at[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (at[i] & 0x3FU);
    return code;
}

void dueq_escape(char *out, size_t room, const char *text) {
    size_t left = strlen(text);
    const char *end = out + room;
    for (size_t size; left; text += size, left -= size) {
        const unsigned char *at = (const unsigned char *)text;
        char shown[8];
        size = dueq__utf8_length(at, left);
        unsigned code = size ? code_point(at, size) : at[0];
        if (size && !is_terminal_control(code))
            snprintf(shown, sizeof shown, "%.*s", (int)size, text);
        else
            snprintf(shown, sizeof shown, code < 0x80 || !size ? "\\x%02x" : "\\u%04x",
                     code & 0xFFFFU);
        size = size ? size : 1;
        if (strlen(shown) >= (size_t)(end - out))
            break;
        out = stpcpy(out, shown);
    }
    *out = '\0';
}

dueq_status dueq__fail(struct dueq__error *error, dueq_status status, const char *format, ...) {
    error->status = status;
    error->recovery = DUEQ__PERMANENT;
    va_list arguments;
    va_start(arguments, format);
    char text[sizeof error->text];
    vsnprintf(text, sizeof text, format ? format : dueq_status_text(status), arguments);
    va_end(arguments);
    dueq_escape(error->text, sizeof error->text, text);
    return status;
}

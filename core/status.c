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

dueq_status dueq__fail(struct dueq__error *error, dueq_status status, const char *format, ...) {
    error->status = status;
    error->passing = DUEQ__STAYS;
    if (!format) {
        snprintf(error->text, sizeof error->text, "%s", dueq_status_text(status));
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

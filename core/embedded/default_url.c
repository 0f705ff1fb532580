#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embedded.h"

static bool is_absolute(const char *path) { return path && *path == '/'; }

/* The URL of the embedded server in the directory `parent` + `within`; NULL: out of memory. */
static char *embedded_url(const char *parent, const char *within) {
    char *url = malloc(strlen("embedded:") + 3 * strlen(parent) + strlen(within) + 1);
    if (!url)
        return NULL;
    char *out = url + sprintf(url, "embedded:");
    for (; *parent; parent++)
        out += sprintf(out, strchr("%?", *parent) ? "%%%02X" : "%c", (unsigned char)*parent);
    strcpy(out, within);
    return url;
}

dueq_status dueq__default_url(char **url, bool *named, struct dueq__error *error) {
    const char *set = getenv("DUEQ_URL"), *required = getenv("DUEQ_REQUIRE_URL");
    const char *state = getenv("XDG_STATE_HOME"), *within = "/dueq";
    *named = set && *set;
    if (!*named && required && strcmp(required, "1") == 0)
        return dueq__fail(error, DUEQ_URL,
                          "no server is named, and DUEQ_REQUIRE_URL=1 permits no embedded one: set "
                          "DUEQ_URL, for example to redis://127.0.0.1:6379/0");
    if (!is_absolute(state)) {
        state = getenv("HOME");
        within = "/.local/state/dueq";
    }
    if (!*named && !is_absolute(state)) {
        const struct passwd *user = getpwuid(getuid());
        state = user ? user->pw_dir : NULL;
    }
    if (!*named && !is_absolute(state))
        return dueq__fail(error, DUEQ_URL,
                          "no server is named, and this user (uid %ju) has no home directory for "
                          "an embedded one: set DUEQ_URL, or HOME or XDG_STATE_HOME to an absolute "
                          "path",
                          (uintmax_t)getuid());
    *url = *named ? strdup(set) : embedded_url(state, within);
    return *url ? DUEQ_OK : dueq__fail(error, DUEQ_NO_MEMORY, NULL);
}

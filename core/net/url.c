#include <ctype.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

/* A stretch of the URL's text. */
struct part {
    const char *at;
    size_t size;
};

static bool equals(struct part part, const char *text) {
    return part.size == strlen(text) && memcmp(part.at, text, part.size) == 0;
}

/* Takes what stands before the first `mark`, and the mark, off `rest`; false: there is none. */
static bool cut(struct part *rest, char mark, struct part *before) {
    const char *found = memchr(rest->at, mark, rest->size);
    if (!found)
        return false;
    *before = (struct part){rest->at, (size_t)(found - rest->at)};
    rest->size -= before->size + 1;
    rest->at = found + 1;
    return true;
}

static int hex(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)tolower((unsigned char)digit);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* A copy with %XX decoded (RFC 3986, 2.1); NULL: malformed, or a NUL byte, or out of memory. */
static char *decode(struct part part) {
    char *text = malloc(part.size + 1), *out = text;
    for (size_t i = 0; text && i < part.size; i++) {
        char byte = part.at[i];
        if (byte == '%') {
            int high = i + 2 < part.size ? hex(part.at[i + 1]) : -1;
            int low = i + 2 < part.size ? hex(part.at[i + 2]) : -1;
            if (high < 0 || low < 0 || high + low == 0) {
                free(text);
                return NULL;
            }
            byte = (char)(high * 16 + low);
            i += 2;
        }
        *out++ = byte;
    }
    if (text)
        *out = '\0';
    return text;
}

static bool read_number(struct part part, long most, int *number) {
    long value = 0;
    if (part.size == 0 || part.size > 9)
        return false;
    for (size_t i = 0; i < part.size; i++) {
        if (!isdigit((unsigned char)part.at[i]))
            return false;
        value = value * 10 + (part.at[i] - '0');
    }
    *number = (int)value;
    return value <= most;
}

/* 500ms, 10s, 1.5m; a bare number is seconds. (strtod() would follow the locale.) */
static bool read_duration(struct part part, int64_t *ms) {
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"ms", 1}, {"", 1000}, {"s", 1000}, {"m", 60000}};
    double value = 0, place = 1;
    bool fraction = false;
    size_t i = 0;
    for (;
         i < part.size && (isdigit((unsigned char)part.at[i]) || (part.at[i] == '.' && !fraction));
         i++) {
        if (part.at[i] == '.') {
            fraction = true;
            continue;
        }
        value = value * 10 + (part.at[i] - '0');
        place = fraction ? place * 10 : 1;
    }
    struct part unit = {part.at + i, part.size - i};
    for (size_t k = 0; i > 0 && k < sizeof units / sizeof *units; k++) {
        double found = value / place * units[k].factor;
        if (equals(unit, units[k].name) && found >= 1 && found <= 86400000.0) {
            *ms = (int64_t)found;
            return true;
        }
    }
    return false;
}

static dueq_status refuse(struct dueq__error *error, const char *what) {
    return dueq__fail(error, DUEQ_URL,
                      "not a valid server URL: %s. Examples: redis://127.0.0.1:6379/0 "
                      "rediss://user:password@host unix:///run/redis.sock embedded:/var/lib/shop",
                      what);
}

static dueq_status read_parameters(struct dueq__url *url, struct part rest,
                                   struct dueq__error *error) {
    while (rest.size > 0) {
        struct part pair = rest, name;
        if (!cut(&rest, '&', &pair))
            rest.size = 0;
        if (!cut(&pair, '=', &name))
            return refuse(error, "a parameter without a value");
        char **file = equals(name, "ca")     ? &url->ca
                      : equals(name, "cert") ? &url->cert
                      : equals(name, "key")  ? &url->key
                                             : NULL;
        if (file) {
            free(*file);
            if (!(*file = decode(pair)))
                return refuse(error, "a file's name that cannot be decoded");
        } else if (equals(name, "timeout")) {
            if (!read_duration(pair, &url->timeout_ms))
                return refuse(error, "timeout wants a time such as 500ms, 10s or 1m, up to a day");
        } else if (equals(name, "evicting")) {
            if (!equals(pair, "accept"))
                return refuse(error, "evicting wants accept");
            url->evicting = true;
        } else if (equals(name, "db")) {
            if (!read_number(pair, INT_MAX, &url->db))
                return refuse(error, "db wants a number");
        } else {
            return refuse(error,
                          "an unknown parameter (known: timeout, db, ca, cert, key, evicting)");
        }
    }
    return DUEQ_OK;
}

/* user:password@, :password@ or nothing; rest is left behind the @. */
static dueq_status read_login(struct dueq__url *url, struct part *authority,
                              struct dueq__error *error) {
    const char *at = NULL;
    for (size_t i = 0; i < authority->size && authority->at[i] != '/'; i++)
        if (authority->at[i] == '@')
            at = authority->at + i;
    if (!at)
        return DUEQ_OK;
    struct part login = {authority->at, (size_t)(at - authority->at)}, user = {"", 0};
    authority->size -= login.size + 1;
    authority->at = at + 1;
    if (!cut(&login, ':', &user))
        return refuse(error, "a user without a password (user:password@host)");
    if (user.size && !(url->user = decode(user)))
        return refuse(error, "a user that cannot be decoded");
    if (!(url->password = decode(login)))
        return refuse(error, "a password that cannot be decoded");
    return DUEQ_OK;
}

static dueq_status read_network(struct dueq__url *url, struct part rest,
                                struct dueq__error *error) {
    struct part authority = rest, path = {"", 0};
    if (cut(&rest, '/', &authority))
        path = rest;
    if (read_login(url, &authority, error))
        return error->status;
    struct part host = authority, port = {"", 0};
    if (host.size && host.at[0] == '[') {
        authority.at++;
        authority.size--;
        if (!cut(&authority, ']', &host))
            return refuse(error, "an IPv6 address without its closing bracket");
        if (authority.size && authority.at[0] != ':')
            return refuse(error, "something between the address and the port");
        if (authority.size)
            port = (struct part){authority.at + 1, authority.size - 1};
        else
            authority.at = NULL;
    } else if (cut(&authority, ':', &host)) {
        port = authority;
    } else {
        authority.at = NULL;
    }
    url->port = 6379;
    if (authority.at && (!read_number(port, 65535, &url->port) || url->port == 0))
        return refuse(error, "the port is not a number from 1 to 65535");
    if (path.size && !read_number(path, INT_MAX, &url->db))
        return refuse(error, "the database after the host is not a number");
    url->host = host.size ? decode(host) : strdup("127.0.0.1");
    return url->host ? DUEQ_OK : refuse(error, "a host that cannot be decoded");
}

static dueq_status read_path(struct dueq__url *url, struct part rest, struct dueq__error *error) {
    if (url->transport == DUEQ__UNIX && rest.size && rest.at[0] != '/' &&
        read_login(url, &rest, error))
        return error->status;
    const char *slash = memchr(rest.at, '/', rest.size);
    if (url->transport == DUEQ__UNIX && slash && memchr(rest.at, ':', (size_t)(slash - rest.at)))
        return refuse(error, "a login without its @ (write a / in a password as %2F)");
    if (rest.size == 0)
        return refuse(error, url->transport == DUEQ__UNIX ? "no path to the socket"
                                                          : "no directory after embedded:");
    url->path = decode(rest);
    return url->path ? DUEQ_OK : refuse(error, "a path that cannot be decoded");
}

/* The URL with *** for its password, for people to read. */
static char *hide_password(const struct dueq__url *url, const char *text) {
    const char *scheme = strstr(text, "://");
    const char *end = scheme ? scheme + 3 + strcspn(scheme + 3, "/?") : NULL;
    const char *at = NULL;
    for (const char *c = scheme; c && c < end; c++)
        if (*c == '@')
            at = c;
    if (!url->password || !at)
        return strdup(text);
    const char *colon = strchr(scheme + 3, ':');
    char *shown = malloc(strlen(text) + 4);
    if (shown)
        sprintf(shown, "%.*s:***%s", (int)(colon - text), text, at);
    return shown;
}

dueq_status dueq__url_parse(struct dueq__url *url, const char *text, struct dueq__error *error) {
    static const struct {
        const char *prefix;
        enum dueq__transport transport;
    } schemes[] = {{"redis://", DUEQ__TCP},
                   {"rediss://", DUEQ__TLS},
                   {"unix://", DUEQ__UNIX},
                   {"embedded:", DUEQ__EMBEDDED}};
    *url = (struct dueq__url){.timeout_ms = DUEQ_DEFAULT_TIMEOUT_MS};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].prefix);
        if (strncmp(text, schemes[i].prefix, length) != 0)
            continue;
        url->transport = schemes[i].transport;
        struct part rest = {text + length, strlen(text + length)}, before;
        struct part parameters = rest;
        if (cut(&parameters, '?', &before)) {
            rest = before;
            if (read_parameters(url, parameters, error))
                return error->status;
        }
        bool network = url->transport == DUEQ__TCP || url->transport == DUEQ__TLS;
        if ((network ? read_network : read_path)(url, rest, error))
            return error->status;
        if (url->transport != DUEQ__TLS && (url->ca || url->cert || url->key))
            return refuse(error, "ca, cert and key go with rediss:// only");
        url->shown = hide_password(url, text);
        return url->shown ? DUEQ_OK : dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    }
    return refuse(error, "it begins with none of redis:// rediss:// unix:// embedded:");
}

void dueq__url_clear(struct dueq__url *url) {
    char *const texts[] = {url->host, url->path, url->user, url->password,
                           url->ca,   url->cert, url->key,  url->shown};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    *url = (struct dueq__url){0};
}

/* The URL of the embedded server in a directory of this name; NULL: out of memory. */
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

dueq_status dueq__url_default(char **url, struct dueq__error *error) {
    const char *set = getenv("DUEQ_URL");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), *within = "/dueq";
    bool named = set && *set;
    if (!state || *state != '/') {
        state = home;
        within = "/.local/state/dueq";
    }
    if (!named && (!state || *state != '/')) {
        const struct passwd *user = getpwuid(getuid());
        state = user ? user->pw_dir : NULL;
    }
    if (!named && (!state || *state != '/'))
        return dueq__fail(error, DUEQ_URL,
                          "no server is named, and this user (uid %ju) has no home directory for "
                          "an embedded one: set DUEQ_URL, or HOME or XDG_STATE_HOME to an absolute "
                          "path",
                          (uintmax_t)getuid());
    *url = named ? strdup(set) : embedded_url(state, within);
    return *url ? DUEQ_OK : dueq__fail(error, DUEQ_NO_MEMORY, NULL);
}

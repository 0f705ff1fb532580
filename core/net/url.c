#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "net.h"

#define SENTINEL_PORT 26379

/* The parser cuts and decodes the parts of the URL in place, in a copy. */

/* Ends the text at the first mark, and returns the text behind the mark; NULL: there is no mark. */
static char *cut(char *text, char mark) {
    char *found = strchr(text, mark);
    if (found)
        *found++ = '\0';
    return found;
}

static bool read_number(const char *text, int most, int *number) {
    int64_t found;
    bool good = dueq__read_number(dueq__text(text), 0, most, &found);
    *number = good ? (int)found : -1;
    return good;
}

/* A timeout: a millisecond to a day. */
static bool read_duration(const char *text, int64_t *ms) {
    *ms = dueq_duration_ms(text);
    return *ms >= 1 && *ms <= 86400000;
}

static dueq_status refuse(struct dueq__error *error, const char *what) {
    return dueq__fail(error, DUEQ_URL,
                      "not a valid server URL: %s. Examples: redis://127.0.0.1:6379/0 "
                      "rediss://user:password@host unix:///run/redis.sock embedded:/var/lib/shop "
                      "redis+sentinel://s1,s2,s3/mymaster redis+cluster://h1,h2,h3",
                      what);
}

/* Decodes %XX in place (RFC 3986, 2.1). Refuses what is malformed, or a NUL byte. */
static dueq_status decode(char *text, const char *what, struct dueq__error *error) {
    char *out = text;
    for (; *text; text++) {
        char byte = *text;
        if (byte == '%') {
            const char pair[] = {text[1], text[1] ? text[2] : '\0', '\0'};
            byte = (char)strtol(pair, NULL, 16);
            if (strspn(pair, "0123456789abcdefABCDEF") != 2 || !byte)
                return refuse(error, what);
            text += 2;
        }
        *out++ = byte;
    }
    *out = '\0';
    return DUEQ_OK;
}

/*
 * Replaces a secret by *** in the URL that errors show. That moves the text behind the secret. So
 * secrets further behind in the URL must have been hidden before.
 */
static void hide(struct dueq__url *url, const char *secret) {
    char *shown = url->shown + (secret - url->text), *end = shown + strlen(secret);
    memmove(shown + 3, end, strlen(end) + 1);
    memcpy(shown, "***", 3);
}

/* Addresses: host, host:port, [IPv6]:port */

/* port: the default; 0: the text must have a port. */
static dueq_status read_address(struct dueq__address *address, char *host, int port,
                                struct dueq__error *error) {
    char *given;
    if (*host == '[') {
        char *end = strchr(++host, ']');
        if (!end)
            return refuse(error, "an IPv6 address without its closing bracket");
        *end++ = '\0';
        if (*end && *end != ':')
            return refuse(error, "something between the address and the port");
        given = *end ? end + 1 : NULL;
    } else {
        given = cut(host, ':');
    }
    if (!given && !port)
        return refuse(error, "an address in map without its port");
    if (given && (!read_number(given, 65535, &port) || port == 0))
        return refuse(error, "the port is not a number from 1 to 65535");
    *address = (struct dueq__address){*host ? host : "127.0.0.1", port};
    return decode(host, "a host that cannot be decoded", error);
}

/* Room for the items of a list, which commas separate; NULL: error is set. */
static void *items_of(const char *list, size_t size, struct dueq__error *error) {
    size_t count = 1;
    for (; *list; list++)
        count += *list == ',';
    void *items = calloc(count, size);
    if (!items)
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    return items;
}

static dueq_status read_hosts(struct dueq__url *url, char *list, struct dueq__error *error) {
    const bool several = strchr(list, ',');
    if (several && url->topology == DUEQ__SINGLE)
        return refuse(error, "several hosts go with redis+sentinel:// and redis+cluster:// only");
    if (!(url->hosts = items_of(list, sizeof *url->hosts, error)))
        return error->status;
    for (char *next; list; list = next) {
        next = cut(list, ',');
        if (several && !*list)
            return refuse(error, "nothing between two commas, where a host should be");
        if (read_address(&url->hosts[url->host_count++], list,
                         url->topology == DUEQ__SENTINEL ? SENTINEL_PORT : 6379, error))
            return error->status;
    }
    return DUEQ_OK;
}

/* announced-host:port=real-host:port,... */
static dueq_status read_map(struct dueq__url *url, char *list, struct dueq__error *error) {
    if (url->map)
        return refuse(error, "map twice (its parts are separated by commas)");
    if (!(url->map = items_of(list, sizeof *url->map, error)))
        return error->status;
    for (char *next; list; list = next) {
        struct dueq__mapping *mapping = &url->map[url->map_count++];
        next = cut(list, ',');
        char *real = cut(list, '=');
        if (!real || !*list || *list == ':' || !*real || *real == ':')
            return refuse(error, "map wants announced-host:port=real-host:port, ...");
        if (read_address(&mapping->announced, list, 0, error) ||
            read_address(&mapping->real, real, 0, error))
            return error->status;
    }
    return DUEQ_OK;
}

struct dueq__address dueq__url_reach(const struct dueq__url *url, struct dueq__address announced) {
    for (size_t i = 0; i < url->map_count; i++)
        if (url->map[i].announced.port == announced.port &&
            strcasecmp(url->map[i].announced.host, announced.host) == 0)
            return url->map[i].real;
    return announced;
}

void dueq__address_show(struct dueq__address address, char out[DUEQ__SHOWN_ADDRESS]) {
    snprintf(out, DUEQ__SHOWN_ADDRESS, strchr(address.host, ':') ? "[%s]:%d" : "%s:%d",
             address.host, address.port);
}

/* The parts of a URL */

enum kind { TEXT, TIME, NUMBER, MAP, ACCEPT };
enum { TLS_URL = 1, SENTINEL_URL = 2, SEVERAL_URL = 4 };

static const struct parameter {
    const char *name;
    enum kind kind;
    size_t place;  /* the member of struct dueq__url */
    unsigned with; /* the URLs that may have it; 0: any URL */
    int most;      /* of a number */
    const char *wants;
} parameters[] = {
#define PLACE(member) offsetof(struct dueq__url, member)
    {"timeout", TIME, PLACE(timeout_ms), 0, 0,
     "timeout wants a time such as 500ms, 10s or 1m, up to a day"},
    {"db", NUMBER, PLACE(db), 0, INT_MAX, "db wants a number"},
    {"ca", TEXT, PLACE(ca), TLS_URL, 0, NULL},
    {"cert", TEXT, PLACE(cert), TLS_URL, 0, NULL},
    {"key", TEXT, PLACE(key), TLS_URL, 0, NULL},
    {"tls_name", TEXT, PLACE(tls_name), TLS_URL, 0, NULL},
    {"evicting", ACCEPT, PLACE(accepts_evicting), 0, 0, "evicting wants accept"},
    {"replicas", NUMBER, PLACE(durability.replicas), 0, DUEQ_MAX_REPLICAS,
     "replicas wants a number, up to 100"},
    {"disk", NUMBER, PLACE(durability.disk), 0, 1, "disk wants 1 or 0"},
    {"durable_timeout", TIME, PLACE(durability.timeout_ms), 0, 0,
     "durable_timeout wants a time such as 500ms, 2s or 1m, up to a day"},
    {"map", MAP, PLACE(map), SEVERAL_URL, 0, NULL},
    {"sentinel_user", TEXT, PLACE(sentinel.user), SENTINEL_URL, 0, NULL},
    {"sentinel_password", TEXT, PLACE(sentinel.password), SENTINEL_URL, 0, NULL},
    {"sentinel_ca", TEXT, PLACE(sentinel.ca), SENTINEL_URL | TLS_URL, 0, NULL},
    {"sentinel_cert", TEXT, PLACE(sentinel.cert), SENTINEL_URL | TLS_URL, 0, NULL},
    {"sentinel_key", TEXT, PLACE(sentinel.key), SENTINEL_URL | TLS_URL, 0, NULL},
};

static dueq_status read_text(struct dueq__url *url, const char **place, char *value,
                             struct dueq__error *error) {
    if (place == &url->sentinel.password && *place)
        return refuse(error, "sentinel_password twice");
    if (place == &url->sentinel.password)
        hide(url, value);
    *place = value;
    return decode(value, "a value that cannot be decoded", error);
}

static dueq_status read_parameter(struct dueq__url *url, char *name, struct dueq__error *error) {
    char *value = cut(name, '=');
    const struct parameter *known = parameters, *end = known + sizeof parameters / sizeof *known;
    while (known < end && strcmp(name, known->name) != 0)
        known++;
    if (!value)
        return refuse(error, "a parameter without a value");
    if (known == end)
        return refuse(error, "an unknown parameter (known: timeout, db, ca, cert, key, tls_name, "
                             "evicting, replicas, disk, durable_timeout, map, sentinel_user, "
                             "sentinel_password, sentinel_ca, sentinel_cert, sentinel_key)");
    if ((known->with & SENTINEL_URL) && url->topology != DUEQ__SENTINEL)
        return refuse(error, "what begins with sentinel_ goes with redis+sentinel:// only");
    if ((known->with & TLS_URL) && url->transport != DUEQ__TLS)
        return refuse(error, "ca, cert, key and tls_name, and those of the sentinels, go with "
                             "rediss:// and rediss+sentinel:// only");
    if ((known->with & SEVERAL_URL) && url->topology == DUEQ__SINGLE)
        return refuse(error, "map goes with redis+sentinel:// and redis+cluster:// only");
    void *place = (char *)url + known->place;
    bool good = false;
    switch (known->kind) {
    case TEXT:
        return read_text(url, place, value, error);
    case MAP:
        return read_map(url, value, error);
    case TIME:
        good = read_duration(value, place);
        break;
    case NUMBER:
        good = read_number(value, known->most, place);
        break;
    case ACCEPT:
        good = url->accepts_evicting = strcmp(value, "accept") == 0;
        break;
    }
    return good ? DUEQ_OK : refuse(error, known->wants);
}

/* Reads "user:password@", ":password@" or nothing. *rest is then behind the @. */
static dueq_status read_login(struct dueq__url *url, char **rest, struct dueq__error *error) {
    char *user = *rest, *at = user + strcspn(user, "/");
    while (at > user && *at != '@')
        at--;
    if (*at != '@')
        return DUEQ_OK;
    *at = '\0';
    *rest = at + 1;
    if (url->topology != DUEQ__SINGLE && strchr(user, ','))
        return refuse(error, "the login is not before the first host, or has a comma (write %2C)");
    char *password = cut(user, ':');
    if (!password)
        return refuse(error, "a user without a password (user:password@host)");
    hide(url, password);
    url->user = *user ? user : NULL;
    url->password = password;
    return decode(user, "a user that cannot be decoded", error)
               ? error->status
               : decode(password, "a password that cannot be decoded", error);
}

static dueq_status read_network(struct dueq__url *url, char *hosts, struct dueq__error *error) {
    char *db = cut(hosts, '/'), *primary = NULL;
    if (read_login(url, &hosts, error))
        return error->status;
    if (url->topology == DUEQ__SENTINEL) {
        primary = db;
        db = db ? cut(db, '/') : NULL;
        if (!primary || !*primary)
            return refuse(error, "no name of the primary, as the sentinels know it, behind the "
                                 "hosts");
    }
    if (read_hosts(url, hosts, error))
        return error->status;
    if (db && *db && !read_number(db, INT_MAX, &url->db))
        return refuse(error, "the database after the host is not a number");
    url->primary = primary;
    return primary ? decode(primary, "a primary's name that cannot be decoded", error) : DUEQ_OK;
}

static dueq_status read_path(struct dueq__url *url, char *path, struct dueq__error *error) {
    bool is_unix = url->transport == DUEQ__UNIX;
    if (is_unix && *path != '/' && read_login(url, &path, error))
        return error->status;
    if (is_unix && strchr(path, '/') && memchr(path, ':', strcspn(path, "/")))
        return refuse(error, "a login without its @ (write a / in a password as %2F)");
    if (!*path)
        return refuse(error, is_unix ? "no path to the socket" : "no directory after embedded:");
    url->path = path;
    return decode(path, "a path that cannot be decoded", error);
}

static dueq_status read_scheme(struct dueq__url *url, char *text, struct dueq__error *error) {
    static const struct {
        const char *prefix;
        enum dueq__transport transport;
        enum dueq__topology topology;
    } schemes[] = {{"redis://", DUEQ__TCP, DUEQ__SINGLE},
                   {"rediss://", DUEQ__TLS, DUEQ__SINGLE},
                   {"unix://", DUEQ__UNIX, DUEQ__SINGLE},
                   {"embedded:", DUEQ__EMBEDDED, DUEQ__SINGLE},
                   {"redis+sentinel://", DUEQ__TCP, DUEQ__SENTINEL},
                   {"rediss+sentinel://", DUEQ__TLS, DUEQ__SENTINEL},
                   {"redis-sentinel://", DUEQ__TCP, DUEQ__SENTINEL},
                   {"redis+cluster://", DUEQ__TCP, DUEQ__CLUSTER},
                   {"rediss+cluster://", DUEQ__TLS, DUEQ__CLUSTER}};
    char *parameter = cut(text, '?'), *next;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].prefix);
        if (strncmp(text, schemes[i].prefix, length) != 0)
            continue;
        url->transport = schemes[i].transport;
        url->topology = schemes[i].topology;
        for (; parameter && *parameter; parameter = next) {
            next = cut(parameter, '&');
            if (read_parameter(url, parameter, error))
                return error->status;
        }
        if (url->sentinel.user && !url->sentinel.password)
            return refuse(error, "sentinel_user without sentinel_password");
        bool network = url->transport == DUEQ__TCP || url->transport == DUEQ__TLS;
        return (network ? read_network : read_path)(url, text + length, error);
    }
    return refuse(error, "it begins with none of redis:// rediss:// unix:// embedded: "
                         "redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster://");
}

dueq_status dueq__url_parse(struct dueq__url *url, const char *text, struct dueq__error *error) {
    *url = (struct dueq__url){.timeout_ms = DUEQ_DEFAULT_TIMEOUT_MS};
    url->text = strdup(text);
    url->shown = malloc(strlen(text) + 2 * strlen("***") + 1);
    if (!url->text || !url->shown)
        return dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    strcpy(url->shown, text);
    dueq_status status = read_scheme(url, url->text, error);
    if (status) {
        /* A password may be anywhere in a URL that could not be parsed: nothing is shown. */
        free(url->shown);
        url->shown = NULL;
    }
    return status;
}

void dueq__url_clear(struct dueq__url *url) {
    free(url->hosts);
    free(url->map);
    free(url->text);
    free(url->shown);
    *url = (struct dueq__url){0};
}

/* The bytes as a server's URL. Of two URLs that differ in a password alone the same is shown. */
#include "fuzz.h"

/* Where the password stands in a good URL that has one. */
static dueq_bytes password_in(const char *text) {
    const char *begin = strstr(text, "://") + 3;
    size_t size = strcspn(begin, "/?");
    const char *at = memrchr(begin, '@', size), *colon = memchr(begin, ':', size);
    CHECK(at && colon && colon < at);
    return (dueq_bytes){colon + 1, (size_t)(at - colon - 1)};
}

/* Where the sentinels' stands, which the URL has. */
static dueq_bytes sentinel_password_in(const char *text) {
    static const char name[] = "sentinel_password=";
    const char *at = strchr(text, '?') + 1;
    while (strncmp(at, name, sizeof name - 1) != 0)
        at = strchr(at, '&') + 1;
    at += sizeof name - 1;
    return (dueq_bytes){at, strcspn(at, "&")};
}

/* The URL with something else in the place of a part of it; the caller frees it. */
static char *replace(const char *text, dueq_bytes part, const char *by) {
    const char *end = (const char *)part.data + part.size;
    char *changed = malloc(strlen(text) + strlen(by) + 1);
    CHECK(changed);
    sprintf(changed, "%.*s%s%s", (int)((const char *)part.data - text), text, by, end);
    return changed;
}

static void check_passwords(const struct dueq__url *url, const char *text) {
    static const char other[] = "another";
    char *changed = strdup(text), *shown = strdup(text), *before;
    /* The one that stands last first: the other stays where it is. */
    if (url->sentinel.password) {
        changed = replace(before = changed, sentinel_password_in(changed), other);
        free(before);
        shown = replace(before = shown, sentinel_password_in(shown), "***");
        free(before);
    }
    if (url->password) {
        changed = replace(before = changed, password_in(changed), other);
        free(before);
        shown = replace(before = shown, password_in(shown), "***");
        free(before);
    }
    CHECK(strcmp(url->shown, shown) == 0);
    struct dueq__url found;
    struct dueq__error error = {0};
    CHECK(dueq__url_parse(&found, changed, &error) == DUEQ_OK);
    CHECK(!url->password || strcmp(found.password, other) == 0);
    CHECK(!url->sentinel.password || strcmp(found.sentinel.password, other) == 0);
    CHECK(strcmp(found.shown, url->shown) == 0);
    dueq__url_clear(&found);
    free(changed);
    free(shown);
}

static void check(const struct dueq__url *url, const char *text) {
    bool network = url->transport == DUEQ__TCP || url->transport == DUEQ__TLS;
    CHECK((url->host_count == 0) == !network);
    CHECK(!url->path == network);
    CHECK(url->host_count <= 1 || url->topology != DUEQ__SINGLE);
    CHECK(!url->primary == (url->topology != DUEQ__SENTINEL));
    for (size_t i = 0; i < url->host_count; i++)
        CHECK(url->hosts[i].host && url->hosts[i].port >= 1 && url->hosts[i].port <= 65535);
    CHECK(url->db >= 0);
    CHECK(url->timeout_ms >= 1 && url->timeout_ms <= 86400000);
    CHECK(url->password || !url->user);
    CHECK(url->transport == DUEQ__TLS || (!url->ca && !url->cert && !url->key && !url->tls_name));
    CHECK(url->topology == DUEQ__SENTINEL || !url->sentinel.password);
    CHECK(url->topology != DUEQ__SINGLE || !url->map);
    for (size_t i = 0; i < url->map_count; i++) {
        struct dueq__address real = dueq__url_reach(url, url->map[i].announced);
        CHECK(real.port >= 1 && real.port <= 65535 && real.host[0]);
    }
    check_passwords(url, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    CHECK(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    struct dueq__url url;
    struct dueq__error error = {0};
    if (dueq__url_parse(&url, text, &error) == DUEQ_OK)
        check(&url, text);
    else
        CHECK(error.status == DUEQ_URL && error.text[0]);
    dueq__url_clear(&url);
    free(text);
    return 0;
}

/* The bytes as a server's URL. Of two URLs that differ in the password alone the same is shown. */
#include "fuzz.h"

/* Where the password stands in a good URL that has one. */
static dueq_bytes password_in(const char *text) {
    const char *begin = strstr(text, "://") + 3;
    size_t size = strcspn(begin, "/?");
    const char *at = memrchr(begin, '@', size), *colon = memchr(begin, ':', size);
    CHECK(at && colon && colon < at);
    return (dueq_bytes){colon + 1, (size_t)(at - colon - 1)};
}

static void check_password(const struct dueq__url *url, const char *text) {
    static const char other[] = "another";
    dueq_bytes password = password_in(text);
    const char *end = (const char *)password.data + password.size;
    char *changed = malloc(strlen(text) + sizeof other);
    CHECK(changed);
    sprintf(changed, "%.*s%s%s", (int)((const char *)password.data - text), text, other, end);
    struct dueq__url found;
    struct dueq__error error = {0};
    CHECK(dueq__url_parse(&found, changed, &error) == DUEQ_OK);
    CHECK(strcmp(found.password, other) == 0);
    CHECK(strcmp(found.shown, url->shown) == 0);
    sprintf(changed, "%.*s***%s", (int)((const char *)password.data - text), text, end);
    CHECK(strcmp(found.shown, changed) == 0);
    dueq__url_clear(&found);
    free(changed);
}

static void check(const struct dueq__url *url, const char *text) {
    bool network = url->transport == DUEQ__TCP || url->transport == DUEQ__TLS;
    CHECK(!url->host == !network);
    CHECK(!url->path == network);
    CHECK(!network || (url->port >= 1 && url->port <= 65535));
    CHECK(url->db >= 0);
    CHECK(url->timeout_ms >= 1 && url->timeout_ms <= 86400000);
    CHECK(url->password || !url->user);
    CHECK(url->transport == DUEQ__TLS || (!url->ca && !url->cert && !url->key));
    if (url->password)
        check_password(url, text);
    else
        CHECK(strcmp(url->shown, text) == 0);
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

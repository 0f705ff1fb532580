#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const redisReply *inside(const struct dueq__reply *reply) {
    return (const redisReply *)reply;
}

void dueq__reply_free(struct dueq__reply *reply) {
    if (reply)
        freeReplyObject(reply);
}

bool dueq__reply_is_error(const struct dueq__reply *reply) {
    return inside(reply)->type == REDIS_REPLY_ERROR;
}

bool dueq__reply_is_nil(const struct dueq__reply *reply) {
    return inside(reply)->type == REDIS_REPLY_NIL;
}

size_t dueq__reply_count(const struct dueq__reply *reply) {
    return inside(reply)->type == REDIS_REPLY_ARRAY ? inside(reply)->elements : 0;
}

const struct dueq__reply *dueq__reply_item(const struct dueq__reply *reply, size_t index) {
    static const redisReply nothing = {.type = REDIS_REPLY_NIL};
    bool there = index < dueq__reply_count(reply);
    return (const struct dueq__reply *)(there ? inside(reply)->element[index] : &nothing);
}

bool dueq__reply_bytes(const struct dueq__reply *reply, dueq_bytes *bytes) {
    const redisReply *in = inside(reply);
    if (in->type != REDIS_REPLY_STRING && in->type != REDIS_REPLY_STATUS)
        return false;
    *bytes = (dueq_bytes){in->str, (size_t)in->len};
    return true;
}

bool dueq__reply_number(const struct dueq__reply *reply, int64_t *number) {
    const redisReply *in = inside(reply);
    if (in->type == REDIS_REPLY_INTEGER) {
        *number = in->integer;
        return true;
    }
    if (in->type != REDIS_REPLY_STRING || in->len == 0)
        return false;
    char *end;
    *number = strtoll(in->str, &end, 10);
    return *end == '\0';
}

bool dueq__reply_is_noscript(const struct dueq__reply *reply) {
    return dueq__reply_is_error(reply) && strncmp(inside(reply)->str, "NOSCRIPT", 8) == 0;
}

/* Servers' error codes, and phrases of those that come as plain ERR. */
static const struct {
    const char *mark;
    dueq_status status;
} classes[] = {
    {"WRONGTYPE", DUEQ_WRONG_TYPE},
    {"LAYOUT", DUEQ_LAYOUT},
    {"CORRUPT", DUEQ_CORRUPT},
    {"READONLY", DUEQ_READONLY},
    {"OOM", DUEQ_FULL},
    {"LOADING", DUEQ_LOADING},
    {"MASTERDOWN", DUEQ_LOADING},
    {"CLUSTERDOWN", DUEQ_LOADING},
    {"TRYAGAIN", DUEQ_LOADING},
    {"BUSY", DUEQ_BUSY},
    {"NOAUTH", DUEQ_AUTH},
    {"WRONGPASS", DUEQ_AUTH},
    {"NOPERM", DUEQ_DENIED},
    {"DENIED", DUEQ_DENIED},
    {"ERR The user executing the script can't", DUEQ_DENIED},
    {"ERR ACL failure in script", DUEQ_DENIED},
    {"MOVED", DUEQ_UNSUPPORTED},
    {"ERR Client sent AUTH", DUEQ_AUTH},
    {"ERR AUTH", DUEQ_AUTH},
    {"ERR invalid password", DUEQ_AUTH},
    {"ERR DB index", DUEQ_DATABASE},
    {"ERR invalid DB index", DUEQ_DATABASE},
    {"ERR SELECT is not allowed", DUEQ_DATABASE},
    {"ERR unknown command", DUEQ_UNSUPPORTED},
    {"ERR Protocol error: invalid bulk length", DUEQ_TOO_LARGE},
    {"ERR string exceeds maximum allowed size", DUEQ_TOO_LARGE},
    {"ERR max number of clients", DUEQ_CONNECT},
};

static dueq_status classify(const char *text) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(text, classes[i].mark, strlen(classes[i].mark)) == 0)
            return classes[i].status;
    return DUEQ_SERVER;
}

dueq_status dueq__reply_error(const struct dueq__reply *reply, struct dueq__error *error) {
    return dueq__reply_error_text(inside(reply)->str, error);
}

dueq_status dueq__reply_error_text(const char *text, struct dueq__error *error) {
    /* Redis 6 wraps what a script met: "ERR Error running script (...): @user_script:1: -CODE ...". */
    const char *within = strstr(text, "Error running script");
    within = within ? strstr(within, ": -") : NULL;
    dueq_status status = classify(within ? within + 3 : text);
    if (status == DUEQ_SERVER && strstr(text, "Error running script") && strstr(text, "WRONGTYPE"))
        status = DUEQ_WRONG_TYPE;
    return dueq__fail(error, status, "%s: the server says: %.380s", dueq_status_text(status), text);
}

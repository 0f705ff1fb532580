#include <ctype.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

/*
 * The most values that all lists of a reply may have, and the most lists within each other. hiredis
 * allocates a list by the size that the server announces, before a value has come. hiredis 0.14
 * does not limit the size enough, and later versions do not limit the depth.
 */
#define MAX_VALUES (1 << 20)
#define MAX_DEPTH 8

#if HIREDIS_MAJOR < 1
typedef int value_count;
#else
typedef size_t value_count;
#endif

struct dueq__reader {
    redisReader *inner;
    redisReplyObjectFunctions functions; /* those of hiredis, except for lists and strings */
    void *(*plain_list)(const redisReadTask *task, value_count count); /* that of hiredis */
    void *(*plain_string)(const redisReadTask *task, char *text, size_t size);
    size_t value_count;    /* in the lists of the reply that comes */
    uint64_t string_bytes; /* in the strings of that reply that have come */
    char problem[80];
};

/* Makes a list. NULL: the reply has more values or deeper lists than it may have. */
static void *make_list(const redisReadTask *task, value_count count) {
    struct dueq__reader *reader = task->privdata;
    int depth = 1;
    for (const redisReadTask *above = task->parent; above && depth <= MAX_DEPTH;
         above = above->parent)
        depth++;
    if (!task->parent)
        reader->value_count = 0;
    reader->value_count += depth > MAX_DEPTH ? (size_t)MAX_VALUES + 1 : (size_t)count;
    return reader->value_count > MAX_VALUES ? NULL : reader->plain_list(task, count);
}

static void *make_string(const redisReadTask *task, char *text, size_t size) {
    struct dueq__reader *reader = task->privdata;
    reader->string_bytes += size;
    return reader->plain_string(task, text, size);
}

struct dueq__reader *dueq__reader_new(void) {
    struct dueq__reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->inner = redisReaderCreate();
    if (!reader->inner) {
        free(reader);
        return NULL;
    }
    reader->functions = *reader->inner->fn;
    reader->plain_list = reader->functions.createArray;
    reader->functions.createArray = make_list;
    reader->plain_string = reader->functions.createString;
    reader->functions.createString = make_string;
    reader->inner->fn = &reader->functions;
    reader->inner->privdata = reader;
    return reader;
}

void dueq__reader_free(struct dueq__reader *reader) {
    if (!reader)
        return;
    redisReaderFree(reader->inner);
    free(reader);
}

void dueq__reader_feed(struct dueq__reader *reader, const char *data, size_t size) {
    redisReaderFeed(reader->inner, data, size);
}

/*
 * The size of a string that has not come in full: until the whole string is there, hiredis stays at
 * the place of its buffer with the string's size. If hiredis stays at an unfinished line instead:
 * the number of bytes of the line so far.
 */
static uint64_t announced(const redisReader *inner) {
    if (inner->ridx < 0)
        return 0;
#if HIREDIS_MAJOR < 1
    const redisReadTask *task = &inner->rstack[inner->ridx];
#else
    const redisReadTask *task = inner->task[inner->ridx];
#endif
    const char *at = inner->buf + inner->pos, *end = inner->buf + inner->len;
    const size_t left = inner->len - inner->pos;
    int64_t size;
    bool announces = task->type == REDIS_REPLY_STRING &&
                     dueq__take_digits(&at, end, DUEQ__DIGITS - 1, &size) && at < end &&
                     *at == '\r';
    return announces ? (uint64_t)size : left;
}

const char *dueq__reader_take(struct dueq__reader *reader, uint64_t most,
                              struct dueq__reply **reply) {
    void *taken = NULL;
    *reply = NULL;
    if (redisReaderGetReply(reader->inner, &taken) != REDIS_OK)
        return reader->value_count > MAX_VALUES ? "it announces more values than any answer has"
                                                : reader->inner->errstr;
    uint64_t comes = taken ? 0 : announced(reader->inner), bytes = reader->string_bytes + comes;
    if (bytes > most || comes > DUEQ__MAX_MESSAGE_REPLY) {
        freeReplyObject(taken);
        snprintf(reader->problem, sizeof reader->problem,
                 "it announces %" PRIu64 " bytes, which is more than was asked for", bytes);
        return reader->problem;
    }
    if (taken)
        reader->string_bytes = 0;
    *reply = taken;
    return NULL;
}

bool dueq__reader_no_memory(const struct dueq__reader *reader) {
    return reader->inner->err == REDIS_ERR_OOM && reader->value_count <= MAX_VALUES;
}

static const redisReply *as_hiredis(const struct dueq__reply *reply) {
    return (const redisReply *)reply;
}

void dueq__reply_free(struct dueq__reply *reply) { freeReplyObject(reply); }

bool dueq__reply_is_error(const struct dueq__reply *reply) {
    return as_hiredis(reply)->type == REDIS_REPLY_ERROR;
}

bool dueq__reply_is_nil(const struct dueq__reply *reply) {
    return as_hiredis(reply)->type == REDIS_REPLY_NIL;
}

size_t dueq__reply_count(const struct dueq__reply *reply) {
    return as_hiredis(reply)->type == REDIS_REPLY_ARRAY ? as_hiredis(reply)->elements : 0;
}

const struct dueq__reply *dueq__reply_item(const struct dueq__reply *reply, size_t index) {
    static const redisReply nothing = {.type = REDIS_REPLY_NIL};
    bool there = index < dueq__reply_count(reply);
    return (const struct dueq__reply *)(there ? as_hiredis(reply)->element[index] : &nothing);
}

bool dueq__reply_bytes(const struct dueq__reply *reply, dueq_bytes *bytes) {
    const redisReply *in = as_hiredis(reply);
    if (in->type != REDIS_REPLY_STRING && in->type != REDIS_REPLY_STATUS)
        return false;
    *bytes = (dueq_bytes){in->str, (size_t)in->len};
    return true;
}

bool dueq__reply_number(const struct dueq__reply *reply, int64_t *number) {
    const redisReply *in = as_hiredis(reply);
    if (in->type == REDIS_REPLY_INTEGER) {
        *number = in->integer;
        return true;
    }
    if (in->type != REDIS_REPLY_STRING)
        return false;
    const char *at = in->str, *end = in->str + in->len;
    const bool negative = at != end && *at == '-';
    int64_t found;
    at += negative;
    /*
     * A number from a damaged key may be too large. It becomes INT64_MAX, and the reply is read on.
     */
    if (!dueq__take_digits(&at, end, SIZE_MAX, &found) || at != end)
        return false;
    *number = negative ? -found : found;
    return true;
}

bool dueq__reply_error_bytes(const struct dueq__reply *reply, dueq_bytes *text) {
    *text = (dueq_bytes){as_hiredis(reply)->str, (size_t)as_hiredis(reply)->len};
    return dueq__reply_is_error(reply);
}

bool dueq__reply_begins(const struct dueq__reply *reply, const char *start) {
    return dueq__reply_is_error(reply) &&
           strncmp(as_hiredis(reply)->str, start, strlen(start)) == 0;
}

/*
 * Errors of servers, by their first word, or by the start of an error that begins with ERR. Other
 * errors of Redis 6.2 to 8 and Valkey 7.2 to 9 are never a reply to a command of dueq.
 * docs/internals/client.md has the same table.
 */
static const struct {
    const char *mark;
    dueq_status status;
    enum dueq__recovery recovery;
} classes[] = {
    {"LOADING", DUEQ_LOADING, DUEQ__TRANSIENT},
    {"BUSY", DUEQ_BUSY, DUEQ__TRANSIENT},
    {"TRYAGAIN", DUEQ_UNAVAILABLE, DUEQ__TRANSIENT},
    {"CLUSTERDOWN", DUEQ_UNAVAILABLE, DUEQ__TRANSIENT},
    {"ASK", DUEQ_UNAVAILABLE, DUEQ__TRANSIENT},
    {"NOREPLICAS", DUEQ_UNAVAILABLE, DUEQ__TRANSIENT},
    {"READONLY", DUEQ_READONLY, DUEQ__FAILOVER},
    {"ERR WAIT cannot be used with replica", DUEQ_READONLY, DUEQ__FAILOVER},
    {"ERR WAITAOF cannot be used with replica", DUEQ_READONLY, DUEQ__FAILOVER},
    {"ERR WAITAOF cannot be used when", DUEQ_UNSUPPORTED, DUEQ__PERMANENT},
    {"UNBLOCKED", DUEQ_UNAVAILABLE, DUEQ__FAILOVER},
    {"MASTERDOWN", DUEQ_UNAVAILABLE, DUEQ__FAILOVER},
    {"MOVED", DUEQ_UNAVAILABLE, DUEQ__FAILOVER},
    {"REDIRECT", DUEQ_UNAVAILABLE, DUEQ__FAILOVER},
    {"MISCONF", DUEQ_UNAVAILABLE, DUEQ__UNTIL_FIXED},
    {"OOM", DUEQ_FULL, DUEQ__UNTIL_FIXED},
    {"DENIED", DUEQ_CONNECT, DUEQ__PERMANENT},
    {"ERR max number of clients", DUEQ_CONNECT, DUEQ__PERMANENT},
    {"NOAUTH", DUEQ_AUTH, DUEQ__PERMANENT},
    {"WRONGPASS", DUEQ_AUTH, DUEQ__PERMANENT},
    {"ERR Client sent AUTH", DUEQ_AUTH, DUEQ__PERMANENT},
    {"ERR AUTH", DUEQ_AUTH, DUEQ__PERMANENT},
    {"ERR invalid password", DUEQ_AUTH, DUEQ__PERMANENT},
    {"NOPERM", DUEQ_DENIED, DUEQ__PERMANENT},
    {"ERR The user executing the script can't", DUEQ_DENIED, DUEQ__PERMANENT},
    {"ERR ACL failure in script", DUEQ_DENIED, DUEQ__PERMANENT},
    {"ERR DB index", DUEQ_DATABASE, DUEQ__PERMANENT},
    {"ERR invalid DB index", DUEQ_DATABASE, DUEQ__PERMANENT},
    {"ERR SELECT is not allowed", DUEQ_DATABASE, DUEQ__PERMANENT},
    {"ERR unknown command", DUEQ_UNSUPPORTED, DUEQ__PERMANENT},
    {"ERR Protocol error: invalid bulk length", DUEQ_TOO_LARGE, DUEQ__PERMANENT},
    {"ERR string exceeds maximum allowed size", DUEQ_TOO_LARGE, DUEQ__PERMANENT},
    {"CROSSSLOT", DUEQ_SERVER, DUEQ__PERMANENT},
    {"WRONGTYPE", DUEQ_WRONG_TYPE, DUEQ__PERMANENT},
    {"LAYOUT", DUEQ_LAYOUT, DUEQ__PERMANENT},
    {"CORRUPT", DUEQ_CORRUPT, DUEQ__PERMANENT},
    {"TOO_LARGE", DUEQ_TOO_LARGE, DUEQ__PERMANENT},
    {"INVALID", DUEQ_INVALID, DUEQ__PERMANENT},
};

/* The row of an error; the number of rows: the table does not have it. */
static size_t classify(const char *text) {
    size_t i = 0;
    for (; i < sizeof classes / sizeof *classes; i++) {
        size_t size = strlen(classes[i].mark);
        /* The mark must be a whole word: BUSYKEY is not BUSY. */
        if (strncmp(text, classes[i].mark, size) == 0 && !isalnum((unsigned char)text[size]))
            break;
    }
    return i;
}

dueq_status dueq__reply_error(const struct dueq__reply *reply, struct dueq__error *error) {
    return dueq__reply_error_text(as_hiredis(reply)->str, error);
}

/*
 * Finds the error of a command that a script ran. Redis 6 returns it as "@user_script: 1: -CODE
 * ...", and, where the script did not catch it, with "ERR Error running script (...):
 * @user_script:1: " before that. Two errors come without the minus: WRONGTYPE, and NOPERM, which
 * has no code either.
 */
static const char *script_error(const char *text) {
    if (strncmp(text, "@user_script", 12) != 0 && !strstr(text, "Error running script"))
        return text;
    const char *within = strstr(text, ": -");
    if (within)
        return within + 3;
    if (strstr(text, "The user executing the script can't"))
        return "NOPERM";
    within = strstr(text, "WRONGTYPE");
    return within ? within : text;
}

dueq_status dueq__reply_error_text(const char *text, struct dueq__error *error) {
    size_t row = classify(script_error(text));
    bool known = row < sizeof classes / sizeof *classes;
    dueq_status status = known ? classes[row].status : DUEQ_SERVER;
    dueq__fail(error, status, "%s: the server says: %.380s", dueq_status_text(status), text);
    error->recovery = known ? classes[row].recovery : DUEQ__PERMANENT;
    return status;
}

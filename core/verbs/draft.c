#include "verbs.h"

size_t dueq__headers_size(const dueq_draft *draft) {
    size_t size = 0;
    for (size_t i = 0; i < draft->header_count; i++)
        size += 1 + draft->headers[i].name.size + 2 + draft->headers[i].value.size;
    return size;
}

dueq_status dueq__text_check(const char *what, dueq_bytes text, size_t most,
                             struct dueq__error *error) {
    if (text.size == 0 || text.size > most)
        return dueq__fail(error, text.size ? DUEQ_TOO_LARGE : DUEQ_INVALID,
                          "%s has %zu bytes; 1 to %zu are allowed", what, text.size, most);
    if (!dueq__is_utf8(text.data, text.size, false))
        return dueq__fail(error, DUEQ_INVALID, "%s is not UTF-8, or has a control character", what);
    return DUEQ_OK;
}

dueq_status dueq__ranges_check(const struct dueq__range *ranges, size_t count,
                               struct dueq__error *error) {
    for (const struct dueq__range *range = ranges; range < ranges + count; range++)
        if (range->value < range->least || range->value > range->most)
            return dueq__fail(error, DUEQ_INVALID, "%s is %lld%s; %lld to %lld are allowed",
                              range->what, (long long)range->value, range->unit ? range->unit : "",
                              (long long)range->least, (long long)range->most);
    return DUEQ_OK;
}

dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error) {
    const struct dueq__range ranges[] = {{"the delay", " ms", delay_ms, 0, DUEQ_MAX_TIME_MS},
                                         {"the due time", " ms", at_ms, 0, DUEQ_MAX_TIME_MS}};
    dueq_status status = dueq__ranges_check(ranges, 2, error);
    if (!status && at_ms && delay_ms)
        status = dueq__fail(error, DUEQ_INVALID, "give either a delay or a due time, not both");
    return status;
}

static dueq_status check_durability(const dueq_durability *asked, struct dueq__error *error) {
    const struct dueq__range ranges[] = {
        {"the number of replicas", NULL, asked->replicas, 0, DUEQ_MAX_REPLICAS},
        {"disk", NULL, asked->disk, 0, 1},
        {"the time for replicas and disks", " ms", asked->timeout_ms, 0, DUEQ_MAX_DURABLE_MS}};
    return dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
}

dueq_status dueq_queue_durability(dueq_queue *queue, const dueq_durability *durability) {
    dueq_status status = check_durability(durability, &queue->client->error);
    if (!status)
        queue->durability = *durability;
    return status;
}

dueq_status dueq_queue_keep(dueq_queue *queue, int64_t keep_ms) {
    const struct dueq__range range = {"the time of keep", " ms", keep_ms, 0, UINT32_MAX};
    dueq_status status = dueq__ranges_check(&range, 1, &queue->client->error);
    if (!status)
        queue->keep_ms = keep_ms;
    return status;
}

dueq_status dueq__headers_check(const dueq_draft *draft, struct dueq__error *error) {
    for (size_t i = 0; i < draft->header_count; i++) {
        const dueq_header *header = &draft->headers[i];
        dueq_status status =
            dueq__text_check("a header's name", header->name, DUEQ_MAX_HEADER_NAME, error);
        if (status)
            return status;
        if (!dueq__is_utf8(header->value.data, header->value.size, true))
            return dueq__fail(error, DUEQ_INVALID, "a header's value is not UTF-8");
    }
    if (dueq__headers_size(draft) > DUEQ_MAX_HEADERS)
        return dueq__fail(error, DUEQ_TOO_LARGE, "the headers take %zu bytes; %d are allowed",
                          dueq__headers_size(draft), DUEQ_MAX_HEADERS);
    return DUEQ_OK;
}

/* `unique` and `replace` compare ids. So they need an id that another push can have, too. */
static dueq_status check_identity(const dueq_draft *draft, struct dueq__error *error) {
    if (draft->id.size)
        return dueq__text_check("a message's id", draft->id, DUEQ_MAX_ID, error);
    if (draft->unique_ms)
        return dueq__fail(error, DUEQ_INVALID,
                          "unique needs an id of your own: an id that dueq creates never repeats");
    if (draft->replace)
        return dueq__fail(error, DUEQ_INVALID, "replace needs the id of the message to replace");
    return DUEQ_OK;
}

/* A group's messages are in one line. In a queue with partitions it chooses the partition. */
static dueq_status check_group(const dueq_draft *draft, struct dueq__error *error) {
    if (draft->group.size && draft->priority)
        return dueq__fail(error, DUEQ_INVALID, "give either a group or a priority, not both");
    if (draft->group.size && draft->key.size)
        return dueq__fail(error, DUEQ_INVALID,
                          "give either a group or a key, not both: a group chooses the "
                          "partition, too");
    return DUEQ_OK;
}

/* Each kind of backoff has values of its own. The values of the other kinds must be 0. */
static dueq_status check_backoff(const dueq_backoff *backoff, struct dueq__error *error) {
    dueq_backoff_kind kind = backoff->kind;
    bool grows = kind == DUEQ_BACKOFF_LINEAR || kind == DUEQ_BACKOFF_EXPONENTIAL;
    bool based = grows || kind == DUEQ_BACKOFF_FIXED, list = kind == DUEQ_BACKOFF_LIST;
    const struct dueq__range ranges[] = {
        {"the kind of the backoff", NULL, (int)kind, 0, DUEQ_BACKOFF_LIST},
        {"the jitter of this backoff", NULL, (int)backoff->jitter, 0, kind ? DUEQ_JITTER_EQUAL : 0},
        {"the base of this backoff", " ms", backoff->base_ms, grows, based ? UINT32_MAX : 0},
        {"the cap of this backoff", " ms", backoff->cap_ms, 0, grows ? UINT32_MAX : 0},
        {"the list of this backoff", " delays", (int64_t)backoff->list_count, list,
         list ? DUEQ_MAX_BACKOFF_LIST : 0}};
    dueq_status status = dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
    if (!status && list && !backoff->list_ms)
        status = dueq__fail(error, DUEQ_INVALID, "the list of this backoff is NULL");
    for (size_t i = 0; !status && i < backoff->list_count; i++)
        status = dueq__ranges_check(&(struct dueq__range){"a delay of the backoff", " ms",
                                                          backoff->list_ms[i], 0, UINT32_MAX},
                                    1, error);
    return status;
}

static dueq_status check_policy(const dueq_draft *draft, struct dueq__error *error) {
    struct dueq__error met;
    if (draft->drop && draft->dead_letter.size)
        return dueq__fail(error, DUEQ_INVALID, "give either drop or a dead-letter queue, not both");
    if (draft->dead_letter.size &&
        dueq__name_check(draft->dead_letter.data, draft->dead_letter.size, &met))
        return dueq__fail(error, met.status, "dead_letter: %.480s", met.text);
    return check_backoff(&draft->backoff, error);
}

/* Made from core/options.toml by core/verbs.py: the options of a push. */
/* The texts that a draft points to. */
static const size_t texts[] = {offsetof(dueq_draft, body),        offsetof(dueq_draft, id),
                               offsetof(dueq_draft, dead_letter), offsetof(dueq_draft, key),
                               offsetof(dueq_draft, group),       offsetof(dueq_draft, batch)};

static dueq_status check_options(const dueq_draft *draft, struct dueq__error *error) {
    const struct dueq__range ranges[] = {
        {"max_attempts", NULL, draft->max_attempts, 0, DUEQ_MAX_MAX_ATTEMPTS},
        {"the lease", " ms", draft->lease_ms, 0, UINT32_MAX},
        {"the priority", NULL, draft->priority, DUEQ_LOW, DUEQ_HIGH},
        {"the time to live", " ms", draft->ttl_ms, 0, DUEQ_MAX_TIME_MS},
        {"max_crashes", NULL, draft->max_crashes, 0, DUEQ_MAX_MAX_ATTEMPTS},
        {"the time of unique", " ms", draft->unique_ms, 0, DUEQ_MAX_TIME_MS},
        {"what to do with an existing message", NULL, (int)draft->replace, 0, DUEQ_REPLACE_BODY},
        {"the time of keep", " ms", draft->keep_ms, 0, UINT32_MAX}};
    dueq_status status = dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
    if (!status && draft->key.size)
        status = dueq__text_check("a message's key", draft->key, DUEQ_MAX_KEY, error);
    if (!status && draft->group.size)
        status = dueq__text_check("a message's group", draft->group, DUEQ_MAX_GROUP, error);
    if (!status && draft->batch.size)
        status = dueq__text_check("the batch's id", draft->batch, DUEQ_MAX_BATCH_ID, error);
    return status;
}
/* The end of what was made. */

/*
 * A worker takes a message with such an id and headers for a schedule, and pushes the jobs that the
 * message describes. So a producer could make workers push jobs without end.
 */
static dueq_status refuse_schedule(const dueq_draft *draft, struct dueq__error *error) {
    static const char *const names[] = {"schedule", "time", "zone", "catchup"};
    size_t size = strlen(DUEQ__SCHEDULE_PREFIX);
    if (draft->id.size >= size && memcmp(draft->id.data, DUEQ__SCHEDULE_PREFIX, size) == 0)
        return dueq__fail(error, DUEQ_INVALID,
                          "a message's id begins with " DUEQ__SCHEDULE_PREFIX
                          ", which only a schedule's does");
    for (size_t i = 0; i < draft->header_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (dueq__bytes_equal(draft->headers[i].name, dueq__text(names[k])))
                return dueq__fail(error, DUEQ_INVALID,
                                  "the header '%s' is one of those that only a schedule has",
                                  names[k]);
    return DUEQ_OK;
}

dueq_status dueq__draft_check(const dueq_draft *draft, bool by_schedule,
                              struct dueq__error *error) {
    dueq_status status = by_schedule ? DUEQ_OK : refuse_schedule(draft, error);
    if (status)
        return status;
    if (draft->body.size > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE, "the body has %zu bytes; at most %zu are allowed",
                          draft->body.size, DUEQ_MAX_BODY);
    status = check_options(draft, error);
    if (!status)
        status = check_identity(draft, error);
    if (!status)
        status = check_group(draft, error);
    if (!status)
        status = dueq__due_check(draft->delay_ms, draft->at_ms, error);
    if (!status)
        status = check_durability(&draft->durability, error);
    if (!status)
        status = dueq__headers_check(draft, error);
    return status ? status : check_policy(draft, error);
}

#define TEXT_COUNT (sizeof texts / sizeof texts[0])

static const dueq_bytes *text_of(const dueq_draft *draft, size_t number) {
    return (const dueq_bytes *)((const char *)draft + texts[number]);
}

size_t dueq__draft_size(const dueq_draft *draft) {
    size_t size =
        draft->header_count * sizeof(dueq_header) + draft->backoff.list_count * sizeof(int64_t);
    for (size_t i = 0; i < TEXT_COUNT; i++)
        size += text_of(draft, i)->size;
    for (size_t i = 0; i < draft->header_count; i++)
        size += draft->headers[i].name.size + draft->headers[i].value.size;
    return size;
}

static void keep(char **at, dueq_bytes *bytes) {
    if (bytes->size)
        bytes->data = memcpy(*at, bytes->data, bytes->size);
    *at += bytes->size;
}

void dueq__draft_copy(dueq_draft *out, const dueq_draft *draft, void *room) {
    dueq_header *headers = room;
    size_t delays = draft->backoff.list_count * sizeof(int64_t);
    char *at = (char *)(headers + draft->header_count);
    *out = *draft;
    out->headers = headers;
    if (delays)
        out->backoff.list_ms = memcpy(at, draft->backoff.list_ms, delays);
    at += delays;
    for (size_t i = 0; i < draft->header_count; i++) {
        headers[i] = draft->headers[i];
        keep(&at, &headers[i].name);
        keep(&at, &headers[i].value);
    }
    for (size_t i = 0; i < TEXT_COUNT; i++)
        keep(&at, (dueq_bytes *)((char *)out + texts[i]));
}

#include "queue.h"

size_t dueq__headers_size(const dueq_draft *draft) {
    size_t size = 0;
    for (size_t i = 0; i < draft->header_count; i++)
        size += 1 + draft->headers[i].name.size + 2 + draft->headers[i].value.size;
    return size;
}

static dueq_status check_headers(const dueq_draft *draft, struct dueq__error *error) {
    for (size_t i = 0; i < draft->header_count; i++) {
        const dueq_header *header = &draft->headers[i];
        if (header->name.size == 0 || header->name.size > DUEQ_MAX_HEADER_NAME)
            return dueq__fail(error, header->name.size ? DUEQ_TOO_LARGE : DUEQ_INVALID,
                              "a header's name has %zu bytes; 1 to %d are allowed",
                              header->name.size, DUEQ_MAX_HEADER_NAME);
        if (!dueq__utf8(header->name.data, header->name.size, false))
            return dueq__fail(error, DUEQ_INVALID,
                              "a header's name is not UTF-8, or has a control character");
        if (!dueq__utf8(header->value.data, header->value.size, true))
            return dueq__fail(error, DUEQ_INVALID, "a header's value is not UTF-8");
        if (header->value.size > DUEQ_MAX_HEADERS)
            return dueq__fail(error, DUEQ_TOO_LARGE,
                              "a header's value has %zu bytes; %d are allowed", header->value.size,
                              DUEQ_MAX_HEADERS);
    }
    if (dueq__headers_size(draft) > DUEQ_MAX_HEADERS)
        return dueq__fail(error, DUEQ_TOO_LARGE, "the headers take %zu bytes; %d are allowed",
                          dueq__headers_size(draft), DUEQ_MAX_HEADERS);
    return DUEQ_OK;
}

static dueq_status check_ms(const char *what, int64_t ms, int64_t most, struct dueq__error *error) {
    if (ms >= 0 && ms <= most)
        return DUEQ_OK;
    return dueq__fail(error, DUEQ_INVALID, "%s is %lld ms; 0 to %lld are allowed", what,
                      (long long)ms, (long long)most);
}

dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error) {
    dueq_status status = check_ms("the delay", delay_ms, DUEQ_MAX_TIME_MS, error);
    if (!status)
        status = check_ms("the due time", at_ms, DUEQ_MAX_TIME_MS, error);
    if (!status && at_ms && delay_ms)
        status = dueq__fail(error, DUEQ_INVALID, "give either a delay or a due time, not both");
    return status;
}

static dueq_status check_times(const dueq_draft *draft, struct dueq__error *error) {
    dueq_status status = check_ms("the lease", draft->lease_ms, UINT32_MAX, error);
    if (!status)
        status = dueq__due_check(draft->delay_ms, draft->at_ms, error);
    if (!status)
        status = check_ms("the time to live", draft->ttl_ms, DUEQ_MAX_TIME_MS, error);
    if (!status)
        status = check_ms("the time of unique", draft->unique_ms, DUEQ_MAX_TIME_MS, error);
    return status;
}

/* What a push does when the id is known; it must be one that another push can have too. */
static dueq_status check_identity(const dueq_draft *draft, struct dueq__error *error) {
    if (draft->existing > DUEQ_REPLACE_BODY)
        return dueq__fail(error, DUEQ_INVALID,
                          "%d is not a way to treat an existing message: 0, 1 or 2",
                          (int)draft->existing);
    if (draft->id.size)
        return dueq__id_check(draft->id, error);
    if (draft->unique_ms)
        return dueq__fail(error, DUEQ_INVALID,
                          "unique needs an id of your own: an id that dueq creates never repeats");
    if (draft->existing)
        return dueq__fail(error, DUEQ_INVALID, "replace needs the id of the message to replace");
    return DUEQ_OK;
}

dueq_status dueq__draft_check(const dueq_draft *draft, struct dueq__error *error) {
    dueq_status status = check_identity(draft, error);
    if (status)
        return status;
    if (draft->body.size > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE, "the body has %zu bytes; at most %zu are allowed",
                          draft->body.size, DUEQ_MAX_BODY);
    if (draft->max_attempts > DUEQ_MAX_MAX_ATTEMPTS)
        return dueq__fail(error, DUEQ_INVALID, "max_attempts is %u; 0 to %d are allowed",
                          draft->max_attempts, DUEQ_MAX_MAX_ATTEMPTS);
    if (draft->priority < DUEQ_LOW || draft->priority > DUEQ_HIGH)
        return dueq__fail(error, DUEQ_INVALID,
                          "the priority is %d; -1 (low), 0 (normal) and 1 (high) are allowed",
                          (int)draft->priority);
    status = check_times(draft, error);
    if (!status)
        status = check_headers(draft, error);
    return status ? status : dueq__policy_check(draft, error);
}

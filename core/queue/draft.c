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
        dueq_status status =
            dueq__text_check("a header's name", header->name, DUEQ_MAX_HEADER_NAME, error);
        if (status)
            return status;
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

dueq_status dueq__ms_check(const char *what, int64_t ms, int64_t least, int64_t most,
                           struct dueq__error *error) {
    if (ms >= least && ms <= most)
        return DUEQ_OK;
    return dueq__fail(error, DUEQ_INVALID, "%s is %lld ms; %lld to %lld are allowed", what,
                      (long long)ms, (long long)least, (long long)most);
}

dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error) {
    dueq_status status = dueq__ms_check("the delay", delay_ms, 0, DUEQ_MAX_TIME_MS, error);
    if (!status)
        status = dueq__ms_check("the due time", at_ms, 0, DUEQ_MAX_TIME_MS, error);
    if (!status && at_ms && delay_ms)
        status = dueq__fail(error, DUEQ_INVALID, "give either a delay or a due time, not both");
    return status;
}

static dueq_status check_times(const dueq_draft *draft, struct dueq__error *error) {
    dueq_status status = dueq__ms_check("the lease", draft->lease_ms, 0, UINT32_MAX, error);
    if (!status)
        status = dueq__due_check(draft->delay_ms, draft->at_ms, error);
    if (!status)
        status = dueq__ms_check("the time to live", draft->ttl_ms, 0, DUEQ_MAX_TIME_MS, error);
    if (!status)
        status = dueq__ms_check("the time of being unique", draft->unique_ms, 0, DUEQ_MAX_TIME_MS,
                                error);
    return status;
}

/* What a push does when the id is known; it must be one that another push can have too. */
static dueq_status check_identity(const dueq_draft *draft, struct dueq__error *error) {
    if (draft->existing > DUEQ_REPLACE_BODY)
        return dueq__fail(error, DUEQ_INVALID,
                          "%d is not what to do with an existing message: 0, 1 or 2",
                          (int)draft->existing);
    if (draft->id.size)
        return dueq__text_check("a message's id", draft->id, DUEQ_MAX_ID, error);
    if (draft->unique_ms)
        return dueq__fail(error, DUEQ_INVALID,
                          "unique needs an id: one that the core makes never comes again");
    if (draft->existing)
        return dueq__fail(error, DUEQ_INVALID, "replace needs an id: of which message?");
    return DUEQ_OK;
}

/* ---- How failures go on ---- */

static dueq_status check_list(const dueq_backoff *backoff, struct dueq__error *error) {
    if (!backoff->list_ms || backoff->list_count < 1 || backoff->list_count > DUEQ_MAX_BACKOFF_LIST)
        return dueq__fail(error, DUEQ_INVALID,
                          "a backoff's list has %zu delays; 1 to %d are allowed",
                          backoff->list_count, DUEQ_MAX_BACKOFF_LIST);
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; !status && i < backoff->list_count; i++)
        status =
            dueq__ms_check("a delay of the backoff", backoff->list_ms[i], 0, UINT32_MAX, error);
    return status;
}

static dueq_status check_backoff(const dueq_backoff *backoff, struct dueq__error *error) {
    if (backoff->kind > DUEQ_BACKOFF_LIST)
        return dueq__fail(error, DUEQ_INVALID, "%d is not a kind of backoff: 0 to %d",
                          (int)backoff->kind, DUEQ_BACKOFF_LIST);
    if (backoff->jitter > DUEQ_JITTER_EQUAL)
        return dueq__fail(error, DUEQ_INVALID, "%d is not a jitter: 0 to %d", (int)backoff->jitter,
                          DUEQ_JITTER_EQUAL);
    bool list = backoff->list_count > 0, times = backoff->base_ms || backoff->cap_ms;
    if (backoff->kind == DUEQ_BACKOFF_NONE && (list || times || backoff->jitter))
        return dueq__fail(error, DUEQ_INVALID, "a backoff has values, but no kind");
    if (backoff->kind == DUEQ_BACKOFF_NONE)
        return DUEQ_OK;
    if (backoff->kind == DUEQ_BACKOFF_LIST)
        return times ? dueq__fail(error, DUEQ_INVALID, "a backoff's list takes no base and no cap")
                     : check_list(backoff, error);
    if (list)
        return dueq__fail(error, DUEQ_INVALID, "a backoff has a list, but is not of the kind list");
    if (backoff->kind == DUEQ_BACKOFF_FIXED && backoff->cap_ms)
        return dueq__fail(error, DUEQ_INVALID, "a fixed backoff takes no cap");
    dueq_status status = dueq__ms_check("a backoff's base", backoff->base_ms, 1, UINT32_MAX, error);
    return status ? status
                  : dueq__ms_check("a backoff's cap", backoff->cap_ms, 0, UINT32_MAX, error);
}

static dueq_status check_policy(const dueq_draft *draft, struct dueq__error *error) {
    struct dueq__error met;
    if (draft->max_crashes > DUEQ_MAX_MAX_ATTEMPTS)
        return dueq__fail(error, DUEQ_INVALID, "max_crashes is %u; 0 to %d are allowed",
                          draft->max_crashes, DUEQ_MAX_MAX_ATTEMPTS);
    if (draft->drop && draft->dead_letter.size)
        return dueq__fail(
            error, DUEQ_INVALID,
            "a message is dropped at its end or goes to a dead-letter queue, not both");
    if (draft->dead_letter.size &&
        dueq__name_check(draft->dead_letter.data, draft->dead_letter.size, &met))
        return dueq__fail(error, met.status, "dead_letter: %.480s", met.text);
    return check_backoff(&draft->backoff, error);
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
    return status ? status : check_policy(draft, error);
}

/* What a push stores, and the queues that a situation names. */
#include "run.h"

static void fill_headers(struct run *run, json_object *headers, dueq_draft *draft) {
    draft->header_count = headers ? json_object_array_length(headers) : 0;
    dueq_header *all = keep(run, draft->header_count * sizeof *all);
    for (size_t i = 0; i < draft->header_count; i++) {
        json_object *pair = json_object_array_get_idx(headers, i);
        all[i].name = value(run, json_object_array_get_idx(pair, 0));
        all[i].value = value(run, json_object_array_get_idx(pair, 1));
    }
    draft->headers = all;
}

static void fill_backoff(struct run *run, json_object *from, dueq_backoff *backoff) {
    static const char *const kinds[] = {"default", "fixed", "linear", "exponential", "list", NULL};
    static const char *const jitters[] = {"none", "full", "equal", NULL};
    if (!from)
        return;
    json_object *delays = field(from, "list_ms");
    backoff->kind = (dueq_backoff_kind)choice(run, from, "kind", kinds);
    backoff->jitter = (dueq_jitter)choice(run, from, "jitter", jitters);
    backoff->base_ms = number(from, "base_ms", 0);
    backoff->cap_ms = number(from, "cap_ms", 0);
    backoff->list_count = delays ? json_object_array_length(delays) : 0;
    int64_t *all = keep(run, backoff->list_count * sizeof *all);
    for (size_t i = 0; i < backoff->list_count; i++)
        all[i] = json_object_get_int64(json_object_array_get_idx(delays, i));
    backoff->list_ms = all;
}

static const char *const replaces[] = {"refuse", "replace", "replace_body", NULL};

/* Made from core/options.toml by core/verbs.py: the options of a push. */
static void fill_options(struct run *run, json_object *from, dueq_draft *draft) {
    draft->delay_ms = number(from, "delay_ms", 0);
    draft->at_ms = number(from, "at_ms", 0);
    draft->id = bytes(run, from, "id");
    draft->max_attempts = (uint32_t)number(from, "max_attempts", draft->max_attempts);
    draft->lease_ms = number(from, "lease_ms", 0);
    fill_headers(run, field(from, "headers"), draft);
    draft->priority = (dueq_priority)number(from, "priority", DUEQ_NORMAL);
    draft->ttl_ms = number(from, "ttl_ms", 0);
    fill_backoff(run, field(from, "backoff"), &draft->backoff);
    draft->max_crashes = (uint32_t)number(from, "max_crashes", draft->max_crashes);
    draft->drop = json_object_get_boolean(field(from, "drop"));
    draft->dead_letter = bytes(run, from, "dead_letter");
    draft->unique_ms = number(from, "unique_ms", 0);
    draft->replace = (dueq_replace)choice(run, from, "replace", replaces);
    draft->durability.replicas = (int)number(from, "replicas", 0);
    draft->durability.disk = json_object_get_boolean(field(from, "disk"));
    draft->durability.timeout_ms = number(from, "durable_timeout_ms", 0);
    draft->key = bytes(run, from, "key");
    draft->group = bytes(run, from, "group");
    draft->keep_ms = number(from, "keep_ms", 0);
    draft->batch = bytes(run, from, "batch");
}
/* The end of what was made. */

static void fill_draft(struct run *run, json_object *from, dueq_draft *draft) {
    *draft = (dueq_draft)DUEQ_DRAFT;
    draft->body = bytes(run, from, "body");
    fill_options(run, from, draft);
    if (draft->dead_letter.size)
        queue_named(run, draft->dead_letter);
}

static json_object *draft_at(json_object *step, size_t index) {
    json_object *list_of = field(step, "drafts");
    return list_of ? json_object_array_get_idx(list_of, index % json_object_array_length(list_of))
                   : step;
}

dueq_draft *drafts(struct run *run, json_object *step, size_t *count) {
    json_object *list_of = field(step, "drafts");
    *count = (list_of ? json_object_array_length(list_of) : 1) * (size_t)number(step, "times", 1);
    dueq_draft *all = keep(run, *count * sizeof *all);
    for (size_t i = 0; i < *count; i++)
        fill_draft(run, draft_at(step, i), &all[i]);
    return all;
}

void remember_drafts(struct run *run, json_object *step, dueq_queue *queue,
                     const dueq_draft *drafts, const dueq_result *result, size_t first) {
    for (size_t i = first; i < dueq_result_count(result); i++) {
        const dueq_draft *draft = &drafts[i - first];
        dueq_bytes id = dueq_result_id(result, i);
        if (draft->id.size ? !same(id, draft->id) : id.size != 22)
            wrong(run, "the id is %s", shown(run, id));
        remember(run, word(draft_at(step, i - first), "as"), queue, id, (dueq_bytes){"", 0});
    }
}

dueq_status open_named(struct run *run, dueq_bytes name, size_t partitions, dueq_queue **queue) {
    dueq_status status = partitions ? dueq_partitions_open(run->client, name.data, name.size,
                                                           partitions, (dueq_bytes){0}, queue)
                                    : dueq_queue_open(run->client, name.data, name.size, queue);
    if (!status) {
        struct opened *opened = keep(run, sizeof *opened);
        *opened = (struct opened){run->opened, copy(run, name), *queue};
        run->opened = opened;
    }
    return status;
}

dueq_queue *queue_named(struct run *run, dueq_bytes name) {
    dueq_queue *queue;
    for (const struct opened *opened = run->opened; opened; opened = opened->next)
        if (same(opened->name, name))
            return opened->queue;
    return open_named(run, name, 0, &queue) ? NULL : queue;
}

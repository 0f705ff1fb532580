/* What the driver in C reads and writes: JSON from and to the words of dueq.h. */
#ifndef DRIVER_JSON_H
#define DRIVER_JSON_H

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "dueq.h"

#define MOST 64

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void *allocate(size_t size) {
    void *found = malloc(size);
    if (!found)
        abort();
    return found;
}

static json_object *encoded(dueq_bytes bytes) {
    const unsigned char *in = bytes.data;
    char *text = allocate(bytes.size / 3 * 4 + 5), *out = text;
    for (size_t at = 0; at < bytes.size; at += 3) {
        size_t left = bytes.size - at;
        uint32_t three = (uint32_t)in[at] << 16;
        three |= left > 1 ? (uint32_t)in[at + 1] << 8 : 0;
        three |= left > 2 ? (uint32_t)in[at + 2] : 0;
        *out++ = base64[three >> 18];
        *out++ = base64[three >> 12 & 63];
        *out++ = left > 1 ? base64[three >> 6 & 63] : '=';
        *out++ = left > 2 ? base64[three & 63] : '=';
    }
    json_object *string = json_object_new_string_len(text, (int)(out - text));
    free(text);
    return string;
}

/* The caller frees the bytes. */
static dueq_bytes decoded(json_object *string) {
    const char *in = json_object_get_string(string);
    char *data = allocate(strlen(in) + 1);
    size_t size = 0;
    uint32_t bits = 0;
    int held = 0;
    for (; *in && *in != '='; in++) {
        bits = bits << 6 | (uint32_t)(strchr(base64, *in) - base64);
        held += 6;
        if (held >= 8) {
            held -= 8;
            data[size++] = (char)(bits >> held & 0xFF);
        }
    }
    return (dueq_bytes){data, size};
}

static dueq_bytes text_of(json_object *string) {
    return (dueq_bytes){json_object_get_string(string), (size_t)json_object_get_string_len(string)};
}

static dueq_bytes text(json_object *request, const char *name) {
    return text_of(json_object_object_get(request, name));
}

static int64_t number(json_object *request, const char *name) {
    return json_object_get_int64(json_object_object_get(request, name));
}

static json_object *string(dueq_bytes bytes) {
    return json_object_new_string_len(bytes.size ? bytes.data : "", (int)bytes.size);
}

static json_object *status_name(dueq_status status) {
    return json_object_new_string(dueq_status_name(status));
}

static json_object *one_status(dueq_status status) {
    json_object *statuses = json_object_new_array();
    json_object_array_add(statuses, status_name(status));
    return statuses;
}

static json_object *statuses_of(const dueq_result *result) {
    json_object *statuses = json_object_new_array();
    for (size_t i = 0; i < dueq_result_count(result); i++)
        json_object_array_add(statuses, status_name(dueq_result_status(result, i)));
    return statuses;
}

static json_object *shown(const dueq_message *message) {
    json_object *object = json_object_new_object(), *headers = json_object_new_array();
    for (size_t i = 0; i < message->header_count; i++) {
        json_object *pair = json_object_new_array();
        json_object_array_add(pair, string(message->headers[i].name));
        json_object_array_add(pair, string(message->headers[i].value));
        json_object_array_add(headers, pair);
    }
    json_object_object_add(object, "id", string(message->id));
    json_object_object_add(object, "ticket", string(message->ticket));
    json_object_object_add(object, "body", encoded(message->body));
    json_object_object_add(object, "headers", headers);
    json_object_object_add(object, "attempt", json_object_new_int64(message->attempt));
    json_object_object_add(object, "max_attempts", json_object_new_int64(message->max_attempts));
    json_object_object_add(object, "crashes", json_object_new_int64(message->crashes));
    json_object_object_add(object, "max_crashes", json_object_new_int64(message->max_crashes));
    json_object_object_add(object, "deliveries", json_object_new_int64(message->deliveries));
    json_object_object_add(object, "priority", json_object_new_int64(message->priority));
    json_object_object_add(object, "group", string(message->group));
    json_object_object_add(object, "state",
                           json_object_new_string(dueq_state_name(message->state)));
    json_object_object_add(object, "time_ms", json_object_new_int64(message->time_ms));
    json_object_object_add(object, "created_ms", json_object_new_int64(message->created_ms));
    json_object_object_add(object, "expires_ms", json_object_new_int64(message->expires_ms));
    json_object_object_add(object, "error", string(message->error));
    json_object_object_add(object, "drop", json_object_new_boolean(message->drop));
    json_object_object_add(object, "dead_letter", string(message->dead_letter));
    json_object_object_add(object, "keep_ms", json_object_new_int64(message->keep_ms));
    json_object_object_add(object, "batch", string(message->batch));
    json_object_object_add(object, "batch_queue", string(message->batch_queue));
    return object;
}

static void add_messages(json_object *messages, const dueq_result *result) {
    for (size_t i = 0; i < dueq_result_count(result); i++)
        json_object_array_add(messages, shown(dueq_result_message(result, i)));
}

/* The place of a name in a list that ends with NULL. */
static int place(const char *const names[], dueq_bytes name) {
    for (int i = 0; names[i]; i++)
        if (strlen(names[i]) == name.size && memcmp(names[i], name.data, name.size) == 0)
            return i;
    abort();
}

static dueq_backoff backoff(json_object *row, int64_t list[DUEQ_MAX_BACKOFF_LIST]) {
    static const char *const kinds[] = {"none", "fixed", "linear", "exponential", "list", NULL};
    static const char *const jitters[] = {"none", "full", "equal", NULL};
    if (!row)
        return (dueq_backoff){0};
    json_object *delays = json_object_object_get(row, "list_ms");
    size_t count = json_object_array_length(delays);
    for (size_t i = 0; i < count; i++)
        list[i] = json_object_get_int64(json_object_array_get_idx(delays, i));
    return (dueq_backoff){(dueq_backoff_kind)place(kinds, text(row, "kind")),
                          (dueq_jitter)place(jitters, text(row, "jitter")),
                          number(row, "base_ms"),
                          number(row, "cap_ms"),
                          list,
                          count};
}

/* Drafts, and what they point to. */
struct batch {
    size_t count;
    dueq_draft drafts[MOST];
    dueq_header *headers[MOST];
    int64_t lists[MOST][DUEQ_MAX_BACKOFF_LIST];
};

static void fill(dueq_draft *draft, json_object *row, dueq_header **headers, int64_t *list) {
    static const char *const replace[] = {"refuse", "replace", "replace_body", NULL};
    json_object *pairs = json_object_object_get(row, "headers");
    size_t count = json_object_array_length(pairs);
    *headers = allocate((count + 1) * sizeof **headers);
    for (size_t i = 0; i < count; i++) {
        json_object *pair = json_object_array_get_idx(pairs, i);
        (*headers)[i] = (dueq_header){text_of(json_object_array_get_idx(pair, 0)),
                                      text_of(json_object_array_get_idx(pair, 1))};
    }
    *draft = (dueq_draft)DUEQ_DRAFT;
    draft->body = decoded(json_object_object_get(row, "body"));
    draft->id = text(row, "id");
    draft->delay_ms = number(row, "delay_ms");
    draft->at_ms = number(row, "at_ms");
    draft->max_attempts = (uint32_t)number(row, "max_attempts");
    draft->lease_ms = number(row, "lease_ms");
    draft->headers = *headers;
    draft->header_count = count;
    draft->priority = (dueq_priority)number(row, "priority");
    draft->group = text(row, "group");
    draft->max_crashes = (uint32_t)number(row, "max_crashes");
    draft->ttl_ms = number(row, "ttl_ms");
    draft->backoff = backoff(json_object_object_get(row, "backoff"), list);
    draft->drop = (int)number(row, "drop");
    draft->dead_letter = text(row, "dead_letter");
    draft->unique_ms = number(row, "unique_ms");
    draft->replace = (dueq_replace)place(replace, text(row, "replace"));
    draft->keep_ms = number(row, "keep_ms");
    draft->batch = text(row, "batch");
}

static struct batch *batch_of(json_object *rows) {
    struct batch *batch = allocate(sizeof *batch);
    batch->count = json_object_array_length(rows);
    for (size_t i = 0; i < batch->count; i++)
        fill(&batch->drafts[i], json_object_array_get_idx(rows, i), &batch->headers[i],
             batch->lists[i]);
    return batch;
}

static void batch_free(struct batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        free((void *)(uintptr_t)batch->drafts[i].body.data);
        free(batch->headers[i]);
    }
    free(batch);
}

#endif

/* Runs the verbs for the model by libdueq: a request is a line of JSON, and so is its answer. */
#include <inttypes.h>
#include <json.h>
#include <stdbool.h>
#include <stdio.h>
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
    json_object_object_add(object, "state",
                           json_object_new_string(dueq_state_name(message->state)));
    json_object_object_add(object, "time_ms", json_object_new_int64(message->time_ms));
    json_object_object_add(object, "created_ms", json_object_new_int64(message->created_ms));
    json_object_object_add(object, "error", string(message->error));
    return object;
}

static dueq_status push(dueq_queue *queue, json_object *rows, json_object *answer) {
    dueq_draft drafts[MOST];
    dueq_header *headers[MOST];
    size_t count = json_object_array_length(rows);
    for (size_t i = 0; i < count; i++) {
        json_object *row = json_object_array_get_idx(rows, i);
        json_object *pairs = json_object_object_get(row, "headers");
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = decoded(json_object_object_get(row, "body"));
        drafts[i].id = text(row, "id");
        drafts[i].delay_ms = number(row, "delay_ms");
        drafts[i].at_ms = number(row, "at_ms");
        drafts[i].max_attempts = (uint32_t)number(row, "max_attempts");
        drafts[i].lease_ms = number(row, "lease_ms");
        drafts[i].header_count = json_object_array_length(pairs);
        drafts[i].headers = headers[i] =
            allocate((drafts[i].header_count + 1) * sizeof *headers[i]);
        for (size_t k = 0; k < drafts[i].header_count; k++) {
            json_object *pair = json_object_array_get_idx(pairs, k);
            headers[i][k] = (dueq_header){text_of(json_object_array_get_idx(pair, 0)),
                                          text_of(json_object_array_get_idx(pair, 1))};
        }
    }
    dueq_result *result;
    dueq_status status = dueq_push(queue, drafts, count, &result);
    json_object *ids = json_object_new_array();
    for (size_t i = 0; i < dueq_result_count(result); i++)
        json_object_array_add(ids, string(dueq_result_id(result, i)));
    json_object_object_add(answer, "ids", ids);
    json_object_object_add(answer, "statuses", statuses_of(result));
    dueq_result_free(result);
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)drafts[i].body.data);
        free(headers[i]);
    }
    return status;
}

static dueq_status reserve(dueq_queue *queue, json_object *request, json_object *answer) {
    dueq_result *result;
    dueq_status status = dueq_reserve(queue, (size_t)number(request, "count"), 0,
                                      number(request, "lease_ms"), &result);
    json_object *messages = json_object_new_array();
    for (size_t i = 0; i < dueq_result_count(result); i++)
        json_object_array_add(messages, shown(dueq_result_message(result, i)));
    json_object_object_add(answer, "messages", messages);
    dueq_result_free(result);
    return status;
}

typedef dueq_status each_verb(dueq_queue *queue, const dueq_bytes *items, size_t count,
                              dueq_result **result);

static dueq_status each(dueq_queue *queue, each_verb *verb, json_object *items,
                        json_object *answer) {
    dueq_bytes texts[MOST];
    size_t count = json_object_array_length(items);
    for (size_t i = 0; i < count; i++)
        texts[i] = text_of(json_object_array_get_idx(items, i));
    dueq_result *result;
    dueq_status status = verb(queue, texts, count, &result);
    json_object_object_add(answer, "statuses", statuses_of(result));
    dueq_result_free(result);
    return status;
}

static dueq_status look(dueq_queue *queue, json_object *ids, json_object *answer) {
    json_object *found = json_object_new_array(), *counted = json_object_new_array();
    json_object_object_add(answer, "found", found);
    json_object_object_add(answer, "counts", counted);
    for (size_t i = 0; i < json_object_array_length(ids); i++) {
        dueq_result *result;
        dueq_status status = dueq_find(queue, text_of(json_object_array_get_idx(ids, i)), &result);
        if (status < 0)
            return status;
        const dueq_message *message = dueq_result_message(result, 0);
        json_object_array_add(found, message ? shown(message) : NULL);
        dueq_result_free(result);
    }
    dueq_counts counts = {0};
    dueq_status status = dueq_stats(queue, &counts);
    const int64_t numbers[] = {counts.ready, counts.delayed, counts.leased, counts.dead,
                               counts.acked, counts.damaged, counts.next_ms};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_array_add(counted, json_object_new_int64(numbers[i]));
    return status;
}

static dueq_status settle(dueq_queue *queue, const char *verb, json_object *request,
                          json_object *answer) {
    dueq_bytes ticket = text(request, "ticket");
    dueq_status status = DUEQ_INVALID;
    if (!strcmp(verb, "retry"))
        status = dueq_retry(queue, ticket, number(request, "delay_ms"), text(request, "error"));
    else if (!strcmp(verb, "extend"))
        status = dueq_extend(queue, ticket, number(request, "lease_ms"));
    else if (!strcmp(verb, "bury"))
        status = dueq_bury(queue, ticket, text(request, "error"));
    json_object_object_add(answer, "statuses", one_status(status));
    return status;
}

static dueq_status run(dueq_queue *queue, json_object *request, json_object *answer) {
    const char *verb = json_object_get_string(json_object_object_get(request, "do"));
    if (!strcmp(verb, "forget"))
        return DUEQ_OK;
    if (!strcmp(verb, "push"))
        return push(queue, json_object_object_get(request, "drafts"), answer);
    if (!strcmp(verb, "reserve"))
        return reserve(queue, request, answer);
    if (!strcmp(verb, "ack"))
        return each(queue, dueq_ack, json_object_object_get(request, "tickets"), answer);
    if (!strcmp(verb, "cancel"))
        return each(queue, dueq_cancel, json_object_object_get(request, "ids"), answer);
    if (!strcmp(verb, "look"))
        return look(queue, json_object_object_get(request, "ids"), answer);
    return settle(queue, verb, request, answer);
}

int main(int count, char **words) {
    dueq_client *client;
    dueq_queue *queue;
    if (count != 3 || dueq_open(words[1], &client) ||
        dueq_queue_open(client, words[2], strlen(words[2]), &queue)) {
        fprintf(stderr, "usage: model_driver URL QUEUE\n");
        return 2;
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_object *request = json_tokener_parse(line), *answer = json_object_new_object();
        dueq_status status = run(queue, request, answer);
        if (status < 0)
            json_object_object_add(answer, "failure",
                                   json_object_new_string(dueq_error_text(client)));
        puts(json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN));
        fflush(stdout);
        json_object_put(answer);
        json_object_put(request);
    }
    free(line);
    dueq_queue_close(queue);
    dueq_close(client);
    return 0;
}

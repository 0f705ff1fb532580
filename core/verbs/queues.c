#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

/* The names of the server's queues: each that was ever used has its info. */

static const char key_begin[] = "dueq:{", key_end[] = "}:meta";
#define BEGIN_SIZE (sizeof key_begin - 1)
#define END_SIZE (sizeof key_end - 1)

/* Keys that one SCAN looks at, and SCANs of one call: most keys of a server may be no queue's. */
#define SCAN_COUNT "1000"
#define MOST_SCANS 10

static bool name_of(dueq_bytes key, dueq_bytes *name) {
    struct dueq__error error;
    const char *text = key.data;
    if (key.size < BEGIN_SIZE + END_SIZE || memcmp(text, key_begin, BEGIN_SIZE) != 0 ||
        memcmp(text + key.size - END_SIZE, key_end, END_SIZE) != 0)
        return false;
    *name = (dueq_bytes){text + BEGIN_SIZE, key.size - BEGIN_SIZE - END_SIZE};
    return dueq__name_check(name->data, name->size, &error) == DUEQ_OK;
}

/* The server's cursor; with PART- before it in the other parts of a cluster than its first. */
#define MOST_CURSOR 40

/* Takes the part off; false: it is no cursor. */
static bool read_cursor(dueq_bytes *cursor, size_t *part) {
    const char *at = cursor->data, *end = at + cursor->size;
    int64_t number;
    *part = 0;
    if (dueq__take_digits(&at, end, 8, &number) && at != end && *at == '-') {
        *part = (size_t)number;
        *cursor = (dueq_bytes){at + 1, (size_t)(end - at - 1)};
    }
    at = cursor->data;
    dueq__take_digits(&at, end, 20, &number);
    return at == end;
}

static dueq_status scan(dueq_client *client, dueq_bytes cursor) {
    struct dueq__resp words;
    unsigned *scans = client->op->verb;
    ++*scans;
    dueq__resp_init(&words);
    dueq__resp_text(&words, "SCAN");
    dueq__resp_bytes(&words, cursor.data, cursor.size);
    dueq__resp_text(&words, "MATCH");
    dueq__resp_text(&words, "dueq:{*}:meta");
    dueq__resp_text(&words, "COUNT");
    dueq__resp_text(&words, SCAN_COUNT);
    dueq__resp_text(&words, "TYPE");
    dueq__resp_text(&words, "hash");
    return dueq__op_submit(client, &words);
}

/* Takes the names out of a page; false: what was scanned is no page. */
static bool read_page(const struct dueq__reply *keys, dueq_bytes *names, size_t *count) {
    *count = 0;
    for (size_t i = 0; i < dueq__reply_count(keys); i++) {
        dueq_bytes key;
        if (!dueq__reply_bytes(dueq__reply_item(keys, i), &key))
            return false;
        *count += name_of(key, &names[*count]);
    }
    return true;
}

static void decode_scanned(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    const unsigned *scans = op->verb;
    dueq_bytes cursor, *names = NULL;
    size_t count = 0, part;
    char next[MOST_CURSOR];
    bool good = dueq__reply_count(reply) == 2 &&
                dueq__reply_bytes(dueq__reply_item(reply, 0), &cursor) && cursor.size &&
                read_cursor(&cursor, &part) && part == 0;
    if (!good) {
        dueq__answer_unexpected(client);
        return;
    }
    const struct dueq__reply *keys = dueq__reply_item(reply, 1);
    names = malloc((dueq__reply_count(keys) + 1) * sizeof *names);
    if (!names) {
        dueq__op_no_memory(client);
        return;
    }
    bool last = cursor.size == 1 && *(const char *)cursor.data == '0';
    if (last && client->cluster && dueq__route_primary(client, op->request.primary_index + 1)) {
        op->request.primary_index++;
        last = false;
    }
    if (!read_page(keys, names, &count)) {
        dueq__answer_unexpected(client);
    } else if (count == 0 && !last && *scans < MOST_SCANS) {
        scan(client, cursor);
    } else {
        int size = op->request.primary_index
                       ? snprintf(next, sizeof next, "%zu-%.*s", op->request.primary_index,
                                  (int)cursor.size, (const char *)cursor.data)
                       : 0;
        if (last)
            cursor = (dueq_bytes){0};
        else if (size)
            cursor = (dueq_bytes){next, (size_t)size};
        dueq__op_finish_result(client, dueq__result_page(names, count, cursor, &client->error),
                               DUEQ_OK);
    }
    free(names);
}

dueq_status dueq_queues_submit(dueq_client *client, dueq_bytes cursor) {
    /* A plain command in a script's place: it has a name for the errors. */
    static const struct dueq__script plain = {.name = "queues"};
    dueq__client_check_fork(client);
    size_t part;
    if (!read_cursor(&cursor, &part))
        return dueq__fail(&client->error, DUEQ_INVALID,
                          "not a cursor: they come with the pages of queues");
    dueq_status status = dueq__op_begin_plain(client, &plain);
    if (status)
        return status;
    /* How many scans it has made. */
    if (!dueq__op_state(client, sizeof(unsigned)))
        return dueq__op_no_memory(client);
    client->op->decode = decode_scanned;
    client->op->request.max_messages = 1;
    client->op->request.primary_index = part;
    return scan(client, cursor.size ? cursor : dueq__text("0"));
}

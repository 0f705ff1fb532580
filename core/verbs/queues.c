#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

/* queues: the names of the server's queues. Each queue that was ever used has a key `meta`. */

static const char key_begin[] = "dueq:{", key_end[] = "}:meta";
#define BEGIN_SIZE (sizeof key_begin - 1)
#define END_SIZE (sizeof key_end - 1)

/*
 * Most keys of a server may be no queue's. So one SCAN looks at many keys, and one call makes up to
 * so many SCANs.
 */
static const char *const scan_options[] = {"MATCH", "dueq:{*}:meta", "COUNT",
                                           "1000",  "TYPE",          "hash"};
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

/*
 * The bytes of a cursor: the cursor of SCAN. In a cluster, "PART-" is before it, but for the first
 * of the nodes, which are asked one after the other.
 */
#define MOST_CURSOR 40

/* Takes "PART-" off. False: the text is no cursor. */
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
    struct dueq__resp words = {0};
    unsigned *scans = client->op->verb;
    ++*scans;
    dueq__resp_text(&words, "SCAN");
    dueq__resp_bytes(&words, cursor.data, cursor.size);
    for (size_t i = 0; i < sizeof scan_options / sizeof *scan_options; i++)
        dueq__resp_text(&words, scan_options[i]);
    return dueq__op_submit(client, &words);
}

/* The names of the queues in a page. NULL: the error is set. */
static dueq_result *read_page(const struct dueq__reply *keys, struct dueq__error *error) {
    size_t count = 0;
    dueq_bytes key;
    dueq_result *page = dueq__result_new(NULL, dueq__reply_count(keys), MOST_CURSOR, error);
    for (size_t i = 0; page && i < dueq__reply_count(keys); i++) {
        if (!dueq__reply_bytes(dueq__reply_item(keys, i), &key))
            return dueq__result_malformed(page, error, "queues");
        count += name_of(key, &page->items[count].id);
    }
    if (page)
        page->count = count;
    return page;
}

static void decode_scanned(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__request *request = &client->op->request;
    const unsigned *scans = client->op->verb;
    dueq_bytes cursor;
    size_t part;
    char next[MOST_CURSOR];
    if (dueq__reply_count(reply) != 2 || !dueq__reply_bytes(dueq__reply_item(reply, 0), &cursor) ||
        !cursor.size || !read_cursor(&cursor, &part) || part != 0) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq_result *page = read_page(dueq__reply_item(reply, 1), &client->error);
    bool part_ends = dueq__bytes_equal(cursor, dueq__text("0"));
    bool goes_on =
        !part_ends || (client->cluster && dueq__route_primary(client, request->primary_index + 1));
    if (page && part_ends && goes_on)
        request->primary_index++;
    if (page && page->count == 0 && goes_on && *scans < MOST_SCANS) {
        dueq_result_free(page);
        scan(client, cursor);
        return;
    }
    if (page && goes_on && request->primary_index) {
        int size = snprintf(next, sizeof next, "%zu-%.*s", request->primary_index, (int)cursor.size,
                            (const char *)cursor.data);
        cursor = (dueq_bytes){next, (size_t)size};
    }
    if (page && goes_on)
        page->cursor = dueq__result_copy(page, cursor);
    dueq__result_take_reply(page, &client->reply);
    dueq__op_finish_result(client, page, DUEQ_OK);
}

dueq_status dueq_queues_submit(dueq_client *client, dueq_bytes cursor) {
    /* SCAN is a plain command, not a script. Errors need its name. */
    static const struct dueq__script plain = {.name = "queues"};
    dueq__client_check_fork(client);
    size_t part;
    if (!read_cursor(&cursor, &part))
        return dueq__fail(&client->error, DUEQ_INVALID,
                          "not a cursor: they come with the pages of queues");
    dueq_status status = dueq__op_begin_plain(client, &plain);
    if (status)
        return status;
    /* The state: how many SCANs the call has made. */
    if (!dueq__op_state(client, sizeof(unsigned)))
        return dueq__op_no_memory(client);
    client->op->decode = decode_scanned;
    client->op->request.max_messages = 1;
    client->op->request.primary_index = part;
    return scan(client, cursor.size ? cursor : dueq__text("0"));
}

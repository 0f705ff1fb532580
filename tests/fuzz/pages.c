/*
 * The bytes as a cursor of the verbs that have pages, and as pages of a server. The first byte
 * chooses the verb. Up to the first line feed the bytes are the cursor; the server answers with
 * what follows.
 */
#include "hostile.h"

static const dueq_bytes nothing = {"", 0};

/*
 * The names of queues, then the pages of an ordinary queue, then those of one of four partitions.
 */
enum { OF_QUEUE = 1, OF_PARTITIONS = 10, VERBS = 19, PARTITIONS = 4 };

static dueq_status submit(dueq_client *client, dueq_queue *const queues[2], unsigned verb,
                          dueq_bytes cursor) {
    if (verb < OF_QUEUE)
        return dueq_queues_submit(client, cursor);
    dueq_queue *queue = queues[verb >= OF_PARTITIONS];
    unsigned which = (verb - OF_QUEUE) % (OF_PARTITIONS - OF_QUEUE);
    switch (which) {
    case 0:
        return dueq_failures_submit(queue, nothing, cursor, 10);
    case 1:
        return dueq_workers_submit(queue, cursor, 10);
    case 2:
        return dueq_kick_all_submit(queue, NULL, cursor, 10);
    case 3:
        return dueq_groups_submit(queue, cursor, 10);
    case 4:
        return dueq_purge_group_submit(queue, (dueq_bytes){"a b", 3}, cursor, 10);
    default:
        return dueq_peek_submit(queue, (dueq_state)(which - 4), cursor, 10);
    }
}

static size_t digits(const char *text, size_t size) {
    size_t count = 0;
    while (count < size && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/*
 * Whether the client itself can tell that these bytes are a cursor; the rest of them only the
 * server's script reads.
 */
static bool is_cursor(unsigned verb, dueq_bytes cursor) {
    const char *text = cursor.data;
    size_t first = digits(text, cursor.size);
    if (verb < OF_QUEUE && first > 0 && first < 9 && first < cursor.size && text[first] == '-')
        return cursor.size - first - 1 <= 20 &&
               digits(text + first + 1, cursor.size - first - 1) == cursor.size - first - 1;
    if (verb < OF_QUEUE)
        return cursor.size <= 20 && first == cursor.size;
    if (verb < OF_PARTITIONS || cursor.size == 0)
        return true;
    size_t zeros = 0;
    while (zeros < first && text[zeros] == '0')
        zeros++;
    return first > 0 && first < cursor.size && text[first] == ':' && first - zeros <= 1 &&
           (first == zeros || text[zeros] < '0' + PARTITIONS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 16384)
        return 0;
    const unsigned verb = data[0] % VERBS;
    const char *text = (const char *)data + 1, *end = memchr(text, '\n', size - 1);
    dueq_bytes cursor = {text, end ? (size_t)(end - text) : size - 1};
    dueq_bytes rest = {text + cursor.size + (end ? 1 : 0), size - 1 - cursor.size - (end ? 1 : 0)};
    dueq_client *client;
    dueq_queue *queues[2];
    listen_once();
    CHECK(dueq_open(url, &client) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "q", 1, &queues[0]) == DUEQ_OK);
    CHECK(dueq_partitions_open(client, "p", 1, PARTITIONS, nothing, &queues[1]) == DUEQ_OK);
    void *copy = fuzz_copy(cursor.data, cursor.size);
    dueq_status status = submit(client, queues, verb, (dueq_bytes){copy, cursor.size});
    free(copy);
    const bool good = is_cursor(verb, cursor);
    /* Of partitions this is known when the server has said how many there are. */
    CHECK(verb >= OF_PARTITIONS || (status == DUEQ_INVALID) == !good);
    status = converse(client, status, rest, false);
    CHECK(good || status != DUEQ_OK);
    dueq_result *page = finish(client, status);
    dueq_bytes next = dueq_result_cursor(page);
    /* A page's cursor is one that the next call takes. */
    CHECK(!next.size || is_cursor(verb, next));
    dueq_result_free(page);
    dueq_queue_close(queues[0]);
    dueq_queue_close(queues[1]);
    dueq_close(client);
    return 0;
}

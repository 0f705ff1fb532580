/*
 * The bytes as the cursor of a check, and as a change of one that is good: each first byte of two
 * says where, the second what is done there. A cursor that is not exactly the one of the walk's
 * next step is refused.
 */
#include "fuzz.h"

#include "check/check.h"

static dueq_client *client;
static dueq_queue *queue;

static void open_once(void) {
    if (client)
        return;
    CHECK(dueq_open("unix:///nonexistent/socket", &client) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "q", 1, &queue) == DUEQ_OK);
}

static void check_text(dueq_bytes text) {
    struct dueq__check_cursor cursor;
    char again[DUEQ__CHECK_CURSOR];
    if (!dueq__check_cursor_read(text, &cursor))
        return;
    dueq__check_cursor_write(&cursor, again);
    CHECK(fuzz_equal(dueq__text(again), text));
}

/* Is the step taken that this cursor names? */
static bool is_taken(dueq_bytes cursor) {
    void *copy = fuzz_copy(cursor.data, cursor.size);
    dueq_status status = dueq_check_submit(queue, 0, (dueq_bytes){copy, cursor.size});
    free(copy);
    CHECK(status == DUEQ_PENDING || status == DUEQ_INVALID);
    CHECK(status == DUEQ_PENDING || dueq_error_text(client)[0]);
    dueq_abandon(client);
    return status == DUEQ_PENDING;
}

static void check_changed(const uint8_t *data, size_t size) {
    char good[DUEQ__CHECK_CURSOR], changed[DUEQ__CHECK_CURSOR];
    dueq__walks_lock();
    struct dueq__walk *walk = dueq__walk_new(client, false);
    CHECK(walk);
    walk->next.step = size > 2 ? data[2] * 16777259u : 0;
    dueq__check_cursor_write(&walk->next, good);
    dueq__walks_unlock();
    size_t length = strlen(good);
    memcpy(changed, good, sizeof good);
    for (size_t i = 0; i + 1 < size && i < 8; i += 2)
        changed[data[i] % length] = (char)data[i + 1];
    dueq_bytes text = {changed, size % 3 ? length : size % length};
    bool same = fuzz_equal(text, dueq__text(good));
    CHECK(!text.size || is_taken(text) == same);
    CHECK(is_taken(dueq__text(good)));
    /* The fuzzer reads along in comparisons, and would name this walk the next time. */
    dueq__walks_lock();
    dueq__walk_end(walk);
    dueq__walks_unlock();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *copy = fuzz_copy(data, size);
    open_once();
    check_text((dueq_bytes){copy, size});
    CHECK(!size || !is_taken((dueq_bytes){copy, size}));
    check_changed(copy, size);
    free(copy);
    return 0;
}

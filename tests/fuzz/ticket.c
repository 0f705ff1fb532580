/* The bytes as a ticket: its parts, put together, are the ticket again. */
#include "fuzz.h"

static void check_parts(dueq_bytes text, const struct dueq__ticket *ticket) {
    CHECK(ticket->id.size > 0 && ticket->before <= 999999999);
    CHECK((const char *)ticket->id.data + ticket->id.size == (const char *)text.data + text.size);
    CHECK(ticket->stamp.size == 0 || ticket->stamp.size == DUEQ__STAMP_SIZE);
    if (ticket->id.data == text.data) {
        CHECK(text.size == DUEQ__ID_SIZE && ticket->before == 0 && ticket->stamp.size == 0);
        return;
    }
    const char *digits = text.data;
    size_t zeros = 0, size = text.size + DUEQ__STAMP_SIZE + 16;
    while (digits[zeros] == '0' && digits[zeros + 1] >= '0' && digits[zeros + 1] <= '9')
        zeros++;
    char *again = malloc(size);
    CHECK(again);
    int head = snprintf(again, size, "%u%s%.*s:", ticket->before, ticket->stamp.size ? "." : "",
                        (int)ticket->stamp.size,
                        ticket->stamp.size ? (const char *)ticket->stamp.data : "");
    memcpy(again + head, ticket->id.data, ticket->id.size);
    CHECK(fuzz_equal((dueq_bytes){again, (size_t)head + ticket->id.size},
                     (dueq_bytes){digits + zeros, text.size - zeros}));
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dueq_bytes text = {fuzz_copy(data, size), size};
    struct dueq__ticket ticket;
    if (dueq__ticket_read(text, &ticket))
        check_parts(text, &ticket);
    CHECK(dueq__id_time(text.data, text.size) >= -1);
    free((void *)text.data);
    return 0;
}

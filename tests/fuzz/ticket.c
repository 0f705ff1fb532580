/* The bytes as a ticket, whose parts, put together, are the ticket again; and as attempts. */
#include "fuzz.h"

static void check_parts(dueq_bytes text, const struct dueq__ticket *ticket) {
    CHECK(ticket->id.size > 0 && ticket->deliveries <= 999999999);
    CHECK((const char *)ticket->id.data + ticket->id.size == (const char *)text.data + text.size);
    const char *group = memchr(ticket->suffix.data, '=', ticket->suffix.size);
    size_t own = group ? (size_t)(group - (const char *)ticket->suffix.data) : ticket->suffix.size;
    CHECK(own <= 1 || own == DUEQ__INCARNATION_SIZE || own == DUEQ__INCARNATION_SIZE + 1);
    CHECK(!group || own + 1 < ticket->suffix.size);
    CHECK(dueq__ticket_time(ticket) >= -1);
    if (ticket->id.data == text.data) {
        CHECK(text.size == DUEQ__ID_SIZE && ticket->deliveries == 0 && ticket->suffix.size == 0);
        return;
    }
    const char *digits = text.data;
    size_t zeros = 0, size = text.size + DUEQ__INCARNATION_SIZE + 17;
    while (digits[zeros] == '0' && digits[zeros + 1] >= '0' && digits[zeros + 1] <= '9')
        zeros++;
    char *again = malloc(size);
    CHECK(again);
    int head = snprintf(again, size, "%u%s%.*s:", ticket->deliveries,
                        ticket->suffix.size ? "." : "", (int)ticket->suffix.size,
                        ticket->suffix.size ? (const char *)ticket->suffix.data : "");
    memcpy(again + head, ticket->id.data, ticket->id.size);
    CHECK(fuzz_equal((dueq_bytes){again, (size_t)head + ticket->id.size},
                     (dueq_bytes){digits + zeros, text.size - zeros}));
    free(again);
}

static void check_attempts(dueq_bytes text) {
    struct dueq__attempts attempts;
    if (!dueq__attempts_read(text, &attempts))
        return;
    CHECK(attempts.deliveries <= 999999999 &&
          attempts.forgiven + attempts.crashes <= attempts.deliveries);
    CHECK(attempts.error.size < text.size);
    CHECK((const char *)attempts.error.data + attempts.error.size ==
          (const char *)text.data + text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dueq_bytes text = {fuzz_copy(data, size), size};
    struct dueq__ticket ticket;
    if (dueq__ticket_read(text, &ticket))
        check_parts(text, &ticket);
    check_attempts(text);
    CHECK(dueq__id_time(text.data, text.size) >= -1);
    free((void *)text.data);
    return 0;
}

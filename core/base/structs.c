#include <stdlib.h>

#include "base.h"

/* No struct of this or a later library is larger. */
#define MOST_SIZE 4096

DUEQ__LAYOUT(draft, DUEQ_DRAFT, key);
DUEQ__LAYOUT(plan, DUEQ_PLAN, job);
DUEQ__LAYOUT(filter, DUEQ_FILTER, until_ms);
DUEQ__LAYOUT(limit_options, DUEQ_LIMIT, clear);
DUEQ__LAYOUT(batch_options, DUEQ_BATCH, keep_ms);
DUEQ__LAYOUT(reserve_options, DUEQ_RESERVE, lease_ms);
DUEQ__LAYOUT(consumer_options, DUEQ_CONSUMER, slots);
DUEQ__LAYOUT(counts, DUEQ_COUNTS, evicting);
DUEQ__LAYOUT(sizes, DUEQ_SIZES, now_ms);
DUEQ__LAYOUT(moved, DUEQ_MOVED, next_ms);

static size_t size_of(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

dueq_status dueq__struct_check(const void *given, const struct dueq__layout *layout,
                               struct dueq__error *error) {
    const unsigned char *bytes = given;
    size_t size = size_of(given);
    if (size == layout->size)
        return DUEQ_OK;
    if (size < layout->first_size || size > MOST_SIZE)
        return dueq__fail(error, DUEQ_INVALID,
                          "a %s has the struct_size %zu; it must begin with %s, which sets %zu",
                          layout->name, size, layout->initializer, layout->size);
    for (size_t i = layout->size; i < size; i++)
        if (bytes[i])
            return dueq__fail(error, DUEQ_INVALID,
                              "a %s sets an option that this libdueq (" DUEQ_VERSION
                              ") does not have: the program was built for a later one",
                              layout->name);
    return DUEQ_OK;
}

void dueq__struct_copy(void *out, const void *given, const struct dueq__layout *layout) {
    size_t size = smaller(size_of(given), layout->size);
    memcpy(out, given, size);
    memset((char *)out + size, 0, layout->size - size);
    memcpy(out, &layout->size, sizeof layout->size);
}

void dueq__struct_give(void *out, const void *made, const struct dueq__layout *layout) {
    size_t size = size_of(out);
    memcpy(out, made, smaller(size, layout->size));
    memcpy(out, &size, sizeof size);
}

dueq_status dueq__given_read(struct dueq__given *given, const void *items, size_t count,
                             const struct dueq__layout *layout, struct dueq__error *error) {
    *given = (struct dueq__given){.items = items};
    if (!items || count == 0 || count > DUEQ_MAX_BATCH)
        return DUEQ_OK; /* the verb checks the count */
    size_t stride = size_of(items);
    dueq_status status = dueq__struct_check(items, layout, error);
    for (size_t i = 1; !status && i < count; i++) {
        const char *item = (const char *)items + i * stride;
        if (size_of(item) != stride)
            status = dueq__fail(error, DUEQ_INVALID,
                                "the %s %zu of an array has the struct_size %zu, the first %zu; "
                                "each must begin with %s",
                                layout->name, i, size_of(item), stride, layout->initializer);
        else
            status = dueq__struct_check(item, layout, error);
    }
    if (status || stride == layout->size)
        return status;
    char *copies = malloc(count * layout->size);
    if (!copies)
        return dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    for (size_t i = 0; i < count; i++)
        dueq__struct_copy(copies + i * layout->size, (const char *)items + i * stride, layout);
    *given = (struct dueq__given){.items = copies, .copies = copies};
    return DUEQ_OK;
}

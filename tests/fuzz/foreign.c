/*
 * Queues of Redisson and of Laravel on a server that answers with any bytes. The first byte chooses
 * the call, the second whether the server closes after its bytes.
 */
#include "dueq_redisson.h"
#include "hostile.h"

static const dueq_bytes reserved[] = {{"{\"attempts\":1}", 14}, {"{\"attempts\":2} ", 15}};
static const dueq_value value = {.kind = DUEQ_STRING, .bytes = {"v", 1}};

static dueq_status submit_redisson(dueq_redisson *queue, unsigned verb) {
    const dueq_offer offers[] = {{sizeof *offers, .value = value},
                                 {sizeof *offers, .value = value, .delay_ms = 5}};
    switch (verb) {
    case 0:
        return dueq_redisson_take_submit(queue, 2, 0);
    case 1:
        return dueq_redisson_take_submit(queue, 2, DUEQ_FOREVER);
    case 2:
        return dueq_redisson_transfer_submit(queue, 2, 0);
    case 3:
        return dueq_redisson_transfer_submit(queue, 2, DUEQ_FOREVER);
    case 4:
        return dueq_redisson_offer_submit(queue, offers, 2);
    case 5:
        return dueq_redisson_poll_submit(queue, 2);
    case 6:
        return dueq_redisson_peek_submit(queue, 2);
    case 7:
        return dueq_redisson_remove_submit(queue, &value);
    case 8:
        return dueq_redisson_contains_submit(queue, &value);
    case 9:
        return dueq_redisson_clear_submit(queue);
    default:
        return dueq_redisson_size_submit(queue);
    }
}

static dueq_status submit_laravel(dueq_laravel *queue, unsigned verb) {
    const dueq_laravel_draft drafts[] = {{sizeof *drafts, .job = {"A@b", 3}},
                                         {sizeof *drafts, .job = {"A@b", 3}, .delay_ms = 1000}};
    switch (verb) {
    case 0:
        return dueq_laravel_pop_submit(queue, 2, 0, 0);
    case 1:
        return dueq_laravel_pop_submit(queue, 2, DUEQ_FOREVER, 0);
    case 2:
        return dueq_laravel_migrate_submit(queue, 2, 0);
    case 3:
        return dueq_laravel_migrate_submit(queue, 2, DUEQ_FOREVER);
    case 4:
        return dueq_laravel_push_submit(queue, drafts, 2);
    case 5:
        return dueq_laravel_delete_submit(queue, reserved, 2);
    case 6:
        return dueq_laravel_release_submit(queue, reserved, 2, 1000);
    case 7:
        return dueq_laravel_clear_submit(queue);
    default:
        return dueq_laravel_size_submit(queue);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 16384)
        return 0;
    listen_once();
    dueq_client *client;
    dueq_redisson *redisson;
    dueq_laravel *laravel;
    CHECK(dueq_open(url, &client) == DUEQ_OK);
    CHECK(dueq_redisson_open(client, "q", 1, DUEQ_CODEC_KRYO5, DUEQ_LAYOUT_FOUND, &redisson) ==
          DUEQ_OK);
    CHECK(dueq_laravel_open(client, "q", 1, (dueq_bytes){0}, &laravel) == DUEQ_OK);
    unsigned verb = data[0] % 20;
    dueq_status status =
        verb < 11 ? submit_redisson(redisson, verb) : submit_laravel(laravel, verb - 11);
    status = converse(client, status, (dueq_bytes){data + 2, size - 2}, data[1] & 1);
    dueq_result_free(finish(client, status));
    dueq_redisson_close(redisson);
    dueq_laravel_close(laravel);
    dueq_close(client);
    return 0;
}

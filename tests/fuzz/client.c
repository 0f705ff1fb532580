/*
 * A whole client against a server that answers with any bytes. The first byte chooses the call, the
 * second whether the server closes after its bytes (1), and whether pushes wait for a replica (2)
 * and the disk (4).
 */
#include "check/check.h"
#include "hostile.h"

static const dueq_bytes tickets[] = {{"034q4HWvPr75LHPWlJby2F", 22}, {"1.2AaIBtOKzz:bill", 17}};
static const dueq_bytes nothing = {"", 0}, name = {"n", 1};

static dueq_status submit_pushed(dueq_queue *queue, unsigned verb) {
    dueq_draft drafts[] = {DUEQ_DRAFT,
                           {sizeof *drafts, .body = {"b", 1}, .id = {"x", 1}, .delay_ms = 5}};
    switch (verb) {
    case 0:
        return dueq_push_submit(queue, drafts, 2);
    case 1:
        return dueq_push_submit(queue, drafts, 1);
    case 2:
        drafts[1].dead_letter = name;
        drafts[1].ttl_ms = 1000;
        return dueq_push_submit(queue, drafts, 2);
    default:
        return dueq_ack_push_submit(queue, tickets[1], NULL, drafts, 2);
    }
}

/* A step of a check, in any stage, which knows both messages and may have something to judge. */
static dueq_status submit_check(dueq_client *client, dueq_queue *queue, uint32_t stage) {
    char text[DUEQ__CHECK_CURSOR];
    dueq__walks_lock();
    struct dueq__walk *walk = dueq__walk_new(client, true);
    CHECK(walk);
    walk->stage = stage % DUEQ__STAGE_END;
    walk->window = walk->judge_count = 10;
    strcpy(walk->queue, "q");
    CHECK(dueq__walk_add(walk, tickets[0], false) && dueq__walk_add(walk, tickets[1], true));
    walk->messages[0].lane = DUEQ__STAGE_FIRST_LANE;
    walk->doubled[0].lane = DUEQ__STAGE_FIRST_LANE + 1;
    walk->doubled_count = 1;
    CHECK(stage < DUEQ__STAGE_END || dueq__walk_judge_later(walk, tickets[0]));
    dueq__check_cursor_write(&walk->next, text);
    dueq__walks_unlock();
    return dueq_check_submit(queue, 1, dueq__text(text));
}

static dueq_status submit(dueq_client *client, dueq_queue *queues[2], unsigned verb) {
    dueq_queue *queue = queues[0];
    dueq_reserve_options reserve = DUEQ_RESERVE;
    if (verb >= 29)
        return submit_check(client, queue, (verb - 29) % (2 * DUEQ__STAGE_END));
    switch (verb) {
    case 0:
        return dueq_reserve_submit(queue, 10, 0, 0);
    case 1:
        return dueq_reserve_submit(queue, 1, DUEQ_FOREVER, UINT32_MAX);
    case 2:
        return submit_pushed(queue, 0);
    case 3:
        return submit_pushed(queue, 1);
    case 4:
        return dueq_ack_submit(queue, tickets, 2);
    case 5:
        return dueq_retry_submit(queue, tickets[1], 10, nothing);
    case 6:
        return dueq_extend_submit(queue, tickets, 2, 10);
    case 7:
        return dueq_cancel_submit(queue, tickets, 2);
    case 8:
        return dueq_find_submit(queue, tickets[0]);
    case 9:
        return dueq_stats_submit(queue);
    case 10:
        return submit_pushed(queue, 2);
    case 11:
        return submit_pushed(queue, 3);
    case 12:
        return dueq_retry_submit(queue, tickets[1], DUEQ_BY_POLICY, name);
    case 13:
        return dueq_release_submit(queue, tickets, 2, 0);
    case 14:
        return dueq_bury_submit(queue, tickets[0], name);
    case 15:
        return dueq_kick_all_submit(queue, NULL, nothing, 10);
    case 16:
        return dueq_purge_submit(queue, DUEQ_DEAD, 10);
    case 17:
        return dueq_peek_submit(queue, DUEQ_LEASED, nothing, 10);
    case 18:
        return dueq_rates_submit(queue, 60, 0);
    case 19:
        return dueq_queues_submit(client, nothing);
    case 20:
        return dueq_lock_submit(queue, name, 1000, 0);
    case 21:
        return dueq_lock_submit(queue, name, 1000, DUEQ_FOREVER);
    case 22:
        return dueq_unlock_submit(queue, name, tickets[0]);
    case 23:
        reserve.count = 10;
        return dueq_reserve_any_submit(queues, 2, &reserve);
    case 24:
        reserve.order = DUEQ_ROUND_ROBIN;
        reserve.timeout_ms = DUEQ_FOREVER;
        return dueq_reserve_any_submit(queues, 2, &reserve);
    case 25:
        return dueq_reschedule_submit(queue, tickets[0], 0, 0);
    case 26:
        return dueq_checkpoint_submit(queue, tickets[1], name);
    case 27:
        return dueq_failures_submit(queue, tickets[0], nothing, 10);
    default:
        return dueq_remove_submit(queue, 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 16384)
        return 0;
    listen_once();
    dueq_client *client;
    dueq_queue *queues[2];
    CHECK(dueq_open(url, &client) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "q", 1, &queues[0]) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "r", 1, &queues[1]) == DUEQ_OK);
    const dueq_durability durability = {data[1] >> 1 & 1, data[1] >> 2 & 1, 1000};
    CHECK(dueq_queue_durability(queues[0], &durability) == DUEQ_OK);
    dueq_status status = submit(client, queues, data[0]);
    status = converse(client, status, (dueq_bytes){data + 2, size - 2}, data[1] & 1);
    dueq_result_free(finish(client, status));
    dueq_queue_close(queues[0]);
    dueq_queue_close(queues[1]);
    dueq_close(client);
    return 0;
}

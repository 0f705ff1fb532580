#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/*
 * check: walks through all keys of a queue, window by window. Each window is one run of the script.
 * The walk begins with `msg`, and remembers the ticket of each message. Then it goes through the
 * sets and lanes, and meets these tickets there. A further script judges the tickets that the walk
 * does not know, and the tickets that look wrong: it looks at all keys at one moment. A lane has no
 * index, so the walk judges the messages that it has met nowhere at its end. Workers go on
 * meanwhile. A ticket moves from `delayed` to a lane to the line of its group, if the queue has
 * groups, to `leased`, and never back. The walk takes the keys in this order, so it meets the
 * tickets that move.
 *
 * The walk stays in this process. The cursor of the result names it.
 */

/* The most that one run of the script looks at: */
#define MOST_HASH 1600    /* entries of a hash */
#define MOST_PLACE 4500   /* tickets of a lane or set */
#define MOST_FEW 200      /* entries of the outbox, `handover`, groups, lines, ends or batches */
#define MOST_JUDGED 500   /* tickets that it judges */
#define MOST_BYTES 786432 /* bytes; after a run that read more, the next one looks at less */

static const char *const stages[] = {"types",   "notes",  "msg",     "attempts", "handover",
                                     "delayed", "high",   "ready",   "low",      "lines",
                                     "leased",  "outbox", "dead",    "lost",     "doubled",
                                     "ends",    "kept",   "started", "batches",  "quarantine"};

/* The kinds of findings. name: as the script answers it. */
static const struct kind {
    const char *name, *text;
    bool wrong, repairable;
} kinds[] = {
    {"type", "keys of another type", true, true},
    {"lost", "messages without a ticket", true, true},
    {"orphaned", "tickets without a message", true, true},
    {"doubled", "tickets in two places", true, true},
    {"corrupt", "messages that cannot be read", true, true},
    {"garbage", "entries that are no messages", true, true},
    {"attempts", "messages whose attempts do not match their tickets", true, true},
    {"record", "attempts without a message", true, true},
    {"batch", "batches that cannot be read, or do not close by themselves", true, true},
    {"end", "kept ends that no message had, or that no time ends", true, true},
    {"group", "groups that do not match their lines or turns", true, true},
    {"notes", "wrong counters and times in meta", true, true},
    {"outbox", "entries of the outbox that are stuck", true, false},
    {"stale", "tickets of cancelled messages in lanes", false, true},
    {"quarantined", "quarantined entries", false, false},
};
_Static_assert(sizeof kinds / sizeof *kinds == DUEQ__KINDS, "a walk has a place for each kind");

/* What the script answers */

enum { NEXT, BYTES, LOOKED, TICKETS, MARKED, FIXED };

/*
 * Adds the findings of one kind, which begin at item `at`: name, count, examples. False: the script
 * does not answer this.
 */
static bool add_found(struct dueq__walk *walk, const struct dueq__reply *reply, size_t at) {
    const struct dueq__reply *examples = dueq__reply_item(reply, at + 2);
    dueq_bytes name, example;
    int64_t count;
    size_t kind = 0;
    if (!dueq__reply_bytes(dueq__reply_item(reply, at), &name) ||
        !dueq__reply_number(dueq__reply_item(reply, at + 1), &count))
        return false;
    while (kind < DUEQ__KINDS && !dueq__bytes_equal(dueq__text(kinds[kind].name), name))
        kind++;
    if (kind == DUEQ__KINDS)
        return false;
    struct dueq__found *found = &walk->found[kind];
    found->count += count;
    for (size_t i = 0; i < dueq__reply_count(examples) && found->examples < DUEQ_MAX_EXAMPLES;
         i++) {
        if (!dueq__reply_bytes(dueq__reply_item(examples, i), &example))
            return false;
        size_t size = example.size < DUEQ__EXAMPLE ? example.size : DUEQ__EXAMPLE;
        memcpy(found->text[found->examples], example.data, size);
        found->sizes[found->examples++] = (uint32_t)size;
    }
    return true;
}

static const struct dueq__item_type findings = {sizeof(dueq_finding)};

const dueq_finding *dueq_result_finding(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &findings, index);
}

/* is_partition: the walk goes on in the next partition, with the findings so far. */
static dueq_result *result_of(const struct dueq__walk *walk, bool is_partition,
                              struct dueq__error *error) {
    bool ends = walk->stage == DUEQ__STAGE_END && !is_partition;
    char text[DUEQ__CHECK_CURSOR];
    dueq__check_cursor_write(&walk->next, text);
    size_t count = 0, bytes = sizeof text;
    for (size_t k = 0; k < DUEQ__KINDS; k++)
        count += walk->found[k].count > 0;
    bytes += count * DUEQ_MAX_EXAMPLES * DUEQ__EXAMPLE;
    dueq_result *result = dueq__result_new(&findings, count, bytes, error);
    if (!result)
        return NULL;
    result->purged = (size_t)walk->checked;
    result->queue_done = walk->stage == DUEQ__STAGE_END;
    for (size_t k = 0, i = 0; k < DUEQ__KINDS; k++) {
        const struct dueq__found *found = &walk->found[k];
        if (!found->count)
            continue;
        dueq_finding *finding = result->items[i++].value;
        *finding =
            (dueq_finding){.kind = kinds[k].name,
                           .text = kinds[k].text,
                           .wrong = kinds[k].wrong,
                           .count = found->count,
                           .repaired = walk->repair && kinds[k].repairable ? found->count : 0,
                           .example_count = found->examples};
        for (size_t n = 0; n < found->examples; n++)
            finding->examples[n] =
                dueq__result_copy(result, (dueq_bytes){found->text[n], found->sizes[n]});
    }
    if (!ends)
        result->cursor = dueq__result_copy(result, dueq__text(text));
    return result;
}

static dueq_status not_a_cursor(struct dueq__error *error) {
    return dueq__fail(error, DUEQ_INVALID,
                      "the cursor is not that of the check's last step in this process");
}

/* From one step to the next */

static void enter(struct dueq__walk *walk, uint32_t stage) {
    walk->stage = stage;
    walk->cursor_size = walk->judged = walk->judging = 0;
    walk->to_judge.count = walk->to_judge.size = 0;
    walk->distance = walk->removed = 0;
    walk->judge_count = 100;
    if (walk->window > 1000)
        walk->window = 1000;
}

/* Goes to the next window, or to the next stage that has work, if all of this window is judged. */
static void advance(struct dueq__walk *walk) {
    bool over = walk->next_cursor_size == 0;
    if (walk->stage == DUEQ__STAGE_LOST)
        over = dueq__walk_unmet(walk, walk->judged) == walk->count;
    else if (walk->stage == DUEQ__STAGE_DOUBLED)
        over = walk->judged >= walk->doubled_count;
    else if (walk->judged < walk->to_judge.count)
        return;
    else
        walk->to_judge.count = walk->to_judge.size = walk->judged = walk->judging = 0;
    if (dueq__stage_has_distance(walk->stage))
        walk->distance += walk->window_size - walk->removed;
    walk->removed = 0;
    memcpy(walk->cursor, walk->next_cursor, walk->next_cursor_size);
    walk->cursor_size = walk->next_cursor_size;
    while (over && walk->stage != DUEQ__STAGE_END) {
        enter(walk, walk->stage + 1);
        over = (walk->stage == DUEQ__STAGE_LOST && dueq__walk_unmet(walk, 0) == walk->count) ||
               (walk->stage == DUEQ__STAGE_DOUBLED && !walk->doubled_count);
    }
    if (walk->stage == DUEQ__STAGE_END)
        dueq__walk_forget(walk);
}

/* Takes a window in. False: out of memory, or the script does not answer this. */
static bool take_window(struct dueq__walk *walk, const struct dueq__reply *reply, dueq_bytes next,
                        int64_t looked) {
    const struct dueq__reply *tickets = dueq__reply_item(reply, TICKETS);
    const struct dueq__reply *marked = dueq__reply_item(reply, MARKED);
    size_t count = dueq__reply_count(tickets), mark = 0;
    int64_t at = 0;
    dueq_bytes ticket;
    walk->window_size = looked;
    memcpy(walk->next_cursor, next.data, next.size);
    walk->next_cursor_size = (uint32_t)next.size;
    for (size_t i = 0; i < count; i++) {
        if (!dueq__reply_bytes(dueq__reply_item(tickets, i), &ticket))
            return false;
        if (at <= (int64_t)i && mark < dueq__reply_count(marked) &&
            !dueq__reply_number(dueq__reply_item(marked, mark++), &at))
            return false;
        bool is_marked = at == (int64_t)i + 1, good = true;
        if (walk->stage == DUEQ__STAGE_MSG)
            good = dueq__walk_add(walk, ticket, is_marked);
        else if (walk->stage == DUEQ__STAGE_ATTEMPTS)
            good = dueq__walk_find_id(walk, ticket) || dueq__walk_judge_later(walk, ticket);
        else if (walk->stage == DUEQ__STAGE_OUTBOX || walk->stage == DUEQ__STAGE_LINES)
            dueq__walk_met(walk, ticket);
        else
            good =
                dueq__walk_meet(walk, ticket, is_marked, walk->distance + looked - 1 - (int64_t)i);
        if (!good)
            return false;
        /* The next window ends before the ticket that is farthest from the tail. */
        if (dueq__stage_has_distance(walk->stage) && i == 0 && next.size &&
            ticket.size + 1 < DUEQ__WINDOW_ROOM) {
            memcpy(walk->next_cursor, ticket.data, ticket.size);
            walk->next_cursor_size = (uint32_t)ticket.size;
        }
    }
    return true;
}

static void take_judged(struct dueq__walk *walk, const struct dueq__reply *reply, dueq_bytes next) {
    const struct dueq__reply *tickets = dueq__reply_item(reply, TICKETS);
    const char *at = next.data, *end = at + next.size;
    int64_t removed;
    dueq_bytes ticket;
    for (size_t i = 0; i < dueq__reply_count(tickets); i++)
        if (dueq__reply_bytes(dueq__reply_item(tickets, i), &ticket))
            dueq__walk_met(walk, ticket);
    dueq__take_digits(&at, end, 18, &removed);
    walk->removed += removed;
    walk->judged = walk->judging;
}

/* Sets how many entries the next run looks at. bytes: how many this run read. */
static void adapt(uint32_t *entries, uint32_t most, int64_t bytes) {
    if (bytes > MOST_BYTES)
        *entries = *entries / 2 ? *entries / 2 : 1;
    else if (bytes <= MOST_BYTES / 2)
        *entries = 2 * *entries < most ? 2 * *entries : most;
}

static uint32_t most_of(uint32_t stage) {
    return stage == DUEQ__STAGE_MSG || stage == DUEQ__STAGE_ATTEMPTS ? MOST_HASH
           : stage == DUEQ__STAGE_OUTBOX || stage == DUEQ__STAGE_HANDOVER ||
                   stage == DUEQ__STAGE_LINES ||
                   (stage >= DUEQ__STAGE_ENDS && stage <= DUEQ__STAGE_BATCHES)
               ? MOST_FEW
               : MOST_PLACE;
}

struct asked_step {
    struct dueq__check_cursor cursor;
    bool judges;
};

static void decode_checked(dueq_client *client, const struct dueq__reply *reply) {
    const struct asked_step *asked = client->op->verb;
    dueq_bytes next;
    int64_t bytes, looked;
    dueq_result *result = NULL;
    bool good = dueq__reply_bytes(dueq__reply_item(reply, NEXT), &next) &&
                next.size < DUEQ__WINDOW_ROOM &&
                dueq__reply_number(dueq__reply_item(reply, BYTES), &bytes) &&
                dueq__reply_number(dueq__reply_item(reply, LOOKED), &looked) && looked >= 0 &&
                (dueq__reply_count(reply) - FIXED) % 3 == 0;
    if (!good) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq__walks_lock();
    struct dueq__walk *walk = dueq__walk_find(&asked->cursor);
    if (!walk) {
        dueq__walks_unlock();
        dueq__op_finish(client, not_a_cursor(&client->error));
        return;
    }
    for (size_t i = FIXED; good && i < dueq__reply_count(reply); i += 3)
        good = add_found(walk, reply, i);
    walk->checked += looked;
    if (asked->judges) {
        take_judged(walk, reply, next);
        adapt(&walk->judge_count, MOST_JUDGED, bytes);
    } else {
        good = good && take_window(walk, reply, next, looked);
        adapt(&walk->window, most_of(walk->stage), bytes);
    }
    if (good)
        advance(walk);
    walk->next.step++;
    bool is_partition = client->op->queue->is_partition;
    if (good)
        result = result_of(walk, is_partition, &client->error);
    if (!good || (walk->stage == DUEQ__STAGE_END && !is_partition))
        dueq__walk_end(walk);
    dueq__walks_unlock();
    if (good)
        dueq__op_finish_result(client, result, DUEQ_OK);
    else
        dueq__op_no_memory(client);
}

/* A step */

/* Begins with a queue. The findings of the partitions before it stay. */
static void begin(struct dueq__walk *walk, const dueq_queue *queue) {
    dueq_bytes name = dueq__keys_name(queue->keys);
    dueq__walk_forget(walk);
    walk->window = 100;
    walk->next_cursor_size = 0;
    enter(walk, 0);
    dueq__id_random(&walk->seed, sizeof walk->seed);
    memcpy(walk->queue, name.data, name.size);
    walk->queue[name.size] = '\0';
}

/* The walk that the cursor names, or a new one. NULL: the error is set. */
static struct dueq__walk *walk_of(dueq_queue *queue, bool repair, dueq_bytes text) {
    struct dueq__error *error = &queue->client->error;
    struct dueq__check_cursor cursor;
    struct dueq__walk *walk = NULL;
    if (!text.size) {
        walk = dueq__walk_new(queue->client, repair);
        if (walk)
            begin(walk, queue);
        else
            dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return walk;
    }
    if (dueq__check_cursor_read(text, &cursor))
        walk = dueq__walk_find(&cursor);
    if (walk && walk->stage == DUEQ__STAGE_END)
        begin(walk, queue);
    if (walk && walk->repair == repair &&
        dueq__bytes_equal(dueq__text(walk->queue), dueq__keys_name(queue->keys)))
        return walk;
    not_a_cursor(error);
    return NULL;
}

/*
 * Puts what the script judges: tickets of the window; or messages that the walk has met nowhere; or
 * one ticket that may be in two places of lanes.
 */
static void put_judged(struct dueq__walk *walk, struct dueq__resp *words) {
    uint32_t count = 0;
    walk->judging = walk->judged;
    if (walk->stage == DUEQ__STAGE_LOST) {
        for (uint32_t at; count < walk->judge_count &&
                          (at = dueq__walk_unmet(walk, walk->judging)) < walk->count;
             count++) {
            dueq_bytes ticket = dueq__walk_ticket(walk, &walk->messages[at]);
            dueq__resp_bytes(words, ticket.data, ticket.size);
            walk->judging = at + 1;
        }
    } else if (walk->stage == DUEQ__STAGE_DOUBLED) {
        const struct dueq__doubled *twice = &walk->doubled[walk->judging++];
        const struct dueq__walk_message *first = &walk->messages[twice->message];
        dueq_bytes ticket = dueq__walk_ticket(walk, first);
        dueq__resp_bytes(words, ticket.data, ticket.size);
        dueq__resp_text(words, stages[first->lane]);
        dueq__resp_number(words, first->distance);
        dueq__resp_text(words, stages[twice->lane]);
        dueq__resp_number(words, twice->distance);
    } else {
        for (; count < walk->judge_count && walk->judging < walk->to_judge.count; count++) {
            const struct dueq__piece *piece = &walk->to_judge.pieces[walk->judging++];
            dueq__resp_bytes(words, walk->to_judge.bytes + piece->at, piece->size);
        }
    }
}

static void put_step(struct dueq__walk *walk, bool judges, struct dueq__resp *words) {
    char place[DUEQ__WINDOW_ROOM + 24];
    int size = 0;
    dueq__resp_text(words, walk->repair ? "1" : "0");
    dueq__resp_text(words, stages[walk->stage]);
    if (dueq__stage_has_distance(walk->stage))
        size = snprintf(place, sizeof place, "%" PRId64 " ", walk->distance);
    memcpy(place + size, walk->cursor, walk->cursor_size);
    dueq__resp_bytes(words, place, (size_t)size + walk->cursor_size);
    dueq__resp_number(words, judges && dueq__stage_has_distance(walk->stage) ? walk->window_size
                                                                             : walk->window);
    dueq__resp_bytes(words, walk->next.mark, DUEQ__ID_SIZE);
    if (judges)
        put_judged(walk, words);
}

static dueq_status ask(dueq_queue *queue, const struct dueq__fanout_request *asked) {
    return dueq_check_submit(queue, asked->repair, asked->cursor);
}

dueq_status dueq_check_submit(dueq_queue *queue, int repair, dueq_bytes cursor) {
    dueq_client *client = queue->client;
    struct dueq__resp words;
    dueq__client_check_fork(client);
    if (queue->partitioned) {
        const struct dueq__fanout_request asked = {
            .submit = ask, .fanout = DUEQ__FANOUT_PAGES, .repair = repair != 0, .cursor = cursor};
        return queue->partitioned->fanout(queue, &asked);
    }
    dueq_status status = dueq__op_begin(queue, &dueq__script_check, false);
    if (status)
        return status;
    struct asked_step *asked = dueq__op_state(client, sizeof *asked);
    if (!asked)
        return dueq__op_no_memory(client);
    client->op->decode = decode_checked;
    client->op->request.max_messages = 1;
    dueq__walks_lock();
    struct dueq__walk *walk = walk_of(queue, repair != 0, cursor);
    if (!walk) {
        dueq__walks_unlock();
        return client->error.status;
    }
    asked->cursor = walk->next;
    asked->judges = walk->stage == DUEQ__STAGE_LOST || walk->stage == DUEQ__STAGE_DOUBLED ||
                    walk->judged < walk->to_judge.count;
    dueq__op_arguments(client, &words);
    put_step(walk, asked->judges, &words);
    dueq__walks_unlock();
    return dueq__op_submit(client, &words);
}

dueq_status dueq_check(dueq_queue *queue, int repair, dueq_bytes cursor, dueq_result **result) {
    return dueq__verb_run(queue->client, dueq_check_submit(queue, repair, cursor), result);
}

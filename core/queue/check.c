#include <stdlib.h>
#include <string.h>

#include "queue.h"

/*
 * check: walks through all of a queue's keys by windows, each judged by a script at one moment. A message that no set
 * holds must have its ticket in a line, and a line has no index: so up to SLICE such messages are remembered, then the
 * lines are walked, and what was not met there is judged again, alone. What a walk knows goes from step to step as
 * the result's cursor.
 */

#define SLICE 50000
#define EXAMPLE 120      /* bytes of an example that are kept */
#define MOST_WINDOW 200  /* entries of a window, */
#define MOST_BYTES 65536 /* and about what it may make the server read */
#define MOST_LOST 10     /* tickets that are looked for in one step */
#define CURSOR_ROOM 320  /* a ticket and a number */

enum stage {
    MSG = 4,
    FIRST_LINE,
    FIRST_SET = FIRST_LINE + 3,
    LOST = FIRST_SET + 4,
    DOUBLED,
    QUARANTINE,
    END
};
static const char *const stages[] = {"types", "notes",   "attempts", "handover", "msg",
                                     "high",  "ready",   "low",      "leased",   "outbox",
                                     "dead",  "delayed", "lost",     "doubled",  "quarantine"};

/* By their names in the script. */
static const struct kind {
    const char *name, *text;
    bool wrong, repairable;
} kinds[] = {
    {"type", "keys of another type", true, true},
    {"lost", "messages without a ticket", true, true},
    {"orphaned", "tickets without a message", true, true},
    {"doubled", "tickets in two places", true, true},
    {"damaged", "messages that cannot be read", true, true},
    {"garbage", "entries that are no messages", true, true},
    {"attempts", "messages whose attempts do not match their tickets", true, true},
    {"record", "attempts without a message", true, true},
    {"notes", "wrong counters and times in meta", true, true},
    {"outbox", "entries of the outbox that are stuck", true, false},
    {"stale", "tickets of cancelled messages in lines", false, true},
    {"quarantined", "quarantined entries", false, false},
};
#define KINDS (sizeof kinds / sizeof *kinds)

struct found {
    int64_t count;
    uint32_t examples;
    uint32_t sizes[DUEQ_MAX_EXAMPLES];
    char text[DUEQ_MAX_EXAMPLES][EXAMPLE];
};

/* A ticket that no set held. */
struct candidate {
    uint64_t id; /* its hash */
    uint32_t at; /* of the ticket, in the walk's text */
    uint16_t size;
    uint16_t met; /* 0: in no line, 1: its message is, 2: the ticket is there twice */
};

struct walk {
    uint64_t magic;
    uint32_t repair, stage, slice, window;
    uint32_t count, text, next; /* candidates, bytes of their tickets, the next of them to judge */
    uint32_t cursor_size, msg_size;
    int64_t checked;
    char mark[DUEQ__ID_SIZE];
    char cursor[CURSOR_ROOM], msg_cursor[CURSOR_ROOM];
    struct found found[KINDS];
    struct candidate candidates[]; /* and their text */
};
#define MAGIC 0x6475657163686b31u

static size_t walk_size(const struct walk *walk) {
    return sizeof *walk + walk->count * sizeof *walk->candidates + walk->text;
}

static char *walk_text(struct walk *walk) { return (char *)(walk->candidates + walk->count); }

static struct walk *walk_of(dueq_client *client) { return (struct walk *)(void *)client->call.ids; }

static uint64_t hash(dueq_bytes bytes) {
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < bytes.size; i++)
        sum = (sum ^ ((const unsigned char *)bytes.data)[i]) * 1099511628211u;
    return sum;
}

static uint64_t id_hash(dueq_bytes ticket) {
    struct dueq__ticket parts;
    return hash(dueq__ticket_read(ticket, &parts) ? parts.id : ticket);
}

static int by_id(const void *one, const void *other) {
    uint64_t a = ((const struct candidate *)one)->id, b = ((const struct candidate *)other)->id;
    return a < b ? -1 : a > b;
}

/* ---- A step's answer --------------------------------------------------------------------------------- */

enum { NEXT, BYTES, LOOKED, TICKETS, FIXED };

/* Adds what a step found of one kind: its name, how many, and examples. */
static bool add_found(struct walk *walk, const struct dueq__reply *reply, size_t at) {
    const struct dueq__reply *examples = dueq__reply_item(reply, at + 2);
    dueq_bytes name, example;
    int64_t count;
    size_t kind = 0;
    if (!dueq__reply_bytes(dueq__reply_item(reply, at), &name) ||
        !dueq__reply_number(dueq__reply_item(reply, at + 1), &count))
        return false;
    while (kind < KINDS && !dueq__same(dueq__text(kinds[kind].name), name))
        kind++;
    if (kind == KINDS)
        return false;
    struct found *found = &walk->found[kind];
    found->count += count;
    for (size_t i = 0; i < dueq__reply_count(examples) && found->examples < DUEQ_MAX_EXAMPLES;
         i++) {
        if (!dueq__reply_bytes(dueq__reply_item(examples, i), &example))
            return false;
        size_t size = example.size < EXAMPLE ? example.size : EXAMPLE;
        memcpy(found->text[found->examples], example.data, size);
        found->sizes[found->examples++] = (uint32_t)size;
    }
    return true;
}

/* A line or a set has this ticket. */
static void meet(struct walk *walk, dueq_bytes ticket) {
    struct candidate key = {.id = id_hash(ticket)};
    struct candidate *met = bsearch(&key, walk->candidates, walk->count, sizeof key, by_id);
    if (!met)
        return;
    bool same = dueq__same((dueq_bytes){walk_text(walk) + met->at, met->size}, ticket);
    met->met = met->met && same && walk->stage < FIRST_SET ? 2 : met->met ? met->met : 1;
}

/* The next candidate that the stage is about, from walk->next on; walk->count: there is none. */
static uint32_t pending(const struct walk *walk) {
    uint32_t i = walk->next;
    while (i < walk->count && walk->candidates[i].met != (walk->stage == DOUBLED ? 2 : 0))
        i++;
    return i;
}

/* To the next stage that has something to do. */
static void advance(struct walk *walk) {
    bool over = walk->stage == LOST || walk->stage == DOUBLED ? pending(walk) == walk->count
                                                              : walk->cursor_size == 0;
    if (walk->stage == MSG && walk->count >= SLICE) {
        memcpy(walk->msg_cursor, walk->cursor, walk->cursor_size);
        walk->msg_size = walk->cursor_size;
        over = true;
    }
    while (over && walk->stage != END) {
        if (walk->stage == MSG)
            qsort(walk->candidates, walk->count, sizeof *walk->candidates, by_id);
        walk->stage++;
        walk->cursor_size = walk->next = 0;
        if (walk->slice && walk->stage == FIRST_SET && pending(walk) == walk->count)
            walk->stage = LOST;
        if (walk->stage == QUARANTINE && walk->msg_size) {
            walk->stage = MSG;
            walk->slice++;
            walk->count = walk->text = 0;
            memcpy(walk->cursor, walk->msg_cursor, walk->msg_size);
            walk->cursor_size = walk->msg_size;
            walk->msg_size = 0;
        }
        over = (walk->stage == LOST || walk->stage == DOUBLED) && pending(walk) == walk->count;
    }
}

/* The walk with the tickets of a step as candidates too; NULL: out of memory, or they are no tickets. */
static struct walk *grow(struct walk *walk, const struct dueq__reply *tickets) {
    uint32_t more = (uint32_t)dueq__reply_count(tickets);
    size_t size = walk_size(walk);
    dueq_bytes ticket;
    for (uint32_t i = 0; i < more; i++)
        size += dueq__reply_bytes(dueq__reply_item(tickets, i), &ticket) ? ticket.size : 0;
    struct walk *grown = malloc(size + more * sizeof *walk->candidates);
    if (!grown)
        return NULL;
    memcpy(grown, walk, sizeof *walk + walk->count * sizeof *walk->candidates);
    grown->count += more;
    memcpy(walk_text(grown), walk_text(walk), walk->text);
    for (uint32_t i = walk->count; i < grown->count; i++) {
        struct candidate *made = &grown->candidates[i];
        *made = (struct candidate){.at = grown->text};
        if (!dueq__reply_bytes(dueq__reply_item(tickets, i - walk->count), &ticket) ||
            ticket.size > CURSOR_ROOM)
            continue;
        made->id = id_hash(ticket);
        made->size = (uint16_t)ticket.size;
        memcpy(walk_text(grown) + grown->text, ticket.data, ticket.size);
        grown->text += made->size;
    }
    return grown;
}

static const struct dueq__kind findings = {sizeof(dueq_finding)};

const dueq_finding *dueq_result_finding(const dueq_result *result, size_t index) {
    return dueq__result_more(result, &findings, index);
}

/* part: of a queue, whose next one goes on with what was found. */
static dueq_result *result_of(struct walk *walk, bool part, struct dueq__error *error) {
    bool ends = walk->stage == END && !part;
    if (walk->stage == END)
        walk->count = walk->text = 0;
    size_t count = 0, bytes = ends ? 0 : walk_size(walk);
    for (size_t k = 0; k < KINDS; k++)
        count += walk->found[k].count > 0;
    bytes += count * DUEQ_MAX_EXAMPLES * EXAMPLE;
    dueq_result *result = dueq__result_new(&findings, count, bytes, error);
    if (!result)
        return NULL;
    result->purged = (size_t)walk->checked;
    result->done = walk->stage == END;
    for (size_t k = 0, i = 0; k < KINDS; k++) {
        const struct found *found = &walk->found[k];
        if (!found->count)
            continue;
        dueq_finding *finding = result->items[i++].more;
        *finding =
            (dueq_finding){.kind = kinds[k].name,
                           .text = kinds[k].text,
                           .wrong = kinds[k].wrong,
                           .count = found->count,
                           .repaired = walk->repair && kinds[k].repairable ? found->count : 0,
                           .example_count = found->examples};
        for (size_t n = 0; n < found->examples; n++)
            finding->examples[n] =
                dueq__result_keep(result, (dueq_bytes){found->text[n], found->sizes[n]});
    }
    if (!ends)
        result->cursor = dueq__result_keep(result, (dueq_bytes){walk, walk_size(walk)});
    return result;
}

static void decode_checked(dueq_client *client, const struct dueq__reply *reply) {
    struct walk *walk = walk_of(client);
    const struct dueq__reply *tickets = dueq__reply_item(reply, TICKETS);
    dueq_bytes cursor, ticket;
    int64_t bytes, looked;
    bool good = dueq__reply_bytes(dueq__reply_item(reply, NEXT), &cursor) &&
                cursor.size <= CURSOR_ROOM &&
                dueq__reply_number(dueq__reply_item(reply, BYTES), &bytes) &&
                dueq__reply_number(dueq__reply_item(reply, LOOKED), &looked) &&
                (dueq__reply_count(reply) - FIXED) % 3 == 0;
    /* Of a later slice the lines and sets were seen before. */
    bool again = walk->slice && walk->stage > MSG && walk->stage < LOST;
    for (size_t i = FIXED; good && !again && i < dueq__reply_count(reply); i += 3)
        good = add_found(walk, reply, i);
    if (!good) {
        dueq__ops_unexpected(client);
        return;
    }
    memcpy(walk->cursor, cursor.data, cursor.size);
    walk->cursor_size = (uint32_t)cursor.size;
    walk->checked += looked;
    if (bytes > MOST_BYTES)
        walk->window = walk->window / 2 ? walk->window / 2 : 1;
    else if (walk->window < MOST_WINDOW)
        walk->window = 2 * walk->window < MOST_WINDOW ? 2 * walk->window : MOST_WINDOW;
    if (walk->stage == MSG && dueq__reply_count(tickets)) {
        walk = grow(walk, tickets);
        if (!walk) {
            dueq__call_no_memory(client);
            return;
        }
        free(client->call.ids);
        client->call.ids = (dueq_bytes *)(void *)walk;
    }
    for (size_t i = 0; walk->stage > MSG && i < dueq__reply_count(tickets); i++)
        if (dueq__reply_bytes(dueq__reply_item(tickets, i), &ticket))
            meet(walk, ticket);
    advance(walk);
    dueq__call_answer(client, result_of(walk, client->call.queue->is_part, &client->error),
                      DUEQ_OK);
}

/* ---- A step --------------------------------------------------------------------------------------------- */

/* A queue from its start, with what was found before. */
static void begin(dueq_client *client, struct walk *walk) {
    walk->stage = walk->slice = walk->next = walk->cursor_size = walk->msg_size = 0;
    walk->window = 100;
    dueq__id_next(&client->ids, walk->mark);
}

/* A copy of what a step left, or the first step; NULL: it is neither, or out of memory. */
static struct walk *walk_read(dueq_client *client, bool repair, dueq_bytes cursor) {
    struct walk *walk = calloc(1, cursor.size > sizeof *walk ? cursor.size : sizeof *walk);
    if (!walk) {
        dueq__call_no_memory(client);
        return NULL;
    }
    if (cursor.size) {
        memcpy(walk, cursor.data, cursor.size);
        bool good = cursor.size >= sizeof *walk && walk->magic == MAGIC &&
                    walk_size(walk) == cursor.size && walk->stage <= END;
        if (good && walk->stage == END)
            begin(client, walk);
        if (good)
            return walk;
        dueq__fail(&client->error, DUEQ_INVALID, "the cursor is not one that a check returned");
        free(walk);
        return NULL;
    }
    walk->magic = MAGIC;
    walk->repair = repair;
    begin(client, walk);
    return walk;
}

static dueq_status ask(dueq_queue *queue, const struct dueq__asked *asked) {
    return dueq_check_submit(queue, asked->repair, asked->cursor);
}

dueq_status dueq_check_submit(dueq_queue *queue, int repair, dueq_bytes cursor) {
    dueq_client *client = queue->client;
    struct dueq__resp words;
    dueq__client_check_fork(client);
    if (queue->whole) {
        const struct dueq__asked asked = {
            .submit = ask, .over = DUEQ__OVER_PAGES, .repair = repair != 0, .cursor = cursor};
        return queue->whole->ask(queue, &asked);
    }
    dueq_status status = dueq__call_begin(queue, &dueq__script_check, false);
    if (status)
        return status;
    struct walk *walk = walk_read(client, repair != 0, cursor);
    if (!walk)
        return client->error.status;
    client->call.ids = (dueq_bytes *)(void *)walk;
    client->call.decode = decode_checked;
    dueq__call_arguments(client, &words);
    dueq__resp_text(&words, walk->repair ? "1" : "0");
    dueq__resp_text(&words, stages[walk->stage]);
    dueq__resp_bytes(&words, walk->cursor, walk->cursor_size);
    dueq__resp_number(&words, walk->window);
    dueq__resp_bytes(&words, walk->mark, sizeof walk->mark);
    bool judges = walk->stage == LOST || walk->stage == DOUBLED;
    for (int i = 0; judges && i < (walk->stage == LOST ? MOST_LOST : 1); i++) {
        uint32_t at = pending(walk);
        if (at == walk->count)
            break;
        dueq__resp_bytes(&words, walk_text(walk) + walk->candidates[at].at,
                         walk->candidates[at].size);
        walk->next = at + 1;
    }
    return dueq__call_submit(client, &words);
}

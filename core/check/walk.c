#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MOST_WALKS 8   /* of a process; a new one takes the place of the least used */
#define WALK_MS 600000 /* how long a walk stays after its last step */

/* The walks of this process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static struct dueq__walk *walks; /* the one used last is first */

static void take_lock(void) { pthread_mutex_lock(&lock); }
void dueq__walks_unlock(void) { pthread_mutex_unlock(&lock); }
static void prepare(void) { pthread_atfork(take_lock, dueq__walks_unlock, dueq__walks_unlock); }

void dueq__walks_lock(void) {
    pthread_once(&prepared, prepare);
    take_lock();
}

void dueq__walk_forget(struct dueq__walk *walk) {
    free(walk->messages);
    free(walk->slots);
    free(walk->text);
    free(walk->to_judge.pieces);
    free(walk->to_judge.bytes);
    walk->messages = NULL;
    walk->slots = NULL;
    walk->text = NULL;
    walk->to_judge = (struct dueq__texts){0};
    walk->count = walk->slot_count = walk->doubled_count = 0;
    walk->room = walk->text_size = walk->text_room = 0;
}

static void free_walk(struct dueq__walk *walk) {
    dueq__walk_forget(walk);
    free(walk);
}

struct dueq__walk *dueq__walk_find(const struct dueq__check_cursor *cursor) {
    for (struct dueq__walk **at = &walks; *at; at = &(*at)->next_walk) {
        struct dueq__walk *walk = *at;
        if (memcmp(walk->next.mark, cursor->mark, DUEQ__ID_SIZE) != 0)
            continue;
        if (walk->next.step != cursor->step)
            return NULL;
        *at = walk->next_walk;
        walk->next_walk = walks;
        walk->used_ms = dueq__monotonic_ms();
        return walks = walk;
    }
    return NULL;
}

void dueq__walk_end(struct dueq__walk *walk) {
    struct dueq__walk **at = &walks;
    while (*at != walk)
        at = &(*at)->next_walk;
    *at = walk->next_walk;
    free_walk(walk);
}

static void drop_walks(void) {
    int64_t now = dueq__monotonic_ms();
    size_t kept = 0;
    for (struct dueq__walk **at = &walks; *at;) {
        struct dueq__walk *walk = *at;
        if (++kept < MOST_WALKS && walk->used_ms + WALK_MS > now) {
            at = &walk->next_walk;
            continue;
        }
        *at = walk->next_walk;
        free_walk(walk);
    }
}

/* "1 MARK STEP", and nothing else. */
bool dueq__check_cursor_read(dueq_bytes text, struct dueq__check_cursor *cursor) {
    char again[DUEQ__CHECK_CURSOR];
    dueq_bytes rest = text, version, mark;
    int64_t step;
    if (!dueq__take_word(&rest, ' ', &version) || !dueq__take_word(&rest, ' ', &mark) ||
        mark.size != DUEQ__ID_SIZE || dueq__id_time(mark.data, mark.size) < 0 ||
        !dueq__read_number(rest, 0, UINT32_MAX - 1, &step))
        return false;
    memcpy(cursor->mark, mark.data, DUEQ__ID_SIZE);
    cursor->mark[DUEQ__ID_SIZE] = '\0';
    cursor->step = (uint32_t)step;
    dueq__check_cursor_write(cursor, again);
    return dueq__bytes_equal(dueq__text(again), text);
}

void dueq__check_cursor_write(const struct dueq__check_cursor *cursor,
                              char out[DUEQ__CHECK_CURSOR]) {
    snprintf(out, DUEQ__CHECK_CURSOR, "1 %s %" PRIu32, cursor->mark, cursor->step);
}

/* The messages of a walk */

/* Makes room for `wanted` items. NULL: out of memory, or more than `most`; the items stay. */
static void *reach(void *items, size_t each, size_t wanted, size_t most, size_t *room) {
    if (wanted <= *room)
        return items;
    if (wanted > most)
        return NULL;
    size_t more = wanted < 2 * *room ? 2 * *room : wanted < 64 ? 64 : wanted;
    void *grown = realloc(items, more * each);
    if (grown)
        *room = more;
    return grown;
}

static uint64_t hash(const struct dueq__walk *walk, dueq_bytes id) {
    uint64_t sum = walk->seed;
    for (size_t i = 0; i < id.size; i++)
        sum = (sum ^ ((const unsigned char *)id.data)[i]) * 1099511628211u;
    return sum ^ sum >> 29;
}

dueq_bytes dueq__walk_ticket(const struct dueq__walk *walk,
                             const struct dueq__walk_message *message) {
    return (dueq_bytes){walk->text + message->at, message->size};
}

struct dueq__walk_message *dueq__walk_find_id(const struct dueq__walk *walk, dueq_bytes id) {
    uint64_t sum = hash(walk, id);
    for (uint32_t at = (uint32_t)sum; walk->slot_count; at++) {
        uint32_t slot = walk->slots[at & (walk->slot_count - 1)];
        if (!slot)
            return NULL;
        struct dueq__walk_message *found = &walk->messages[slot - 1];
        dueq_bytes ticket = dueq__walk_ticket(walk, found);
        if (found->hash == sum && found->id_size == id.size &&
            memcmp((const char *)ticket.data + ticket.size - id.size, id.data, id.size) == 0)
            return found;
    }
    return NULL;
}

static void put_slot(struct dueq__walk *walk, uint32_t message) {
    uint32_t at = (uint32_t)walk->messages[message].hash;
    while (walk->slots[at & (walk->slot_count - 1)])
        at++;
    walk->slots[at & (walk->slot_count - 1)] = message + 1;
}

/* Keeps half of the slots free. */
static bool widen_slots(struct dueq__walk *walk) {
    if (2 * (size_t)(walk->count + 1) <= walk->slot_count)
        return true;
    size_t wanted = walk->slot_count ? 2 * (size_t)walk->slot_count : 1024;
    uint32_t *slots = wanted > UINT32_MAX / 2 ? NULL : calloc(wanted, sizeof *slots);
    if (!slots)
        return false;
    free(walk->slots);
    walk->slots = slots;
    walk->slot_count = (uint32_t)wanted;
    for (uint32_t i = 0; i < walk->count; i++)
        put_slot(walk, i);
    return true;
}

bool dueq__walk_add(struct dueq__walk *walk, dueq_bytes ticket, bool corrupt) {
    struct dueq__ticket parts;
    if (!dueq__ticket_read(ticket, &parts) || ticket.size > UINT16_MAX)
        return true;
    struct dueq__walk_message *known = dueq__walk_find_id(walk, parts.id);
    if (known && dueq__bytes_equal(dueq__walk_ticket(walk, known), ticket))
        return true;
    struct dueq__walk_message *messages =
        reach(walk->messages, sizeof *messages, walk->count + 1, UINT32_MAX / 4, &walk->room);
    if (!messages)
        return false;
    walk->messages = messages;
    char *text = reach(walk->text, 1, walk->text_size + ticket.size, UINT32_MAX, &walk->text_room);
    if (!text)
        return false;
    walk->text = text;
    if (!widen_slots(walk))
        return false;
    /* While the walk went on, another message may have replaced one with the same id. */
    known = dueq__walk_find_id(walk, parts.id);
    struct dueq__walk_message *made = known ? known : &walk->messages[walk->count];
    *made = (struct dueq__walk_message){.hash = hash(walk, parts.id),
                                        .at = (uint32_t)walk->text_size,
                                        .size = (uint16_t)ticket.size,
                                        .id_size = (uint8_t)parts.id.size,
                                        .corrupt = corrupt};
    memcpy(walk->text + walk->text_size, ticket.data, ticket.size);
    walk->text_size += ticket.size;
    if (!known)
        put_slot(walk, walk->count++);
    return true;
}

bool dueq__walk_judge_later(struct dueq__walk *walk, dueq_bytes text) {
    struct dueq__texts *to_judge = &walk->to_judge;
    struct dueq__piece *pieces =
        reach(to_judge->pieces, sizeof *pieces, to_judge->count + 1, UINT32_MAX, &to_judge->room);
    if (!pieces)
        return false;
    to_judge->pieces = pieces;
    char *bytes = reach(to_judge->bytes, 1, to_judge->size + text.size + 1, UINT32_MAX,
                        &to_judge->bytes_room);
    if (!bytes)
        return false;
    to_judge->bytes = bytes;
    to_judge->pieces[to_judge->count++] = (struct dueq__piece){to_judge->size, (uint32_t)text.size};
    memcpy(to_judge->bytes + to_judge->size, text.data, text.size);
    to_judge->size += (uint32_t)text.size;
    return true;
}

bool dueq__stage_has_distance(uint32_t stage) {
    return stage >= DUEQ__STAGE_DELAYED && stage <= DUEQ__STAGE_DEAD &&
           stage != DUEQ__STAGE_OUTBOX && stage != DUEQ__STAGE_LINES;
}

bool dueq__walk_meet(struct dueq__walk *walk, dueq_bytes ticket, bool suspect, int64_t distance) {
    struct dueq__ticket parts;
    bool lane = walk->stage >= DUEQ__STAGE_FIRST_LANE && walk->stage < DUEQ__STAGE_LINES;
    struct dueq__walk_message *met =
        dueq__ticket_read(ticket, &parts) ? dueq__walk_find_id(walk, parts.id) : NULL;
    if (suspect || !met || !dueq__bytes_equal(dueq__walk_ticket(walk, met), ticket) ||
        (met->corrupt && walk->stage != DUEQ__STAGE_DEAD) ||
        (lane && met->lane == walk->stage && met->distance >= walk->distance))
        return dueq__walk_judge_later(walk, ticket);
    if (lane && met->lane && walk->doubled_count < DUEQ__MOST_DOUBLED)
        walk->doubled[walk->doubled_count++] = (struct dueq__doubled){
            (uint32_t)(met - walk->messages), (uint8_t)walk->stage, distance};
    if (lane && !met->lane) {
        met->lane = (uint8_t)walk->stage;
        met->distance = distance;
    }
    met->met = true;
    return true;
}

void dueq__walk_met(struct dueq__walk *walk, dueq_bytes ticket) {
    struct dueq__ticket parts;
    struct dueq__walk_message *met =
        dueq__ticket_read(ticket, &parts) ? dueq__walk_find_id(walk, parts.id) : NULL;
    if (met)
        met->met = true;
}

uint32_t dueq__walk_unmet(const struct dueq__walk *walk, uint32_t from) {
    while (from < walk->count && walk->messages[from].met)
        from++;
    return from;
}

struct dueq__walk *dueq__walk_new(dueq_client *client, bool repair) {
    struct dueq__walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return NULL;
    drop_walks();
    dueq__id_next(&client->ids, walk->next.mark);
    walk->repair = repair;
    walk->stage = DUEQ__STAGE_END;
    walk->used_ms = dueq__monotonic_ms();
    walk->next_walk = walks;
    return walks = walk;
}

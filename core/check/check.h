/*
 * What a check remembers from one step to the next: walk.c. The walks of all clients stay in this
 * process. A cursor names one.
 */
#ifndef DUEQ_CHECK_H
#define DUEQ_CHECK_H

#include "../verbs/verbs.h"

#define DUEQ__EXAMPLE 120       /* bytes of an example that are kept */
#define DUEQ__KINDS 15          /* of findings */
#define DUEQ__MOST_DOUBLED 1000 /* tickets in two places of lanes that a walk remembers */
#define DUEQ__WINDOW_ROOM 704   /* bytes for a ticket, or for a cursor of SCAN */

/* The stages of a walk, in their order. check.c has their names, and two stages before these. */
enum dueq__stage {
    DUEQ__STAGE_MSG = 2,
    DUEQ__STAGE_ATTEMPTS,
    DUEQ__STAGE_HANDOVER,
    DUEQ__STAGE_DELAYED,
    DUEQ__STAGE_FIRST_LANE,
    DUEQ__STAGE_LINES = DUEQ__STAGE_FIRST_LANE + 3,
    DUEQ__STAGE_LEASED,
    DUEQ__STAGE_OUTBOX,
    DUEQ__STAGE_DEAD,
    DUEQ__STAGE_LOST,
    DUEQ__STAGE_DOUBLED,
    DUEQ__STAGE_ENDS,
    DUEQ__STAGE_KEPT,
    DUEQ__STAGE_STARTED,
    DUEQ__STAGE_BATCHES,
    DUEQ__STAGE_QUARANTINE,
    DUEQ__STAGE_END
};

struct dueq__found {
    int64_t count;
    uint32_t examples;
    uint32_t sizes[DUEQ_MAX_EXAMPLES];
    char text[DUEQ_MAX_EXAMPLES][DUEQ__EXAMPLE];
};

/* A message, and where the walk met its ticket. */
struct dueq__walk_message {
    uint64_t hash; /* of its id */
    uint32_t at;   /* where its ticket begins in the walk's text */
    uint16_t size; /* of the ticket, which ends with the id */
    uint8_t id_size;
    uint8_t lane;      /* the stage of the first lane that had the ticket; 0: none had it */
    bool met, corrupt; /* corrupt: its envelope cannot be read */
    int64_t distance;  /* of the ticket from the tail of that lane */
};

/* Texts, one behind the other. */
struct dueq__texts {
    struct dueq__piece {
        uint32_t at, size;
    } *pieces;
    char *bytes;
    uint32_t count, size;
    size_t room, bytes_room;
};

/* A step of a walk: its number, and the mark of the walk. */
struct dueq__check_cursor {
    char mark[DUEQ__ID_SIZE + 1];
    uint32_t step;
};
#define DUEQ__CHECK_CURSOR (DUEQ__ID_SIZE + 16) /* bytes of its text, with the final NUL */

struct dueq__walk {
    struct dueq__walk *next_walk;
    struct dueq__check_cursor next; /* its next step */
    int64_t used_ms;
    char queue[DUEQ_MAX_NAME + 1];
    bool repair;
    uint32_t stage, window, judge_count;
    int64_t checked;
    struct dueq__found found[DUEQ__KINDS];
    uint64_t seed; /* of the hashes */
    struct dueq__walk_message *messages;
    uint32_t count;
    size_t room;
    uint32_t *slots; /* by hash: a message's place and 1 */
    uint32_t slot_count;
    char *text;
    size_t text_size, text_room;
    char cursor[DUEQ__WINDOW_ROOM]; /* where the window begins, as the script takes it */
    uint32_t cursor_size;
    char next_cursor[DUEQ__WINDOW_ROOM]; /* where the next window begins */
    uint32_t next_cursor_size;
    /* Of a lane or set: how many tickets are behind the window, in it, and were removed from it. */
    int64_t distance, window_size, removed;
    struct dueq__texts to_judge; /* tickets of the window that look wrong */
    /* How many of to_judge are judged; and how many will be after the run under way. */
    uint32_t judged, judging;
    struct dueq__doubled {
        uint32_t message;
        uint8_t lane;
        int64_t distance;
    } doubled[DUEQ__MOST_DOUBLED];
    uint32_t doubled_count;
};

/* Reads a cursor. False: the text is not exactly what dueq__check_cursor_write() writes. */
bool dueq__check_cursor_read(dueq_bytes text, struct dueq__check_cursor *cursor);
void dueq__check_cursor_write(const struct dueq__check_cursor *cursor,
                              char out[DUEQ__CHECK_CURSOR]);

/* The functions and walks below may be used between these two only, from any thread. */
void dueq__walks_lock(void);
void dueq__walks_unlock(void);
/* Makes a walk, and frees walks that have had no step for long. NULL: out of memory. */
struct dueq__walk *dueq__walk_new(dueq_client *client, bool repair);
/* The walk whose next step this is; NULL: there is none. */
struct dueq__walk *dueq__walk_find(const struct dueq__check_cursor *cursor);
void dueq__walk_end(struct dueq__walk *walk);
/* Frees what the walk remembers of messages. */
void dueq__walk_forget(struct dueq__walk *walk);

/* Whether the stage's key has an order, so that windows count tickets from its tail. */
bool dueq__stage_has_distance(uint32_t stage);

/* Remembers a message by its current ticket. False: out of memory. */
bool dueq__walk_add(struct dueq__walk *walk, dueq_bytes ticket, bool corrupt);
struct dueq__walk_message *dueq__walk_find_id(const struct dueq__walk *walk, dueq_bytes id);
dueq_bytes dueq__walk_ticket(const struct dueq__walk *walk,
                             const struct dueq__walk_message *message);
/* Keeps a ticket, or an id, for the script to judge. False: out of memory. */
bool dueq__walk_judge_later(struct dueq__walk *walk, dueq_bytes text);
/*
 * The key of the walk's stage has this ticket; distance: of the ticket from the key's tail.
 * suspect: the script says that another key has the ticket, too. False: out of memory.
 */
bool dueq__walk_meet(struct dueq__walk *walk, dueq_bytes ticket, bool suspect, int64_t distance);
/* The script has found that the ticket of a message is in its place. */
void dueq__walk_met(struct dueq__walk *walk, dueq_bytes ticket);
/* The next message, from `from` on, that the walk has met nowhere; walk->count: there is none. */
uint32_t dueq__walk_unmet(const struct dueq__walk *walk, uint32_t from);

#endif

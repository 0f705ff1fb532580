#include "php_dueq.h"

/*
 * The most idle clients, one for each URL. Beyond that, the one that was not used for longest is
 * closed.
 */
#define MOST_IDLE 16

/* It outlives requests, so it is not allocated in PHP's memory. */
typedef struct dueq_php_kept {
    struct dueq_php_kept *next;
    dueq_client *client;
    dueq_php_client *user; /* what this request makes of it; NULL: it is idle */
    char url[];
} kept;

/* The place of the URL in the list, or the end of the list. */
static kept **find(const char *url) {
    kept **at = &DUEQ_G(kept);

    while (*at && strcmp((*at)->url, url) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static void drop(kept **at) {
    kept *dropped = *at;

    *at = dropped->next;
    dueq_close(dropped->client);
    free(dropped);
}

dueq_php_client *dueq_php_kept_user(const zend_string *url) {
    const kept *found = *find(ZSTR_VAL(url));

    return found ? found->user : NULL;
}

bool dueq_php_kept_take(dueq_php_client *user) {
    kept **at = find(ZSTR_VAL(user->url)), *found = *at;

    if (!found) {
        return false;
    }
    if (!dueq_reset(found->client)) {
        drop(at);
        return false;
    }
    found->user = user;
    user->client = found->client;
    user->is_kept = true;
    return true;
}

void dueq_php_kept_add(dueq_php_client *user) {
    kept *added = malloc(sizeof *added + ZSTR_LEN(user->url) + 1);

    if (added) {
        added->client = user->client;
        added->user = user;
        memcpy(added->url, ZSTR_VAL(user->url), ZSTR_LEN(user->url) + 1);
        added->next = DUEQ_G(kept);
        DUEQ_G(kept) = added;
        user->is_kept = true;
    }
}

void dueq_php_kept_give(const dueq_php_client *user) {
    kept **at = find(ZSTR_VAL(user->url)), *given = *at;
    size_t idle = 1;

    given->user = NULL;
    if (!dueq_reset(given->client)) {
        drop(at);
        return;
    }
    *at = given->next;
    given->next = DUEQ_G(kept);
    DUEQ_G(kept) = given;
    for (at = &given->next; *at;) {
        if (!(*at)->user && ++idle > MOST_IDLE) {
            drop(at);
        } else {
            at = &(*at)->next;
        }
    }
}

void dueq_php_kept_begin(void) {
    for (kept *each = DUEQ_G(kept); each; each = each->next) {
        each->user = NULL;
    }
}

void dueq_php_kept_close(kept **list) {
    while (*list) {
        drop(list);
    }
}

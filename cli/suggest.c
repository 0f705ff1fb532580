#include <string.h>

#include "cli.h"

/* Longer words get no suggestion: no command is that long. */
#define MOST 31

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/*
 * How many letters must be changed, added, dropped, or swapped with the next one to turn one word
 * into the other: the optimal string alignment distance. Both words have at most MOST letters.
 */
static size_t distance(const char *one, const char *other) {
    size_t rows[MOST + 2][MOST + 1];
    const size_t size = strlen(one), width = strlen(other);
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= size; i++) {
        rows[i][0] = i;
        for (size_t j = 1; j <= width; j++) {
            const size_t changed = rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]);
            rows[i][j] = least(changed, least(rows[i - 1][j], rows[i][j - 1]) + 1);
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[size][width];
}

const struct command *cli_suggest(const struct command *const *list, const char *word) {
    const struct command *nearest = NULL;
    /* Up to two letters may be wrong, but only one in a word of three letters or fewer. */
    size_t best = strlen(word) > 3 ? 3 : 2;
    for (; *list && strlen(word) <= MOST; list++) {
        const size_t here = distance(word, cli_last_word(*list));
        if (here < best) {
            best = here;
            nearest = *list;
        }
    }
    return nearest;
}

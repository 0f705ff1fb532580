/* Apart: term.h takes common words for its own. */
#ifdef DUEQ_NCURSES
#include <stdbool.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

bool top_terminal(void) {
    int problem;
    return setupterm(NULL, STDOUT_FILENO, &problem) == OK && cursor_address && clear_screen;
}
#else
#include "top.h"

/* top_screen() says more. */
bool top_terminal(void) { return true; }
#endif

/* In a file of its own: term.h defines common words as macros. */
#ifdef DUEQ_NCURSES
#include <stdbool.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

bool top_terminal(void) {
    int problem;
    if (setupterm(NULL, STDOUT_FILENO, &problem) != OK)
        return false;
    bool moves = cursor_address && clear_screen;
    del_curterm(cur_term);
    return moves;
}
#else
#include "top.h"

/* top_screen() then says that dueq was built without ncurses. */
bool top_terminal(void) { return true; }
#endif

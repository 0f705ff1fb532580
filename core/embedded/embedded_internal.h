/* Between embedded.c, start.c and permissions.c: no other file includes it. */
#ifndef DUEQ_EMBEDDED_INTERNAL_H
#define DUEQ_EMBEDDED_INTERNAL_H

#include <limits.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "embedded.h"

#define DUEQ__SOCKET_ROOM sizeof(((struct sockaddr_un *)0)->sun_path) /* with its NUL */

/* The path of one of our entries in a directory. */
#define DUEQ__ENTRY_ROOM (PATH_MAX + 16)

/*
 * Whether a directory, an absolute path, is this user's and nobody else can write in it nor put
 * another in its place. make: makes it as mkdir -p does, for this user alone. Errors: EMBEDDED,
 * NO_MEMORY.
 */
dueq_status dueq__embedded_check_directory(const char *path, bool make, struct dueq__error *error);

/* Whether all that is in the directory is this user's or root's. */
dueq_status dueq__embedded_check_files(const char *directory, struct dueq__error *error);

/*
 * Opens a file of the directory as open(2) does, without following a link, with a number above
 * those that the server is given. -1: the error is set, also where it is not this user's alone.
 */
int dueq__embedded_open(const char *directory, const char *name, int flags,
                        struct dueq__error *error);

/*
 * Starts a server for the directory, an absolute path, without waiting for it. `lock` is the
 * descriptor that holds LOCK_EX on the directory's `lock`; the server gets a copy, and the caller
 * closes its own. The server ends by itself when nobody has a share any more.
 * Errors: EMBEDDED, NO_MEMORY.
 */
dueq_status dueq__embedded_start(const char *directory, int lock, struct dueq__error *error);

/* The end of what the directory's server said since it was started, on one line; may be empty. */
void dueq__embedded_log_tail(const char *directory, char *text, size_t room);

#endif

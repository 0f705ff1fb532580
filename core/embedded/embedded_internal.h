/* What embedded.c, start.c and permissions.c share. No other file includes this header. */
#ifndef DUEQ_EMBEDDED_INTERNAL_H
#define DUEQ_EMBEDDED_INTERNAL_H

#include <limits.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "embedded.h"

#define DUEQ__SOCKET_ROOM sizeof(((struct sockaddr_un *)0)->sun_path) /* with its NUL */

/* For the path of one of the server's files in its directory. */
#define DUEQ__ENTRY_ROOM (PATH_MAX + 16)

/*
 * Checks that a directory, an absolute path, belongs to this user, and that no other user can write
 * in it or replace it. make: makes the directory first, as mkdir -p does, for this user alone.
 * Errors: EMBEDDED, NO_MEMORY.
 */
dueq_status dueq__embedded_check_directory(const char *path, bool make, struct dueq__error *error);

/* Checks that each entry of the directory belongs to this user or root. Errors: EMBEDDED. */
dueq_status dueq__embedded_check_files(const char *directory, struct dueq__error *error);

/*
 * Opens a regular file of the directory as open(2) does, and follows no link. The descriptor is 10
 * or more, as the supervisor gets descriptors 0 to 4. -1: error is set, also where the file belongs
 * to another user or has a second name.
 */
int dueq__embedded_open(const char *directory, const char *name, int flags,
                        struct dueq__error *error);

/*
 * Starts a server for the directory, an absolute path, without waiting for it. `lock`: the
 * descriptor that has LOCK_EX on the directory's `lock`. The server gets a copy of it, and the
 * caller closes its own. The server ends when no process has a share.
 * Errors: EMBEDDED, NO_MEMORY.
 */
dueq_status dueq__embedded_start(const char *directory, int lock, struct dueq__error *error);

/* Writes the end of the directory's `server.log` into `text`, as one line; may be empty. */
void dueq__embedded_log_tail(const char *directory, char *text, size_t room);

#endif

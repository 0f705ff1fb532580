/* Between embedded.c and embedded_start.c: nobody else includes it. */
#ifndef DUEQ_EMBEDDED_H
#define DUEQ_EMBEDDED_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "internal.h"

#define DUEQ__SOCKET_ROOM sizeof(((struct sockaddr_un *)0)->sun_path) /* with its NUL */

/* The path of an entry of the directory; NULL: out of memory. Free with free(). */
char *dueq__embedded_entry(const char *directory, const char *name);

/*
 * Starts a server for the directory, an absolute path, without waiting for it. `lock` is the
 * descriptor that holds LOCK_EX on the directory's `lock`; the server gets a copy, and the caller
 * closes its own. The server ends by itself when nobody has a share any more.
 * Errors: EMBEDDED, NO_MEMORY.
 */
dueq_status dueq__embedded_start(const char *directory, int lock, struct dueq__error *error);

/* The end of what the directory's server said since it was started, on one line; may be empty. */
void dueq__embedded_last_words(const char *directory, char *text, size_t room);

#endif

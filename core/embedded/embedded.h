/*
 * A private server for a directory.
 */
#ifndef DUEQ_EMBEDDED_H
#define DUEQ_EMBEDDED_H

#include "../base/base.h"

/* embedded.c: a private server for a directory */

struct dueq__embedded;

/*
 * Makes the handle for a directory; nothing is started. NULL: out of memory.
 * It belongs to one client; dueq__embedded_free() drops its share, and the server ends soon after
 * the last share in any process is gone. After fork() the child's copy is closed with its client
 * and does not end the parent's share.
 */
struct dueq__embedded *dueq__embedded_new(const char *directory);
void dueq__embedded_free(struct dueq__embedded *embedded);

/*
 * Looks whether the directory's server can be connected to, and starts it if need be, without
 * waiting for it. Called before each connect. PENDING: not yet, and error says why; call it again
 * after a nap.
 */
dueq_status dueq__embedded_ensure(struct dueq__embedded *embedded, struct dueq__error *error);
#define DUEQ__EMBEDDED_RETRY_MS 5
/* The socket's path after a successful ensure; NULL before. */
const char *dueq__embedded_path(const struct dueq__embedded *embedded);

#endif

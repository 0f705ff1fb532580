#ifndef DUEQ_EMBEDDED_H
#define DUEQ_EMBEDDED_H

#include "../base/base.h"

/*
 * default_url.c: the URL of dueq_open(NULL): $DUEQ_URL (*named: true), else that of the default
 * embedded server. The caller frees *url. Errors: NO_MEMORY; URL, also where DUEQ_REQUIRE_URL=1
 * refuses an embedded server.
 */
dueq_status dueq__default_url(char **url, bool *named, struct dueq__error *error);

/* A private server for a directory */

struct dueq__embedded;

/*
 * Makes a client's handle for a directory. It starts nothing. NULL: out of memory.
 * dueq__embedded_free() drops the handle's share. The server ends soon after the last share of all
 * processes was dropped. After fork() the child frees its copy of the handle, and the parent keeps
 * the share.
 */
struct dueq__embedded *dueq__embedded_new(const char *directory);
void dueq__embedded_free(struct dueq__embedded *embedded);

/*
 * Call it before each connect. It takes a share, looks whether the directory's server accepts a
 * connection, and else starts a server, without waiting for it.
 * PENDING: the server accepts none yet, and `error` says why: call it again after
 * DUEQ__EMBEDDED_RETRY_MS. Errors: EMBEDDED, NO_MEMORY.
 */
dueq_status dueq__embedded_ensure(struct dueq__embedded *embedded, struct dueq__error *error);
#define DUEQ__EMBEDDED_RETRY_MS 5
/* The path of the server's socket; NULL before dueq__embedded_ensure() has returned OK. */
const char *dueq__embedded_path(const struct dueq__embedded *embedded);

/*
 * The command that installs a server on this machine, as "apt install redis-server". os_release:
 * the path of the file that describes the system (os-release(5)). NULL: unknown.
 */
const char *dueq__embedded_package(const char *os_release);

#endif

/*
 * Preloaded into PHP: at the process's end, when its modules are gone, lets the names resolve that
 * wait for the FIFO $HOSTALIASES, and gives their threads time to end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[4096];

/* PHP takes its environment down before. */
__attribute__((constructor)) static void keep(void) {
    const char *set = getenv("HOSTALIASES");
    snprintf(path, sizeof path, "%s", set ? set : "");
}

__attribute__((destructor)) static void linger(void) {
    int aliases = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (aliases < 0)
        return;
    close(aliases);
    sleep(1);
}

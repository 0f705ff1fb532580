#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "system.h"
#include "work.h"

static struct sockaddr_un manager;
static socklen_t manager_size; /* 0: there is no service manager */

void notify_begin(void) {
    const char *address = getenv("NOTIFY_SOCKET");
    size_t size = address ? strlen(address) : 0;
    if (size > 1 && size < sizeof manager.sun_path && strchr("/@", address[0])) {
        manager.sun_family = AF_UNIX;
        memcpy(manager.sun_path, address, size);
        if (address[0] == '@')
            manager.sun_path[0] = '\0';
        manager_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    }
    unsetenv("NOTIFY_SOCKET");
}

void notify(const char *state) {
    int out = manager_size ? system_socket(AF_UNIX, SOCK_DGRAM) : -1;
    if (out < 0)
        return;
    /* The worker goes on if the service manager does not listen. */
    (void)!sendto(out, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&manager,
                  manager_size);
    close(out);
}

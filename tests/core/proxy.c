#include "proxy.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct proxy_rules {
    volatile int cut, left, done;
    char word[64];
};

#define PAIRS 32

struct pair {
    int client, server;
    bool cut_at_answer, silent;
};

static const struct pair NO_PAIR = {.client = -1, .server = -1};

static int unix_socket(const char *path, bool listens) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = listens ? bind(fd, (struct sockaddr *)&address, sizeof address)
                         : connect(fd, (struct sockaddr *)&address, sizeof address);
    if (result != 0) {
        close(fd);
        return -1;
    }
    if (listens)
        listen(fd, 64);
    return fd;
}

static void close_pair(struct pair *pair) {
    close(pair->client);
    close(pair->server);
    *pair = NO_PAIR;
}

static bool send_whole(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

static void forward(struct proxy_rules *rules, struct pair *pair, bool from_client) {
    static char data[1 << 16];
    ssize_t got = recv(from_client ? pair->client : pair->server, data, sizeof data, 0);
    if (got <= 0) {
        close_pair(pair);
        return;
    }
    if (pair->silent)
        return;
    if (from_client && rules->cut != CUT_NOTHING && rules->left > 0 &&
        memmem(data, (size_t)got, rules->word, strlen(rules->word))) {
        rules->left--;
        pair->cut_at_answer = rules->cut == CUT_REQUEST;
        pair->silent = rules->cut == HANG_REQUEST || rules->cut == HANG_BEFORE;
        if (pair->silent) {
            if (rules->cut == HANG_REQUEST)
                send_whole(pair->server, data, (size_t)got);
            rules->done++;
            return;
        }
        if (rules->cut == CUT_BEFORE) {
            rules->done++;
            close_pair(pair);
            return;
        }
    }
    if (!from_client && pair->cut_at_answer) {
        rules->done++;
        close_pair(pair);
        return;
    }
    if (!send_whole(from_client ? pair->server : pair->client, data, (size_t)got))
        close_pair(pair);
}

static void serve(struct proxy_rules *rules, int listener, const char *server) {
    struct pair pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = NO_PAIR;
    for (;;) {
        struct pollfd set[1 + 2 * PAIRS];
        set[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (int i = 0; i < PAIRS; i++) {
            set[1 + 2 * i] = (struct pollfd){.fd = pairs[i].client, .events = POLLIN};
            set[2 + 2 * i] = (struct pollfd){.fd = pairs[i].server, .events = POLLIN};
        }
        if (poll(set, 1 + 2 * PAIRS, -1) < 0)
            continue;
        for (int i = 0; i < PAIRS; i++) {
            if (set[1 + 2 * i].revents && pairs[i].client >= 0)
                forward(rules, &pairs[i], true);
            if (set[2 + 2 * i].revents && pairs[i].client >= 0)
                forward(rules, &pairs[i], false);
        }
        if (set[0].revents) {
            int client = accept(listener, NULL, NULL), to = unix_socket(server, false);
            for (int i = 0; i < PAIRS && client >= 0; i++)
                if (to >= 0 && pairs[i].client < 0) {
                    pairs[i] = (struct pair){.client = client, .server = to};
                    client = -1;
                }
            if (client >= 0)
                close(client);
        }
    }
}

void proxy_start(struct proxy *proxy, const struct server *server) {
    snprintf(proxy->socket, sizeof proxy->socket, "%s/proxy", server->dir);
    snprintf(proxy->url, sizeof proxy->url, "unix://%s?timeout=5s", proxy->socket);
    proxy->rules =
        mmap(NULL, sizeof *proxy->rules, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(proxy->rules != MAP_FAILED);
    int listener = unix_socket(proxy->socket, true);
    assert_true(listener >= 0);
    proxy->pid = fork();
    assert_true(proxy->pid >= 0);
    if (proxy->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(proxy->rules, listener, server->socket);
    }
    close(listener);
}

void proxy_stop(struct proxy *proxy) {
    kill(proxy->pid, SIGKILL);
    waitpid(proxy->pid, NULL, 0);
    unlink(proxy->socket);
    munmap(proxy->rules, sizeof *proxy->rules);
}

void proxy_cut(struct proxy *proxy, enum cut cut, const char *word, int times) {
    snprintf(proxy->rules->word, sizeof proxy->rules->word, "%s", word);
    proxy->rules->done = 0;
    proxy->rules->left = times;
    proxy->rules->cut = (int)cut;
}

int proxy_cuts(const struct proxy *proxy) { return proxy->rules->done; }

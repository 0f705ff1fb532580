/*
 * The bytes as what a client sends to `dueq web`, which ends its side then. The first byte chooses
 * a server with a token (1) or without. No Redis answers, so what is admitted ends as 503. Nobody
 * knows the token.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../cli/web/web.c"
#include "fuzz.h"

static char server_url[] = "unix:///nonexistent/socket?timeout=1ms";
static struct web webs[2];

/*
 * What is admitted has no token here: nothing is changed for it, and nothing told where one is
 * wanted.
 */
static void check_handle(const struct http_request *request, struct http_answer *made,
                         void *context) {
    const struct web *web = context;
    const bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    CHECK(reads);
    CHECK(!web->token || strncmp(request->path, "/api", 4) != 0 ||
          (request->path[4] && request->path[4] != '/'));
    handle(request, made, context);
}

static void *serve_all(void *web) {
    const struct http_service service = {
        .admit = admit, .handle = check_handle, .trusts = trusts, .context = web};
    http_serve(&((struct web *)web)->listener, &service);
    abort(); /* it ends by a signal alone */
}

static void start(struct web *web, char *token) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    pthread_t thread;
    *web = (struct web){.url = server_url, .token = token, .lock = PTHREAD_MUTEX_INITIALIZER};
    web->events = events_new(web);
    web->listener = (struct http_listener){.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                           .loopback = true};
    strcpy(web->listener.host, "127.0.0.1");
    CHECK(bind(web->listener.socket, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(web->listener.socket, 64) == 0);
    CHECK(getsockname(web->listener.socket, (struct sockaddr *)&address, &size) == 0);
    web->listener.port = ntohs(address.sin_port);
    CHECK(pthread_create(&thread, NULL, serve_all, web) == 0);
}

static void start_once(void) {
    static char token[33];
    if (*token)
        return;
    FILE *random = fopen("/dev/urandom", "re");
    CHECK(random);
    for (size_t i = 0; i < sizeof token - 1; i++)
        token[i] = "0123456789abcdef"[fgetc(random) & 15];
    fclose(random);
    start(&webs[0], NULL);
    start(&webs[1], token);
}

/*
 * Sends the bytes and reads the answers, until the server ends the connection or is silent: it
 * waits for the rest of a request up to HTTP_IDLE_S, and a stream has no end.
 */
static void ask(const struct web *web, const uint8_t *data, size_t size) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)web->listener.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct linger none = {1, 0};
    char text[4096], begin[5] = "";
    size_t got = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    /* No port stays taken behind a connection that is over. */
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    if (size)
        CHECK(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
    shutdown(fd, SHUT_WR);
    for (struct pollfd readable = {fd, POLLIN, 0}; poll(&readable, 1, 200) == 1;) {
        ssize_t now = recv(fd, text, sizeof text, 0);
        if (now <= 0)
            break;
        for (ssize_t i = 0; i < now && got + (size_t)i < 4; i++)
            begin[got + (size_t)i] = text[i];
        got += (size_t)now;
    }
    CHECK(strncmp(begin, "HTTP", got < 4 ? got : 4) == 0);
    close(fd);
}

/* What is decoded and encoded again is decoded to the same. */
static void check_words(const char *text, size_t size) {
    char *plain = http_decode(text, size);
    if (!plain)
        return;
    char *encoded = http_encode((dueq_bytes){plain, strlen(plain)});
    char *again = http_decode(encoded, strlen(encoded));
    CHECK(again && strcmp(again, plain) == 0);
    free(again);
    free(encoded);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 16384)
        return 0;
    start_once();
    void *copy = fuzz_copy(data + 1, size - 1);
    check_words(copy, size - 1);
    ask(&webs[data[0] & 1], copy, size - 1);
    free(copy);
    return 0;
}

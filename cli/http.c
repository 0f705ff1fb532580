#include "http.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

/* HTTP by libmicrohttpd, in the program's own thread: a request may use the client. */

/* How soon it sees a signal that came just before it waited. */
#define SLICE_MS 500
#define BACKLOG 64

struct server {
    struct cli *cli;
    http_handler *handler;
    void *owner;
};

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct http_answer *answer) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->size, answer->body, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(answer->body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    enum MHD_Result sent = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return sent;
}

void http_text(struct http_answer *answer, unsigned status, const char *text) {
    *answer = (struct http_answer){status, "text/plain; charset=utf-8", strdup(text), strlen(text)};
    if (!answer->body)
        cli_out_of_memory();
}

static enum MHD_Result on_request(void *opaque, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state) {
    static char headers_read;
    struct server *server = opaque;
    struct http_answer answer = {0};
    (void)version, (void)upload;
    /* It is called once for the headers, then for each part of a body, and then to answer. */
    if (!*state) {
        *state = &headers_read;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    server->handler(server->owner, method, url, &answer);
    return send_answer(connection, &answer);
}

/* "HOST:PORT", ":PORT" of all addresses, or "PORT" of this machine alone; an IPv6 address in brackets. */
static bool split(const char *address, char host[256], const char **port) {
    const char *colon = strrchr(address, ':');
    size_t size = colon ? (size_t)(colon - address) : 0;
    *port = colon ? colon + 1 : address;
    if (size >= 2 && *address == '[' && address[size - 1] == ']') {
        address++;
        size -= 2;
    }
    if (size > 255 || !**port || strspn(*port, "0123456789") != strlen(*port))
        return false;
    snprintf(host, 256, "%.*s", colon ? (int)size : 9, colon ? address : "127.0.0.1");
    return true;
}

static int listen_on(const struct addrinfo *one) {
    const int yes = 1;
    int file = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0)
        return -1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!bind(file, one->ai_addr, one->ai_addrlen) && !listen(file, BACKLOG))
        return file;
    int problem = errno;
    close(file);
    errno = problem;
    return -1;
}

/* A socket that listens there; -1: said why. */
static int open_socket(const struct cli *cli, const char *address) {
    char host[256];
    const char *port;
    struct addrinfo *found = NULL, hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    if (!split(address, host, &port))
        cli_usage(cli,
                  "--listen %s is not an address; write 9123, 127.0.0.1:9123, [::1]:9123 or "
                  ":9123 (all of this machine's addresses)",
                  address);
    int problem = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (problem) {
        cli_say(CLI_ERROR, NULL, NULL, "--listen %s: %s", address, gai_strerror(problem));
        return -1;
    }
    int file = -1;
    for (const struct addrinfo *one = found; one && file < 0; one = one->ai_next)
        file = listen_on(one);
    freeaddrinfo(found);
    if (file < 0)
        cli_say(CLI_ERROR, NULL, NULL, "--listen %s: %s", address, strerror(errno));
    return file;
}

/* Says where: the port may be of the system's choice. */
static void say_where(int file) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(file, (struct sockaddr *)&address, &size) ||
        getnameinfo((struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return;
    bool brackets = strchr(host, ':');
    cli_say(CLI_INFO, NULL, NULL, "listening on http://%s%s%s:%s/", brackets ? "[" : "", host,
            brackets ? "]" : "", port);
}

int http_serve(struct cli *cli, const char *address, http_handler *handler, void *owner) {
    struct server server = {cli, handler, owner};
    int file = open_socket(cli, address);
    if (file < 0)
        return CLI_FAILED;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, on_request, &server, MHD_OPTION_LISTEN_SOCKET, file,
        MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_CONNECTION_LIMIT, 100u, MHD_OPTION_END);
    if (!daemon) {
        close(file);
        cli_say(CLI_ERROR, NULL, NULL, "--listen %s: no HTTP server could be started", address);
        return CLI_FAILED;
    }
    say_where(file);
    while (!cli_signal() && MHD_run_wait(daemon, SLICE_MS) == MHD_YES)
        ;
    MHD_stop_daemon(daemon);
    cli_check_signal(cli);
    cli_say(CLI_ERROR, NULL, NULL, "--listen %s: the HTTP server has ended", address);
    return CLI_FAILED;
}

#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

static bool is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Reads the address that the socket is bound to. */
static bool look(struct http_listener *listener) {
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    char host[64], port[8];
    if (getsockname(listener->socket, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    listener->loopback = is_loopback((struct sockaddr *)&bound);
    listener->port = (unsigned int)atoi(port);
    snprintf(listener->host, sizeof listener->host, strchr(host, ':') ? "[%s]" : "%s", host);
    return true;
}

static bool try_listen(struct http_listener *listener, const struct addrinfo *found) {
    const int yes = 1;
    listener->socket = system_socket(found->ai_family, SOCK_STREAM);
    if (listener->socket < 0)
        return false;
    setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener->socket, found->ai_addr, found->ai_addrlen) == 0 &&
        listen(listener->socket, HTTP_MAX_CONNECTIONS) == 0 && look(listener))
        return true;
    const int why = errno;
    close(listener->socket);
    errno = why;
    return false;
}

/* Names */

/* The size of "name" in "name:port", and of "[::1]" in "[::1]:port". */
static size_t name_size(const char *host) {
    const char *end = strchr(host, ']');
    if (*host == '[')
        return end ? (size_t)(end + 1 - host) : 0;
    return strcspn(host, ":");
}

static bool same_name(const char *host, const char *name, size_t size) {
    return size > 0 && name_size(host) == size && strncasecmp(host, name, size) == 0;
}

static bool is_address(const char *host) {
    struct in6_addr address;
    char bare[INET6_ADDRSTRLEN];
    size_t size = name_size(host);
    const bool six = *host == '[' && size > 2;
    if (six) {
        host++;
        size -= 2;
    }
    if (size >= sizeof bare)
        return false;
    snprintf(bare, sizeof bare, "%.*s", (int)size, host);
    return inet_pton(six ? AF_INET6 : AF_INET, bare, &address) == 1;
}

bool http_is_named(const struct http_listener *listener, const char *host) {
    for (const char *name = listener->names; name; name = strchr(name, ',')) {
        name += *name == ',';
        if (same_name(host, name, strcspn(name, ",")))
            return true;
    }
    return false;
}

bool http_is_ours(const struct http_listener *listener, const char *host) {
    char machine[256] = "";
    gethostname(machine, sizeof machine - 1);
    return host && (is_address(host) || same_name(host, "localhost", strlen("localhost")) ||
                    same_name(host, machine, strlen(machine)) || http_is_named(listener, host));
}

/* Listening */

bool http_listen(const struct cli *cli, const char *address, struct http_listener *listener,
                 int *code) {
    const struct addrinfo wanted = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const char *colon = strrchr(address, ':'), *port = colon ? colon + 1 : address;
    char *host = colon ? strndup(address, (size_t)(colon - address)) : strdup("127.0.0.1");
    char *bare = host;
    if (!host)
        cli_out_of_memory();
    const size_t size = strlen(host);
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = '\0';
        bare++;
    }
    const bool good_port = *port && strspn(port, "0123456789") == strlen(port);
    int why = good_port ? getaddrinfo(*bare ? bare : NULL, port, &wanted, &found) : EAI_SERVICE;
    free(host);
    if (why != 0)
        cli_usage(cli,
                  "--listen %s is not an address (%s); write 9123, 127.0.0.1:9123, [::1]:9123 or "
                  ":9123 (all of this machine's addresses)",
                  address, gai_strerror(why));
    bool good = try_listen(listener, found);
    freeaddrinfo(found);
    if (!good) {
        cli_log(CLI_ERROR, NULL, NULL, "--listen %s: %s", address, strerror(errno));
        *code = CLI_FAILED;
    }
    return good;
}

#include "admission.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

/* If accept() failed because no descriptors were left, no connection is accepted for this long. */
#define REST_MS 200

/* Headers */

static const char token_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "!#$%&'*+-.^_`|~";

/*
 * A request that repeats one of these headers is refused: a proxy may use the first, and dueq the
 * last.
 */
enum { HOST, LENGTH, ENCODING, AUTHORIZATION, ORIGIN, SINGLES };
static const char *const singles[SINGLES] = {"host", "content-length", "transfer-encoding",
                                             "authorization", "origin"};

/* Whether the bytes so far have no NUL and no line that ends without CR LF. */
static bool is_sound(const char *head, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (head[i] == '\0' || (head[i] == '\n' && (i == 0 || head[i - 1] != '\r')) ||
            (head[i] == '\r' && i + 1 < size && head[i + 1] != '\n'))
            return false;
    return true;
}

/* Reads "METHOD TARGET HTTP/1.1" (RFC 9112, section 3). *minor is the last digit. */
static bool read_first_line(const char *line, char *minor) {
    const char *target = line + strspn(line, token_characters), *version;
    if (target == line || *target++ != ' ')
        return false;
    for (version = target; (unsigned char)*version > ' ' && *version != 0x7F; version++)
        ;
    if (version == target || strncmp(version, " HTTP/1.", 8) != 0)
        return false;
    *minor = version[8];
    return (*minor == '0' || *minor == '1') && !version[9];
}

/* Cuts blanks off both ends. False: the value has control characters. */
static bool trim(char **value) {
    *value += strspn(*value, " \t");
    char *end = *value + strlen(*value);
    while (end > *value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    for (const char *at = *value; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7F)
            return false;
    return true;
}

/*
 * Reads "NAME: VALUE". Refuses a blank before the colon, and a line that continues the line before.
 */
static bool read_line(char *line, char *values[SINGLES]) {
    char *value = line + strspn(line, token_characters);
    if (value == line || *value != ':')
        return false;
    *value++ = '\0';
    if (!trim(&value))
        return false;
    for (size_t i = 0; i < SINGLES; i++)
        if (strcasecmp(line, singles[i]) == 0) {
            if (values[i])
                return false;
            values[i] = value;
        }
    return true;
}

/*
 * Reads the headers up to the empty line, and cuts them into strings. False: they are not well
 * formed.
 */
static bool read_head(char *head, char *values[SINGLES]) {
    char minor = 0;
    for (char *line = head, *end; (end = strstr(line, "\r\n")) != line; line = end + 2) {
        *end = '\0';
        if (line == head ? !read_first_line(line, &minor) : !read_line(line, values))
            return false;
    }
    const char *length = values[LENGTH], *encoding = values[ENCODING];
    if (length && (!*length || length[strspn(length, "0123456789")] || strlen(length) > 18))
        return false;
    if (encoding && (length || minor == '0' || strcasecmp(encoding, "chunked") != 0))
        return false;
    return minor == '0' || (minor == '1' && values[HOST]);
}

/* Connections that wait */

static uint64_t address_of(const struct sockaddr_storage *from) {
    uint64_t address = 0;
    if (from->ss_family == AF_INET) {
        address = ((const struct sockaddr_in *)(const void *)from)->sin_addr.s_addr;
    } else if (from->ss_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(six))
            memcpy(&address, six->s6_addr + 12, 4);
        else
            memcpy(&address, six->s6_addr, sizeof address);
    }
    return address;
}

static void forget(struct admission *admission, size_t place) {
    admission->waiting_count--;
    memmove(&admission->waiting[place], &admission->waiting[place + 1],
            (admission->waiting_count - place) * sizeof *admission->waiting);
}

static void turn_away(struct admission *admission, size_t place, const char *status) {
    const int socket = admission->waiting[place].socket;
    char text[256], rest[4096];
    const int size = snprintf(text, sizeof text,
                              "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                              "Connection: close\r\n\r\n%s\n",
                              status, strlen(status) + 1, status);
    /* If bytes stay unread, close() resets the connection, and the client loses the answer. */
    if (send(socket, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL) == size)
        shutdown(socket, SHUT_WR);
    for (int i = 0; i < 8 && recv(socket, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        ;
    close(socket);
    forget(admission, place);
}

/*
 * Closes the connection that has waited longest, of the address, or of all if address is NULL: it
 * had more time than the others.
 */
static void drop_oldest(struct admission *admission, const uint64_t *address) {
    for (size_t i = 0; i < admission->waiting_count; i++)
        if (!address || admission->waiting[i].address == *address) {
            close(admission->waiting[i].socket);
            forget(admission, i);
            return;
        }
}

static void accept_all(struct admission *admission) {
    for (;;) {
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof from;
        const int socket = system_accept(admission->listener, (struct sockaddr *)&from, &size);
        if (socket < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (socket < 0) {
            if (errno != EAGAIN) {
                drop_oldest(admission, NULL);
                admission->rest_ms = time_monotonic_ms() + REST_MS;
            }
            return;
        }
        const uint64_t address = address_of(&from);
        size_t same = 0;
        for (size_t i = 0; i < admission->waiting_count; i++)
            same += admission->waiting[i].address == address;
        if (same >= ADMISSION_PER_ADDRESS)
            drop_oldest(admission, &address);
        else if (admission->waiting_count == ADMISSION_WAITING)
            drop_oldest(admission, NULL);
        admission->waiting[admission->waiting_count++] = (struct connection){
            .socket = socket, .address = address, .since_ms = time_monotonic_ms()};
    }
}

/*
 * Peeks at the headers, so that libmicrohttpd can still read them. Returns the status of a refusal,
 * or NULL. *gone: the client has closed the connection.
 */
static const char *look(struct admission *admission, struct connection *connection, short events,
                        bool *gone) {
    static char head[ADMISSION_MAX_HEAD + 1];
    const ssize_t size =
        recv(connection->socket, head, ADMISSION_MAX_HEAD, MSG_PEEK | MSG_DONTWAIT);
    *gone = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    if (size <= 0)
        return NULL;
    connection->seen = (size_t)size;
    head[size] = '\0';
    const char *end = memmem(head, connection->seen, "\r\n\r\n", 4);
    if (!is_sound(head, end ? (size_t)(end + 4 - head) : connection->seen))
        return "400 Bad Request";
    if (!end) {
        *gone = events & (POLLRDHUP | POLLHUP | POLLERR);
        /* poll() waits for the next byte, not for those peeked at */
        const int more = (int)connection->seen + 1;
        setsockopt(connection->socket, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof more);
        return size == ADMISSION_MAX_HEAD ? "431 Request Header Fields Too Large" : NULL;
    }
    head[end + 4 - head] = '\0';
    char *values[SINGLES] = {0};
    if (!read_head(head, values))
        return "400 Bad Request";
    const struct http_service *service = admission->service;
    connection->trusted = service->trusts && values[AUTHORIZATION] &&
                          service->trusts(values[AUTHORIZATION], service->context);
    connection->ready = true;
    return NULL;
}

/* Admitted connections */

/* Counts the connection as admitted. False: there is no room. */
static bool take_in(struct admission *admission, const struct connection *connection) {
    size_t untrusted = 0, of_address = 0;
    pthread_mutex_lock(&admission->lock);
    for (size_t i = 0; i < admission->admitted_count; i++) {
        untrusted += !admission->admitted[i].trusted;
        of_address += !admission->admitted[i].trusted &&
                      admission->admitted[i].address == connection->address;
    }
    const bool room = admission->admitted_count < HTTP_MAX_CONNECTIONS &&
                      (connection->trusted ||
                       (untrusted < ADMISSION_UNTRUSTED && of_address < ADMISSION_PER_ADDRESS));
    if (room) {
        admission->admitted[admission->admitted_count] = *connection;
        admission->admitted[admission->admitted_count++].until_ms =
            connection->since_ms + ADMISSION_REQUEST_MS;
    }
    pthread_mutex_unlock(&admission->lock);
    return room;
}

static struct connection *find_admitted(struct admission *admission, int socket) {
    for (size_t i = 0; i < admission->admitted_count; i++)
        if (admission->admitted[i].socket == socket)
            return &admission->admitted[i];
    return NULL;
}

void admission_received(struct admission *admission, int socket) {
    pthread_mutex_lock(&admission->lock);
    struct connection *connection = find_admitted(admission, socket);
    if (connection)
        connection->until_ms = INT64_MAX;
    pthread_mutex_unlock(&admission->lock);
}

void admission_closed(struct admission *admission, int socket) {
    pthread_mutex_lock(&admission->lock);
    struct connection *connection = find_admitted(admission, socket);
    if (connection)
        *connection = admission->admitted[--admission->admitted_count];
    pthread_mutex_unlock(&admission->lock);
    (void)!write(admission->wake[1], "", 1); /* a full pipe wakes as well */
}

/* Hands a connection over to libmicrohttpd. False: there is no room now. */
static bool let_in(struct admission *admission, size_t place) {
    const struct connection connection = admission->waiting[place];
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    const int any = 1;
    if (!take_in(admission, &connection))
        return false;
    forget(admission, place);
    setsockopt(connection.socket, SOL_SOCKET, SO_RCVLOWAT, &any, sizeof any);
    getpeername(connection.socket, (struct sockaddr *)&from, &size);
    if (MHD_add_connection(admission->daemon, connection.socket, (struct sockaddr *)&from, size) !=
        MHD_YES)
        /* MHD_add_connection() has closed the socket */
        admission_closed(admission, connection.socket);
    return true;
}

/*
 * Shuts down the admitted connections whose requests did not come in time. Returns the next
 * deadline.
 */
static int64_t end_late(struct admission *admission) {
    const int64_t now_ms = time_monotonic_ms();
    int64_t next_ms = INT64_MAX;
    pthread_mutex_lock(&admission->lock);
    for (size_t i = 0; i < admission->admitted_count; i++) {
        struct connection *connection = &admission->admitted[i];
        if (connection->until_ms <= now_ms) {
            shutdown(connection->socket, SHUT_RDWR);
            connection->until_ms = INT64_MAX;
        }
        if (connection->until_ms < next_ms)
            next_ms = connection->until_ms;
    }
    pthread_mutex_unlock(&admission->lock);
    return next_ms;
}

/* The loop */

bool admission_open(struct admission *admission, int listener, const struct http_service *service) {
    *admission = (struct admission){
        .listener = listener, .service = service, .lock = PTHREAD_MUTEX_INITIALIZER};
    return system_pipe(admission->wake) == 0 && system_do_not_block(admission->wake[0]) == 0 &&
           system_do_not_block(admission->wake[1]) == 0 && system_do_not_block(listener) == 0;
}

/* Admits, refuses or closes waiting connections. events: what poll() returned for each. */
static void look_at_all(struct admission *admission, const struct pollfd *events) {
    const int64_t now_ms = time_monotonic_ms();
    for (size_t i = 0, place = 0, count = admission->waiting_count; i < count; i++) {
        struct connection *connection = &admission->waiting[place];
        const bool late = now_ms >= connection->since_ms + ADMISSION_HEAD_MS;
        const char *status = NULL;
        bool gone = false;
        if (!connection->ready && events[i].revents)
            status = look(admission, connection, events[i].revents, &gone);
        if (connection->ready && let_in(admission, place))
            continue;
        if (!status && late)
            status = connection->ready ? "503 Service Unavailable" : "408 Request Timeout";
        if (gone || (late && connection->seen == 0)) {
            /* perhaps a browser opened it in advance, and did not need it */
            close(connection->socket);
            forget(admission, place);
        } else if (status) {
            turn_away(admission, place, status);
        } else {
            place++;
        }
    }
}

void admission_poll(struct admission *admission, const sigset_t *mask) {
    struct pollfd set[ADMISSION_WAITING + 2];
    const size_t count = admission->waiting_count;
    const int64_t now_ms = time_monotonic_ms();
    int64_t next_ms = end_late(admission);
    for (size_t i = 0; i < count; i++) {
        const struct connection *connection = &admission->waiting[i];
        set[i] =
            (struct pollfd){connection->ready ? -1 : connection->socket, POLLIN | POLLRDHUP, 0};
        if (connection->since_ms + ADMISSION_HEAD_MS < next_ms)
            next_ms = connection->since_ms + ADMISSION_HEAD_MS;
    }
    if (admission->rest_ms > now_ms && admission->rest_ms < next_ms)
        next_ms = admission->rest_ms;
    set[count] = (struct pollfd){admission->wake[0], POLLIN, 0};
    set[count + 1] =
        (struct pollfd){admission->rest_ms > now_ms ? -1 : admission->listener, POLLIN, 0};
    int64_t left_ms = next_ms == INT64_MAX ? INT64_MAX : next_ms > now_ms ? next_ms - now_ms : 0;
    if (system_poll(set, (nfds_t)count + 2, left_ms, mask) < 0)
        return; /* a signal */
    char ended[64];
    while (set[count].revents && read(admission->wake[0], ended, sizeof ended) > 0)
        ; /* look_at_all() tries all waiting connections anyway */
    look_at_all(admission, set);
    if (set[count + 1].revents)
        accept_all(admission);
}

void admission_close_waiting(struct admission *admission) {
    while (admission->waiting_count > 0)
        drop_oldest(admission, NULL);
    close(admission->listener);
}

void admission_end(struct admission *admission) {
    close(admission->wake[0]);
    close(admission->wake[1]);
    pthread_mutex_destroy(&admission->lock);
}

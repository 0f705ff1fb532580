#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Without descriptors it waits this long before it accepts again. */
#define REST_MS 200

/* ---- Headers -------------------------------------------------------------------------------------- */

static const char token_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "!#$%&'*+-.^_`|~";

/* Of these a request has one at most: a proxy may go by the first, and we by the last. */
enum { HOST, LENGTH, ENCODING, AUTHORIZATION, ORIGIN, SINGLES };
static const char *const singles[SINGLES] = {"host", "content-length", "transfer-encoding",
                                             "authorization", "origin"};

/* Whether what has come so far has whole ends of lines and no NUL. */
static bool is_sound(const char *head, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (head[i] == '\0' || (head[i] == '\n' && (i == 0 || head[i - 1] != '\r')) ||
            (head[i] == '\r' && i + 1 < size && head[i + 1] != '\n'))
            return false;
    return true;
}

/* METHOD TARGET HTTP/1.1; *minor is the last digit. */
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

/* Without blanks at both ends. False: it has control characters. */
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

/* NAME: VALUE, without a blank before the colon, and not the rest of the line before. */
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

/* Reads headers, whose last line is empty, and cuts them into pieces. False: they are not well formed. */
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

/* ---- Who waits ------------------------------------------------------------------------------------ */

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

static void forget(struct door *door, size_t place) {
    door->waiting_count--;
    memmove(&door->waiting[place], &door->waiting[place + 1],
            (door->waiting_count - place) * sizeof *door->waiting);
}

static void turn_away(struct door *door, size_t place, const char *status) {
    const int socket = door->waiting[place].socket;
    char text[256], rest[4096];
    const int size = snprintf(text, sizeof text,
                              "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                              "Connection: close\r\n\r\n%s\n",
                              status, strlen(status) + 1, status);
    /* What was not read would make the system drop the answer. */
    if (send(socket, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL) == size)
        shutdown(socket, SHUT_WR);
    for (int i = 0; i < 8 && recv(socket, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        ;
    close(socket);
    forget(door, place);
}

/* Closes the one that has waited longest, of this address or (NULL) of any: it had more time than the others. */
static void drop_oldest(struct door *door, const uint64_t *address) {
    for (size_t i = 0; i < door->waiting_count; i++)
        if (!address || door->waiting[i].address == *address) {
            close(door->waiting[i].socket);
            forget(door, i);
            return;
        }
}

static void accept_all(struct door *door) {
    for (;;) {
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof from;
        const int socket =
            accept4(door->listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (socket < 0) {
            if (errno != EAGAIN) {
                drop_oldest(door, NULL);
                door->rest_ms = time_monotonic_ms() + REST_MS;
            }
            return;
        }
        const uint64_t address = address_of(&from);
        size_t same = 0;
        for (size_t i = 0; i < door->waiting_count; i++)
            same += door->waiting[i].address == address;
        if (same >= DOOR_OF_ADDRESS)
            drop_oldest(door, &address);
        else if (door->waiting_count == DOOR_WAITING)
            drop_oldest(door, NULL);
        door->waiting[door->waiting_count++] =
            (struct guest){.socket = socket, .address = address, .since_ms = time_monotonic_ms()};
    }
}

/* Looks at the headers that have come, and leaves them for libmicrohttpd. Returns the status of a refusal, or NULL. */
static const char *look(struct door *door, struct guest *guest, short events, bool *gone) {
    static char head[DOOR_MAX_HEAD + 1];
    const ssize_t size = recv(guest->socket, head, DOOR_MAX_HEAD, MSG_PEEK | MSG_DONTWAIT);
    *gone = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    if (size <= 0)
        return NULL;
    guest->seen = (size_t)size;
    head[size] = '\0';
    const char *end = memmem(head, guest->seen, "\r\n\r\n", 4);
    if (!is_sound(head, end ? (size_t)(end + 4 - head) : guest->seen))
        return "400 Bad Request";
    if (!end) {
        *gone = events & (POLLRDHUP | POLLHUP | POLLERR);
        const int more = (int)guest->seen + 1; /* else what it has sent would wake us again */
        setsockopt(guest->socket, SOL_SOCKET, SO_RCVLOWAT, &more, sizeof more);
        return size == DOOR_MAX_HEAD ? "431 Request Header Fields Too Large" : NULL;
    }
    head[end + 4 - head] = '\0';
    char *values[SINGLES] = {0};
    if (!read_head(head, values))
        return "400 Bad Request";
    const struct http_service *service = door->service;
    guest->trusted = service->trusts && values[AUTHORIZATION] &&
                     service->trusts(values[AUTHORIZATION], service->context);
    guest->ready = true;
    return NULL;
}

/* ---- Who is within -------------------------------------------------------------------------------- */

/* False: there is no room. */
static bool take_in(struct door *door, const struct guest *guest) {
    size_t untrusted = 0, of_address = 0;
    pthread_mutex_lock(&door->lock);
    for (size_t i = 0; i < door->within_count; i++) {
        untrusted += !door->within[i].trusted;
        of_address += !door->within[i].trusted && door->within[i].address == guest->address;
    }
    const bool room =
        door->within_count < HTTP_MAX_CONNECTIONS &&
        (guest->trusted || (untrusted < DOOR_UNTRUSTED && of_address < DOOR_OF_ADDRESS));
    if (room) {
        door->within[door->within_count] = *guest;
        door->within[door->within_count++].until_ms = guest->since_ms + DOOR_REQUEST_MS;
    }
    pthread_mutex_unlock(&door->lock);
    return room;
}

static struct guest *find_within(struct door *door, int socket) {
    for (size_t i = 0; i < door->within_count; i++)
        if (door->within[i].socket == socket)
            return &door->within[i];
    return NULL;
}

void door_received(struct door *door, int socket) {
    pthread_mutex_lock(&door->lock);
    struct guest *guest = find_within(door, socket);
    if (guest)
        guest->until_ms = INT64_MAX;
    pthread_mutex_unlock(&door->lock);
}

void door_left(struct door *door, int socket) {
    const uint64_t one = 1;
    pthread_mutex_lock(&door->lock);
    struct guest *guest = find_within(door, socket);
    if (guest)
        *guest = door->within[--door->within_count];
    pthread_mutex_unlock(&door->lock);
    cli_write(door->wake, (dueq_bytes){&one, sizeof one});
}

/* Hands a connection over. False: there is no room now. */
static bool let_in(struct door *door, size_t place) {
    const struct guest guest = door->waiting[place];
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    const int any = 1;
    if (!take_in(door, &guest))
        return false;
    forget(door, place);
    setsockopt(guest.socket, SOL_SOCKET, SO_RCVLOWAT, &any, sizeof any);
    getpeername(guest.socket, (struct sockaddr *)&from, &size);
    if (MHD_add_connection(door->daemon, guest.socket, (struct sockaddr *)&from, size) != MHD_YES)
        door_left(door, guest.socket); /* it has closed the socket */
    return true;
}

/* Ends requests that have not come in time. Returns when the next is to be. */
static int64_t end_late(struct door *door) {
    const int64_t now_ms = time_monotonic_ms();
    int64_t next_ms = INT64_MAX;
    pthread_mutex_lock(&door->lock);
    for (size_t i = 0; i < door->within_count; i++) {
        struct guest *guest = &door->within[i];
        if (guest->until_ms <= now_ms) {
            shutdown(guest->socket, SHUT_RDWR);
            guest->until_ms = INT64_MAX;
        }
        if (guest->until_ms < next_ms)
            next_ms = guest->until_ms;
    }
    pthread_mutex_unlock(&door->lock);
    return next_ms;
}

/* ---- The door ------------------------------------------------------------------------------------- */

bool door_open(struct door *door, int listener, const struct http_service *service) {
    *door = (struct door){.listener = listener,
                          .service = service,
                          .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    return door->wake >= 0 && fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK) == 0;
}

/* Lets in or turns away who waits; events: of each, as of poll(). */
static void look_at_all(struct door *door, const struct pollfd *events) {
    const int64_t now_ms = time_monotonic_ms();
    for (size_t i = 0, place = 0, count = door->waiting_count; i < count; i++) {
        struct guest *guest = &door->waiting[place];
        const bool late = now_ms >= guest->since_ms + DOOR_HEAD_MS;
        const char *status = NULL;
        bool gone = false;
        if (!guest->ready && events[i].revents)
            status = look(door, guest, events[i].revents, &gone);
        if (guest->ready && let_in(door, place))
            continue;
        if (!status && late)
            status = guest->ready ? "503 Service Unavailable" : "408 Request Timeout";
        if (gone || (late && guest->seen == 0)) {
            close(guest->socket); /* also what a browser opened in case that it needs it */
            forget(door, place);
        } else if (status) {
            turn_away(door, place, status);
        } else {
            place++;
        }
    }
}

void door_turn(struct door *door, const sigset_t *mask) {
    struct pollfd set[DOOR_WAITING + 2];
    const size_t count = door->waiting_count;
    const int64_t now_ms = time_monotonic_ms();
    int64_t next_ms = end_late(door);
    for (size_t i = 0; i < count; i++) {
        const struct guest *guest = &door->waiting[i];
        set[i] = (struct pollfd){guest->ready ? -1 : guest->socket, POLLIN | POLLRDHUP, 0};
        if (guest->since_ms + DOOR_HEAD_MS < next_ms)
            next_ms = guest->since_ms + DOOR_HEAD_MS;
    }
    if (door->rest_ms > now_ms && door->rest_ms < next_ms)
        next_ms = door->rest_ms;
    set[count] = (struct pollfd){door->wake, POLLIN, 0};
    set[count + 1] = (struct pollfd){door->rest_ms > now_ms ? -1 : door->listener, POLLIN, 0};
    const int64_t left_ms = next_ms > now_ms ? next_ms - now_ms : 0;
    const struct timespec left = {left_ms / 1000, left_ms % 1000 * 1000000};
    if (ppoll(set, count + 2, next_ms < INT64_MAX ? &left : NULL, mask) < 0)
        return; /* a signal */
    uint64_t ended;
    if (set[count].revents && read(door->wake, &ended, sizeof ended) < 0)
        ended = 0; /* the room is looked for below anyway */
    look_at_all(door, set);
    if (set[count + 1].revents)
        accept_all(door);
}

void door_shut(struct door *door) {
    while (door->waiting_count > 0)
        drop_oldest(door, NULL);
    close(door->listener);
}

void door_end(struct door *door) {
    close(door->wake);
    pthread_mutex_destroy(&door->lock);
}

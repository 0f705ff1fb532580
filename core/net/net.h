/*
 * The connection to a server: a URL, bytes out and in, and what they say.
 */
#ifndef DUEQ_NET_H
#define DUEQ_NET_H

#include "../base/base.h"

/* url.c */

enum dueq__transport { DUEQ__TCP, DUEQ__TLS, DUEQ__UNIX, DUEQ__EMBEDDED };

/*
 * What stands behind the URL: one server, the sentinels of a primary and its replicas, or a
 * cluster's nodes.
 */
enum dueq__topology { DUEQ__SINGLE, DUEQ__SENTINEL, DUEQ__CLUSTER };

struct dueq__address {
    const char *host; /* an IPv6 address without its brackets */
    int port;
};

/* Where a server is reached that announces itself otherwise, as behind a NAT. */
struct dueq__mapping {
    struct dueq__address announced, real;
};

/* How sentinels are spoken to, which are servers of their own; NULL where not given. */
struct dueq__sentinel_login {
    const char *user, *password, *ca, *cert, *key;
};

struct dueq__url {
    enum dueq__transport transport;
    enum dueq__topology topology;
    struct dueq__address *hosts; /* TCP, TLS: at least one */
    size_t host_count;
    const char *primary;  /* SENTINEL: its name */
    const char *path;     /* UNIX: the socket; EMBEDDED: the directory */
    const char *tls_name; /* that certificates must have; NULL: that of the host */
    const char *user, *password, *ca, *cert, *key; /* NULL where not given */
    struct dueq__sentinel_login sentinel;
    struct dueq__mapping *map;
    size_t map_count;
    char *text;  /* which these are parts of */
    char *shown; /* the URL without its passwords */
    int db;
    int64_t timeout_ms;
    dueq_durability durability; /* of all pushes */
    bool accepts_evicting;      /* evicting=accept */
};

#define DUEQ__SHOWN_ADDRESS 272 /* a host of 255 bytes, brackets and a port */
void dueq__address_show(struct dueq__address address, char out[DUEQ__SHOWN_ADDRESS]);

dueq_status dueq__url_parse(struct dueq__url *url, const char *text, struct dueq__error *error);
void dueq__url_clear(struct dueq__url *url);
/*
 * Where to reach a server that announces this address: another one if the URL maps it. Borrowed
 * from either.
 */
struct dueq__address dueq__url_reach(const struct dueq__url *url, struct dueq__address announced);
/*
 * The URL that dueq_open(NULL) uses: $DUEQ_URL (*named) or the default embedded server, which
 * $DUEQ_REQUIRE_URL refuses. Caller frees *url.
 */
dueq_status dueq__url_default(char **url, bool *named, struct dueq__error *error);

/* resp_write.c: a command's words, in the form of the wire */

/* Bytes are copied. A failed allocation is remembered, and told when the command is sent. */
struct dueq__resp {
    char *bytes;
    size_t size, room, count;
    bool failed;
};

void dueq__resp_init(struct dueq__resp *words);
void dueq__resp_bytes(struct dueq__resp *words, const void *data, size_t size);
void dueq__resp_text(struct dueq__resp *words, const char *text);
void dueq__resp_number(struct dueq__resp *words, int64_t number);
/* Adds a word of that size and returns where its bytes go; NULL: out of memory. */
void *dueq__resp_space(struct dueq__resp *words, size_t size);
void dueq__resp_free(struct dueq__resp *words);
#define DUEQ__DIGITS 20 /* of the greatest number */
/* Writes a number in decimal, without a NUL; returns how many digits it has. */
size_t dueq__resp_digits(char out[DUEQ__DIGITS], uint64_t number);

/* resp_read.c */

struct dueq__reply; /* a redisReply; resp_read.c alone looks inside */

/*
 * How many bytes the strings of an answer may have: of one with messages so many for each, of a
 * cluster's map, and of any other. The longest string of a server has 512 MiB, and beside it there
 * are a ticket and attempts.
 */
#define DUEQ__MAX_MESSAGE_REPLY ((uint64_t)513 << 20)
#define DUEQ__MAX_MAP_REPLY ((uint64_t)64 << 20)
#define DUEQ__MAX_SMALL_REPLY ((uint64_t)1 << 20)

/*
 * Makes replies of bytes. One that announces more values or bytes than it may have is refused
 * before they come.
 */
struct dueq__reader;
struct dueq__reader *dueq__reader_new(void); /* NULL: no memory */
void dueq__reader_free(struct dueq__reader *reader);
void dueq__reader_feed(struct dueq__reader *reader, const char *data, size_t size);
/*
 * The next reply, of `most` bytes, which the caller owns (NULL: none yet). Returns NULL, or what is
 * wrong with the bytes, a text that lives as long as the reader.
 */
const char *dueq__reader_take(struct dueq__reader *reader, uint64_t most,
                              struct dueq__reply **reply);
/* Nothing is wrong with the bytes that it did not take: there is no memory for them. */
bool dueq__reader_no_memory(const struct dueq__reader *reader);
void dueq__reply_free(struct dueq__reply *reply);
bool dueq__reply_is_error(const struct dueq__reply *reply);
bool dueq__reply_is_nil(const struct dueq__reply *reply);
/* The class of an error reply; fills error. */
dueq_status dueq__reply_error(const struct dueq__reply *reply, struct dueq__error *error);
dueq_status dueq__reply_error_text(const char *text, struct dueq__error *error);
bool dueq__reply_error_bytes(const struct dueq__reply *reply, dueq_bytes *text); /* an error's */
bool dueq__reply_is_noscript(const struct dueq__reply *reply);
/* Is it the end of a block by CLIENT UNBLOCK? */
bool dueq__reply_is_unblocked(const struct dueq__reply *reply);
size_t dueq__reply_count(const struct dueq__reply *reply); /* of an array; else 0 */
bool dueq__reply_bytes(const struct dueq__reply *reply, dueq_bytes *bytes); /* a string */
bool dueq__reply_number(const struct dueq__reply *reply,
                        int64_t *number); /* an integer, or its text */
/* An item of an array; nil where it has none, or is no array. */
const struct dueq__reply *dueq__reply_item(const struct dueq__reply *reply, size_t index);

/* slots.c: where a cluster keeps its keys */

#define DUEQ__SLOTS 16384
#define DUEQ__HOST_ROOM 256

/* The slot of a key: by what stands between its first braces, if that is not empty. */
int dueq__slot(dueq_bytes key);
/*
 * Calls range() for each range of slots in an answer to CLUSTER SLOTS, with the address of its
 * primary, which is to be copied; asked: the host that gave the answer. Ranges that are malformed
 * or whose primary is not known are left out. Returns how many there were.
 */
size_t dueq__slots_read(const struct dueq__reply *reply, const char *asked,
                        void (*range)(void *owner, int first, int last,
                                      const struct dueq__address *primary),
                        void *owner);
/* What a node says instead of an answer: another one has that slot, or is taking it over (ask). */
struct dueq__redirect {
    bool ask;
    int slot, port;
    char host[DUEQ__HOST_ROOM];
};
/* Reads a MOVED or ASK from the host `asked`; false: it is none. */
bool dueq__redirect_read(const struct dueq__reply *reply, const char *asked,
                         struct dueq__redirect *redirect);

/* A connected socket, as conn.c and tls.c use it */

struct dueq__socket {
    int fd;                         /* -1: none */
    bool input_ended, output_ended; /* the latter is noted only, for the server may have said why */
    int read_errno;                 /* the errno that the input ended with; 0: none */
};

/* Without blocking and without a signal; 0: none now, or it has ended. */
size_t dueq__socket_write(struct dueq__socket *socket, const void *data, size_t size);
size_t dueq__socket_read(struct dueq__socket *socket, void *data, size_t size);

/* tls.c */

struct dueq__tls;

/*
 * address: the server's, whose host its certificate must name where the URL says no other name. It
 * resumes the session of the last connection to that server. url and socket are borrowed for its
 * life.
 */
struct dueq__tls *dueq__tls_new(const struct dueq__url *url, struct dueq__address address,
                                struct dueq__socket *socket, struct dueq__error *error);
void dueq__tls_free(struct dueq__tls *tls);
/* Goes on with the handshake: 1 done, 0 not yet, -1 failed (error is set). */
int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error);
/*
 * After a handshake that failed: forgets the session that it would have resumed; false: there was
 * none.
 */
bool dueq__tls_forget_session(struct dueq__tls *tls);
bool dueq__tls_wants_to_write(const struct dueq__tls *tls);
/* As those of the socket; where the other side has ended the session, error is set. */
size_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size, struct dueq__error *error);
size_t dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size);

/* resolve.c: the addresses of a host, without blocking */

struct addrinfo;
struct dueq__resolution;

/* Begins; a numeric address is done at once. NULL: it cannot be started, errno says why. */
struct dueq__resolution *dueq__resolve(const char *host, int port);
bool dueq__resolution_done(const struct dueq__resolution *resolution);
/* Readable once it is done, for all who share it: it is not to be read. -1: it was done at once. */
int dueq__resolution_fd(const struct dueq__resolution *resolution);
/* Of one that is done: NULL where there was a problem. They live until it is dropped. */
const struct addrinfo *dueq__resolution_addresses(const struct dueq__resolution *resolution);
const char *dueq__resolution_problem(const struct dueq__resolution *resolution);
/* Gives it up, or frees what it found. NULL is safe. */
void dueq__resolution_drop(struct dueq__resolution *resolution);

/* race.c: a socket to the first address that answers */

enum dueq__race_state { DUEQ__RACE_RUNNING, DUEQ__RACE_WON, DUEQ__RACE_LOST };
struct dueq__race;

/*
 * Begins with one of the addresses, of which there is one at least. server: for which the address
 * that answers is remembered, borrowed; NULL: it is not. NULL: errno says why.
 */
struct dueq__race *dueq__race_start(const struct addrinfo *addresses,
                                    const struct dueq__address *server);
/* Goes on without blocking. Where it is won *fd is a connected socket, which the caller owns. */
enum dueq__race_state dueq__race_pump(struct dueq__race *race, int *fd);
/*
 * Readable when it is to be pumped; that is also to be done at until_ms (DUEQ__NEVER: it need not).
 */
int dueq__race_fd(const struct dueq__race *race);
int64_t dueq__race_until_ms(const struct dueq__race *race);
/* Of one that is lost: why. */
void dueq__race_reasons(const struct dueq__race *race, char *out, size_t room);
/* Closes all sockets but the winner's. NULL is safe. */
void dueq__race_drop(struct dueq__race *race);

struct dueq__sentinels;
struct dueq__discovery;

/* conn.c */

enum dueq__conn_state {
    DUEQ__CONN_CLOSED,
    DUEQ__CONN_DISCOVERING,
    DUEQ__CONN_RESOLVING,
    DUEQ__CONN_CONNECTING,
    DUEQ__CONN_TLS,
    DUEQ__CONN_LOGIN,
    DUEQ__CONN_READY
};

enum dueq__login {
    DUEQ__LOGIN_AUTH,
    DUEQ__LOGIN_SELECT,
    DUEQ__LOGIN_ROLE,
    DUEQ__LOGIN_NAME,
    DUEQ__LOGIN_ID,
    DUEQ__LOGIN_VERSION,
    DUEQ__LOGIN_MEMORY,
    DUEQ__LOGIN_STEPS
};

/* What a server said of itself, to the first connection that asked. */
struct dueq__server_info {
    bool known;      /* it was asked; what it does not permit to know is empty */
    bool evicts;     /* it has a limit of memory and a policy other than noeviction */
    char policy[32]; /* maxmemory-policy */
};

/* Other rooms read the first part, and set epoll and watched_events. */
struct dueq__conn {
    enum dueq__conn_state state;
    bool opened; /* started, and not closed by its owner: where its state is CLOSED, it was lost */
    bool named;  /* the server knows it by our name */
    int64_t id; /* the server's number of it or, after it closed, of the one before; 0: not known */
    struct dueq__address address; /* of the server that it goes to by TCP or TLS; borrowed */
    struct dueq__error error;     /* why it was lost */
    bool accepts_wait[2];         /* the server takes WAIT, and WAITAOF, on it (client/durable.c) */
    /*
     * The epoll instance (-1: none) that its sockets leave before they are closed. By closing alone
     * a socket stays there, and stays readable, as long as a forked child has it too (epoll(7)).
     */
    int epoll;
    short wanted_events, watched_events; /* that are waited for now, and for which it is in epoll */
    struct dueq__conn *next;             /* of the client's */

    const struct dueq__url *url;
    const char *name;                      /* shown by the server's CLIENT LIST */
    struct dueq__server_info *server_info; /* to be filled in; NULL: not by this one */
    struct dueq__sentinels
        *sentinels; /* which are asked where to connect to; NULL: the URL says it */
    struct dueq__discovery *discovery;
    unsigned switches_seen; /* the sentinels' count of switches when it asked them */
    bool blocking;          /* its commands block, so that silence does not mean that it is lost */
    struct dueq__socket socket;
    bool input_ended; /* all of it is with the reader, and the error says why */
    struct dueq__tls *tls;
    struct dueq__reader *reader;
    struct dueq__resolution *resolution; /* of the host */
    struct dueq__race *race;             /* to its addresses */
    char shown[DUEQ__SHOWN_ADDRESS]; /* its address as errors name it; empty: they name the URL */
    char *out;
    size_t out_at, out_size, out_room;
    const char *borrowed; /* a caller's bytes that are sent in the midst of `out`; NULL: none */
    size_t borrowed_left, borrowed_at;         /* how many are left; how much of `out` goes first */
    enum dueq__login login[DUEQ__LOGIN_STEPS]; /* the replies to come while logging in */
    size_t login_at, login_count;
    size_t replies_due;         /* for which it waits */
    int64_t last_read_ms;       /* when bytes came last, or a reply became due */
    int64_t silent_until_ms;    /* until then the server may be silent */
    int64_t silence_timeout_ms; /* it is lost when a reply is due for so long; 0: never */
};

/* Closed. The others are borrowed for its life; server is filled in while it is not known. */
void dueq__conn_init(struct dueq__conn *conn, const struct dueq__url *url, const char *name,
                     struct dueq__server_info *server);
/*
 * Begins to connect and log in. path: the socket where the URL does not say it (embedded), else
 * NULL.
 */
void dueq__conn_start(struct dueq__conn *conn, const char *path);
/* The same to a server of that address, which is borrowed until it is started anew. */
void dueq__conn_start_at(struct dueq__conn *conn, struct dueq__address address);
/* Frees what it has; it may be started again. */
void dueq__conn_close(struct dueq__conn *conn);
/* Reads, writes and moves the login on as far as that goes without blocking. */
void dueq__conn_pump(struct dueq__conn *conn);
/* Writes alone. */
void dueq__conn_flush(struct dueq__conn *conn);
/*
 * Queues a command, whose words are in `count` parts; false: out of memory. Parts are copied, but
 * for a large one, which is sent from where it is: it must stay there while dueq__conn_borrows()
 * says so.
 */
bool dueq__conn_send(struct dueq__conn *conn, const struct dueq__resp *const parts[], size_t count);
/* Is this part still to be sent from where it is? */
bool dueq__conn_borrows(const struct dueq__conn *conn, const struct dueq__resp *part);
/*
 * The next reply, which the caller owns; NULL: none yet. Where it has, or announces, over `most`
 * bytes the conn is lost.
 */
struct dueq__reply *dueq__conn_reply(struct dueq__conn *conn, uint64_t most);
/*
 * For poll(): the descriptor (-1: none), the events wanted, and until when at most (DUEQ__NEVER: no
 * limit).
 */
int dueq__conn_fd(const struct dueq__conn *conn);
short dueq__conn_events(const struct dueq__conn *conn);
int64_t dueq__conn_until_ms(const struct dueq__conn *conn);
/* What was sent keeps the server silent for so long. */
void dueq__conn_allow_silence(struct dueq__conn *conn, int64_t for_ms);

/* query_any.c: a question to the first of several servers that answers it */

/*
 * Others read conn, current, reply, error and try_deadline_ms, and set the conn's epoll and
 * watched_events.
 */
struct dueq__query_any {
    struct dueq__conn conn; /* to the one that is asked: dueq__conn_fd() and _events() for poll() */
    const struct dueq__address *addresses;
    size_t count, current, tried; /* current: which is asked, or answered */
    struct dueq__resp words;
    /*
     * How long each may take, and until when the one that is asked may answer: pump then at the
     * latest.
     */
    int64_t try_timeout_ms, try_deadline_ms;
    bool sent;
    struct dueq__reply *reply; /* no error; freed with the query */
    struct dueq__error error;  /* why none answered: what each said, with the most telling status */
    dueq_status status;
    char reasons[400];
};

/*
 * Begins to ask addresses[first], then those behind it, in a circle, each by a connection as the
 * URL says but for its address, for its share of the URL's timeout and a second at most. Takes the
 * words over; the others are borrowed for its life. NULL: out of memory.
 */
struct dueq__query_any *dueq__query_any_start(const struct dueq__url *url, const char *name,
                                              const struct dueq__address *addresses, size_t count,
                                              size_t first, struct dueq__resp *words);
/* Goes on without blocking. True: it is over, with a reply or an error. */
bool dueq__query_any_pump(struct dueq__query_any *query);
/* The reply is of no use, for this reason ("knows no ..."): the next is asked. Pump then. */
void dueq__query_any_reject(struct dueq__query_any *query, dueq_status status, const char *what);
/* Gives it up, or frees what it has. NULL is safe. */
void dueq__query_any_drop(struct dueq__query_any *query);

/* sentinel.c: which server is the primary now */

/* What the connections of a client have in common that asks sentinels. */
struct dueq__sentinels {
    struct dueq__url url; /* how they are spoken to: parts of the client's */
    size_t preferred;     /* which is asked first: the last that led to a server */
    bool found_primary;   /* one led to a server before */
    /*
     * The last server that said that it is the primary, or that a sentinel told to be; empty: none.
     */
    char primary[DUEQ__SHOWN_ADDRESS];
    unsigned switches;              /* how often a sentinel told of a new primary */
    struct dueq__conn subscription; /* to what one of them tells */
    bool subscribed;
    size_t subscribed_index; /* which of them */
    int64_t resubscribe_ms;  /* not before this time */
};

/* url and name (of the connections) are borrowed for its life. */
void dueq__sentinels_init(struct dueq__sentinels *sentinels, const struct dueq__url *url,
                          const char *name);
/* Closes what it has; it goes on with the next pump. Also of zero bytes: it was not initialised. */
void dueq__sentinels_close(struct dueq__sentinels *sentinels);
/*
 * Reads what a sentinel tells of a new primary: connections that are not to it are outdated then.
 */
void dueq__sentinels_pump(struct dueq__sentinels *sentinels);
/* Begins to ask which server is the primary; name: the connection's. NULL: out of memory. */
struct dueq__discovery *dueq__discovery_start(struct dueq__sentinels *sentinels, const char *name);
/*
 * Goes on: 1 found (the address lives until it is dropped), 0 not yet, -1 none leads to it (error
 * is set).
 */
int dueq__discovery_pump(struct dueq__discovery *discovery, struct dueq__address *found,
                         struct dueq__error *error);
/* What it waits for. */
struct dueq__query_any *dueq__discovery_query(const struct dueq__discovery *discovery);
/*
 * What it found is no primary that can be reached: another sentinel, which may know better, is
 * asked first next.
 */
void dueq__discovery_reject(const struct dueq__discovery *discovery);
/* Gives it up, or frees what it has. NULL is safe. */
void dueq__discovery_drop(struct dueq__discovery *discovery);

/* Between conn.c, connect.c and login.c */

/* Closes it where it failed; its error says why. */
void dueq__conn_fail(struct dueq__conn *conn);
void dueq__conn_close_socket(struct dueq__conn *conn);
/* The server, as errors name it: the URL, or the address where the URL names several. */
const char *dueq__conn_shown(const struct dueq__conn *conn);
/* Goes on to a connected socket. */
void dueq__connect_pump(struct dueq__conn *conn);
/* Once more to the same server. */
void dueq__connect_retry(struct dueq__conn *conn);
/* Frees what led there. */
void dueq__connect_drop(struct dueq__conn *conn);
/* Sends what logs in. */
void dueq__login_begin(struct dueq__conn *conn);
/* Takes the answers in. After the last the connection is ready, or lost with the error of one. */
void dueq__login_pump(struct dueq__conn *conn);

#endif

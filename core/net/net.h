/* Connections: URLs, addresses, sockets, TLS, login, commands out and replies in. */
#ifndef DUEQ_NET_H
#define DUEQ_NET_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "../base/base.h"

/* url.c */

enum dueq__transport { DUEQ__TCP, DUEQ__TLS, DUEQ__UNIX, DUEQ__EMBEDDED };

/* A URL names one server, the sentinels of a primary, or nodes of a cluster. */
enum dueq__topology { DUEQ__SINGLE, DUEQ__SENTINEL, DUEQ__CLUSTER };

struct dueq__address {
    const char *host; /* an IPv6 address without its brackets */
    int port;
};

/* For a server that announces an address that clients cannot reach, as behind a NAT. */
struct dueq__mapping {
    struct dueq__address announced, real;
};

/* The login at the sentinels, which have their own users and certificates; NULL: not given. */
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
    const char *tls_name; /* the name that a server's certificate must have; NULL: its host */
    const char *user, *password, *ca, *cert, *key; /* NULL where not given */
    struct dueq__sentinel_login sentinel;
    struct dueq__mapping *map;
    size_t map_count;
    char *text;  /* owned; the texts above point into it */
    char *shown; /* owned: the URL, with *** for each password */
    int db;
    int64_t timeout_ms;
    dueq_durability durability; /* the default of pushes */
    bool accepts_evicting;      /* evicting=accept: no warning about a server that evicts */
};

#define DUEQ__SHOWN_ADDRESS 272 /* a host of 255 bytes, brackets and a port */
void dueq__address_show(struct dueq__address address, char out[DUEQ__SHOWN_ADDRESS]);

dueq_status dueq__url_parse(struct dueq__url *url, const char *text, struct dueq__error *error);
void dueq__url_clear(struct dueq__url *url);
/*
 * Returns the address at which to reach a server that announces `announced`: the real address in
 * the URL's map, or else `announced`. The host lives as long as the URL and the host of
 * `announced`.
 */
struct dueq__address dueq__url_reach(const struct dueq__url *url, struct dueq__address announced);

/* resp_write.c: a command's words, as they are sent */

/*
 * Copies of words. If memory runs out, `failed` is set, later words are dropped, and
 * dueq__conn_send() refuses the command.
 */
struct dueq__resp {
    char *bytes;
    size_t size, room, count;
    bool failed;
};

void dueq__resp_bytes(struct dueq__resp *words, const void *data, size_t size);
void dueq__resp_text(struct dueq__resp *words, const char *text);
void dueq__resp_number(struct dueq__resp *words, int64_t number);
/* Adds a word of `size` bytes. Returns where the caller writes them; NULL: out of memory. */
void *dueq__resp_space(struct dueq__resp *words, size_t size);
/* Makes a command of texts, of which the last is NULL. */
void dueq__resp_texts(struct dueq__resp *words, const char *const texts[]);
void dueq__resp_free(struct dueq__resp *words);
#define DUEQ__DIGITS 20 /* of UINT64_MAX */
/* Writes a number in decimal, without a NUL. Returns the number of digits. */
size_t dueq__resp_digits(char out[DUEQ__DIGITS], uint64_t number);

/* resp_read.c */

struct dueq__reply; /* a redisReply, which only resp_read.c looks into */

/*
 * The most bytes that the strings of a reply may have together: for each message in a reply with
 * messages, in a cluster's map, and in any other reply. A server's longest string has 512 MiB, and
 * a message has a ticket and attempts besides its envelope.
 */
#define DUEQ__MAX_MESSAGE_REPLY ((uint64_t)513 << 20)
#define DUEQ__MAX_MAP_REPLY ((uint64_t)64 << 20)
#define DUEQ__MAX_SMALL_REPLY ((uint64_t)1 << 20)

/*
 * Makes replies out of bytes. Refuses a reply that announces more values or bytes than it may have,
 * before the client allocates memory for all of them.
 */
struct dueq__reader;
struct dueq__reader *dueq__reader_new(void); /* NULL: no memory */
void dueq__reader_free(struct dueq__reader *reader);
void dueq__reader_feed(struct dueq__reader *reader, const char *data, size_t size);
/*
 * Takes the next reply. Its strings may have up to `most` bytes together. The caller frees *reply;
 * NULL: the reply has not come in full. Returns NULL, or a text that says what is wrong with the
 * bytes. The text lives as long as the reader.
 */
const char *dueq__reader_take(struct dueq__reader *reader, uint64_t most,
                              struct dueq__reply **reply);
/* After dueq__reader_take() failed: whether it failed for lack of memory, and not for the bytes. */
bool dueq__reader_no_memory(const struct dueq__reader *reader);
void dueq__reply_free(struct dueq__reply *reply);
bool dueq__reply_is_error(const struct dueq__reply *reply);
bool dueq__reply_is_nil(const struct dueq__reply *reply);
/* Sets error for an error reply, or for the text of one, and returns the status. */
dueq_status dueq__reply_error(const struct dueq__reply *reply, struct dueq__error *error);
dueq_status dueq__reply_error_text(const char *text, struct dueq__error *error);
/* The text of an error reply; false: the reply is no error. */
bool dueq__reply_error_bytes(const struct dueq__reply *reply, dueq_bytes *text);
/* Whether the reply is an error whose text begins with `start`. */
bool dueq__reply_begins(const struct dueq__reply *reply, const char *start);
/* The number of an array's items; 0: the reply is no array. */
size_t dueq__reply_count(const struct dueq__reply *reply);
/*
 * A string's bytes, which live as long as the reply, and end with a NUL behind them. False: the
 * reply is no string.
 */
bool dueq__reply_bytes(const struct dueq__reply *reply, dueq_bytes *bytes);
/* An integer, or a string that is one. False: the reply is neither. */
bool dueq__reply_number(const struct dueq__reply *reply, int64_t *number);
/* An item of an array; a nil reply: there is no such item, or the reply is no array. */
const struct dueq__reply *dueq__reply_item(const struct dueq__reply *reply, size_t index);

/* slots.c: which node of a cluster has a key */

#define DUEQ__SLOTS 16384
#define DUEQ__HOST_ROOM 256

/*
 * Returns the slot of a key: that of the text between its first braces, if that text is not empty.
 */
int dueq__slot(dueq_bytes key);
/*
 * Calls range() for each range of slots in a reply to CLUSTER SLOTS, with the address of the
 * range's primary, which lives until range() returns. asked: the host that sent the reply. Leaves
 * out malformed ranges, and those whose primary the node does not know. Returns the number of
 * calls.
 */
size_t dueq__slots_read(const struct dueq__reply *reply, const char *asked,
                        void (*range)(void *owner, int first, int last,
                                      const struct dueq__address *primary),
                        void *owner);
/* A node's error that another node has the slot (MOVED), or takes the slot over (ASK). */
struct dueq__redirect {
    bool ask;
    int slot, port;
    char host[DUEQ__HOST_ROOM];
};
/* Reads a MOVED or ASK of the host `asked`. False: the reply is neither. */
bool dueq__redirect_read(const struct dueq__reply *reply, const char *asked,
                         struct dueq__redirect *redirect);

/* A connected socket, which conn.c and tls.c read and write */

struct dueq__socket {
    int fd; /* -1: none */
    /*
     * input_ended: no more bytes come. output_ended: nothing can be sent; the server may have said
     * why, so bytes are still read.
     */
    bool input_ended, output_ended;
    int read_errno; /* the errno with which the input ended; 0: none */
};

/*
 * Return the number of bytes. They neither block nor raise SIGPIPE. 0: none now, or it has ended.
 */
size_t dueq__socket_write(struct dueq__socket *socket, const void *data, size_t size);
size_t dueq__socket_read(struct dueq__socket *socket, void *data, size_t size);

/* tls.c */

struct dueq__tls;

/*
 * Prepares TLS on a connected socket. Resumes the session of the last connection to the same
 * server, if there was one. address: of the server. The certificate must name the URL's tls_name,
 * or without tls_name the host of the address. url and socket must live as long. NULL: error is
 * set.
 */
struct dueq__tls *dueq__tls_new(const struct dueq__url *url, struct dueq__address address,
                                struct dueq__socket *socket, struct dueq__error *error);
void dueq__tls_free(struct dueq__tls *tls);
/* Goes on with the handshake. 1: done; 0: not yet; -1: failed, error is set. */
int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error);
/*
 * After a handshake that failed: forgets the session that the handshake would have resumed. False:
 * there was none.
 */
bool dueq__tls_forget_session(struct dueq__tls *tls);
bool dueq__tls_wants_to_write(const struct dueq__tls *tls);
/* As dueq__socket_read() and _write(). If the server ended the session, the read sets error. */
size_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size, struct dueq__error *error);
size_t dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size);

/* resolve.c: the addresses of a host, without blocking */

struct addrinfo;

/* Other files read the members before `next`. Several connections may share a resolution. */
struct dueq__resolution {
    atomic_bool done;
    int done_pipe[2]; /* poll() finds [0] readable when done; nobody reads it; -1: done at once */
    struct addrinfo *addresses; /* when done; NULL: it failed */
    struct dueq__resolution *next;
    pthread_t thread;
    unsigned refs;            /* the connections that wait, and the thread until it is joined */
    int problem, saved_errno; /* the result of getaddrinfo(), and errno after it */
    char port[12];
    char host[];
};

/*
 * Begins to resolve a host, in a thread. A numeric address is done at once. NULL: no thread could
 * be started, errno says why.
 */
struct dueq__resolution *dueq__resolve(const char *host, int port);
/* Why the resolution failed. */
const char *dueq__resolution_problem(const struct dueq__resolution *resolution);
/* The caller no longer needs the resolution or its addresses. NULL is safe. */
void dueq__resolution_drop(struct dueq__resolution *resolution);

/* The client tries at most this many addresses of a host. */
#define DUEQ__MAX_ADDRESSES 16

struct dueq__attempt {
    struct sockaddr_storage address;
    socklen_t size;
    int fd;            /* -1 before the attempt and after it failed */
    int connect_errno; /* why the attempt failed; 0: it has not failed */
};

/* connect.c: connects to the addresses of a host. The first address that answers wins. */
struct dueq__race {
    struct dueq__loop
        *loop;       /* all sockets of the race, so that a caller waits for one descriptor */
    int64_t next_ms; /* when to try the next address; DUEQ__NEVER: all were tried */
    size_t count, started;
    const struct dueq__address *server; /* whose address to remember; NULL: none */
    struct dueq__attempt attempts[DUEQ__MAX_ADDRESSES];
};

/* Closes all sockets but the winner's. NULL is safe. */
void dueq__race_drop(struct dueq__race *race);

struct dueq__sentinels;
struct dueq__query_any;

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

/* In the order in which they are sent. */
enum dueq__login {
    DUEQ__LOGIN_AUTH,
    DUEQ__LOGIN_SELECT,
    DUEQ__LOGIN_ROLE,
    DUEQ__LOGIN_NAME,
    DUEQ__LOGIN_ID,
    DUEQ__LOGIN_VERSION,
    DUEQ__LOGIN_MEMORY
};

/* What a server says about itself. The client's first connection asks. */
struct dueq__server_info {
    bool known;      /* it has answered; a policy that this user may not read is empty */
    bool evicts;     /* it has a maxmemory, and a policy other than noeviction */
    char policy[32]; /* maxmemory-policy */
};

/* The loop that watches a connection's descriptor (NULL: none), and for which events (0: none). */
struct dueq__loop_entry {
    struct dueq__loop *loop;
    short events;
};

/* A connection. Code outside of net/ reads the members before `url`, and sets *entry. */
struct dueq__conn {
    enum dueq__conn_state state;
    bool opened; /* its owner started it and has not closed it; if CLOSED then, it was lost */
    bool named;  /* the server took the name by CLIENT SETNAME */
    int64_t id;  /* from CLIENT ID, also after the connection was lost; 0: not known */
    struct dueq__address address; /* of the server, by TCP or TLS; borrowed */
    /*
     * Why it was lost. Until it is CLOSED, the reader may still have replies; no more bytes come.
     */
    struct dueq__error error;
    bool accepts_wait[2]; /* the server has answered WAIT, and WAITAOF, here (client/durable.c) */
    const void *stored;   /* the script that last stored durable messages here */
    struct dueq__loop_entry *entry; /* its own, or of the connection for which it asks a sentinel */
    short wanted_events;            /* for which the client waits now */
    struct dueq__conn *next;        /* the client's next connection */

    const struct dueq__url *url;
    const char *name;                      /* for CLIENT SETNAME */
    struct dueq__server_info *server_info; /* the login fills it in; NULL: it does not ask */
    struct dueq__sentinels *sentinels;     /* say which server to connect to; NULL: the URL does */
    struct dueq__query_any *query;         /* to the sentinels; NULL: none */
    struct dueq__loop_entry own_entry;
    unsigned switches_seen; /* sentinels->switches when this connection asked the sentinels */
    bool blocking;          /* it sends commands that block: silence does not mean a lost server */
    struct dueq__socket socket;
    struct dueq__tls *tls;
    struct dueq__reader *reader;
    struct dueq__resolution *resolution; /* of the host; NULL: none */
    struct dueq__race *race;             /* of connections to the host's addresses; NULL: none */
    char shown[DUEQ__SHOWN_ADDRESS];     /* the address, for errors; empty: errors name the URL */
    char *out;                           /* bytes to send: from out_at to out_size */
    size_t out_at, out_size, out_room;
    dueq_bytes borrowed; /* the caller's bytes, sent after out[borrowed_at - 1]; size 0: none */
    size_t borrowed_at;
    unsigned login_due;         /* a bit for each enum dueq__login whose reply has not come */
    size_t replies_due;         /* the number of replies that have not come yet */
    int64_t last_read_ms;       /* when bytes came last, or the first due reply became due */
    int64_t silent_until_ms;    /* a command permits the server to be silent until then */
    int64_t silence_timeout_ms; /* the connection is lost if no byte comes for so long; 0: never */
};

/* Makes a closed connection. url, name and server (NULL: none) must live as long. */
void dueq__conn_init(struct dueq__conn *conn, const struct dueq__url *url, const char *name,
                     struct dueq__server_info *server);
/*
 * Begins to connect and log in. path: of the socket of an embedded server; NULL: the URL says where
 * the server is.
 */
void dueq__conn_start(struct dueq__conn *conn, const char *path);
/* Begins to connect to the server at this address. The host must live until the next start. */
void dueq__conn_start_at(struct dueq__conn *conn, struct dueq__address address);
/* Closes the connection. It may be started again. */
void dueq__conn_close(struct dueq__conn *conn);
/* Connects, logs in, sends and receives, without blocking. */
void dueq__conn_pump(struct dueq__conn *conn);
/* Sends queued commands, without blocking. Does nothing before the login. */
void dueq__conn_flush(struct dueq__conn *conn);
/*
 * Queues a command, whose words are in `count` parts. False: out of memory. The connection copies
 * the parts, except for one large part at most, which it sends from the caller's memory: the caller
 * keeps that part while dueq__conn_borrows() returns true for it.
 */
bool dueq__conn_send(struct dueq__conn *conn, const struct dueq__resp *const parts[], size_t count);
/* Queues a command that is in one part, and frees the part. False: out of memory. */
bool dueq__conn_send_words(struct dueq__conn *conn, struct dueq__resp *words);
/* Whether the connection still has bytes of this part to send from the caller's memory. */
bool dueq__conn_borrows(const struct dueq__conn *conn, const struct dueq__resp *part);
/*
 * Takes the next reply, which the caller frees. NULL: it has not come, or the connection was lost.
 * A reply that has or announces over `most` bytes ends the connection.
 */
struct dueq__reply *dueq__conn_reply(struct dueq__conn *conn, uint64_t most);
/*
 * For poll(): the descriptor (-1: none), the wanted events, and the time at which to pump the
 * connection at the latest (DUEQ__NEVER: none).
 */
int dueq__conn_fd(const struct dueq__conn *conn);
short dueq__conn_events(const struct dueq__conn *conn);
int64_t dueq__conn_until_ms(const struct dueq__conn *conn);
/* Permits the server to be silent for this time, which a command that was sent may take. */
void dueq__conn_allow_silence(struct dueq__conn *conn, int64_t for_ms);

/* query_any.c: a command to several servers in turn, until one answers */

/* Other files read conn, current, reply, error and try_deadline_ms. */
struct dueq__query_any {
    struct dueq__conn conn; /* to the current server */
    const struct dueq__address *addresses;
    size_t count, current, tried; /* current: the server that is asked or has answered */
    struct dueq__resp words;      /* the command */
    /* How long each server may take, and when the time of the current server ends: pump then. */
    int64_t try_timeout_ms, try_deadline_ms;
    bool sent;
    struct dueq__reply *reply; /* not an error; freed with the query; NULL: none yet */
    struct dueq__error error;  /* all servers failed: each one's reason, and a status */
    dueq_status status;
    char reasons[400];
};

/*
 * Begins to ask addresses[first % count], then the next ones in a circle, each on a connection by
 * the URL's login and transport. Each server has an equal share of the URL's timeout, at most one
 * second. Takes the words over. url, name and addresses must live as long. NULL: out of memory.
 */
struct dueq__query_any *dueq__query_any_start(const struct dueq__url *url, const char *name,
                                              const struct dueq__address *addresses, size_t count,
                                              size_t first, struct dueq__resp *words);
/* Goes on without blocking. True: it has a reply or an error. */
bool dueq__query_any_pump(struct dueq__query_any *query);
/*
 * Drops a reply that does not help, and begins to ask the next server: pump again. what: why the
 * reply does not help, such as "knows no primary".
 */
void dueq__query_any_reject(struct dueq__query_any *query, dueq_status status, const char *what);
/* Ends and frees the query. NULL is safe. */
void dueq__query_any_drop(struct dueq__query_any *query);

/* sentinel.c: which server is the primary now */

/* What a client that asks sentinels knows. Its connections share it. */
struct dueq__sentinels {
    struct dueq__url url; /* for connections to sentinels; borrows from the client's URL */
    size_t preferred;     /* the index of the sentinel to ask first */
    bool found_primary;   /* a sentinel has named a primary */
    /*
     * The primary by the latest news: a server said by ROLE that it is the primary, or a sentinel
     * announced it; empty: no news yet.
     */
    char primary[DUEQ__SHOWN_ADDRESS];
    unsigned switches;              /* how many new primaries the sentinel has announced */
    struct dueq__conn subscription; /* to the sentinel that announces new primaries */
    bool subscribed;
    size_t subscribed_index; /* that sentinel's index */
    int64_t resubscribe_ms;  /* the client does not connect to it again before this time */
};

/* url, and name for the connections, must live as long. */
void dueq__sentinels_init(struct dueq__sentinels *sentinels, const struct dueq__url *url,
                          const char *name);
/*
 * Closes the subscription, which the next pump opens again. Does nothing on a zeroed struct that
 * was not initialised.
 */
void dueq__sentinels_close(struct dueq__sentinels *sentinels);
/*
 * Keeps the subscription open, and reads announcements of a new primary. After one, a connection to
 * another server is lost at its next pump.
 */
void dueq__sentinels_pump(struct dueq__sentinels *sentinels);
/* Begins to ask which server is the primary. name: for the connection. NULL: out of memory. */
struct dueq__query_any *dueq__sentinels_ask(struct dueq__sentinels *sentinels, const char *name);
/*
 * Goes on. 1: found (the address lives as long as the query); 0: not yet; -1: no sentinel names the
 * primary, error is set.
 */
int dueq__sentinels_answer(struct dueq__sentinels *sentinels, struct dueq__query_any *query,
                           struct dueq__address *found, struct dueq__error *error);
/*
 * The server that a sentinel named cannot be reached, or is no primary. The next query asks the
 * next sentinel first, which may know another server. query NULL: the URL named the server.
 */
void dueq__sentinels_reject(struct dueq__sentinels *sentinels, const struct dueq__query_any *query);

/* Shared by conn.c, connect.c and login.c */

/* Closes a connection that failed; conn->error says why. */
void dueq__conn_fail(struct dueq__conn *conn);
void dueq__conn_close_socket(struct dueq__conn *conn);
/* How errors name the server: by its address if that is known, else by the URL. */
const char *dueq__conn_shown(const struct dueq__conn *conn);
/* Goes on with the sentinels, the resolution and the race, up to a connected socket. */
void dueq__connect_pump(struct dueq__conn *conn);
/* Connects to the same server again. */
void dueq__connect_retry(struct dueq__conn *conn);
/* Sends the login's commands. */
void dueq__login_begin(struct dueq__conn *conn);
/* Reads the login's replies. After the last one the connection is READY. An error ends it. */
void dueq__login_pump(struct dueq__conn *conn);

#endif

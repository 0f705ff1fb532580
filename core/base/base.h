/* Used everywhere in core: failures, clocks, threads, ids, numbers, bytes and UTF-8. */
#ifndef DUEQ_BASE_H
#define DUEQ_BASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "../dueq.h"

/* status.c: failures and their texts */

/* When a call that failed can succeed. */
enum dueq__recovery {
    DUEQ__PERMANENT,   /* never */
    DUEQ__UNTIL_FIXED, /* when a person repairs the server: only a call that waits goes on */
    DUEQ__TRANSIENT,   /* soon: the client tries the call again until its deadline */
    /*
     * soon, on a new connection: as TRANSIENT in a cluster, or if a server has answered this client
     * before; else as PERMANENT
     */
    DUEQ__FAILOVER
};

struct dueq__error {
    dueq_status status;
    enum dueq__recovery recovery;
    char text[512]; /* never empty when status < 0 */
};

/*
 * Sets all members of `error`, with recovery PERMANENT, and returns the status. format NULL: the
 * text is that of dueq_status_text(). Parts of a text may come from a server or a producer. So
 * characters that a terminal would obey are escaped.
 */
dueq_status dueq__fail(struct dueq__error *error, dueq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* fallbacks.c: what dueq_set_fallbacks() has named; NULL: nothing */
const char *dueq__fallback_ca(void);
const char *dueq__fallback_zones(void);

/* system.c: clocks and threads */

int64_t dueq__monotonic_ms(void);
int64_t dueq__monotonic_us(void);
int64_t dueq__wall_ms(void);
#define DUEQ__NEVER INT64_MAX

/* This machine's name, escaped so that it stays on one line; "?": the machine has none. */
void dueq__host_name(char *out, size_t room);

/*
 * The lock for data that all clients of the process share. A thread holds the lock briefly, and
 * makes no blocking call meanwhile. fork() takes the lock: if another thread held it then, the
 * child, which does not have that thread, would wait for ever.
 */
void dueq__process_lock(void);
void dueq__process_unlock(void);

/* A condition for dueq__cond_wait(). False: it cannot be made. */
bool dueq__cond_init(pthread_cond_t *cond);
/*
 * Waits for the condition, until dueq__monotonic_ms() is until_ms at the latest. False: the time
 * came.
 */
bool dueq__cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms);

/*
 * A stream socket, and a pipe. They do not block, and exec() closes them. -1: errno says why. If
 * the peer has closed the connection, a send with MSG_NOSIGNAL raises no SIGPIPE.
 */
int dueq__socket(int family);
int dueq__pipe(int ends[2]);

/* As poll(2), with a timeout in us; less than 0: none. */
struct pollfd;
int dueq__poll(struct pollfd *set, size_t count, int64_t timeout_us);

/* macOS has other names for these, or not all of them in each version. */
#ifdef __APPLE__
#include <sys/socket.h>
#undef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* dueq__socket() has set SO_NOSIGPIPE */
#define POLLRDHUP POLLHUP
#define TCP_KEEPIDLE TCP_KEEPALIVE
#define st_mtim st_mtimespec
#endif

/* Starts a thread that gets no signals: the program's threads get them. Returns 0, or an errno. */
int dueq__thread_start(pthread_t *thread, void *(*run)(void *), void *data);

/*
 * loop_linux.c, loop_kqueue.c, loop_poll.c: one descriptor in place of several descriptors and a
 * timer. An event loop of the program waits for this one descriptor. One of the three files is
 * compiled, by the system; with DUEQ_LOOP_POLL the last one, on every system.
 */
#if defined(DUEQ_LOOP_POLL)
#define DUEQ__LOOP_POLL
#elif defined(__linux__)
#define DUEQ__LOOP_LINUX
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || \
    defined(__DragonFly__)
#define DUEQ__LOOP_KQUEUE
#else
#define DUEQ__LOOP_POLL
#endif

struct dueq__loop;
#define DUEQ__MOST_READY 64 /* the most descriptors that one dueq__loop_ready() tells */

/* timed: dueq__loop_wake_after() will be called. NULL: errno says why. */
struct dueq__loop *dueq__loop_new(bool timed);
/*
 * Closes the loop's descriptor, but not those that it watches. NULL is safe. A forked child may
 * share the loop with its parent: the child frees its copy, and does nothing else with the loop.
 */
void dueq__loop_free(struct dueq__loop *loop);
/*
 * poll() finds this descriptor readable when a watched descriptor is ready, or the time has come.
 */
int dueq__loop_fd(const struct dueq__loop *loop);
/*
 * Watches a descriptor for these events of poll(2), in place of the events before; 0: for none.
 * Call it with 0 before you close the descriptor: if a forked child has a copy, the descriptor
 * would stay in the loop (epoll(7)). False: errno says why.
 */
bool dueq__loop_watch(struct dueq__loop *loop, int fd, short events);
/* Sets the time, in place of the time before. us: from now on; less than 0: never. */
void dueq__loop_wake_after(struct dueq__loop *loop, int64_t us);
/*
 * Writes up to `most` of the descriptors that are ready now to fds[], and returns how many. The
 * timer may count as one. `most`: there may be more, or the system could not tell.
 */
size_t dueq__loop_ready(struct dueq__loop *loop, int *fds, size_t most);

/* id.c: ids and incarnations, ordered by time */

#define DUEQ__ID_SIZE 22 /* base-62 digits of 128 bits */
#define DUEQ__INCARNATION_SIZE                                                                     \
    10 /* base-62 digits of 45 bits of milliseconds and 14 bits of order */

struct dueq__id_source {
    int64_t last_ms;
    uint64_t high, low; /* the last id */
    uint64_t last_incarnation;
};

/* size: 256 at most, as getentropy(3) gives no more. */
void dueq__id_random(void *buffer, size_t size);
/* A random number from 0 to below - 1. below: 1 to 2^31. */
int64_t dueq__random_below(int64_t below);
void dueq__id_next(struct dueq__id_source *source, char out[DUEQ__ID_SIZE]);
void dueq__incarnation_next(struct dueq__id_source *source, char out[DUEQ__INCARNATION_SIZE]);
/* When an id or an incarnation was made, in ms since 1970; -1: the text is neither. */
int64_t dueq__id_time(const char *id, size_t size);

/*
 * scan.c: numbers in texts. A number is decimal ASCII digits, with leading zeros or without. It has
 * no spaces, '+', fraction or exponent. The program's locale does not matter.
 */

/*
 * Takes off the digits with which a text begins, `most` digits at most, and moves *at behind them.
 * A number above INT64_MAX becomes INT64_MAX.
 * end: of the text; NULL: the text ends with a NUL.
 * False: the text begins with no digit. *at stays, and *number is 0.
 */
bool dueq__take_digits(const char **at, const char *end, size_t most, int64_t *number);
/*
 * Reads a text that is one number and nothing else. If least < 0, a '-' may be before the digits.
 * False, and *number stays: the text is no number, or the number is not from `least` to `most`, or
 * does not fit in an int64_t.
 */
bool dueq__read_number(dueq_bytes text, int64_t least, int64_t most, int64_t *number);
/*
 * Takes off the word behind the last `mark`, and that mark. False: the text has no mark, and
 * nothing changes.
 */
bool dueq__take_last_word(dueq_bytes *text, char mark, dueq_bytes *word);
/*
 * Takes off the word before the first `mark`, and that mark. False: the text has no mark. The word
 * is then the whole text, and an empty text is left.
 */
bool dueq__take_word(dueq_bytes *text, char mark, dueq_bytes *word);

/*
 * structs.c: structs of the program that begin with struct_size. The program's header may be older
 * or newer than this library. docs/c.md has the rules.
 */

struct dueq__layout {
    const char *name, *initializer; /* "dueq_draft", "DUEQ_DRAFT" */
    size_t first_size;              /* in the release that brought the struct */
    size_t size;
};

/*
 * Defines the layout of a struct. last: the last member of the release that brought the struct. No
 * padding may follow this member: a later member would lie in the padding, where a program with the
 * older header leaves any bytes.
 */
#define DUEQ__LAYOUT(name, initializer, last)                                                      \
    _Static_assert(DUEQ__END_OF(dueq_##name, last) % _Alignof(dueq_##name) == 0,                   \
                   "padding behind " #last);                                                       \
    const struct dueq__layout dueq__layout_##name = {                                              \
        "dueq_" #name, #initializer, DUEQ__END_OF(dueq_##name, last), sizeof(dueq_##name)}
#define DUEQ__END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

extern const struct dueq__layout dueq__layout_draft, dueq__layout_plan, dueq__layout_filter,
    dueq__layout_reserve_options, dueq__layout_consumer_options, dueq__layout_counts,
    dueq__layout_limit_options, dueq__layout_batch_options, dueq__layout_sizes, dueq__layout_moved;

/*
 * Errors: INVALID: no header has this struct_size, so the struct was not initialized; or the
 * program sets a member that this library does not have.
 */
dueq_status dueq__struct_check(const void *given, const struct dueq__layout *layout,
                               struct dueq__error *error);
/* Copies a checked struct. Members that the program's header does not have become 0. */
void dueq__struct_copy(void *out, const void *given, const struct dueq__layout *layout);
/* Writes to a checked struct of the program the members that its header has. */
void dueq__struct_give(void *out, const void *made, const struct dueq__layout *layout);

/* Structs of the program, in the layout of this library. */
struct dueq__given {
    const void *items; /* the program's, or `copies` */
    void *copies;      /* the caller of dueq__given_read() frees them; mostly NULL */
};
/*
 * Checks an array of structs, and copies it if the layout of the program's header differs. Does not
 * look at an array that no verb accepts (NULL, or a count out of range).
 * Errors: as of dueq__struct_check(), NO_MEMORY.
 */
dueq_status dueq__given_read(struct dueq__given *given, const void *items, size_t count,
                             const struct dueq__layout *layout, struct dueq__error *error);

/* Bytes, and utf8.c */

static inline dueq_bytes dueq__text(const char *text) { return (dueq_bytes){text, strlen(text)}; }

static inline bool dueq__bytes_equal(dueq_bytes a, dueq_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/*
 * The length of the well-formed UTF-8 sequence (RFC 3629) with which the `left` bytes at `at`
 * begin; 0: the sequence is malformed. left: 1 or more.
 */
size_t dueq__utf8_length(const unsigned char *at, size_t left);
/* Whether the bytes are well-formed UTF-8. control: control characters are allowed. */
bool dueq__is_utf8(const void *data, size_t size, bool control);
/*
 * Whether the text can be an id, or the name of a queue or header: 1 to 255 bytes of UTF-8 without
 * control characters. The scripts have the same rule (core/scripts/lib/text.lua).
 */
bool dueq__is_name(dueq_bytes text);

#endif

/* Starts and ends an embedded server. embedded.c lists the files of its directory. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded_internal.h"

extern char **environ;

#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
#define HAS_CLOSEFROM
#endif
#endif

/*
 * The supervisor: a shell that runs this script. Its arguments are the directory, the server's
 * socket, and the command that installs a server ("": unknown). It starts the server, which alone
 * keeps descriptor 3 (`lock`), and a watcher, and ends when the server ends. It is not a fork of
 * this process: a fork would keep all memory of a large Python or PHP process alive, and in a
 * process with threads it may call few functions.
 * - The watcher ends the server once no process has had a share for a whole second. Until then
 *   processes may take a share again. Where flock fails, the watcher ends and the server goes on.
 * - Descriptor 4 is an open file description of `users` that supervisor and watcher share. It keeps
 *   LOCK_EX until the server has ended, and a process that wants a share waits for that long.
 *   Descriptors 1 and 2 are `server.log`.
 * - The server is a child of the supervisor, which alone waits for it. So its process id still is
 *   the server's when the watcher sends a signal. CONT wakes a server that was stopped.
 * - LC_ALL: newer servers refuse to start under a locale that the machine does not have.
 */
/* clang-format off */
static const char supervisor[] =
    "(\n"
    "if [ \"$DUEQ_SERVER\" ]; then\n"
    "    program=$(command -v \"$DUEQ_SERVER\")\n"
    "    why=\"\\$DUEQ_SERVER names $DUEQ_SERVER, which is neither a program on the PATH\"\n"
    "    why=\"$why nor the absolute path of one\"\n"
    "else\n"
    "    program=$(command -v valkey-server || command -v redis-server)\n"
    "    why=\"neither valkey-server nor redis-server is on the PATH; install one${3:+: $3}; or\"\n"
    "    why=\"$why name a server by a redis:// or unix:// URL\"\n"
    "fi\n"
    "case $program in\n"
    "/*) ;;\n"
    "*) echo \"$why\"; exit 1 ;;\n"
    "esac\n"
    "PATH=\"${PATH:+$PATH:}/usr/bin:/bin\" LC_ALL=C\n"
    "export PATH LC_ALL\n"
    "umask 077\n"
    "cd \"$1\" || exit\n"
    "if ! command -v flock >/dev/null; then\n"
    "    echo 'flock is not on the PATH; install util-linux'\n"
    "    exit 1\n"
    "fi\n"
    "\"$program\" --port 0 --unixsocket \"$2\" --unixsocketperm 700 --dir \"$1\" \\\n"
    "    --daemonize no --appendonly yes --appendfsync everysec --save '' \\\n"
    "    --maxmemory-policy noeviction 4>&- &\n"
    "server=$!\n"
    "exec 3>&-\n"
    "(\n"
    "    while :; do\n"
    "        flock 4 || exit\n"
    "        touch -c lock\n"
    "        flock -u 4\n"
    "        sleep 1\n"
    "        flock -n 4 || continue\n"
    "        [ users -nt lock ] || break\n"
    "    done\n"
    "    kill \"$server\"\n"
    "    kill -CONT \"$server\"\n"
    ") &\n"
    "trap '' TERM\n"
    "wait \"$server\"\n"
    "kill 0\n"
    ") &";
/* clang-format on */

/* Makes `parent`/`leaf`, or takes one that belongs to this user alone. False: neither. */
static bool private_directory(char *path, size_t room, const char *parent, const char *leaf) {
    struct dueq__error unsafe;
    int size = snprintf(path, room, "%s/%s", parent, leaf);
    if (size < 0 || (size_t)size >= room)
        return false;
    mkdir(path, 0700);
    return dueq__embedded_check_directory(path, false, &unsafe) == DUEQ_OK;
}

/*
 * Chooses the path on which the server will listen: `socket` in the directory, which each session,
 * service and container with that directory sees. Where that path is too long for a socket, or the
 * file system has no sockets, the path is in the runtime directory, and `socket` is a link to it.
 */
static dueq_status choose_socket(const char *directory, char path[DUEQ__SOCKET_ROOM],
                                 struct dueq__error *error) {
    char own[DUEQ__ENTRY_ROOM];
    snprintf(own, sizeof own, "%s/socket", directory);
    unlink(own);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool fits = strlen(own) < DUEQ__SOCKET_ROOM;
    int trial = fits ? dueq__socket(AF_UNIX) : -1;
    if (trial >= 0) {
        strcpy(address.sun_path, own);
        bool bound = bind(trial, (const struct sockaddr *)&address, sizeof address) == 0;
        close(trial);
        if (bound) {
            strcpy(path, own);
            return DUEQ_OK;
        }
    }

    char runtime[DUEQ__SOCKET_ROOM - 32], leaf[32];
    const char *session = getenv("XDG_RUNTIME_DIR");
    snprintf(leaf, sizeof leaf, "dueq-%ju", (uintmax_t)geteuid());
    if (!(session && session[0] == '/' &&
          private_directory(runtime, sizeof runtime, session, "dueq")) &&
        !private_directory(runtime, sizeof runtime, "/tmp", leaf))
        return dueq__fail(
            error, DUEQ_EMBEDDED,
            "/tmp/%s cannot be created or is not this user's alone, and a socket in %s is "
            "not possible; name a shorter directory",
            leaf, directory);
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *at = directory; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    snprintf(path, DUEQ__SOCKET_ROOM, "%s/%016" PRIx64 ".sock", runtime, hash);
    if (symlink(path, own) != 0)
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot write in the directory %s: %s", directory,
                          strerror(errno));
    return DUEQ_OK;
}

/*
 * The server must not inherit this process's other descriptors: a program that reads a pipe to its
 * end would wait for the server to end, too.
 */
static void close_all_above(posix_spawn_file_actions_t *actions, int last) {
#ifdef HAS_CLOSEFROM
    posix_spawn_file_actions_addclosefrom_np(actions, last + 1);
#else
    for (int fd = last + 1, end = (int)sysconf(_SC_OPEN_MAX); fd < end && fd < 65536; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            posix_spawn_file_actions_addclose(actions, fd);
#endif
}

/* Runs the supervisor in a session of its own. 0, or an errno. */
static int spawn(char *const argv[], int lock, int users, int log) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, log, 1);
    posix_spawn_file_actions_adddup2(&actions, log, 2);
    posix_spawn_file_actions_adddup2(&actions, lock, 3);
    posix_spawn_file_actions_adddup2(&actions, users, 4);
    close_all_above(&actions, 4);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    sigdelset(&signals, SIGKILL);
    sigdelset(&signals, SIGSTOP);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = -1;
    int why = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (why != 0)
        return why;
    /* The shell starts the supervisor in the background and ends at once. */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

/* Makes an empty `server.log`. The one before becomes server.log.old. -1: error is set. */
static int open_log(const char *directory, struct dueq__error *error) {
    int at = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at >= 0) {
        renameat(at, "server.log", at, "server.log.old");
        close(at);
    }
    return dueq__embedded_open(directory, "server.log", O_WRONLY | O_APPEND | O_CREAT | O_EXCL,
                               error);
}

dueq_status dueq__embedded_start(const char *directory, int lock, struct dueq__error *error) {
    char path[DUEQ__SOCKET_ROOM];
    dueq_status status = dueq__embedded_check_files(directory, error);
    if (!status)
        status = choose_socket(directory, path, error);
    if (status)
        return status;
    const char *package = dueq__embedded_package("/etc/os-release");
    const char *argv[] = {
        "sh", "-c", supervisor, "dueq-embedded", directory, path, package ? package : "", NULL};
    int log = open_log(directory, error), why = 0;
    int users = log < 0 ? -1 : dueq__embedded_open(directory, "users", O_RDWR | O_CREAT, error);
    if (users >= 0) {
        why = spawn((char *const *)(uintptr_t)argv, lock, users, log);
        close(users);
    }
    if (log >= 0)
        close(log);
    if (why)
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot run /bin/sh: %s", strerror(why));
    return users < 0 ? error->status : DUEQ_OK;
}

void dueq__embedded_log_tail(const char *directory, char *text, size_t room) {
    struct dueq__error unread;
    int log = dueq__embedded_open(directory, "server.log", O_RDONLY, &unread);
    off_t end = log < 0 ? 0 : lseek(log, 0, SEEK_END);
    off_t begin = end < (off_t)room ? 0 : end - (off_t)room + 1;
    ssize_t size = log < 0 ? 0 : pread(log, text, room - 1, begin);
    if (log >= 0)
        close(log);
    text[size > 0 ? size : 0] = '\0';
    const char *line = begin ? strchr(text, '\n') : NULL;
    if (line && line[1])
        memmove(text, line + 1, strlen(line + 1) + 1);
    for (size_t last = strlen(text); last > 0 && text[last - 1] == '\n'; last--)
        text[last - 1] = '\0';
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

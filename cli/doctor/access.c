#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* What the user may not do */

#define KEY "K"

/*
 * The commands that dueq needs (docs/security.md, "What the server must permit"). Each has words
 * that change nothing on a missing key. Commands of kind ASKED would store something, so the check
 * does not run them: it asks ACL DRYRUN.
 */
enum kind { NEEDED, ASKED, IN_A_CLUSTER, DISPENSABLE };
static const struct {
    const char *words;
    enum kind kind;
} needed[] = {{"EVALSHA ffffffffffffffffffffffffffffffffffffffff 1 K", NEEDED},
              {"SCRIPT LOAD return", NEEDED},
              {"BZPOPMIN K 0.001", NEEDED},
              {"EXISTS K", NEEDED},
              {"TIME", NEEDED},
              {"EXPIRE K 1", NEEDED},
              {"PEXPIRE K 1", NEEDED},
              {"PEXPIREAT K 4102444800000", NEEDED},
              {"GET K", NEEDED},
              {"SET K v XX", NEEDED},
              {"UNLINK K", NEEDED},
              {"PTTL K", NEEDED},
              {"HSET K f v", ASKED},
              {"HSETNX K f v", ASKED},
              {"HGET K f", NEEDED},
              {"HMGET K f", NEEDED},
              {"HGETALL K", NEEDED},
              {"HKEYS K", NEEDED},
              {"HDEL K f", NEEDED},
              {"HLEN K", NEEDED},
              {"HEXISTS K f", NEEDED},
              {"HSTRLEN K f", NEEDED},
              {"HSCAN K 0", NEEDED},
              {"HINCRBY K f 1", ASKED},
              {"RPUSH K v", ASKED},
              {"LPUSH K v", ASKED},
              {"SADD K m", ASKED},
              {"SREM K m", NEEDED},
              {"SISMEMBER K m", NEEDED},
              {"SMEMBERS K", NEEDED},
              {"LPOP K", NEEDED},
              {"LINDEX K 0", NEEDED},
              {"LLEN K", NEEDED},
              {"LTRIM K 0 0", NEEDED},
              {"LRANGE K 0 0", NEEDED},
              {"ZADD K XX 0 m", NEEDED},
              {"ZREM K m", NEEDED},
              {"ZCARD K", NEEDED},
              {"ZCOUNT K 0 0", NEEDED},
              {"ZSCORE K m", NEEDED},
              {"ZRANK K m", NEEDED},
              {"ZRANGE K 0 0", NEEDED},
              {"ZRANGEBYSCORE K 0 0", NEEDED},
              {"ZREMRANGEBYRANK K 0 0", NEEDED},
              {"ZREMRANGEBYSCORE K 0 0", NEEDED},
              {"ZMSCORE K m", NEEDED},
              {"CLUSTER SLOTS", IN_A_CLUSTER},
              {"ASKING", IN_A_CLUSTER},
              {"CLIENT SETNAME dueq-doctor", DISPENSABLE},
              {"CLIENT ID", DISPENSABLE},
              {"CLIENT LIST ID 0", DISPENSABLE},
              {"CLIENT KILL ID 0", DISPENSABLE},
              {"CLIENT UNBLOCK 0", DISPENSABLE},
              {"INFO server", DISPENSABLE}};

/* Room for the names of all commands. */
struct list {
    char text[640];
};

static void add_word(struct list *list, const char *words) {
    size_t size = strlen(list->text);
    int name = (int)strcspn(words, " ");
    if (strncmp(words, "CLIENT ", 7) == 0 || strncmp(words, "SCRIPT ", 7) == 0 ||
        strncmp(words, "CLUSTER", 7) == 0)
        name += 1 + (int)strcspn(words + name + 1, " ");
    snprintf(list->text + size, sizeof list->text - size, "%s%.*s", size ? ", " : "", name, words);
}

/*
 * The server's answer to these words, with `key` in the place of K. With a user the words go to ACL
 * DRYRUN. NULL: the server refused.
 */
static const dueq_answer *try_words(struct doctor *doctor, struct server *server, const char *user,
                                    const char *words, const char *key) {
    char copy[128];
    const char *all[12] = {"ACL", "DRYRUN", user};
    size_t first = user ? 0 : 3, count = 3;
    char *left = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &left); word; word = strtok_r(NULL, " ", &left))
        all[count++] = strcmp(word, KEY) == 0 ? key : word;
    return server_ask(doctor, server, all[first], all[first + 1], all[first + 2], all[first + 3],
                      all[first + 4], all[first + 5], all[first + 6], all[first + 7],
                      all[first + 8], NULL);
}

/* Why the server refuses these words; NULL: it permits them. */
static const char *refusal(struct doctor *doctor, struct server *server, const char *user,
                           const char *words, const char *key) {
    const dueq_answer *answer = try_words(doctor, server, user, words, key);
    const char *why = dueq_server_error_text(server->conn);
    if (!user)
        return strstr(why, "NOPERM");
    const char *says = answer ? dueq_answer_text(answer).data : "OK";
    return strcmp(says, "OK") != 0 ? says : NULL;
}

/*
 * Whether the refusal concerns the key and not the command: "to access the 'dueq:{orders}:doctor'
 * key", "to access one of the keys".
 */
static bool is_of_keys(const char *refusal) { return refusal && strstr(refusal, " key"); }

/* Finds the name of the user, if the server has ACL DRYRUN (Redis 7.0) and permits it; else "". */
static void find_user(struct doctor *doctor, struct server *server, char user[256]) {
    const dueq_answer *me = server_ask(doctor, server, "ACL", "WHOAMI", NULL);
    snprintf(user, 256, "%s", me ? (const char *)dueq_answer_text(me).data : "");
    if (*user && !server_ask(doctor, server, "ACL", "DRYRUN", user, "PING", NULL))
        *user = '\0';
}

static void key_of(const char *queue, char key[DUEQ_MAX_NAME + 32]) {
    snprintf(key, DUEQ_MAX_NAME + 32, "dueq:{%s}:doctor", queue);
}

/* Reports the queues whose keys the user may not touch. False: there are some. */
static bool check_keys(struct doctor *doctor, struct server *server, const char *user) {
    char key[DUEQ_MAX_NAME + 32];
    bool good = true;
    for (size_t i = 0; i < doctor->names.count; i++) {
        key_of(doctor->names.list[i], key);
        if (!is_of_keys(refusal(doctor, server, user, "EXISTS K", key)))
            continue;
        doctor_say(doctor, CHECK_ACCESS, LEVEL_PROBLEM, NULL, doctor->names.list[i],
                   "ACL SETUSER with ~dueq:{QUEUE}:*", "this user may not touch the queue's keys");
        good = false;
    }
    return good;
}

static void check_permissions(struct doctor *doctor, struct server *server) {
    static const char fix[] = "ACL SETUSER with the permissions that docs/security.md "
                              "lists (What the server must permit)";
    char user[256], key[DUEQ_MAX_NAME + 32];
    struct list denied = {""}, missed = {""}, untried = {""};
    find_user(doctor, server, user);
    const char *as = *user ? user : NULL;
    key_of(doctor->names.count ? doctor->names.list[0] : "doctor", key);
    bool reachable = !is_of_keys(refusal(doctor, server, as, "EXISTS K", key));
    for (size_t i = 0; reachable && i < sizeof needed / sizeof *needed; i++) {
        if (needed[i].kind == IN_A_CLUSTER && !is_cluster(doctor))
            continue;
        if (!as && needed[i].kind == ASKED)
            add_word(&untried, needed[i].words);
        else if (refusal(doctor, server, as, needed[i].words, key))
            add_word(needed[i].kind == DISPENSABLE ? &missed : &denied, needed[i].words);
    }
    bool good = check_keys(doctor, server, as) && reachable;
    if (!reachable && doctor->names.count == 0)
        say_of(doctor, server, ACCESS, UNKNOWN, "name a queue of this user's by --queue",
               "there is no queue whose keys this user may touch");
    if (*denied.text)
        say_of(doctor, server, ACCESS, PROBLEM, fix, "this user may not %s", denied.text);
    if (*missed.text)
        say_of(doctor, server, ACCESS, NOTE, fix,
               "this user may not %s: due messages come later, and lost calls end with CLOSED",
               missed.text);
    if (*untried.text && good && !*denied.text)
        say_of(doctor, server, ACCESS, NOTE, "permit this user +acl|dryrun +acl|whoami",
               "this user may do all that could be tried; not tried: %s", untried.text);
    else if (good && !*denied.text && !*missed.text)
        say_of(doctor, server, ACCESS, OK, NULL, "this user may do all that dueq needs");
}

/* Who else may use the server */

/* Whether the default user needs no password: 1, 0, or -1 if the server does not tell. */
static int is_open(struct doctor *doctor, struct server *server) {
    const dueq_answer *user = server_ask(doctor, server, "ACL", "GETUSER", "default", NULL);
    const dueq_answer *flags = user ? value_of(user, "flags") : NULL;
    if (!flags) {
        const char *password = server_config(doctor, server, "requirepass");
        return password ? !*password : -1;
    }
    bool on = false, no_password = false;
    for (size_t i = 0; i < dueq_answer_count(flags); i++) {
        const char *flag = dueq_answer_text(dueq_answer_item(flags, i)).data;
        on = on || strcmp(flag, "on") == 0;
        no_password = no_password || strcmp(flag, "nopass") == 0;
    }
    return on && no_password;
}

/* Whether the server listens on addresses that other machines can reach. bind: the setting. */
static bool is_public(const char *bind) {
    char copy[sizeof((struct server *)0)->config], *left = NULL;
    snprintf(copy, sizeof copy, "%s", bind);
    for (char *at = strtok_r(copy, " ", &left); at; at = strtok_r(NULL, " ", &left))
        if (strncmp(at, "127.", 4) != 0 && strcmp(at + (*at == '-'), "::1") != 0)
            return true;
    return !*bind;
}

static void check_open(struct doctor *doctor, struct server *server) {
    double port; /* INFO has the TLS port here, if the server has only that */
    int open = is_open(doctor, server);
    if (info_number(server, "tcp_port", &port) && port == 0)
        say_of(doctor, server, OPEN, OK, NULL, "it listens on a Unix socket only");
    else if (open < 0)
        say_of(doctor, server, OPEN, UNKNOWN, "permit this user +acl|getuser",
               "it does not tell whether it requires a password: %s",
               dueq_server_error_text(server->conn));
    else if (open == 0)
        say_of(doctor, server, OPEN, OK, NULL, "it requires a password");
    else if (server_needs(doctor, server, CHECK_OPEN, "bind")) {
        if (!is_public(server->config))
            say_of(doctor, server, OPEN, OK, NULL, "only programs of its own machine can reach it");
        else if (server_needs(doctor, server, CHECK_OPEN, "protected-mode") &&
                 strcmp(server->config, "yes") == 0)
            say_of(doctor, server, OPEN, NOTE, "give the default user a password",
                   "it has no password, and refuses other machines only by its protected mode");
        else
            say_of(doctor, server, OPEN, PROBLEM,
                   "ACL SETUSER default resetpass, a user for dueq, and bind to a private address",
                   "everybody who can reach its port can read, change and delete all its data");
    }
}

void check_access(struct doctor *doctor, struct server *server) {
    if (doctor->wanted[CHECK_ACCESS] && server->role == ROLE_PRIMARY)
        check_permissions(doctor, server);
    if (doctor->wanted[CHECK_OPEN])
        check_open(doctor, server);
}

#include "web.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TOKEN_LEAST = 16, TOKEN_ROOM = 4096 };

/* Clients */

dueq_client *web_client(struct web *web) {
    dueq_client *client = NULL;
    pthread_mutex_lock(&web->lock);
    if (web->idle_count > 0)
        client = web->idle[--web->idle_count];
    pthread_mutex_unlock(&web->lock);
    /* dueq_open() refuses only a wrong URL, and that was refused at the start. */
    if (!client && dueq_open(web->url, &client) != DUEQ_OK)
        cli_out_of_memory();
    return client;
}

void web_client_back(struct web *web, dueq_client *client) {
    dueq_reset(client);
    pthread_mutex_lock(&web->lock);
    if (web->idle_count < HTTP_MAX_CONNECTIONS) {
        web->idle[web->idle_count++] = client;
        client = NULL;
    }
    pthread_mutex_unlock(&web->lock);
    dueq_close(client);
}

/* Who may ask */

/* Compares in a time that does not depend on the secret's bytes. */
static bool same(const char *given, const char *secret) {
    const size_t size = strlen(secret), given_size = strlen(given);
    unsigned int differs = given_size != size;
    for (size_t i = 0; i < size; i++)
        differs |= (unsigned int)(given[given_size ? i % given_size : 0] ^ secret[i]);
    return differs == 0;
}

static bool trusts(const char *authorization, void *context) {
    const struct web *web = context;
    return web->token && strncmp(authorization, "Bearer ", 7) == 0 &&
           same(authorization + 7, web->token);
}

static bool has_token(struct web *web, const struct http_request *request) {
    const char *given = http_header(request, "Authorization");
    return given && trusts(given, web);
}

/* Why requests from this origin are refused, or NULL. */
static const char *why_foreign(const struct web *web, const struct http_request *request) {
    const char *origin = http_header(request, "Origin"), *host = http_header(request, "Host");
    const char *site = http_header(request, "Sec-Fetch-Site");
    const char *at = origin ? strstr(origin, "://") : NULL;
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return "it comes from a page of another site";
    if (!origin ||
        (at && ((host && strcasecmp(at + 3, host) == 0) || http_is_named(&web->listener, at + 3))))
        return NULL;
    return "the Origin of the request is not its Host: it comes from a page of another site, or "
           "through a proxy that changes Host: let the proxy pass Host on, or start dueq with "
           "--host NAME";
}

static bool refuse(struct http_answer *answer, unsigned int status, const char *text) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "status", json_name("DENIED"));
    json_object_object_add(object, "text", json_name(text));
    answer->status = status;
    answer->type = "application/json";
    api_put_line(answer->out, "", object);
    return false;
}

static bool is_api(const char *path) {
    return strncmp(path, "/api", 4) == 0 && (!path[4] || path[4] == '/');
}

static bool admit(const struct http_request *request, struct http_answer *answer, void *context) {
    struct web *web = context;
    const bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    /* Without a token only the Host tells a page of another site from this page. */
    if (!web->token && !http_is_ours(&web->listener, http_header(request, "Host")))
        return refuse(answer, 421, HTTP_HOST_HINT);
    if (!reads && strcmp(request->method, "POST") != 0)
        return refuse(answer, 405, "the methods are GET and POST");
    if (!is_api(request->path))
        return reads || refuse(answer, 405, "this can only be read");
    const char *foreign = why_foreign(web, request);
    if (foreign)
        return refuse(answer, 403, foreign);
    if (web->token && !has_token(web, request))
        return refuse(answer, 401, "the token is missing or wrong");
    if (!web->token && !reads)
        return refuse(answer, 403, "nothing can be changed: dueq web has no token (DUEQ_TOKEN)");
    return true;
}

static void handle(const struct http_request *request, struct http_answer *answer, void *context) {
    if (is_api(request->path)) {
        api_handle(context, request, answer);
        return;
    }
    answer->fixed = page_of(request->path, &answer->type);
    if (!answer->fixed.data) {
        answer->status = 404;
        fputs("There is no such page.\n", answer->out);
    }
}

/* The command */

/*
 * Reads the first line of a file that no other user may read or write. For a pipe, such as
 * /dev/fd/3, the permissions do not matter.
 */
static void read_token_file(const struct cli *cli, const char *path, char token[TOKEN_ROOM]) {
    struct stat about;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &about) != 0 ||
        (!fgets(token, TOKEN_ROOM, file) && ferror(file)))
        exit(cli_system_error(path));
    fclose(file);
    if (S_ISREG(about.st_mode) && about.st_mode & (S_IWGRP | S_IRWXO))
        cli_usage(cli, "--token-file %s: others may read or write it: chmod 600 %s", path, path);
}

static char *read_token(const struct cli *cli, const char *path) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._~+/=";
    const char *set = getenv("DUEQ_TOKEN");
    char *token = calloc(1, TOKEN_ROOM);
    if (!token)
        cli_out_of_memory();
    if (path)
        read_token_file(cli, path, token);
    else if (set)
        snprintf(token, TOKEN_ROOM, "%s", set);
    token[strcspn(token, "\r\n")] = '\0';
    if (!*token && !path) {
        free(token);
        return NULL;
    }
    /* A browser can send only these characters. "-----BEGIN" is the first line of a key file. */
    if (token[strspn(token, allowed)] || strncmp(token, "-----", 5) == 0)
        cli_usage(cli, "the token may have only letters, digits and -._~+/=; make one: openssl "
                       "rand -hex 16");
    if (strlen(token) < TOKEN_LEAST)
        cli_usage(cli, "the token has fewer than %d characters; make one: openssl rand -hex 16",
                  TOKEN_LEAST);
    return token;
}

static int serve(struct cli *cli, const char *address, const char *names, char *token) {
    struct web web = {.url = cli->url, .token = token, .lock = PTHREAD_MUTEX_INITIALIZER};
    int code;
    web.listener.names = names;
    if (!cli_connect(cli, &code) || !http_listen(cli, address, &web.listener, &code))
        return code;
    if (!token && !web.listener.loopback)
        cli_usage(cli, "without a token dueq web listens on loopback addresses only, such as "
                       "127.0.0.1:3837; set DUEQ_TOKEN or --token-file");
    web.events = events_new(&web);
    const struct http_service service = {admit, handle, trusts, &web};
    code = http_serve(&web.listener, &service);
    events_end(web.events);
    while (web.idle_count > 0)
        dueq_close(web.idle[--web.idle_count]);
    return code;
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"listen", required_argument, NULL, 'l'},
                                            {"host", required_argument, NULL, 'h'},
                                            {"token-file", required_argument, NULL, 't'},
                                            CLI_OPTIONS};
    const char *address = "127.0.0.1:3837", *path = NULL, *names = NULL;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'l')
            address = optarg;
        else if (option == 'h')
            names = optarg;
        else
            path = optarg;
    }
    if (optind < argc)
        cli_usage(cli, "web takes no arguments: it shows all queues of the server");
    cli_no_partitions(cli);
    char *token = read_token(cli, path);
    int code = serve(cli, address, names, token);
    free(token);
    return code;
}

const struct command web_command = {
    "web", "", "Serves a dashboard and an API by HTTP",
    "Prints the address, and serves until a signal comes. The page shows all queues of the\n"
    "server. The API under /api answers what the shell prints with --json: docs/web.md.\n"
    "\n"
    "Without a token nothing can be changed, and only programs of this machine get an answer.\n"
    "With a token the page asks for it, and each request to the API needs it: Authorization:\n"
    "Bearer TOKEN. dueq web has no TLS of its own: on a network put a proxy with TLS before it.\n"
    "\n"
    "Options:\n"
    "  --listen HOST:PORT  the address (127.0.0.1:3837); :3837: all addresses; port 0: any free\n"
    "                      port\n"
    "  --host NAME,NAME    further names of this server, as behind a proxy\n"
    "  --token-file FILE   read the token from the first line of a file (default: $DUEQ_TOKEN).\n"
    "                      It has 16 characters or more, and no other user may read the file\n"
    "\n"
    "Examples:\n"
    "  dueq web\n"
    "  DUEQ_TOKEN=$(openssl rand -hex 16) dueq web --listen 127.0.0.1:8080\n"
    "  curl http://127.0.0.1:3837/api/queues/orders\n",
    run};

#include "http.h"

#include <ctype.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admission.h"
#include "buffer.h"
#include "system.h"

struct server {
    struct admission admission;
    const struct http_service *service;
    int ending[2]; /* a pipe; [0] is readable once the server ends */
};

/*
 * A request and its answer. The request is the first member: http_header() and others cast from the
 * request to the exchange.
 */
struct exchange {
    struct http_request request;
    struct server *server;
    struct MHD_Connection *connection;
    char *body;
    size_t size, room;
    bool bad;       /* its arguments are malformed, or too many */
    bool no_memory; /* memory ran out for its arguments */
    /* the status of HTTP with which the body is refused; 0: the body was kept */
    unsigned int refused;
    /* Of a stream: the current piece. */
    http_stream *stream;
    void *streamed;
    void (*release)(void *streamed);
    bool ended;
    uint64_t seen; /* the stream's own position */
    struct buffer piece;
    FILE *piece_out;
    size_t piece_sent;
};

static const struct exchange *exchange_of(const struct http_request *request) {
    return (const struct exchange *)(const void *)request;
}

/* Words */

static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *http_decode(const char *text, size_t size) {
    char *out = malloc(size + 1), *to = out;
    if (!out)
        cli_out_of_memory();
    for (size_t i = 0; i < size; i++) {
        int byte = (unsigned char)text[i];
        if (byte == '%') {
            const bool whole = size - i > 2;
            const int high = whole ? digit(text[i + 1]) : -1, low = whole ? digit(text[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : 16 * high + low;
            i += 2;
        }
        if (byte == 0) {
            free(out);
            return NULL;
        }
        *to++ = (char)byte;
    }
    *to = '\0';
    return out;
}

char *http_encode(dueq_bytes bytes) {
    const unsigned char *data = bytes.data;
    char *out = malloc(3 * bytes.size + 1), *to = out;
    if (!out)
        cli_out_of_memory();
    for (size_t i = 0; i < bytes.size; i++) {
        if (data[i] < 0x80 && (isalnum(data[i]) || (data[i] && strchr("-._~", data[i]))))
            *to++ = (char)data[i];
        else
            to += sprintf(to, "%%%02X", data[i]);
    }
    *to = '\0';
    return out;
}

/* Leaves arguments to http_decode(): decoded twice, they would be wrong. */
static size_t leave_encoded(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

struct encoded {
    struct http_argument *argument;
    const char *name;
    size_t name_size;
    const char *value;
    size_t value_size;
};

static void decode_argument(void *context) {
    const struct encoded *encoded = context;
    encoded->argument->name = http_decode(encoded->name, encoded->name_size);
    encoded->argument->value = http_decode(encoded->value, encoded->value_size);
}

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_size, const char *value, size_t value_size) {
    struct exchange *exchange = context;
    struct http_request *request = &exchange->request;
    (void)kind;
    if (request->argument_count == HTTP_ARGUMENTS) {
        exchange->bad = true;
        return MHD_NO;
    }
    struct encoded encoded = {&request->arguments[request->argument_count++], name, name_size,
                              value ? value : "", value ? value_size : 0};
    exchange->no_memory |= !cli_try(decode_argument, &encoded);
    exchange->bad |= !encoded.argument->name || !encoded.argument->value;
    return MHD_YES;
}

const char *http_header(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(exchange_of(request)->connection, MHD_HEADER_KIND, name);
}

const char *http_argument(const struct http_request *request, const char *name) {
    for (size_t i = 0; i < request->argument_count; i++)
        if (strcmp(request->arguments[i].name, name) == 0)
            return request->arguments[i].value;
    return NULL;
}

static int socket_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

bool http_wait(const struct http_request *request, int64_t ms) {
    const struct exchange *exchange = exchange_of(request);
    struct pollfd ends[] = {{exchange->server->ending[0], POLLIN, 0},
                            {socket_of(exchange->connection), POLLRDHUP, 0}};
    return poll(ends, 2, (int)ms) == 0;
}

/* Answers */

/* These headers restrict what a browser may do with each answer. */
static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
    {"Connection", "close"}, /* the next request would pass admission.c by */
};

static void stream(void *context) {
    struct exchange *exchange = context;
    exchange->ended = !exchange->stream(&exchange->request, exchange->streamed, &exchange->seen,
                                        exchange->piece_out);
}

/* Lets the stream write its next piece. False: the piece is incomplete. */
static bool make_piece(struct exchange *exchange) {
    free(exchange->piece.data);
    exchange->piece_sent = 0;
    exchange->piece_out = buffer_open(&exchange->piece);
    if (!exchange->piece_out)
        return false;
    const bool made = cli_try(stream, exchange);
    return buffer_close(&exchange->piece, exchange->piece_out) && made;
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t room) {
    struct exchange *exchange = context;
    (void)position;
    while (exchange->piece_sent == exchange->piece.size) {
        if (exchange->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (!make_piece(exchange))
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t size = exchange->piece.size - exchange->piece_sent;
    size = size < room ? size : room;
    memcpy(buffer, exchange->piece.data + exchange->piece_sent, size);
    exchange->piece_sent += size;
    return (ssize_t)size;
}

/* Sends an answer. Afterwards the answer owns `body`, unless the answer is fixed or a stream. */
static enum MHD_Result answer(struct exchange *exchange, const struct http_answer *made, char *body,
                              size_t size) {
    struct MHD_Response *response =
        made->stream ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_stream,
                                                         exchange, NULL)
        : made->fixed.data
            ? MHD_create_response_from_buffer(made->fixed.size, (void *)(uintptr_t)made->fixed.data,
                                              MHD_RESPMEM_PERSISTENT)
            : MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
    if (!response)
        return MHD_NO;
    exchange->stream = made->stream;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (size > 0 || made->fixed.data || made->stream)
        MHD_add_response_header(response, "Content-Type", made->type);
    if (made->next)
        MHD_add_response_header(response, "Dueq-Next", made->next);
    if (made->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    enum MHD_Result result = MHD_queue_response(exchange->connection, made->status, response);
    MHD_destroy_response(response);
    return result;
}

struct stage {
    struct exchange *exchange;
    struct http_answer answer;
    bool admission, done; /* done: the answer is ready to send */
};

static void run_stage(void *context) {
    struct stage *stage = context;
    const struct exchange *exchange = stage->exchange;
    const struct http_service *service = exchange->server->service;
    if (!stage->admission)
        service->handle(&exchange->request, &stage->answer, service->context);
    else if (exchange->bad)
        stage->answer.status = MHD_HTTP_BAD_REQUEST;
    else
        stage->done = !service->admit(&exchange->request, &stage->answer, service->context);
}

/* Runs one stage of an exchange: the admission, or the handler. */
static enum MHD_Result run(struct exchange *exchange, bool admission) {
    struct buffer body;
    struct stage stage = {.exchange = exchange,
                          .answer = {.status = MHD_HTTP_OK,
                                     .type = "text/plain; charset=utf-8",
                                     .out = buffer_open(&body)},
                          .admission = admission,
                          .done = true};
    struct http_answer *made = &stage.answer;
    if (!made->out)
        return MHD_NO;
    made->no_memory = exchange->no_memory || !cli_try(run_stage, &stage) || made->no_memory;
    /* The exchange frees these at its end, whatever the answer is. */
    exchange->streamed = made->streamed;
    exchange->release = made->release;
    if (!buffer_close(&body, made->out) || made->no_memory) {
        made->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        made->type = "application/json";
        made->fixed = (dueq_bytes){HTTP_NO_MEMORY, strlen(HTTP_NO_MEMORY)};
        made->stream = NULL;
        stage.done = true;
    }
    enum MHD_Result result = MHD_YES;
    if (stage.done)
        result = answer(exchange, made, body.data, body.size);
    if (!stage.done || made->fixed.data || made->stream)
        free(body.data);
    free(made->next);
    return result;
}

static enum MHD_Result refuse(struct exchange *exchange, unsigned int status) {
    return answer(exchange, &(struct http_answer){.status = status}, NULL, 0);
}

/* Requests */

static enum MHD_Result begin(struct server *server, struct MHD_Connection *connection,
                             const char *path, const char *method, void **context) {
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return MHD_NO;
    *context = exchange;
    exchange->server = server;
    exchange->connection = connection;
    exchange->request.method = method;
    exchange->request.path = path;
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_argument, exchange);
    return run(exchange, true);
}

/*
 * Adds bytes to the body. The client must read the refusal. So the server reads the rest of an
 * oversized body, and drops the bytes.
 */
static void take(struct exchange *exchange, const char *data, size_t size) {
    if (size > HTTP_MAX_BODY - exchange->size) {
        exchange->refused = 413;
        return;
    }
    if (exchange->room - exchange->size < size) {
        const size_t room = 2 * (exchange->size + size);
        char *wider = realloc(exchange->body, room);
        if (!wider) {
            exchange->refused = MHD_HTTP_INTERNAL_SERVER_ERROR;
            return;
        }
        exchange->body = wider;
        exchange->room = room;
    }
    memcpy(exchange->body + exchange->size, data, size);
    exchange->size += size;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **kept) {
    struct exchange *exchange = *kept;
    (void)version;
    if (!exchange)
        return begin(context, connection, path, method, kept);
    if (*size == 0)
        admission_received(&exchange->server->admission, socket_of(connection));
    if (*size == 0 && exchange->refused)
        return refuse(exchange, exchange->refused);
    if (*size == 0) {
        exchange->request.body = (dueq_bytes){exchange->body, exchange->size};
        return run(exchange, false);
    }
    take(exchange, data, *size);
    *size = 0;
    return MHD_YES;
}

static void on_end(void *context, struct MHD_Connection *connection, void **kept,
                   enum MHD_RequestTerminationCode code) {
    struct exchange *exchange = *kept;
    (void)context;
    (void)connection;
    (void)code;
    if (!exchange)
        return;
    for (size_t i = 0; i < exchange->request.argument_count; i++) {
        free(exchange->request.arguments[i].name);
        free(exchange->request.arguments[i].value);
    }
    free(exchange->body);
    free(exchange->piece.data);
    if (exchange->release)
        exchange->release(exchange->streamed);
    free(exchange);
    *kept = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **kept,
                          enum MHD_ConnectionNotificationCode code) {
    struct server *server = context;
    (void)kept;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED)
        admission_closed(&server->admission, socket_of(connection));
}

/* The server */

int http_serve(const struct http_listener *listener, const struct http_service *service) {
    struct server server = {.service = service};
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    /* This thread handles these signals, not the threads that answer. */
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    if (system_pipe(server.ending) == 0 &&
        admission_open(&server.admission, listener->socket, service))
        server.admission.daemon = MHD_start_daemon(
            MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
                MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC,
            0, NULL, NULL, on_request, &server, MHD_OPTION_STRICT_FOR_CLIENT, 1,
            /*
             * admission.c enforces the limit. libmicrohttpd counts a connection a moment longer, so
             * its own limit is higher.
             */
            MHD_OPTION_CONNECTION_LIMIT, 2U * HTTP_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned int)HTTP_IDLE_S, MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL,
            MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
            &server, MHD_OPTION_END);
    if (!server.admission.daemon)
        return cli_system_error("HTTP");
    cli_log(CLI_INFO, NULL, NULL, "listening on http://%s:%u/", listener->host, listener->port);
    while (!cli_signal())
        admission_poll(&server.admission, &before);
    cli_write(server.ending[1], (dueq_bytes){"", 1});
    admission_close_waiting(&server.admission);
    MHD_stop_daemon(server.admission.daemon);
    admission_end(&server.admission);
    close(server.ending[0]);
    close(server.ending[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return 128 + cli_signal();
}

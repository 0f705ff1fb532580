#include <stdlib.h>
#include <string.h>

#include "redisson.h"

/* take, poll and peek */

static bool print(const struct cli *cli, const dueq_value *value, dueq_status status, bool raw) {
    if (cli->json) {
        json_object *object = json_object_new_object();
        json_object_object_add(object, "destination", json_name(cli->queue_name));
        value_add(object, value);
        if (status != DUEQ_OK)
            json_object_object_add(object, "status", json_name(dueq_status_name(status)));
        json_line(object);
    } else {
        value_put(value, raw);
        if (!raw)
            fputc('\n', cli_out);
    }
    return cli_flush();
}

/* Why a value cannot be decoded. The text is valid until the client's next call. */
static const char *reason(const struct cli *cli, dueq_codec codec, dueq_bytes bytes) {
    dueq_result *decoded;
    dueq_status status = dueq_codec_decode(cli->client, codec, bytes, &decoded);
    dueq_result_free(decoded);
    return status ? dueq_error_text(cli->client) : "a damaged element: it has neither layout";
}

static int print_all(const struct cli *cli, const dueq_result *result,
                     const struct redisson_wish *wish) {
    size_t count = dueq_result_count(result), printed = 0, corrupt = 0;
    const dueq_value *first = NULL;
    for (; printed < count; printed++) {
        const dueq_value *value = dueq_result_value(result, printed);
        dueq_status status = dueq_result_status(result, printed);
        if (!print(cli, value, status, wish->raw))
            break;
        if (status != DUEQ_OK && corrupt++ == 0)
            first = value;
    }
    int code = CLI_DONE;
    if (corrupt > 0) {
        cli_log(CLI_ERROR, dueq_status_name(DUEQ_CORRUPT), reason(cli, wish->codec, first->bytes),
                "%zu of %zu values cannot be decoded, and are printed as they are", corrupt, count);
        code = CLI_FAILED;
    }
    if (printed < count) {
        code = cli_output_failed(true);
        cli_log(CLI_INFO, NULL, NULL, "%zu of %zu values were not printed", count - printed, count);
    }
    return code;
}

/* Completes take, poll or peek. */
static int show(struct cli *cli, dueq_status status, const struct redisson_wish *wish) {
    dueq_result *result;
    status = cli_wait(cli, status, &result);
    int code = dueq_result_count(result) > 0 ? print_all(cli, result, wish)
                                             : cli_report(cli, status, NULL);
    dueq_result_free(result);
    return code;
}

static int run_take(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"count", required_argument, NULL, COUNT},
                                            {"wait", required_argument, NULL, WAIT},
                                            {"raw", no_argument, NULL, RAW},
                                            REDISSON_OPTIONS};
    struct redisson_wish wish;
    int code;
    if (!redisson_begin(cli, argc, argv, options, 0, 0, &wish, &code))
        return code;
    code = show(cli, dueq_redisson_take_submit(cli->redisson, wish.count, wish.wait_ms), &wish);
    cli_check_signal(cli);
    return code;
}

typedef dueq_status (*look_submit)(dueq_redisson *queue, size_t count);

static int look(struct cli *cli, int argc, char *argv[], look_submit submit) {
    static const struct option options[] = {{"count", required_argument, NULL, COUNT},
                                            {"raw", no_argument, NULL, RAW},
                                            REDISSON_OPTIONS};
    struct redisson_wish wish;
    int code;
    if (!redisson_begin(cli, argc, argv, options, 0, 0, &wish, &code))
        return code;
    return show(cli, submit(cli->redisson, wish.count), &wish);
}

static int run_poll(struct cli *cli, int argc, char *argv[]) {
    return look(cli, argc, argv, dueq_redisson_poll_submit);
}

static int run_peek(struct cli *cli, int argc, char *argv[]) {
    return look(cli, argc, argv, dueq_redisson_peek_submit);
}

/* remove and contains */

typedef dueq_status (*value_submit)(dueq_redisson *queue, const dueq_value *value);

/* missing: the text when no such value waits, or NULL. */
static int about_value(struct cli *cli, int argc, char *argv[], value_submit submit,
                       const char *missing) {
    static const struct option options[] = {{"type", required_argument, NULL, TYPE},
                                            REDISSON_OPTIONS};
    struct redisson_wish wish;
    dueq_value value;
    void *store;
    int code;
    if (!redisson_begin(cli, argc, argv, options, 0, 1, &wish, &code))
        return code;
    if (!redisson_value(cli, argv, &wish, &value, &store, &code))
        return code;
    dueq_status status = cli_wait(cli, submit(cli->redisson, &value), NULL);
    if (cli->json && status >= 0) {
        json_object *object = json_object_new_object();
        value_add(object, &value);
        json_object_object_add(object, "status", json_name(dueq_status_name(status)));
        json_line(object);
    } else if (status == DUEQ_NOT_FOUND && missing) {
        cli_log(CLI_ERROR, dueq_status_name(status), NULL, "%s: %s", cli->queue_name, missing);
    }
    code = status < 0 ? cli_report(cli, status, NULL) : cli_exit_code(status);
    free(store);
    return code;
}

static int run_remove(struct cli *cli, int argc, char *argv[]) {
    return about_value(cli, argc, argv, dueq_redisson_remove_submit, "no such value waits");
}

static int run_contains(struct cli *cli, int argc, char *argv[]) {
    return about_value(cli, argc, argv, dueq_redisson_contains_submit, NULL);
}

/* Help */

const struct command redisson_take = {
    "redisson take", "DESTINATION", "Takes values from the destination, and prints them",
    "Prints a value a line. There is no acknowledgement: a value that was taken is not delivered\n"
    "again. If the codec cannot decode a value, dueq prints it as it is and ends with 4.\n"
    "\n"
    "Options:\n"
    "  --count N           up to N values (1)\n"
    "  --wait DURATION     if there is none, wait up to this long: 10s, 5m, forever (0)\n"
    "  --raw               print only the values, byte for byte\n"
    "  --json              one object a line: destination, type, and value or value_base64;\n"
    "                      status if it cannot be decoded\n" CODEC_HELP "\n"
    "If there is no value, it prints nothing and ends with 1.\n"
    "\n"
    "Examples:\n"
    "  dueq redisson take orders --wait forever\n"
    "  dueq redisson take orders --count 100 --json --codec jackson\n"
    "  dueq redisson take images --codec bytes --raw > picture.png\n",
    run_take};

const struct command redisson_poll = {
    "redisson poll", "DESTINATION", "Takes waiting values before they are due",
    "The first offered comes first. They do not reach the destination. Prints as take does.\n"
    "\n"
    "Options:\n"
    "  --count N           up to N values (1)\n"
    "  --raw, --json   as take\n" CODEC_HELP LAYOUT_HELP "\n"
    "Example:\n"
    "  dueq redisson poll orders --count 10\n",
    run_poll};

const struct command redisson_peek = {"redisson peek", "DESTINATION",
                                      "Shows waiting values, without changing them",
                                      "The first offered comes first. Prints as take does.\n"
                                      "\n"
                                      "Options:\n"
                                      "  --count N           up to N values (1)\n"
                                      "  --raw, --json   as take\n" CODEC_HELP LAYOUT_HELP "\n"
                                      "Example:\n"
                                      "  dueq redisson peek orders --count 10 --json\n",
                                      run_peek};

const struct command redisson_remove = {
    "redisson remove", "DESTINATION VALUE", "Deletes a waiting value",
    "Of several equal values it deletes the first offered. VALUE -: standard input. Ends with 1\n"
    "(NOT_FOUND) when no such value waits.\n"
    "\n"
    "Options:\n" TYPE_HELP CODEC_HELP LAYOUT_HELP "\n"
    "Example:\n"
    "  dueq redisson remove orders 'not paid in time'\n",
    run_remove};

const struct command redisson_contains = {
    "redisson contains", "DESTINATION VALUE", "Says whether a value waits",
    "Ends with 0 when it does, with 1 when not. VALUE -: standard input.\n"
    "\n"
    "Options:\n" TYPE_HELP CODEC_HELP LAYOUT_HELP "\n"
    "Example:\n"
    "  dueq redisson contains orders 'not paid in time' && echo 'it still waits'\n",
    run_contains};

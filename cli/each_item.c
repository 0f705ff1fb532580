#include "cli.h"

#include <stdlib.h>
#include <string.h>

/*
 * Tickets or ids: the words of the command line, or the lines of standard input if the only word is
 * `-`.
 */
struct list {
    dueq_bytes *items;
    size_t count;
    dueq_bytes store;
};

static bool add(struct list *list, const char *data, size_t size) {
    if ((list->count & (list->count - 1)) == 0) {
        dueq_bytes *items =
            realloc(list->items, (list->count ? 2 * list->count : 1) * sizeof *items);
        if (!items) {
            cli_system_error("arguments");
            return false;
        }
        list->items = items;
    }
    list->items[list->count++] = (dueq_bytes){data, size};
    return true;
}

static bool read_list(struct cli *cli, int argc, char *argv[], struct list *list) {
    bool good = true;
    if (argc - optind != 1 || strcmp(argv[optind], "-") != 0) {
        for (int i = optind; good && i < argc; i++)
            good = add(list, argv[i], strlen(argv[i]));
        return good;
    }
    if (!input_all(cli, &list->store))
        return false;
    const char *at = list->store.data, *end = at ? at + list->store.size : at;
    while (good && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((line_end ? line_end : end) - at);
        if (size > 0)
            good = add(list, at, size);
        at += size + 1;
    }
    return good;
}

int cli_each_item(struct cli *cli, int argc, char *argv[], const char *key, cli_submit submit,
                  const void *context) {
    struct list list = {0};
    int code = read_list(cli, argc, argv, &list) ? CLI_DONE : CLI_FAILED;
    for (size_t at = 0, size; code < CLI_USAGE && at < list.count; at += size) {
        size = list.count - at < DUEQ_MAX_BATCH ? list.count - at : DUEQ_MAX_BATCH;
        dueq_result *result;
        dueq_status status = cli_wait(cli, submit(cli, list.items + at, size, context), &result);
        if (status < 0) {
            code = cli_report(cli, status, NULL);
            if (at > 0)
                cli_log(CLI_INFO, NULL, NULL, "the first %zu are done; continue after them", at);
        }
        for (size_t i = 0; i < dueq_result_count(result); i++)
            code = cli_worse(code, cli_result_item(cli, key, list.items[at + i], result, i));
        dueq_result_free(result);
    }
    free(list.items);
    free((void *)(uintptr_t)list.store.data);
    return code;
}

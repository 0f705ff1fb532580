#include <stdlib.h>
#include <string.h>

#include "cli.h"

void cli_add_name(struct cli_names *names, dueq_bytes name) {
    if (names->count == names->room) {
        names->room = names->room ? 2 * names->room : 64;
        names->list = realloc(names->list, names->room * sizeof *names->list);
        if (!names->list)
            cli_out_of_memory();
    }
    char *copy = strndup(name.data, name.size);
    if (!copy)
        cli_out_of_memory();
    names->list[names->count++] = copy;
}

void cli_free_names(struct cli_names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct cli_names){0};
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

void cli_sort_names(struct cli_names *names) {
    if (names->count == 0)
        return;
    qsort(names->list, names->count, sizeof *names->list, by_name);
    size_t kept = 1;
    for (size_t i = 1; i < names->count; i++) {
        if (strcmp(names->list[i], names->list[kept - 1]) == 0)
            free(names->list[i]);
        else
            names->list[kept++] = names->list[i];
    }
    names->count = kept;
}

dueq_status cli_read_names(struct cli *cli, struct cli_names *names) {
    dueq_result *page = NULL;
    dueq_status status;
    do {
        dueq_result *next;
        status = cli_wait(cli, dueq_queues_submit(cli->client, dueq_result_cursor(page)), &next);
        dueq_result_free(page);
        page = next;
        for (size_t i = 0; i < dueq_result_count(page); i++)
            cli_add_name(names, dueq_result_id(page, i));
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    cli_sort_names(names);
    return status;
}

const char *cli_partition_mark(const char *name) {
    const char *mark = strrchr(name, '#');
    bool is_part = mark && mark > name && mark[1] && !mark[1 + strspn(mark + 1, "0123456789")];
    return is_part ? mark : NULL;
}

bool cli_is_partitioned(const struct cli_names *names, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < names->count; i++)
        if (cli_partition_mark(names->list[i]) == names->list[i] + size &&
            strncmp(names->list[i], name, size) == 0)
            return true;
    return false;
}

dueq_status cli_add_partitions(struct cli *cli, struct cli_names *names) {
    struct cli_names all = {0};
    const size_t named = names->count;
    dueq_status status = cli_read_names(cli, &all);
    for (size_t i = 0; status == DUEQ_OK && i < all.count; i++) {
        const char *name = all.list[i], *mark = cli_partition_mark(name);
        for (size_t k = 0; mark && k < named; k++)
            if (strlen(names->list[k]) == (size_t)(mark - name) &&
                strncmp(names->list[k], name, (size_t)(mark - name)) == 0)
                cli_add_name(names, (dueq_bytes){name, strlen(name)});
    }
    cli_free_names(&all);
    cli_sort_names(names);
    return status;
}

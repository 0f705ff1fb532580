#include "cli.h"

#include <string.h>

#include "json.h"

static void json_finding(const dueq_finding *from) {
    json_object *object = json_object_new_object(), *examples = json_object_new_array();
    for (size_t i = 0; i < from->example_count; i++)
        json_object_array_add(examples, json_text(from->examples[i]));
#define JSON_EXAMPLES(ignored) examples
    DUEQ_FINDING_FIELDS(JSON_FIELD)
#undef JSON_EXAMPLES
    json_line(object);
}

static void print_finding(const dueq_finding *finding) {
    fprintf(cli_out, "%lld %s%s%s\n", (long long)finding->count, finding->text,
            finding->wrong ? "" : " (not wrong)", finding->repaired ? ": repaired" : "");
    for (size_t i = 0; i < finding->example_count; i++) {
        fputs("  ", cli_out);
        cli_put_brief(finding->examples[i], 120);
        fputc('\n', cli_out);
    }
}

static int run_check(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"repair", no_argument, NULL, 'r'}, CLI_OPTIONS};
    int code, repair = 0;
    while (cli_option(cli, argc, argv, options) != -1)
        repair = 1;
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_result *found = NULL;
    dueq_status status;
    do {
        dueq_result *next;
        dueq_bytes cursor = dueq_result_cursor(found);
        status = cli_wait(cli, dueq_check_submit(cli->queue, repair, cursor), &next);
        if (status == DUEQ_OK)
            cli_progress(dueq_result_purged(next), "checked");
        dueq_result_free(found);
        found = next;
    } while (dueq_result_cursor(found).size > 0);
    cli_progress_end();
    code = cli_report(cli, status, NULL);
    for (size_t i = 0; i < dueq_result_count(found); i++) {
        const dueq_finding *finding = dueq_result_finding(found, i);
        if (cli->json)
            json_finding(finding);
        else
            print_finding(finding);
        if (finding->wrong && finding->repaired < finding->count)
            code = cli_worse(code, CLI_OUTCOME);
    }
    dueq_result_free(found);
    return code;
}

const struct command check_command = {
    "check", "QUEUE", "Finds inconsistent entries in a queue, and repairs them",
    "dueq keeps its queues consistent. A DEL by hand, another program that uses the same names, "
    "or\n"
    "a backup of only some keys can break them. check reads all entries in small steps while the\n"
    "queue is in use. For each kind of finding it prints the number and up to five examples. It\n"
    "ends with 1 if something is wrong and was not repaired.\n"
    "\n"
    "--repair makes a message without a ticket ready again, or dead if it cannot be read. It\n"
    "deletes a ticket without a message, and the second ticket of a message. It renames a key of\n"
    "another type to dueq:{QUEUE}:quarantine:KEY, and corrects counters and settings. It deletes\n"
    "no message. Findings that are marked \"not wrong\" need no repair; --repair still deletes "
    "the\n"
    "tickets of cancelled messages and the old records of relays.\n"
    "\n"
    "Options:\n"
    "  --repair  repair what is wrong\n"
    "\n"
    "Examples:\n"
    "  dueq check orders\n"
    "  dueq check orders --repair\n"
    "  dueq check orders --json | jq -r 'select(.wrong) | \"\\(.count) \\(.kind)\"'\n",
    run_check};

#include "top.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { EVERY_MS = 2000, NARROWEST = 40, WIDEST = 1000 };

static int columns(void) {
    const char *said = getenv("COLUMNS");
    struct winsize size = {0};
    int width = said ? atoi(said) : 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        width = size.ws_col;
    return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

static void print_view(struct top *top, enum top_view view, size_t from) {
    struct top_page page = {.width = columns()};
    top->view = view;
    top_draw(top, &page);
    for (size_t i = from; i < page.count; i++)
        fprintf(cli_out, "%s\n", page.lines[i].text);
    page_end(&page);
}

static int print_once(struct top *top) {
    enum { HEAD = 3 };
    top->all_opened = true;
    int code = cli_report(top->cli, top_read(top), NULL);
    if (code != CLI_DONE)
        return code;
    for (size_t i = 0; i < top->rows.count; i++)
        code = cli_worse(code, cli_exit_code(top->rows.list[i].status));
    print_view(top, TOP_QUEUES, 0);
    fputc('\n', cli_out);
    print_view(top, TOP_WORKERS, HEAD);
    fputc('\n', cli_out);
    print_view(top, TOP_ERRORS, HEAD);
    return code;
}

static void check_terminal(const struct cli *cli) {
    const char *type = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        cli_usage(cli, "top needs a terminal, and standard input or output is none; programs use "
                       "dueq stats --json, dueq metrics or dueq top --once");
    if (!top_terminal())
        cli_usage(cli,
                  "the terminal \"%s\" ($TERM) is not known, or cannot be drawn on: use dueq "
                  "top --once",
                  type ? type : "");
}

static int run_top(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"every", required_argument, NULL, 'e'},
                                            {"once", no_argument, NULL, 'o'},
                                            {"read-only", no_argument, NULL, 'r'},
                                            CLI_OPTIONS};
    struct top top = {.cli = cli, .every_ms = EVERY_MS, .state = DUEQ_READY};
    bool once = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'e')
            top.every_ms = cli_duration(cli, "every", optarg);
        else if (option == 'o')
            once = true;
        else
            top.read_only = true;
    }
    if (top.every_ms < 100)
        cli_usage(cli, "--every is 100ms or more");
    if (cli->json)
        cli_usage(cli, "top has no --json: use dueq stats --json or dueq metrics");
    cli_no_partitions(cli);
    setlocale(LC_CTYPE, "");
    if (!once)
        check_terminal(cli);
    if (!cli_connect(cli, &code))
        return code;
    for (int i = optind; i < argc; i++)
        cli_add_name(&top.names, (dueq_bytes){argv[i], strlen(argv[i])});
    cli->top = &top;
    code = once ? print_once(&top) : top_screen(&top);
    top_end(&top);
    return code;
}

const struct command top_command = {
    "top", "[QUEUE...]", "Shows on a terminal what queues do, and why one is stuck",
    "Shows the queues, or all queues of the server: their messages by state, how long the oldest\n"
    "has been ready, how late messages are, how many were done in each of the last minutes,\n"
    "and in a line of its own why messages wait or fail. Other screens show workers, errors in\n"
    "groups, and messages with their headers, body, error and holder. Keys pause and resume a\n"
    "queue, kick and cancel messages; ? shows all keys. top goes on while the server is away.\n"
    "NO_COLOR=1: no colours.\n"
    "\n"
    "Options:\n"
    "  --every DURATION  the time between two readings (2s)\n"
    "  --once            print one plain screen and end\n"
    "  --read-only       no key changes anything\n"
    "\n"
    "Examples:\n"
    "  dueq top\n"
    "  dueq top orders --every 500ms --read-only\n"
    "  dueq top --once\n",
    run_top};

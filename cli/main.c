#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
    &push_command,   &reserve_command, &ack_command,   &retry_command,  &release_command,
    &extend_command, &bury_command,    &kick_command,  &cancel_command, &reschedule_command,
    &find_command,   &peek_command,    &stats_command, &queues_command, &rates_command,
    &pause_command,  &resume_command,  &purge_command, &lock_command,   &relock_command,
    &unlock_command, &work_command,
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static const struct command *find_command_named(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static const char common_help[] =
    "Everywhere:\n"
    "  --url URL   the server: redis://[user:password@]host[:port][/db], rediss://...,\n"
    "              unix:///path/to/socket, or embedded:DIR for a private server that dueq\n"
    "              starts by itself (default: $DUEQ_URL, else a private server of this user)\n"
    "  --json      one JSON object a line; a body that is not UTF-8 is \"body_base64\"\n"
    "  --help, --version\n"
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  another outcome: nothing ready, duplicate, not found, lease lost, buried, taken\n"
    "  2  wrong arguments\n"
    "  3  the server cannot be reached or cannot do it now: try again later\n"
    "  4  any other failure\n"
    "  128 + N: ended by signal N\n";

static void help(const struct command *command) {
    if (command) {
        printf("Usage: dueq %s%s%s\n%s.\n\n%s\n%s", command->name, command->arguments[0] ? " " : "",
               command->arguments, command->summary, command->help, common_help);
        return;
    }
    fputs("Usage: dueq COMMAND [QUEUE] [ARGUMENT...] [OPTION...]\n"
          "A reliable delayed message queue on Redis or Valkey.\n"
          "\n"
          "Commands (dueq COMMAND --help says more):\n",
          stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n"
           "Examples:\n"
           "  dueq push orders 'hello'                    now, on a server that starts by itself\n"
           "  dueq push orders 'pay up' --delay 30m --id invoice-7\n"
           "  dueq cancel orders invoice-7                it was paid in time\n"
           "  dueq reserve orders --wait 10s --ack        print the next message and finish it\n"
           "  dueq stats orders --json\n"
           "\n"
           "%s",
           common_help);
}

/* Whether all output went out, as an exit code. */
static int written(void) {
    return fflush(stdout) == 0 && !ferror(stdout) ? CLI_DONE : cli_system_error("standard output");
}

void cli_usage(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    fputs("dueq: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n  see: dueq %s%s--help\n", cli->command ? cli->command : "",
            cli->command ? " " : "");
    exit(CLI_USAGE);
}

int cli_option(struct cli *cli, int argc, char *argv[], const struct option *options) {
    for (;;) {
        int option = getopt_long(argc, argv, cli->command ? "" : "+", options, NULL);
        switch (option) {
        case CLI_OPTION_URL:
            cli->url = optarg;
            break;
        case CLI_OPTION_JSON:
            cli->json = true;
            break;
        case CLI_OPTION_HELP:
            help(cli->command ? find_command_named(cli->command) : NULL);
            exit(written());
        case CLI_OPTION_VERSION:
            printf("dueq %s\n", dueq_version());
            exit(written());
        case '?': /* getopt said what is wrong */
            fprintf(stderr, "  see: dueq %s%s--help\n", cli->command ? cli->command : "",
                    cli->command ? " " : "");
            exit(CLI_USAGE);
        default:
            return option;
        }
    }
}

void cli_words(const struct cli *cli, int argc, int least, int most) {
    int count = argc - optind - 1;
    if (count < 0)
        cli_usage(cli, "which queue? name it after the command");
    if (count < least)
        cli_usage(cli, "an argument is missing: dueq %s %s", cli->command,
                  find_command_named(cli->command)->arguments);
    if (count > most)
        cli_usage(cli, "too many arguments (a body of several words needs quotes): dueq %s %s",
                  cli->command, find_command_named(cli->command)->arguments);
}

int64_t cli_duration(const struct cli *cli, const char *option, const char *text) {
    int64_t ms = 0;
    if (!time_parse_duration(text, &ms))
        cli_usage(cli, "--%s %s is not a duration; write 250ms, 1.5s, 30m, 2h, 7d or 1h30m", option,
                  text);
    return ms;
}

int64_t cli_patience(const struct cli *cli, const char *text) {
    return strcmp(text, "forever") == 0 ? DUEQ_FOREVER : cli_duration(cli, "wait", text);
}

int64_t cli_point(const struct cli *cli, const char *option, const char *text) {
    int64_t ms = 0;
    if (!time_parse_point(text, &ms))
        cli_usage(cli,
                  "--%s %s is not a time; write 2026-12-01T10:00:00Z, 2026-12-01T10:00:00+01:00 or "
                  "seconds since 1970, up to the year 2100",
                  option, text);
    return ms;
}

long cli_number(const struct cli *cli, const char *option, const char *text, long least,
                long most) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end || value < least || value > most)
        cli_usage(cli, "--%s %s is not a whole number from %ld to %ld", option, text, least, most);
    return value;
}

int main(int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    static char program[] = "dueq"; /* what getopt's messages begin with */
    struct cli cli = {0};
    argv[0] = program;
    cli_signals();
    cli_option(&cli, argc, argv, options);
    if (optind >= argc)
        cli_usage(&cli, "which command? for example: dueq push orders 'hello'");

    const char *name = argv[optind];
    const struct command *command = find_command_named(name);
    if (!command && strcmp(name, "help") == 0) {
        const char *about = argv[optind + 1];
        if (about && !(command = find_command_named(about)))
            cli_usage(&cli, "there is no command %s", about);
        help(command);
        return written();
    }
    if (!command)
        cli_usage(&cli, "there is no command %s", name);
    cli.command = command->name;
    argv += optind;
    argc -= optind;
    argv[0] = program;
    optind = 0; /* from the start again, in any order */
    int code = command->run(&cli, argc, argv);
    cli_close(&cli);
    return code == CLI_FAILED ? code : cli_worse(code, written());
}

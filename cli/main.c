#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTED(verb, ...) , &verb##_command
static const struct command *const commands[] = {&push_command,
                                                 &reserve_command,
                                                 &ack_command,
                                                 &retry_command,
                                                 &release_command,
                                                 &extend_command,
                                                 &bury_command,
                                                 &kick_command DUEQ_ID_COMMANDS(LISTED),
                                                 &cancel_command,
                                                 &reschedule_command,
                                                 &find_command,
                                                 &peek_command,
                                                 &stats_command,
                                                 &queues_command,
                                                 &rates_command DUEQ_PLAIN_COMMANDS(LISTED),
                                                 &purge_command,
                                                 &remove_command,
                                                 &check_command,
                                                 &lock_command,
                                                 &relock_command,
                                                 &unlock_command,
                                                 &work_command,
                                                 &redisson_command,
                                                 &laravel_command,
                                                 NULL};

/* NULL: it has none. */
static const struct command *const *verbs_of(const struct command *command) {
    return command == &redisson_command  ? redisson_verbs
           : command == &laravel_command ? laravel_verbs
                                         : NULL;
}

/* "offer" of "redisson offer" */
static const char *last_word(const struct command *command) {
    const char *blank = strrchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

static const struct command *find_in(const struct command *const *list, const char *word) {
    while (*list && strcmp(last_word(*list), word) != 0)
        list++;
    return *list;
}

static const char common_help[] =
    "Options of all commands:\n"
    "  --url URL   the server: redis://[user:password@]host[:port][/db], rediss://...,\n"
    "              unix:///path/to/socket, or embedded:DIR for a private server that dueq\n"
    "              starts (default: $DUEQ_URL, else a private server of this user, which\n"
    "              DUEQ_REQUIRE_URL=1 refuses)\n"
    "  --url-file FILE\n"
    "              read the URL from the first line of a file (/dev/fd/3: of descriptor 3). Put\n"
    "              a password there or in $DUEQ_URL: other users can read --url for a moment\n"
    "  --json      print one JSON object a line; a body that is not UTF-8 is \"body_base64\"\n"
    "  --help, --version\n"
    "  --          ends the options: dueq cancel orders -- \"$id\" (after work and lock the\n"
    "              command follows)\n"
    "\n"
    "Output:\n"
    "  On a terminal, control characters of messages are escaped, as \\n or \\x1b.\n"
    "  In a pipe or a file they are not, nor are line ends: programs should read --json.\n"
    "  Errors go to standard error, always escaped, one line each.\n"
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  nothing ready, duplicate, not found, lease lost, exhausted, or lock held by another\n"
    "  2  wrong arguments\n"
    "  3  the server cannot be reached, or cannot do it now: try again later\n"
    "  4  any other failure\n"
    "  128 + N: ended by signal N; 141: the reader of the output is gone\n";

static void print_list(const struct command *const *list) {
    for (; *list; list++)
        printf("  %-10s %s\n", last_word(*list), (*list)->summary);
}

static void help(const struct command *command) {
    if (command) {
        printf("Usage: dueq %s%s%s\n%s.\n\n", command->name, command->arguments[0] ? " " : "",
               command->arguments, command->summary);
        if (verbs_of(command)) {
            printf("Verbs (dueq %s VERB --help says more):\n", command->name);
            print_list(verbs_of(command));
            putchar('\n');
        }
        printf("%s\n%s", command->help, common_help);
        return;
    }
    fputs("Usage: dueq COMMAND [QUEUE] [ARGUMENT...] [OPTION...]\n"
          "A reliable delayed message queue on Redis or Valkey.\n"
          "\n"
          "Commands (dueq COMMAND --help says more):\n",
          stdout);
    print_list(commands);
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
static int written(void) { return cli_flush() ? CLI_DONE : cli_output_failed(false); }

/* getopt_long(), which says what is wrong by cli_say(): words of the command line may come from others. */
static int next_option(int argc, char *argv[], const char *how, const struct option *options) {
    char *said = NULL;
    size_t size = 0;
    FILE *errors = stderr, *out = open_memstream(&said, &size);
    if (!out)
        cli_out_of_memory();
    stderr = out;
    int option = getopt_long(argc, argv, how, options, NULL);
    stderr = errors;
    if (fclose(out) != 0)
        cli_out_of_memory();
    if (size > 0)
        cli_say("%.*s", (int)size - 1, said); /* without the end of its line */
    free(said);
    return option;
}

static void see_help(const struct cli *cli) {
    cli_say("  see: dueq %s%s--help", cli->command ? cli->command->name : "",
            cli->command ? " " : "");
}

void cli_usage(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        cli_out_of_memory();
    va_end(arguments);
    cli_say("dueq: %s", text);
    free(text);
    see_help(cli);
    exit(CLI_USAGE);
}

/* ---- The server's URL ---------------------------------------------------------------------------- */

/* Takes it from the command line, where everybody can read it by ps: one with a login is there no longer then. */
static void take_url(struct cli *cli, char *given) {
    free(cli->url);
    if (!(cli->url = strdup(given)))
        cli_out_of_memory();
    if (strchr(given, '@')) {
        memset(given, 0, strlen(given));
        *given = '*';
    }
}

#define URL_ROOM 65536

static void read_url(struct cli *cli, const char *path) {
    int number;
    char rest;
    free(cli->url);
    if (!(cli->url = calloc(1, URL_ROOM)))
        cli_out_of_memory();
    FILE *file = fopen(path, "re");
    if (!file || (!fgets(cli->url, URL_ROOM, file) && !feof(file)))
        exit(cli_system_error(path));
    fclose(file);
    cli->url[strcspn(cli->url, "\r\n")] = '\0';
    if (!*cli->url)
        cli_usage(cli, "--url-file %s: its first line is empty", path);
    if (strlen(cli->url) == URL_ROOM - 1)
        cli_usage(cli, "--url-file %s: its first line is too long for a URL", path);
    /* A command that is run is not to read it again. */
    if (sscanf(path, "/dev/fd/%d%c", &number, &rest) == 1 && number > STDERR_FILENO)
        close(number);
}

/* What the next word chooses from; NULL: it is no further part of the command. */
static const struct command *const *choice(const struct cli *cli) {
    return cli->command ? verbs_of(cli->command) : commands;
}

int cli_option(struct cli *cli, int argc, char *argv[], const struct option *options) {
    for (;;) {
        int option = next_option(argc, argv, choice(cli) ? "+" : "", options);
        switch (option) {
        case CLI_OPTION_URL:
            take_url(cli, optarg);
            break;
        case CLI_OPTION_URL_FILE:
            read_url(cli, optarg);
            break;
        case CLI_OPTION_PASS_URL:
            cli->pass_url = true;
            break;
        case CLI_OPTION_JSON:
            cli->json = true;
            break;
        case CLI_OPTION_HELP:
            help(cli->command);
            exit(written());
        case CLI_OPTION_VERSION:
            printf("dueq %s\n", dueq_version());
            exit(written());
        case '?': /* getopt said what is wrong */
            see_help(cli);
            exit(CLI_USAGE);
        default:
            return option;
        }
    }
}

/* A hint, where the command takes text that is more than a word without quotes. */
static const char *quotes(const struct command *command) {
    if (strstr(command->arguments, "VALUE"))
        return "; a value of several words needs quotes";
    if (strstr(command->arguments, "BODY") || strstr(command->help, "BODY"))
        return "; a body of several words needs quotes";
    return "";
}

void cli_words(const struct cli *cli, int argc, int least, int most) {
    int count = argc - optind - 1;
    if (count < 0)
        cli_usage(cli, "the queue is missing: name it after the command");
    if (count < least)
        cli_usage(cli, "an argument is missing: dueq %s %s", cli->command->name,
                  cli->command->arguments);
    if (count > most)
        cli_usage(cli, "too many arguments (at most %d%s): dueq %s %s", most + 1,
                  quotes(cli->command), cli->command->name, cli->command->arguments);
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

/* dueq help [COMMAND [VERB]] */
static int run_help(struct cli *cli, char *words[]) {
    const struct command *about = NULL;
    const struct command *const *list = commands;
    for (; *words && list; words++, list = verbs_of(about))
        if (!(about = find_in(list, *words)))
            cli_usage(cli, "there is no command %s", *words);
    help(about);
    return written();
}

int main(int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    static char program[] = "dueq"; /* what getopt's messages begin with */
    struct cli cli = {0};
    argv[0] = program;
    cli_output_begin();
    cli_signals();
    for (const struct command *const *list; (list = choice(&cli)) != NULL;) {
        cli_option(&cli, argc, argv, options);
        if (optind >= argc && cli.command)
            cli_usage(&cli, "the verb is missing: dueq %s %s", cli.command->name,
                      cli.command->arguments);
        if (optind >= argc)
            cli_usage(&cli, "the command is missing; for example: dueq push orders 'hello'");
        const char *word = argv[optind];
        const struct command *found = find_in(list, word);
        if (!found && !cli.command && strcmp(word, "help") == 0)
            return run_help(&cli, argv + optind + 1);
        if (!found)
            cli_usage(&cli, "there is no command %s%s%s", cli.command ? cli.command->name : "",
                      cli.command ? " " : "", word);
        cli.command = found;
        argv += optind;
        argc -= optind;
        argv[0] = program;
        optind = 0; /* from the start again, in any order */
    }
    int code = cli.command->run(&cli, argc, argv);
    cli_close(&cli);
    return cli_worse(code, written());
}

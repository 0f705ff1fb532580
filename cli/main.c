#include "cli.h"
#include "verbs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {&push_command,
                                                 &reserve_command,
                                                 &ack_command MESSAGE_COMMANDS,
                                                 &kick_command ID_COMMANDS,
                                                 &find_command,
                                                 &result_command,
                                                 &peek_command,
                                                 &stats_command,
                                                 &queues_command,
                                                 &workers_command,
                                                 &inspect_command,
                                                 &failures_command,
                                                 &groups_command,
                                                 &open_batch_command,
                                                 &find_batch_command,
                                                 &batches_command,
                                                 &cancel_batch_command,
                                                 &running_command,
                                                 &top_command,
                                                 &metrics_command,
                                                 &rates_command QUEUE_COMMANDS,
                                                 &allow_command,
                                                 &limits_command,
                                                 &purge_command,
                                                 &remove_command,
                                                 &repartition_command,
                                                 &check_command,
                                                 &doctor_command,
                                                 &lock_command,
                                                 &relock_command,
                                                 &unlock_command,
                                                 &work_command,
                                                 &web_command,
                                                 &schedule_command,
                                                 &schedules_command,
                                                 &completion_command,
                                                 &man_command,
                                                 &redisson_command,
                                                 &laravel_command,
                                                 NULL};

const struct command *const *cli_choice(const struct command *command) {
    return !command                       ? commands
           : command == &redisson_command ? redisson_verbs
           : command == &laravel_command  ? laravel_verbs
           : command == &schedule_command ? schedule_verbs
                                          : NULL;
}

const char *cli_last_word(const struct command *command) {
    const char *blank = strrchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

const struct command *cli_find_command(const struct command *const *list, const char *word) {
    while (*list && strcmp(cli_last_word(*list), word) != 0)
        list++;
    return *list;
}

const char cli_common_help[] =
    "Options of all commands:\n"
    "  --url URL   the server: redis://[user:password@]host[:port][/db], rediss://...,\n"
    "              unix:///path/to/socket, or embedded:DIR for a private server that dueq\n"
    "              starts (default: $DUEQ_URL, else a private server of this user, which\n"
    "              DUEQ_REQUIRE_URL=1 refuses)\n"
    "  --url-file FILE\n"
    "              read the URL from the first line of a file (/dev/fd/3: of descriptor 3). Put\n"
    "              a password there or in $DUEQ_URL: other users can read --url for a moment\n"
    "  --partitions N\n"
    "              QUEUE has N partitions, used as one queue; each is a queue, too: QUEUE#0 ...\n"
    "  --key KEY   with --partitions: the command is about the partition that has the messages\n"
    "              of this key, or of this group; push gives the message this key\n"
    "  --json      print one JSON object a line, errors too; a body that is not UTF-8 is\n"
    "              \"body_base64\"\n"
    "  --help, --version\n"
    "  --          ends the options: dueq cancel orders -- \"$id\" (after work and lock the\n"
    "              command follows)\n"
    "\n"
    "Output:\n"
    "  On a terminal, control characters of messages are escaped, as \\n or \\x1b.\n"
    "  In a pipe or a file they are not, nor are line ends: programs should read --json.\n"
    "  With --json dueq prints an object with the status for each id, ticket, lock or queue that\n"
    "  a command is about. Without --json it prints outcomes other than OK only, to standard\n"
    "  error. Errors go to standard error, always escaped, one line each; with --json as an\n"
    "  object with time, level, status, text and hint.\n"
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
        fprintf(cli_out, "  %-11s %s\n", cli_last_word(*list), (*list)->summary);
}

static void help(const struct command *command) {
    if (command) {
        fprintf(cli_out, "Usage: dueq %s%s%s\n%s.\n\n", command->name,
                command->arguments[0] ? " " : "", command->arguments, command->summary);
        if (cli_choice(command)) {
            fprintf(cli_out, "Verbs (dueq %s VERB --help says more):\n", command->name);
            print_list(cli_choice(command));
            fputc('\n', cli_out);
        }
        fprintf(cli_out, "%s\n%s", command->help, cli_common_help);
        return;
    }
    fputs("Usage: dueq COMMAND [QUEUE] [ARGUMENT...] [OPTION...]\n"
          "A reliable delayed message queue on Redis or Valkey.\n"
          "\n"
          "Commands (dueq COMMAND --help says more):\n",
          cli_out);
    print_list(commands);
    fprintf(cli_out,
            "\n"
            "Examples:\n"
            "  dueq push orders 'hello'                    now, on a server that starts by itself\n"
            "  dueq push orders 'pay up' --delay 30m --id invoice-7\n"
            "  dueq cancel orders invoice-7                it was paid in time\n"
            "  dueq reserve orders --wait 10s --ack        print the next message and finish it\n"
            "  dueq stats orders --json\n"
            "\n"
            "%s",
            cli_common_help);
}

/* Writes out all output. Returns the exit code. */
static int written(void) { return cli_flush() ? CLI_DONE : cli_output_failed(false); }

/*
 * Says why getopt_long() returned `code` for the word before optind. Its own message would show a
 * mistyped option's value, which may be a secret (--uri=redis://:password@host), and would not be
 * escaped: others may have written the words of the command line.
 */
static void refuse_option(const struct cli *cli, int code, char *argv[],
                          const struct option *options) {
    const char *word = optind > 1 ? argv[optind - 1] : "";
    const bool is_long = strncmp(word, "--", 2) == 0;
    const int size = (int)strcspn(word, "=");
    const struct option *misused = NULL;
    char names[400] = "";
    size_t used = 0;
    for (const struct option *option = options; is_long && option->name; option++) {
        if (strncmp(option->name, word + 2, (size_t)size - 2) != 0)
            continue;
        if (option->val == optopt)
            misused = option;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, " '--%s'", option->name);
    }
    if (is_long && optopt == 0 && used == 0)
        cli_usage(cli, "unrecognized option '%.*s'", size, word);
    if (is_long && optopt == 0)
        cli_usage(cli, "option '%.*s' is ambiguous; possibilities:%s", size, word, names);
    if (misused && word[size] && misused->has_arg == no_argument)
        cli_usage(cli, "option '--%s' doesn't allow an argument", misused->name);
    if (misused && code == ':')
        cli_usage(cli, "option '--%s' requires an argument", misused->name);
    cli_usage(cli, "invalid option -- '%c'", optopt);
}

void cli_usage(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    char *text, *see;
    const char *name = cli->command ? cli->command->name : "";
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        cli_out_of_memory();
    va_end(arguments);
    if (cli->refusal) {
        cli->refusal->text = text;
        longjmp(cli->refusal->back, 1);
    }
    if (asprintf(&see, "see: dueq %s%s--help", name, *name ? " " : "") < 0)
        cli_out_of_memory();
    /* Only programs need the status. */
    cli_log(CLI_ERROR, cli_logs_json() ? dueq_status_name(DUEQ_INVALID) : NULL, see, "%s", text);
    free(text);
    free(see);
    exit(CLI_USAGE);
}

/* The server's URL */

void cli_take_url(struct cli *cli, char *given) {
    free(cli->url);
    if (!(cli->url = strdup(given)))
        cli_out_of_memory();
    /* Even a malformed URL may contain a secret. */
    memset(given, 0, strlen(given));
}

#define URL_ROOM 65536

static void read_url(struct cli *cli, const char *path) {
    int number;
    char rest;
    free(cli->url);
    if (!(cli->url = calloc(1, URL_ROOM)))
        cli_out_of_memory();
    if (strstr(path, "://")) /* fopen()'s error would print the URL and its password */
        cli_usage(cli, "--url-file wants a file, and was given a URL");
    FILE *file = fopen(path, "re");
    if (!file || (!fgets(cli->url, URL_ROOM, file) && !feof(file)))
        exit(cli_system_error(path));
    fclose(file);
    cli->url[strcspn(cli->url, "\r\n")] = '\0';
    if (!*cli->url)
        cli_usage(cli, "--url-file %s: its first line is empty", path);
    if (strlen(cli->url) == URL_ROOM - 1)
        cli_usage(cli, "--url-file %s: its first line is too long for a URL", path);
    /* Child commands must not read the descriptor. */
    if (sscanf(path, "/dev/fd/%d%c", &number, &rest) == 1 && number > STDERR_FILENO)
        close(number);
}

int cli_option(struct cli *cli, int argc, char *argv[], const struct option *options) {
    for (;;) {
        opterr = 0;
        int option = getopt_long(argc, argv, cli_choice(cli->command) ? "+:" : ":", options, NULL);
        switch (option) {
        case '?':
        case ':':
            refuse_option(cli, option, argv, options);
            break;
        case CLI_OPTION_URL:
            cli_take_url(cli, optarg);
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
        case CLI_OPTION_PARTITIONS:
            cli->partitions = (size_t)cli_number(cli, "partitions", optarg, 1, DUEQ_MAX_PARTITIONS);
            break;
        case CLI_OPTION_KEY:
            cli->key = optarg;
            if (!*optarg)
                cli_usage(cli, "--key is empty; leave it out for none");
            break;
        case CLI_OPTION_HELP:
            help(cli->command);
            exit(written());
        case CLI_OPTION_VERSION:
            fprintf(cli_out, "dueq %s\n", dueq_version());
            exit(written());
        default:
            return option;
        }
    }
}

/* A hint about quotes, for commands whose argument may have several words. */
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
    const int64_t ms = dueq_duration_ms(text);
    if (ms < 0)
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

long cli_limit(const struct cli *cli, const char *option, const char *text, long most) {
    return strcmp(text, "none") == 0 ? DUEQ_NO_LIMIT : cli_number(cli, option, text, 1, most);
}

static _Noreturn void no_command(const struct cli *cli, const struct command *const *list,
                                 const char *word) {
    const struct command *nearest = cli_suggest(list, word);
    cli_usage(cli, "there is no command %s%s%s%s%s%s", cli->command ? cli->command->name : "",
              cli->command ? " " : "", word, nearest ? "; did you mean " : "",
              nearest ? nearest->name : "", nearest ? "?" : "");
}

/* dueq help [COMMAND [VERB]] */
static int run_help(struct cli *cli, char *words[]) {
    const struct command *about = NULL;
    const struct command *const *list = commands;
    for (; *words && list; words++, list = cli_choice(about))
        if (!(about = cli_find_command(list, *words)))
            no_command(cli, list, *words);
    help(about);
    return written();
}

/* Errors of the command line shall be JSON too, so look for --json before the options are read. */
static bool wants_json(char *argv[]) {
    while (*argv && strcmp(*argv, "--") != 0)
        if (strcmp(*argv++, "--json") == 0)
            return true;
    return false;
}

int main(int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    struct cli cli = {0};
    cli_log_json(wants_json(argv));
    cli_output_begin();
    cli_signals();
    for (const struct command *const *list; (list = cli_choice(cli.command)) != NULL;) {
        cli_option(&cli, argc, argv, options);
        if (optind >= argc && cli.command)
            cli_usage(&cli, "the verb is missing: dueq %s %s", cli.command->name,
                      cli.command->arguments);
        if (optind >= argc)
            cli_usage(&cli, "the command is missing; for example: dueq push orders 'hello'");
        const char *word = argv[optind];
        const struct command *found = cli_find_command(list, word);
        if (!found && !cli.command && strcmp(word, "help") == 0)
            return run_help(&cli, argv + optind + 1);
        if (!found)
            no_command(&cli, list, word);
        cli.command = found;
        argv += optind;
        argc -= optind;
        optind = 0; /* 0: getopt starts anew, and options may stand anywhere */
    }
    int code = cli.command->run(&cli, argc, argv);
    cli_close(&cli);
    return cli_worse(code, written());
}

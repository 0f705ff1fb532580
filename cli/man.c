#include <ctype.h>
#include <string.h>

#include "cli.h"

/* man writes the manual page from the texts of --help. */

/* roff would replace these characters by typographic ones. */
static void put_character(char character) {
    switch (character) {
    case '\\':
        fputs("\\e", stdout);
        break;
    case '-':
        fputs("\\-", stdout);
        break;
    case '\'':
        fputs("\\(aq", stdout);
        break;
    case '`':
        fputs("\\(ga", stdout);
        break;
    case '^':
        fputs("\\(ha", stdout);
        break;
    case '~':
        fputs("\\(ti", stdout);
        break;
    default:
        putchar(character);
    }
}

static void put(const char *text, size_t size) {
    if (size > 0 && text[0] == '.')
        fputs("\\&", stdout);
    for (size_t i = 0; i < size; i++)
        put_character(text[i]);
    putchar('\n');
}

/* Writes lines unchanged. With `sections` a line such as "Exit codes:" begins a section. */
static void put_lines(const char *text, bool sections) {
    puts(".nf");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t size = strcspn(line, "\n");
        if (!sections || size == 0 || line[0] == ' ' || line[size - 1] != ':') {
            put(line, size);
            continue;
        }
        fputs(".fi\n.SH ", stdout);
        for (size_t i = 0; i + 1 < size; i++)
            putchar(toupper((unsigned char)line[i]));
        puts("\n.nf");
    }
    puts(".fi");
}

static void put_command(const struct command *command) {
    printf(".SS ");
    put(command->name, strlen(command->name));
    printf(".B ");
    printf("dueq ");
    put(command->name, strlen(command->name));
    if (command->arguments[0])
        put(command->arguments, strlen(command->arguments));
    puts(".PP");
    printf("%s.\n.PP\n", command->summary);
    put_lines(command->help, false);
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    if (optind < argc)
        cli_usage(cli, "man takes no arguments");
    printf(".TH DUEQ 1 \"\" \"dueq %s\" \"User Commands\"\n"
           ".SH NAME\n"
           "dueq \\- a reliable delayed message queue on Redis or Valkey\n"
           ".SH SYNOPSIS\n"
           ".B dueq\n"
           "\\fICOMMAND\\fR [\\fIQUEUE\\fR] [\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]\n"
           ".SH COMMANDS\n",
           dueq_version());
    for (const struct command *const *list = cli_choice(NULL); *list; list++) {
        put_command(*list);
        for (const struct command *const *verb = cli_choice(*list); verb && *verb; verb++)
            put_command(*verb);
    }
    put_lines(cli_common_help, true);
    return CLI_DONE;
}

const struct command man_command = {.name = "man",
                                    .arguments = "",
                                    .summary = "Prints the manual page",
                                    .help = "Example:\n"
                                            "  dueq man | man -l -\n",
                                    .run = run};

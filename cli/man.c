#include <ctype.h>
#include <string.h>

#include "cli.h"

/* man writes the manual page from the texts of --help. */

/* roff would replace these characters by typographic ones. */
static void put_character(char character) {
    switch (character) {
    case '\\':
        fputs("\\e", cli_out);
        break;
    case '-':
        fputs("\\-", cli_out);
        break;
    case '\'':
        fputs("\\(aq", cli_out);
        break;
    case '`':
        fputs("\\(ga", cli_out);
        break;
    case '^':
        fputs("\\(ha", cli_out);
        break;
    case '~':
        fputs("\\(ti", cli_out);
        break;
    default:
        fputc(character, cli_out);
    }
}

static void put(const char *text, size_t size) {
    if (size > 0 && text[0] == '.')
        fputs("\\&", cli_out);
    for (size_t i = 0; i < size; i++)
        put_character(text[i]);
    fputc('\n', cli_out);
}

/* Writes lines unchanged. With `sections` a line such as "Exit codes:" begins a section. */
static void put_lines(const char *text, bool sections) {
    fputs(".nf\n", cli_out);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t size = strcspn(line, "\n");
        if (!sections || size == 0 || line[0] == ' ' || line[size - 1] != ':') {
            put(line, size);
            continue;
        }
        fputs(".fi\n.SH ", cli_out);
        for (size_t i = 0; i + 1 < size; i++)
            fputc(toupper((unsigned char)line[i]), cli_out);
        fputs("\n.nf\n", cli_out);
    }
    fputs(".fi\n", cli_out);
}

static void put_command(const struct command *command) {
    fprintf(cli_out, ".SS ");
    put(command->name, strlen(command->name));
    fprintf(cli_out, ".B ");
    fprintf(cli_out, "dueq ");
    put(command->name, strlen(command->name));
    if (command->arguments[0])
        put(command->arguments, strlen(command->arguments));
    fputs(".PP\n", cli_out);
    fprintf(cli_out, "%s.\n.PP\n", command->summary);
    put_lines(command->help, false);
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    if (optind < argc)
        cli_usage(cli, "man takes no arguments");
    fprintf(cli_out,
            ".TH DUEQ 1 \"\" \"dueq %s\" \"User Commands\"\n"
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

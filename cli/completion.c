#include <stdlib.h>
#include <string.h>

#include "cli.h"

/*
 * Completion offers what may follow on the command line. It reads that from the texts of --help,
 * where a line that begins with "  --" describes an option.
 */

/* A part of a help text. */
struct piece {
    const char *text;
    size_t size;
};

/* An option as in "  --lease DURATION  how long". The name includes its dashes. */
struct described {
    struct piece name, argument, meaning;
};

typedef void (*visit)(const struct described *option, void *context);

static struct piece whole(const char *text) { return (struct piece){text, strlen(text)}; }

static bool same(struct piece one, struct piece other) {
    return one.size == other.size && memcmp(one.text, other.text, one.size) == 0;
}

static struct piece until(const char *text, const char *ends) {
    return (struct piece){text, strcspn(text, ends)};
}

static struct piece without_blanks(const char *text) {
    return until(text + strspn(text, " "), "\n");
}

/* The meaning of the options of a line: the rest of the line, or the indented line below. */
static struct piece meaning_of(const char *line) {
    const char *end = line + strcspn(line, "\n"), *gap = strstr(line + 2, "  ");
    if (gap && gap < end)
        return without_blanks(gap);
    return without_blanks(strncmp(end, "\n    ", 5) == 0 ? end + 1 : end);
}

/* Visits the options of a line: one, or more with commas between. */
static void visit_line(const char *line, visit each, void *context) {
    const char *at = line + 2;
    struct described option = {.meaning = meaning_of(line)};
    do {
        option.name = until(at, " ,\n");
        at += option.name.size;
        option.argument = (struct piece){at, 0};
        if (at[0] == ' ' && !strchr(" -\n", at[1]))
            option.argument = until(at + 1, " ,\n");
        at = option.argument.size ? option.argument.text + option.argument.size : at;
        each(&option, context);
        at += strspn(at, ", ");
    } while (strncmp(at, "--", 2) == 0 && at[-1] == ' ' && at[-2] == ',');
}

static void visit_text(const char *help, visit each, void *context) {
    for (const char *line = help; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "  --", 4) == 0 && line[4] != ' ')
            visit_line(line, each, context);
    }
}

/* All options of a command. command NULL: only the common ones. */
static void visit_options(const struct command *command, visit each, void *context) {
    if (command)
        visit_text(command->help, each, context);
    if (command == &ack_command) /* the options of the messages that ack pushes */
        visit_text(push_command.help, each, context);
    visit_text(cli_common_help, each, context);
}

/* What is offered */

static void offer(struct piece front, struct piece word, struct piece meaning, const char *typed) {
    if (strlen(typed) <= word.size && memcmp(word.text, typed, strlen(typed)) == 0)
        fprintf(cli_out, "%.*s%.*s\t%.*s\n", (int)front.size, front.text, (int)word.size, word.text,
                (int)meaning.size, meaning.text);
}

static void offer_text(const char *word, const char *meaning, const char *typed) {
    offer(whole(""), whole(word), whole(meaning), typed);
}

/* Offers values for a placeholder of the help: "high|normal|low", "STATE", "FILE". */
static void offer_values(struct piece of, struct piece front, const char *typed) {
    if (same(of, whole("STATE"))) {
        for (dueq_state state = DUEQ_READY; state <= DUEQ_OUTBOX; state++)
            offer_text(dueq_state_name(state), "", typed);
    } else if (same(of, whole("FILE"))) {
        fputs(":files\n", cli_out);
    } else if (memchr(of.text, '|', of.size)) {
        const char *end = of.text + of.size;
        for (const char *at = of.text; at < end;) {
            struct piece word = {at, strcspn(at, "| \n")};
            if (word.size > 0)
                offer(front, word, whole(""), typed);
            at += word.size + 1;
        }
    }
}

static void offer_option(const struct described *option, void *typed) {
    offer(whole(""), option->name, option->meaning, typed);
}

static void offer_commands(const struct command *const *list, const char *typed) {
    for (; *list; list++)
        offer_text(cli_last_word(*list), (*list)->summary, typed);
}

/* Where the cursor is */

struct wanted {
    struct piece name;
    struct piece argument; /* size 0: the option takes none */
};

static void find_argument(const struct described *option, void *context) {
    struct wanted *wanted = context;
    if (same(option->name, wanted->name))
        wanted->argument = option->argument;
}

/* The argument of an option; size 0: it takes none. */
static struct piece argument_of(const struct command *command, struct piece name) {
    struct wanted wanted = {.name = name};
    visit_options(command, find_argument, &wanted);
    return wanted.argument;
}

/* The placeholder at this position of the command's arguments, without brackets and dots. */
static struct piece argument_at(const struct command *command, size_t place) {
    const char *at = command->arguments;
    for (; *at && place > 0; place--)
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    return until(at + strspn(at, "["), " ].");
}

struct place {
    const struct command *command;
    size_t words; /* how many of its arguments are there */
    /* argument of the option before the cursor; size 0: no option waits for one */
    struct piece argument;
    bool lost;   /* an unknown command was named */
    bool behind; /* the cursor is behind -- */
    size_t behind_words;
};

static void pass(struct place *place, const char *word) {
    const struct command *const *list = cli_choice(place->command);
    bool expected = place->argument.size > 0;
    if (expected && strcmp(word, "=") == 0)
        return; /* bash splits --name=value at the = */
    place->argument.size = 0;
    if (place->behind)
        place->behind_words++;
    else if (expected)
        return;
    else if (strcmp(word, "--") == 0)
        place->behind = true;
    else if (word[0] == '-')
        place->argument = argument_of(place->command, whole(word));
    else if (!list)
        place->words++;
    else if (place->command || strcmp(word, "help") != 0)
        place->lost = !(place->command = cli_find_command(list, word));
}

/* Offers completions for the last of the words. */
static int offer_next(char *words[], int count) {
    struct place place = {0};
    for (int i = 0; i + 1 < count && !place.lost; i++)
        pass(&place, words[i]);
    const char *typed = count > 0 ? words[count - 1] : "", *equals = strchr(typed, '=');
    const struct command *const *list = cli_choice(place.command);
    if (place.lost)
        return CLI_DONE;
    if (place.behind)
        fputs(place.behind_words == 0 ? ":commands\n" : ":files\n", cli_out);
    else if (place.argument.size > 0)
        offer_values(place.argument, whole(""), strcmp(typed, "=") == 0 ? "" : typed);
    else if (typed[0] == '-' && equals)
        offer_values(argument_of(place.command, until(typed, "=")),
                     (struct piece){typed, (size_t)(equals + 1 - typed)}, equals + 1);
    else if (typed[0] == '-')
        visit_options(place.command, offer_option, (void *)(uintptr_t)typed);
    else if (list)
        offer_commands(list, typed);
    else
        offer_values(argument_at(place.command, place.words), whole(""), typed);
    return CLI_DONE;
}

/* The shells */

/* Each shell calls `dueq completion words` with the words up to the cursor. */

static const char bash[] =
    "_dueq() {\n"
    "    local line current=${COMP_WORDS[COMP_CWORD]}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "            :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "
    "\"$current\") ;;\n"
    "            :commands) mapfile -t COMPREPLY < <(compgen -c -- \"$current\") ;;\n"
    "            *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done < <(\"$1\" completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _dueq dueq\n";

static const char zsh[] =
    "#compdef dueq\n"
    "_dueq() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in \"${(@f)$(\"$words[1]\" completion words \"${(@Q)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "            :files) _files ;;\n"
    "            :commands) _command_names -e ;;\n"
    "            ?*) found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#found )) && _describe dueq found\n"
    "}\n"
    "compdef _dueq dueq\n"
    "[[ $funcstack[1] != _dueq ]] || _dueq \"$@\"\n";

static const char fish[] =
    "function __dueq_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] completion words $words[2..-1] 2>/dev/null)\n"
    "        switch $line\n"
    "            case :files\n"
    "                __fish_complete_path (commandline -ct)\n"
    "            case :commands\n"
    "                __fish_complete_command\n"
    "            case '*'\n"
    "                printf '%s\\n' $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c dueq -f -a '(__dueq_complete)'\n";

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    static const struct {
        const char *name, *script;
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    if (argc > 1 && strcmp(argv[1], "words") == 0)
        return offer_next(argv + 2, argc - 2);
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    for (size_t i = 0; optind + 1 == argc && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(argv[optind], shells[i].name) == 0) {
            fputs(shells[i].script, cli_out);
            return CLI_DONE;
        }
    cli_usage(cli, "which shell? dueq completion %s", cli->command->arguments);
}

const struct command completion_command = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "Prints what makes a shell complete the commands, options and states of dueq",
    .help =
        "The installation puts this script where the shell looks for it.\n"
        "The script asks dueq: dueq completion words WORD... prints what can complete the last "
        "word.\n"
        "\n"
        "Examples:\n"
        "  source <(dueq completion bash)                             in ~/.bashrc\n"
        "  source <(dueq completion zsh)                              in ~/.zshrc, after compinit\n"
        "  dueq completion fish > ~/.config/fish/completions/dueq.fish\n",
    .run = run};

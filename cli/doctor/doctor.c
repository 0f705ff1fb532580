#include "doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"

static const char *const codes[] = {
#define CODE(name, code, about) code,
    DOCTOR_CHECKS(CODE)
#undef CODE
};

static const char *const levels[] = {"ok", "note", "warning", "problem", "unknown"};

/* Findings */

static void put_json(enum check check, enum level level, const char *server, const char *queue,
                     const char *text, const char *fix) {
    json_object *object = json_object_new_object();
    const char *const values[][2] = {{"code", codes[check]}, {"level", levels[level]},
                                     {"server", server},     {"queue", queue},
                                     {"text", text},         {"fix", fix}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *value = values[i][1];
        json_object_object_add(object, values[i][0],
                               value ? json_text((dueq_bytes){value, strlen(value)}) : NULL);
    }
    json_line(object);
}

static void put_text(enum check check, enum level level, const char *about, const char *text,
                     const char *fix) {
    fprintf(cli_out, "%-8s %-13s ", levels[level], codes[check]);
    if (about) {
        cli_put_text(about);
        fputs(": ", cli_out);
    }
    cli_put_text(text);
    fputc('\n', cli_out);
    if (fix)
        fprintf(cli_out, "%22s %s\n", "->", fix);
}

void doctor_say(struct doctor *doctor, enum check check, enum level level, const char *server,
                const char *queue, const char *fix, const char *format, ...) {
    va_list arguments;
    char *text;
    if (!doctor->wanted[check] && !(doctor->always[check] && level >= LEVEL_WARNING))
        return;
    doctor->bad = doctor->bad || level >= LEVEL_WARNING;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        cli_out_of_memory();
    va_end(arguments);
    if (doctor->cli->json)
        put_json(check, level, server, queue, text, fix);
    else
        put_text(check, level, queue ? queue : server, text, fix);
    free(text);
    cli_check_signal(doctor->cli);
}

/* The command */

/* Lists the queues to check. This also connects, which starts an embedded server. */
static dueq_status list_queues(struct doctor *doctor) {
    struct cli_names *names = &doctor->names;
    dueq_status status = cli_read_names(doctor->cli, names);
    if (doctor->chosen_count == 0)
        return status;
    cli_free_names(names);
    for (size_t i = 0; i < doctor->chosen_count; i++)
        cli_add_name(names, (dueq_bytes){doctor->chosen[i], strlen(doctor->chosen[i])});
    return status;
}

static void say_listed(struct doctor *doctor, dueq_status status, const char *why) {
    if (status == DUEQ_OK || (status == DUEQ_DENIED && doctor->chosen_count))
        doctor_say(doctor, CHECK_QUEUES, LEVEL_OK, NULL, NULL, NULL,
                   "queues that are looked at: %zu", doctor->names.count);
    else if (status == DUEQ_DENIED)
        doctor_say(doctor, CHECK_QUEUES, LEVEL_UNKNOWN, NULL, NULL,
                   "permit it by +scan, or name the queues by --queue",
                   "this user may not list the queues");
    else
        doctor_say(doctor, CHECK_QUEUES, LEVEL_PROBLEM, NULL, NULL,
                   "see the findings about the servers", "the queues cannot be listed: %s", why);
}

static void examine_server(struct doctor *doctor, struct server *server) {
    check_version(doctor, server);
    check_lua(doctor, server);
    check_health(doctor, server);
    check_memory(doctor, server);
    check_disk(doctor, server);
    check_settings(doctor, server);
    check_slow(doctor, server);
    check_replicas(doctor, server);
    check_access(doctor, server);
}

static int examine(struct doctor *doctor) {
    dueq_status status = list_queues(doctor);
    char *why = strdup(dueq_error_text(doctor->cli->client));
    bool answered = false;
    if (!why)
        cli_out_of_memory();
    servers_find(doctor);
    for (size_t i = 0; i < doctor->count; i++)
        answered = answered || doctor->servers[i].answers;
    if (answered) {
        say_listed(doctor, status, why);
        check_cluster(doctor);
        check_sentinels(doctor);
        for (size_t i = 0; i < doctor->count; i++)
            if (doctor->servers[i].role != ROLE_SENTINEL && doctor->servers[i].info)
                examine_server(doctor, &doctor->servers[i]);
        check_times(doctor);
        check_queues(doctor);
    }
    servers_close(doctor);
    free(why);
    return answered ? CLI_DONE : cli_report(doctor->cli, status ? status : DUEQ_CONNECT, NULL);
}

static enum check find_code(const struct cli *cli, const char *word) {
    for (size_t i = 0; i < CHECKS; i++)
        if (strcmp(codes[i], word) == 0)
            return (enum check)i;
    cli_usage(cli, "there is no check %s", word);
}

static int run_doctor(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"only", required_argument, NULL, 'o'},
                                            {"ignore", required_argument, NULL, 'i'},
                                            {"queue", required_argument, NULL, 'q'},
                                            CLI_OPTIONS};
    struct doctor doctor = {.cli = cli};
    bool only[CHECKS] = {0}, ignored[CHECKS] = {0}, all = true;
    int option, code;
    while ((option = cli_option(cli, argc, argv, options)) != -1) {
        if (option == 'q' && doctor.chosen_count == DUEQ_MAX_QUEUES)
            cli_usage(cli, "at most %d times --queue", DUEQ_MAX_QUEUES);
        if (option == 'q')
            doctor.chosen[doctor.chosen_count++] = optarg;
        else
            (option == 'o' ? only : ignored)[find_code(cli, optarg)] = true;
        all = all && option != 'o';
    }
    if (optind < argc)
        cli_take_url(cli, argv[optind++]);
    if (optind < argc)
        cli_usage(cli, "too many arguments: dueq doctor [URL]");
    cli_no_partitions(cli);
    for (size_t i = 0; i < CHECKS; i++)
        doctor.wanted[i] = (all || only[i]) && !ignored[i];
    doctor.always[CHECK_REACH] = !ignored[CHECK_REACH];
    doctor.always[CHECK_QUEUES] = !ignored[CHECK_QUEUES];
    if (!cli_connect(cli, &code))
        return code;
    code = examine(&doctor);
    if (code == CLI_DONE && doctor.bad)
        code = CLI_OUTCOME;
    cli_free_names(&doctor.names);
    return code;
}

#define LINE(name, code, about) "  " code ": " about "\n"

const struct command doctor_command = {
    "doctor", "[URL]", "Finds what would do harm in production, and says what to do about it",
    "Checks the server, all nodes of a cluster, or the sentinels and the servers that they watch,\n"
    "and the queues. It changes nothing. Each check prints a line for each server or queue, with\n"
    "a level. ok. note: worth knowing. warning: will do harm some day. problem: does harm now, or\n"
    "at the next crash. unknown: the check was not possible, because this user has no permission,\n"
    "or the service hides the value. The line below says what to do. Ends with 1 if there is a\n"
    "warning, a problem or an unknown, else with 0.\n"
    "\n"
    "Checks:\n" DOCTOR_CHECKS(
        LINE) "\n"
              "Options:\n"
              "  --only CODE    only this check; may be repeated. Servers that do not answer, and\n"
              "                 queues that cannot be read, are reported all the same\n"
              "  --ignore CODE  not this check; may be repeated\n"
              "  --queue NAME   only this queue; may be repeated\n"
              "\n"
              "Examples:\n"
              "  dueq doctor redis://localhost\n"
              "  dueq doctor --ignore persistence --ignore replicas\n"
              "  dueq doctor --json | jq -r 'select(.level == \"problem\") | .code'\n",
    run_doctor};

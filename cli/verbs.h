/* Made from core/verbs.toml by core/verbs.py. */
/* clang-format off */
#ifndef DUEQ_CLI_VERBS_H
#define DUEQ_CLI_VERBS_H

#include "cli.h"

extern const struct command retry_command;
extern const struct command release_command;
extern const struct command hold_group_command;
extern const struct command extend_command;
extern const struct command bury_command;
extern const struct command kill_command;
extern const struct command cancel_command;
extern const struct command reschedule_command;
extern const struct command pause_command;
extern const struct command resume_command;
extern const struct command hold_command;
extern const struct command limit_command;
extern const struct command close_batch_command;

/* The commands on a message, on ids and on a queue: main.c lists all commands. */
#define MESSAGE_COMMANDS \
    , &retry_command \
    , &release_command \
    , &hold_group_command \
    , &extend_command \
    , &bury_command
#define ID_COMMANDS \
    , &kill_command \
    , &cancel_command \
    , &reschedule_command \
    , &close_batch_command
#define QUEUE_COMMANDS \
    , &pause_command \
    , &resume_command \
    , &hold_command \
    , &limit_command

#endif

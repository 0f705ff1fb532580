#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <string.h>

#include "embedded.h"

#ifdef __APPLE__

const char *dueq__embedded_package(const char *os_release) {
    (void)os_release;
    return "brew install valkey";
}

#else

/*
 * The command that installs a server, by the name of a system. ID_LIKE names the systems that a
 * system is like, as Ubuntu is like Debian. Debian 12 has no Valkey, and Alpine's Valkey needs a
 * second package for Lua.
 */
static const struct {
    const char *system, *command;
} packages[] = {
    {"alpine", "apk add redis"},
    {"arch", "pacman -S valkey"},
    {"debian", "apt install redis-server"},
    {"fedora", "dnf install valkey"},
};

/* The command for the first system that it knows of these names. NULL: it knows none. */
static const char *command_for(char *names) {
    static const char *const marks = " \"'\n";
    char *rest = NULL;
    for (char *name = strtok_r(names, marks, &rest); name; name = strtok_r(NULL, marks, &rest))
        for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
            if (strcmp(name, packages[i].system) == 0)
                return packages[i].command;
    return NULL;
}

const char *dueq__embedded_package(const char *os_release) {
    const char *own = NULL, *like = NULL;
    char line[256];
    FILE *file = fopen(os_release, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "ID=", 3) == 0)
            own = command_for(line + 3);
        else if (strncmp(line, "ID_LIKE=", 8) == 0)
            like = command_for(line + 8);
    if (file)
        fclose(file);
    return own ? own : like;
}

#endif

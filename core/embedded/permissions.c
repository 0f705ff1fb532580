/*
 * Checks who can write in an embedded server's directory. The server loads the directory's files
 * with this user's rights. So no other user may write in the directory, or replace it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded_internal.h"

/*
 * Checks one directory on the path. *shared: whether every user can make entries in the directory
 * before; then in this one.
 */
static dueq_status check_step(const char *path, bool make, bool *shared,
                              struct dueq__error *error) {
    struct stat entry, what;
    if ((make && mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &entry) != 0 ||
        stat(path, &what) != 0)
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot create the directory %s: %s", path,
                          strerror(errno));
    if (*shared && entry.st_uid != geteuid() && entry.st_uid != 0)
        return dueq__fail(error, DUEQ_EMBEDDED,
                          "%s was created by another user (uid %ju), where every user can; name a "
                          "directory elsewhere",
                          path, (uintmax_t)entry.st_uid);
    *shared = what.st_mode & S_IWOTH;
    if (*shared && !(what.st_mode & S_ISVTX))
        return dueq__fail(error, DUEQ_EMBEDDED,
                          "every user can replace files in %s (mode %03o); forbid it (chmod "
                          "o-w), or name a directory elsewhere",
                          path, (unsigned)what.st_mode & 0777);
    return DUEQ_OK;
}

dueq_status dueq__embedded_check_directory(const char *path, bool make, struct dueq__error *error) {
    struct stat what;
    bool shared = false;
    char *copy = strdup(path);
    if (!copy)
        return dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    dueq_status status = check_step("/", false, &shared, error);
    for (char *at = copy + 1; !status; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char end = *at;
        *at = '\0';
        status = check_step(copy, make, &shared, error);
        if (end == '\0')
            break;
        *at = '/';
    }
    free(copy);
    if (status)
        return status;
    if (stat(path, &what) != 0 || !S_ISDIR(what.st_mode))
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot use the directory %s: %s", path,
                          strerror(ENOTDIR));
    if (what.st_uid != geteuid())
        return dueq__fail(error, DUEQ_EMBEDDED,
                          "the directory %s belongs to another user (uid %ju); name one of this "
                          "user's",
                          path, (uintmax_t)what.st_uid);
    if (what.st_mode & (S_IWGRP | S_IWOTH))
        return dueq__fail(error, DUEQ_EMBEDDED,
                          "others can write in the directory %s (mode %03o); forbid it (chmod "
                          "go-w), or name another",
                          path, (unsigned)what.st_mode & 0777);
    return DUEQ_OK;
}

int dueq__embedded_open(const char *directory, const char *name, int flags,
                        struct dueq__error *error) {
    struct stat what;
    int at = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int low = at < 0 ? -1 : openat(at, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    int why = errno, fd = -1;
    if (at >= 0)
        close(at);
    if (low >= 0) {
        bool own = fstat(low, &what) == 0 && S_ISREG(what.st_mode) && what.st_uid == geteuid() &&
                   what.st_nlink <= 1;
        fd = own ? fcntl(low, F_DUPFD_CLOEXEC, 10) : -1;
        why = own ? errno : ELOOP;
        close(low);
    }
    if (fd < 0 && (why == ELOOP || why == EEXIST || why == ENXIO || why == EISDIR))
        dueq__fail(error, DUEQ_EMBEDDED,
                   "%s/%s is a link, or not a file of this user's alone; remove it", directory,
                   name);
    else if (fd < 0)
        dueq__fail(error, DUEQ_EMBEDDED,
                   "cannot write in the directory %s: %s; name one that this user may write in",
                   directory, strerror(why));
    return fd;
}

dueq_status dueq__embedded_check_files(const char *directory, struct dueq__error *error) {
    DIR *list = opendir(directory);
    struct stat what;
    dueq_status status = DUEQ_OK;
    if (!list)
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot use the directory %s: %s", directory,
                          strerror(errno));
    for (const struct dirent *entry; !status && (entry = readdir(list));)
        if (strcmp(entry->d_name, "..") != 0 &&
            fstatat(dirfd(list), entry->d_name, &what, AT_SYMLINK_NOFOLLOW) == 0 &&
            what.st_uid != geteuid() && what.st_uid != 0)
            status = dueq__fail(error, DUEQ_EMBEDDED,
                                "%s in the directory %s belongs to another user (uid %ju); "
                                "remove it, or name another directory",
                                entry->d_name, directory, (uintmax_t)what.st_uid);
    closedir(list);
    return status;
}

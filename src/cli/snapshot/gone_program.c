/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/gone_program.h"

#include "base/sandbox/confine.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The kernel appends " (deleted)" to the link of a file without a name. */
static bool read_deleted_path(const char *link, char *path, size_t size)
{
    static const char deleted[] = " (deleted)";
    const size_t suffix = sizeof(deleted) - 1;
    ssize_t length = readlink(link, path, size - 1);
    if (length < (ssize_t)suffix || memcmp(path + length - suffix, deleted, suffix) != 0)
        return false;
    path[length - (ssize_t)suffix] = '\0';
    return true;
}

void gone_program_open(struct gone_program *program, pid_t pid)
{
    char link[64];
    program->fd = -1;
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    if (!read_deleted_path(link, program->path, sizeof(program->path)))
        return;
    int fd = open(link, O_RDONLY | O_CLOEXEC);
    program->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CONFINE_RULES_FD + 1);
    if (fd >= 0)
        close(fd);
    snprintf(program->path_now, sizeof(program->path_now), "/proc/self/fd/%d", program->fd);
}

static const char *find(const void *context, const char *path, const uint8_t *build_id,
                        size_t build_id_bytes)
{
    const struct gone_program *program = context;
    (void)build_id;
    (void)build_id_bytes;
    return strcmp(path, program->path) == 0 ? program->path_now : NULL;
}

void gone_program_use(const struct gone_program *program, struct convert_options *options)
{
    if (program->fd < 0)
        return;
    options->find_gone = find;
    options->find_gone_context = program;
    options->gone_fds = &program->fd;
    options->gone_fd_count = 1;
}

void gone_program_close(struct gone_program *program)
{
    if (program->fd >= 0)
        close(program->fd);
    program->fd = -1;
}

/* SPDX-License-Identifier: MIT */
#include "record/process/membership.h"

#include "base/containers/buffer.h"
#include "base/files/io.h"
#include "record/procfs/proc.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GENERATIONS_MAX 64
#define ENVIRONMENT_BYTES_MAX (UINT32_C(8) << 20) /* execve() takes 6 MiB at most */

/* What proc_maps_read() looks for. */
static struct proc_maps signs_of_sampler(const struct session *session, uint64_t mark_avma)
{
    struct stat rings = {0};
    if (fstat(session->rings_fd, &rings) != 0)
        return (struct proc_maps){0};
    return (struct proc_maps){
        .memfd_device = rings.st_dev, .memfd_inode = rings.st_ino, .private_avma = mark_avma};
}

bool membership_read_maps(const struct session *session, pid_t pid, uint64_t mark_avma,
                          struct proc_maps *mappings)
{
    *mappings = signs_of_sampler(session, mark_avma);
    return proc_maps_read(mappings, pid) == 0 && mappings->has_memfd && mappings->has_private;
}

bool membership_is_shown(const struct session *session, pid_t pid, uint64_t mark_avma)
{
    struct proc_maps mappings = signs_of_sampler(session, mark_avma);
    bool found = proc_maps_look(&mappings, pid) == 0 && mappings.has_memfd && mappings.has_private;
    proc_maps_free(&mappings);
    return found;
}

bool membership_has_rings(const struct session *session, pid_t pid)
{
    struct proc_maps mappings = signs_of_sampler(session, 0);
    bool found = proc_maps_look(&mappings, pid) == 0 && mappings.has_memfd;
    proc_maps_free(&mappings);
    return found;
}

/* The pid still belongs to the recorded process. */
static bool is_alive(const struct process *process)
{
    struct pollfd end = {.fd = process->pid_fd, .events = POLLIN};
    return end.fd >= 0 && poll(&end, 1, 0) == 0;
}

/* Its line of parents leads to the launcher, or to a process that was found to descend from it. */
static bool has_known_ancestor(const struct process_table *processes, pid_t pid)
{
    for (int i = 0; i < GENERATIONS_MAX && pid > 0; i++) {
        const struct process *process = process_find(processes, pid);
        struct proc_stat stat;
        if (pid == getpid() || (process && is_alive(process)))
            return true;
        pid = proc_stat_read(&stat, pid, 0) == 0 ? stat.parent : 0;
    }
    return false;
}

/* For a process left to init: the environment of its exec, or of its parent's, came from the
 * command. */
static bool is_invited(const struct session *session, pid_t pid)
{
    char path[64], name[1 + SESSION_NAME_BYTES] = "";
    struct buffer text = {0};
    session_name(session, name + 1);
    size_t length = strlen(name + 1);
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    bool found = io_read_file(path, &text, ENVIRONMENT_BYTES_MAX) == 0 && text.size >= length &&
                 (memcmp(text.bytes, name + 1, length) == 0 ||
                  memmem(text.bytes, text.size, name, 1 + length) != NULL);
    buffer_free(&text);
    return found;
}

bool membership_descends(const struct session *session, const struct process_table *processes,
                         pid_t pid)
{
    return has_known_ancestor(processes, pid) || is_invited(session, pid);
}

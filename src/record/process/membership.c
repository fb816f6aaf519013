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

static struct proc_maps search_for(const struct session *session, struct mapped_memory memory)
{
    return (struct proc_maps){.memfd_device = session->memory_device,
                              .memfd_inode = memory.inode,
                              .memfd_from_avma = memory.from_avma};
}

bool membership_read_maps(const struct session *session, pid_t pid, struct mapped_memory memory,
                          struct proc_maps *mappings)
{
    *mappings = search_for(session, memory);
    return proc_maps_read(mappings, pid) == 0 && mappings->has_memfd;
}

bool membership_maps(const struct session *session, pid_t pid, struct mapped_memory memory)
{
    struct proc_maps mappings = search_for(session, memory);
    bool found = proc_maps_look(&mappings, pid) == 0 && mappings.has_memfd;
    proc_maps_free(&mappings);
    return found;
}

bool membership_maps_session(const struct session *session, pid_t pid)
{
    struct stat requests;
    return fstat(session->requests_fd, &requests) == 0 &&
           membership_maps(session, pid, (struct mapped_memory){requests.st_ino, 0});
}

/* The pid still belongs to the recorded process. */
static bool is_alive(const struct process *process)
{
    struct pollfd end = {.fd = process->pid_fd, .events = POLLIN};
    return end.fd >= 0 && poll(&end, 1, 0) == 0;
}

bool membership_has(const struct process_table *processes, pid_t pid)
{
    const struct process *process = process_find(processes, pid);
    return process && is_alive(process);
}

/* The line of parents leads to the launcher, or to a proven descendant of the launcher. */
static bool has_known_ancestor(const struct process_table *processes, pid_t pid, pid_t parent)
{
    const pid_t launcher = getpid();
    for (int i = 0; i < GENERATIONS_MAX && pid > 0; i++) {
        struct proc_stat stat;
        if (pid == launcher || membership_has(processes, pid))
            return true;
        if (i == 0 && parent)
            pid = parent;
        else
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
                         pid_t pid, pid_t parent)
{
    return has_known_ancestor(processes, pid, parent) || is_invited(session, pid);
}

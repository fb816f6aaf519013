/* SPDX-License-Identifier: MIT */
#include "record/process/untracked/untracked_reason.h"

#include "base/containers/buffer.h"
#include "base/files/io.h"
#include "record/launch/exec_target.h"
#include "record/process/membership.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool executable_id_read(pid_t pid, struct stat *file, uint64_t *id)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    bool is_there = stat(path, file) == 0;
    if (is_there)
        /* One number to compare, not to keep: device and inode of files that exist at the same
         * time. */
        *id = file->st_ino ^ (uint64_t)file->st_dev << 40;
    else
        *id = errno == EACCES ? EXECUTABLE_HIDDEN : 0;
    return is_there;
}

uint64_t executable_id_of(pid_t pid)
{
    struct stat file;
    uint64_t id;
    (void)executable_id_read(pid, &file, &id);
    return id;
}

/* 65 530 mappings (vm.max_map_count) of 250 bytes each. */
#define MAPS_BYTES_MAX (16u << 20)
#define ANY_TABLES "/memfd:rec-tables"

static bool has_path(const struct buffer *maps, const char *path)
{
    return maps->size > 0 && memmem(maps->bytes, maps->size, path, strlen(path)) != NULL;
}

static void read_maps(struct buffer *maps, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    if (io_read_file(path, maps, MAPS_BYTES_MAX) != 0)
        maps->size = 0;
}

/* Whether the process maps the tables of any recording. This recording's own requests are checked
 * before. */
static bool is_in_other_recording(pid_t pid)
{
    struct buffer maps = {0};
    read_maps(&maps, pid);
    bool found = has_path(&maps, ANY_TABLES);
    buffer_free(&maps);
    return found;
}

bool untracked_is_in_loader(const struct session *session, pid_t pid)
{
    struct buffer maps = {0};
    read_maps(&maps, pid);
    bool is_in_loader = has_path(&maps, session->sampler_path) && !has_path(&maps, ANY_TABLES);
    buffer_free(&maps);
    return is_in_loader;
}

static const char *reason_of_file(pid_t pid, uint64_t executable)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return executable == EXECUTABLE_HIDDEN ? exec_target_is_privileged
                                           : exec_target_inspect(path, pid).reason;
}

/* The sampler's path does not exist in the root directory of the process. */
static bool lacks_sampler(const struct session *session, pid_t pid)
{
    int fd = io_open_in_root_of(pid, session->sampler_path, O_PATH);
    if (fd >= 0)
        close(fd);
    return fd == -ENOENT;
}

static bool lacks_address_space(pid_t pid)
{
    struct rlimit limit;
    return prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur < SESSION_LEAST_SPACE_BYTES;
}

/* Seccomp filters are inherited and never removed, so more filters than rec's own were added by the
 * program or its parents. */
static bool is_in_sandbox(pid_t pid)
{
    return proc_status_read(pid).filters > proc_status_read(getpid()).filters;
}

/* In a sandbox, a forked child maps the tables of its parent, and cannot make its own memory. */
bool untracked_takes_ring(const struct session *session, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    bool is_cut_off = is_in_sandbox(pid) && membership_maps_session(session, pid);
    return !exec_target_inspect(path, pid).is_other_machine &&
           (is_cut_off || !is_in_other_recording(pid));
}

const char *untracked_reason_permanent(const struct session *session, pid_t pid,
                                       uint64_t executable)
{
    const char *reason = reason_of_file(pid, executable);
    if (reason)
        return reason;
    if (lacks_sampler(session, pid))
        return "in another root directory, without the sampler";
    if (lacks_address_space(pid))
        return "address space is limited (ulimit -v): the sampler would take too much";
    return NULL;
}

const char *untracked_reason(const struct session *session, pid_t pid, uint64_t executable,
                             uint64_t parents)
{
    const char *reason = untracked_reason_permanent(session, pid, executable);
    if (reason)
        return reason;
    if (is_in_sandbox(pid))
        return "in a sandbox: the filter forbids system calls of the sampler";
    if (membership_maps_session(session, pid))
        return executable != 0 && executable == parents
                   ? "made by vfork() or clone(): without a sampler"
                   : record_started_late;
    if (is_in_other_recording(pid))
        return "recorded by another rec";
    return "started without the sampler: environment replaced, or loader refused";
}

/* SPDX-License-Identifier: MIT */
#include "convert/jit/jit_file.h"

#include "base/files/foreign_file.h"
#include "base/files/io.h"
#include "base/process_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct reading {
    const struct jit_file_place *place;
    bool is_dump;
    struct buffer *out;
    struct jit_source **known;
};

static int check(const struct stat *status, const struct jit_file_place *place)
{
    uint64_t written_ns =
        (uint64_t)status->st_mtim.tv_sec * 1000000000 + (uint64_t)status->st_mtim.tv_nsec;
    if (status->st_uid != 0 && status->st_uid != place->owner && status->st_uid != geteuid())
        return -EPERM;
    /* File systems stamp with the kernel's tick. */
    return written_ns + 1000000000 < place->since_wall_ns ? -ESTALE : 0;
}

/* Checked by the descriptor: the path may be replaced between the check and the reading. */
static int open_checked(int32_t pid, const char *path, const struct reading *reading)
{
    struct stat status;
    int place_fd = foreign_file_find(pid, path, O_NOFOLLOW, rights_reader());
    int fd = foreign_file_reopen(place_fd, rights_reader(), &status);
    if (fd < 0)
        return fd == -ENOEXEC ? -EPERM : fd;
    int err = check(&status, reading->place);
    if (err == 0)
        err = jit_sources_admit(reading->place->sources, &status, reading->is_dump, reading->known);
    if (err == 0)
        err = io_read_all(fd, reading->out, (size_t)status.st_size);
    close(fd);
    return err;
}

/* The pid of a living process inside its own pid namespace; 0: unknown. */
static int32_t inner_pid(int32_t pid)
{
    pid_t ids[PROCESS_NAMESPACES_MAX];
    if (kill(pid, 0) != 0 && errno == ESRCH) /* of most, and faster than a look into /proc */
        return 0;
    size_t count = process_ids(pid, 0, ids, PROCESS_NAMESPACES_MAX);
    return count ? ids[count - 1] : 0;
}

int jit_file_read_map(const struct jit_file_place *place, struct buffer *out,
                      struct jit_source **known)
{
    const struct reading reading = {place, false, out, known};
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", place->pid);
    int err = open_checked(0, path, &reading);
    int32_t inner = err < 0 ? inner_pid(place->pid) : 0;
    if (inner == 0)
        return err;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", inner);
    return open_checked(place->pid, path, &reading);
}

int jit_file_read_dump(const struct jit_file_place *place, const char *path, struct buffer *out,
                       struct jit_source **known)
{
    const struct reading reading = {place, true, out, known};
    int err = open_checked(0, path, &reading);
    return err < 0 ? open_checked(place->pid, path, &reading) : err;
}

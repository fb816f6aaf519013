/* SPDX-License-Identifier: MIT */
#include "convert/jit_file.h"

#include "base/io.h"
#include "base/process_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 512 << 20 };

static int read_checked(int fd, const struct jit_file_place *place, struct buffer *out)
{
    struct stat st;
    uint64_t written_ns = 0;
    int err = fstat(fd, &st) == 0 ? 0 : -errno;
    if (err == 0)
        written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
    if (err == 0 && !S_ISREG(st.st_mode))
        err = -EPERM;
    if (err == 0 && st.st_uid != 0 && st.st_uid != place->owner && st.st_uid != geteuid())
        err = -EPERM;
    /* File systems stamp with the kernel's tick. */
    if (err == 0 && written_ns + 1000000000 < place->since_wall_ns)
        err = -ESTALE;
    if (err == 0)
        err = io_read_all(fd, out, FILE_BYTES_MAX);
    close(fd);
    return err;
}

static int open_checked(int32_t pid, const char *path, const struct jit_file_place *place,
                        struct buffer *out)
{
    int fd = io_open_in_root_of(pid, path, O_RDONLY | O_NOFOLLOW);
    return fd < 0 ? fd : read_checked(fd, place, out);
}

/* The pid of a living process inside its own pid namespace; 0: unknown. */
static int32_t inner_pid(int32_t pid)
{
    pid_t ids[PROCESS_NAMESPACES_MAX];
    size_t count = process_ids(pid, 0, ids, PROCESS_NAMESPACES_MAX);
    return count ? ids[count - 1] : 0;
}

int jit_file_read_map(const struct jit_file_place *place, struct buffer *out)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", place->pid);
    int err = open_checked(0, path, place, out);
    int32_t inner = err ? inner_pid(place->pid) : 0;
    if (inner == 0)
        return err;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", inner);
    return open_checked(place->pid, path, place, out);
}

int jit_file_read_dump(const struct jit_file_place *place, const char *path, struct buffer *out)
{
    int err = open_checked(0, path, place, out);
    return err ? open_checked(place->pid, path, place, out) : 0;
}

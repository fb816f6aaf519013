/* SPDX-License-Identifier: MIT */
#include "export/source.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_LIMIT_BYTES = 1 << 20 };

static int read_text(int fd, struct buffer *out)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return -errno;
    if (!S_ISREG(file.st_mode))
        return -EINVAL;
    int err = io_read_all(fd, out, SOURCE_LIMIT_BYTES);
    if (err != 0)
        return err;
    if (out->size && memchr(out->bytes, '\0', out->size))
        return -EINVAL;
    buffer_u8(out, 0);
    return out->failed ? -ENOMEM : 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

/* By its name: of a language that is compiled, or a header without suffix, as C++'s own are. */
static bool is_named_like_source(const char *path)
{
    static const char *const suffixes[] = {
        "c",   "cc",    "cpp", "cxx", "c++",  "h",   "hh",  "hpp", "hxx", "h++", "inc", "inl",
        "ipp", "tcc",   "tpp", "def", "m",    "mm",  "rs",  "d",   "di",  "go",  "s",   "asm",
        "f",   "f77",   "f90", "f95", "f03",  "f08", "for", "adb", "ads", "pas", "pp",  "zig",
        "nim", "swift", "cu",  "cuh", "cl",   "y",   "yy",  "l",   "ll",  "rl",  "ml",  "hs",
        "v",   "cr",    "jl",  "kt",  "java", "py",  "pyx", "js",  "ts",  "lua", NULL};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot ? dot != name && is_one_of(dot + 1, suffixes) : strstr(path, "/include/") != NULL;
}

/* What a link leads to must look like source, too. */
static bool leads_to_source(int fd)
{
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    return is_named_like_source(target);
}

int source_read(const char *path, struct buffer *out)
{
    if (path[0] != '/' || !is_named_like_source(path))
        return -EINVAL;
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int err = leads_to_source(fd) ? read_text(fd, out) : -EINVAL;
    close(fd);
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "export/source.h"

#include "base/files/foreign_file.h"
#include "base/files/io.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SOURCE_LIMIT_BYTES = 1 << 20 };

static int read_text(int fd, struct buffer *out)
{
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

/* By suffix: a compiled language, or a header of a C++ standard library, without suffix.
 * Languages used for configuration and its passwords (Python, JavaScript, Lua) are left out. */
static bool is_named_like_source(const char *path)
{
    static const char *const suffixes[] = {
        "c",   "cc",  "cpp", "cxx", "c++",   "h",   "hh",  "hpp", "hxx",  "h++", "inc",
        "inl", "ipp", "tcc", "tpp", "def",   "m",   "mm",  "rs",  "d",    "di",  "go",
        "s",   "asm", "f",   "f77", "f90",   "f95", "f03", "f08", "for",  "adb", "ads",
        "pas", "pp",  "zig", "nim", "swift", "cu",  "cuh", "cl",  "y",    "yy",  "l",
        "ll",  "rl",  "ml",  "hs",  "v",     "cr",  "jl",  "kt",  "java", "pyx", NULL};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot ? dot != name && is_one_of(dot + 1, suffixes)
               : strstr(path, "/include/c++/") != NULL;
}

/* The target of a link must look like source, too. */
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

/* The name is checked before the file is opened. */
static int open_source(const char *path, struct stat *file)
{
    int place = foreign_file_find(0, path, 0, rights_reader());
    if (place >= 0 && !leads_to_source(place)) {
        close(place);
        return -EINVAL;
    }
    return foreign_file_reopen(place, rights_reader(), file);
}

int source_read(const char *path, time_t before, struct buffer *out)
{
    if (path[0] != '/' || !is_named_like_source(path))
        return -EINVAL;
    struct stat file;
    int fd = open_source(path, &file);
    if (fd < 0)
        return fd;
    bool is_changed = before != 0 && file.st_mtime > before;
    int err = is_changed ? -ESTALE : read_text(fd, out);
    close(fd);
    return err;
}

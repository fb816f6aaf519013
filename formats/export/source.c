/* SPDX-License-Identifier: MIT */
#include "export/source.h"

#include "base/files/foreign_file.h"
#include "base/files/io.h"
#include "base/text/path_name.h"

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
    buffer_clear(out);
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
static bool is_compiled_source(const char *path)
{
    static const char *const suffixes[] = {
        "c",   "cc",  "cpp", "cxx", "c++",   "h",   "hh",  "hpp", "hxx",  "h++", "inc",
        "inl", "ipp", "tcc", "tpp", "def",   "m",   "mm",  "rs",  "d",    "di",  "go",
        "s",   "asm", "f",   "f77", "f90",   "f95", "f03", "f08", "for",  "adb", "ads",
        "pas", "pp",  "zig", "nim", "swift", "cu",  "cuh", "cl",  "y",    "yy",  "l",
        "ll",  "rl",  "ml",  "hs",  "v",     "cr",  "jl",  "kt",  "java", "pyx", NULL};
    const char *name = path_name(path);
    const char *dot = strrchr(name, '.');
    return dot ? dot != name && is_one_of(dot + 1, suffixes)
               : strstr(path, "/include/c++/") != NULL;
}

static bool is_any_source(const char *path)
{
    static const char *const suffixes[] = {"js",  "mjs", "cjs", "ts",  "tsx", "jsx", "py",
                                           "pyi", "rb",  "lua", "php", "pl",  "erl", NULL};
    const char *name = path_name(path);
    const char *dot = strrchr(name, '.');
    return is_compiled_source(path) || (dot && dot != name && is_one_of(dot + 1, suffixes));
}

/* The target of a link must look like source, too. */
static bool leads_to_source(int fd, bool is_accepted(const char *path))
{
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    return is_accepted(target);
}

/* The name is checked before the file is opened. */
static int open_source(const char *path, bool is_accepted(const char *path), struct stat *file)
{
    int place = foreign_file_find(0, path, 0, rights_reader());
    if (place >= 0 && !leads_to_source(place, is_accepted)) {
        close(place);
        return -EINVAL;
    }
    return foreign_file_reopen(place, rights_reader(), file);
}

static int read_accepted(const char *path, bool is_accepted(const char *path), time_t before,
                         struct buffer *out)
{
    if (path[0] != '/' || !is_accepted(path))
        return -EINVAL;
    struct stat file;
    int fd = open_source(path, is_accepted, &file);
    if (fd < 0)
        return fd;
    bool is_changed = before != 0 && file.st_mtime > before;
    int err = is_changed ? -ESTALE : read_text(fd, out);
    close(fd);
    return err;
}

int source_read(const char *path, time_t before, struct buffer *out)
{
    return read_accepted(path, is_compiled_source, before, out);
}

int source_read_shown(const char *path, time_t before, struct buffer *out)
{
    return read_accepted(path, is_any_source, before, out);
}

time_t source_build_time(const struct profile *profile, uint32_t lib)
{
    struct stat binary;
    bool is_known = profile->start_wall_ns && !profile->is_wall_time_of_file;
    time_t time = is_known ? (time_t)(profile->start_wall_ns / 1000000000) : 0;
    if (lib == PROFILE_NONE || stat(profile_text(profile, profile->libs[lib].path), &binary) != 0 ||
        !S_ISREG(binary.st_mode))
        return time;
    return time == 0 || binary.st_mtime < time ? binary.st_mtime : time;
}

/* SPDX-License-Identifier: MIT */
#include "sampler/exec/exec.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"
#include "sampler/exec/departure.h"
#include "sampler/exec/environ.h"
#include "sampler/process/exit_time.h"

#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEARCH_PATH_MAX 512

static const char *find_path(void)
{
    const char *path = NULL;
    for (char **entry = environ; entry && *entry && !path; entry++)
        path = text_behind(*entry, "PATH=");
    return path ? path : "/bin:/usr/bin";
}

static bool is_executable(const char *path)
{
    struct stat status;
    return !raw_failed(own_syscall(STAT, AT_FDCWD, path, &status, 0)) && S_ISREG(status.st_mode) &&
           !raw_failed(own_syscall(ACCESS, AT_FDCWD, path, X_OK));
}

enum exec_kind exec_search_kind(const char *file)
{
    char path[SEARCH_PATH_MAX];
    const char *from = find_path();
    for (const char *at = file; *at; at++)
        if (*at == '/')
            return exec_target_kind(file);
    for (;; from++) {
        size_t used = 0;
        for (; *from && *from != ':' && used < sizeof(path) - 2; from++)
            path[used++] = *from;
        if (used)
            path[used++] = '/';
        for (const char *at = file; *at && used < sizeof(path) - 1; at++)
            path[used++] = *at;
        path[used] = '\0';
        if (used < sizeof(path) - 1 && is_executable(path))
            return exec_target_kind(path);
        if (*from != ':')
            return EXEC_TAKES_SAMPLER;
    }
}

/* The last steps of the program, unless the exec fails. */
static int exec(const char *file, char *const *argv, char *const *environment, bool is_searched)
{
    size_t bytes = file ? environ_bytes(environment) : 0;
    enum exec_kind kind = EXEC_TAKES_SAMPLER;
    if (bytes) {
        kind = is_searched ? exec_search_kind(file) : exec_target_kind(file);
        environment = environ_into(__builtin_alloca(bytes), environment,
                                   environ_wants_successor() && exec_kind_takes_variables(kind));
    }
    exit_time_note_exec(!bytes && environ_is_of_other(environment));
    departure_announce(kind);
    int result = is_searched ? NEXT(execvpe)(file, argv, environment)
                             : raw_told(raw_syscall(SYS_execve, file, argv, environment));
    departure_forget();
    exit_time_forget();
    return result;
}

int execve(const char *path, char *const *argv, char *const *environment)
{
    return exec(path, argv, environment, false);
}

int execv(const char *path, char *const *argv)
{
    return exec(path, argv, environ, false);
}

int execvpe(const char *file, char *const *argv, char *const *environment)
{
    return exec(file, argv, environment, true);
}

int execvp(const char *file, char *const *argv)
{
    return execvpe(file, argv, environ);
}

/* The words up to the NULL, as an array on the stack of the caller. */
#define COLLECT_WORDS(first, words, list)                          \
    size_t count = 1;                                              \
    va_start(list, first);                                         \
    while (va_arg(list, const char *))                             \
        count++;                                                   \
    va_end(list);                                                  \
    char **words = __builtin_alloca((count + 1) * sizeof(char *)); \
    va_start(list, first);                                         \
    words[0] = (char *)(uintptr_t)(first);                         \
    for (size_t i = 1; i <= count; i++)                            \
    words[i] = va_arg(list, char *)

int execl(const char *path, const char *first, ...)
{
    va_list list;
    COLLECT_WORDS(first, words, list);
    va_end(list);
    return execv(path, words);
}

int execlp(const char *file, const char *first, ...)
{
    va_list list;
    COLLECT_WORDS(first, words, list);
    va_end(list);
    return execvp(file, words);
}

int execle(const char *path, const char *first, ...)
{
    va_list list;
    COLLECT_WORDS(first, words, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, words, environment);
}

/* SPDX-License-Identifier: MIT */
/* posix_spawn(), system() and popen(): a new program in a new process. */
#include "sampler/exec/spawn.h"

#include "sampler/base/next_symbol.h"
#include "sampler/exec/environ.h"
#include "sampler/exec/exec.h"
#include "sampler/process/rusage.h"

static bool child_takes_variables(enum exec_kind kind)
{
    return exec_kind_takes_variables(kind) && environ_wants_children();
}

int posix_spawn(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
{
    size_t bytes = environ_bytes(environment);
    if (bytes)
        environment = environ_into(__builtin_alloca(bytes), environment,
                                   child_takes_variables(exec_target_kind(file)));
    return NEXT(posix_spawn)(pid, file, actions, attributes, argv, environment);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
{
    size_t bytes = environ_bytes(environment);
    if (bytes)
        environment = environ_into(__builtin_alloca(bytes), environment,
                                   child_takes_variables(exec_search_kind(file)));
    return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, environment);
}

/* The shell of system() and popen() gets `environ`. */
int system(const char *command)
{
    uint64_t before_ns = rusage_of_children_ns();
    environ_refresh();
    int status = NEXT(system)(command);
    rusage_note_waited(before_ns);
    return status;
}

FILE *popen(const char *command, const char *mode)
{
    environ_refresh();
    return NEXT(popen)(command, mode);
}

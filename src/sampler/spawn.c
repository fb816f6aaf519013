/* SPDX-License-Identifier: MIT */
/* posix_spawn(), system() and popen(): another program starts, and this one goes on. */
#include "sampler/exec.h"

#include "sampler/real.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const *, char *const *);

static int spawn(spawn_function *real, bool takes_variables, pid_t *pid, const char *file,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const *argv, char *const *environment)
{
    size_t bytes = inject_bytes(environment);
    if (bytes)
        environment = inject_into(__builtin_alloca(bytes), environment,
                                  takes_variables && inject_wants_children());
    struct inheritance inheritance = inheritance_begin();
    int err = real(pid, file, actions, attributes, argv, environment);
    inheritance_end(inheritance);
    return err;
}

__attribute__((visibility("default"))) int posix_spawn(pid_t *pid, const char *path,
                                                       const posix_spawn_file_actions_t *actions,
                                                       const posix_spawnattr_t *attributes,
                                                       char *const *argv, char *const *environment)
{
    return spawn(REAL(posix_spawn), image_takes_variables(AT_FDCWD, path), pid, path, actions,
                 attributes, argv, environment);
}

__attribute__((visibility("default"))) int posix_spawnp(pid_t *pid, const char *file,
                                                        const posix_spawn_file_actions_t *actions,
                                                        const posix_spawnattr_t *attributes,
                                                        char *const *argv, char *const *environment)
{
    return spawn(REAL(posix_spawnp), search_takes_variables(file), pid, file, actions, attributes,
                 argv, environment);
}

/* These two give the shell what `environ` says. */
__attribute__((visibility("default"))) int system(const char *command)
{
    bool lends = command && environment_lend();
    struct inheritance inheritance = inheritance_begin();
    int status = REAL(system)(command);
    inheritance_end(inheritance);
    if (lends)
        environment_take_back();
    return status;
}

__attribute__((visibility("default"))) FILE *popen(const char *command, const char *mode)
{
    bool lends = environment_lend();
    struct inheritance inheritance = inheritance_begin();
    FILE *file = REAL(popen)(command, mode);
    inheritance_end(inheritance);
    if (lends)
        environment_take_back();
    return file;
}

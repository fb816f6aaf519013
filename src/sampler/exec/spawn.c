/* SPDX-License-Identifier: MIT */
/* posix_spawn(), system() and popen(): a new program in a new process. */
#include "sampler/exec/spawn.h"

#include "sampler/base/hook.h"
#include "sampler/base/next_symbol.h"
#include "sampler/exec/environ.h"
#include "sampler/exec/exec.h"
#include "sampler/exec/exec_target.h"
#include "sampler/process/rusage.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const *, char *const *);

/* The arguments of a posix_spawn() other than the environment. */
struct request {
    spawn_function *next;
    pid_t *pid;
    const char *file;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    char *const *argv;
};

static int spawn(const struct request *request, enum exec_kind kind, char *const *environment)
{
    size_t bytes = environ_bytes(environment);
    if (bytes)
        environment = environ_into(__builtin_alloca(bytes), environment,
                                   exec_kind_takes_variables(kind) && environ_wants_children());
    struct inheritance inheritance = inheritance_begin();
    int err = request->next(request->pid, request->file, request->actions, request->attributes,
                            request->argv, environment);
    inheritance_end(inheritance);
    return err;
}

/* Before glibc 2.15, posix_spawn() passed a file without a known format to the shell. */
#define DEFINE_SPAWN(name, version, next, looks)                                               \
    __asm__(".symver " #name ", " version ", remove");                                         \
    HOOK int name(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,     \
                  const posix_spawnattr_t *attributes, char *const *argv,                      \
                  char *const *environment);                                                   \
    int name(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,          \
             const posix_spawnattr_t *attributes, char *const *argv, char *const *environment) \
    {                                                                                          \
        const struct request request = {(spawn_function *)next_symbol(NEXT_INDEX_##next),      \
                                        pid,                                                   \
                                        file,                                                  \
                                        actions,                                               \
                                        attributes,                                            \
                                        argv};                                                 \
        return spawn(&request, looks, environment);                                            \
    }

DEFINE_SPAWN(spawn_now, "posix_spawn@@GLIBC_2.15", posix_spawn, exec_target_kind(file))
DEFINE_SPAWN(spawnp_now, "posix_spawnp@@GLIBC_2.15", posix_spawnp, exec_search_kind(file))
DEFINE_SPAWN(spawn_old, "posix_spawn@GLIBC_2.2.5", posix_spawn_2_2_5, exec_target_kind(file))
DEFINE_SPAWN(spawnp_old, "posix_spawnp@GLIBC_2.2.5", posix_spawnp_2_2_5, exec_search_kind(file))

/* Before system() and popen(): their shell gets `environ`. */
static struct inheritance shell_begin(void)
{
    environ_refresh();
    return inheritance_begin();
}

static void shell_end(void *inheritance)
{
    inheritance_end(*(struct inheritance *)inheritance);
}

/* The thread may be cancelled during the wait. */
static int run_shell(const char *command)
{
    int status;
    struct inheritance inheritance = shell_begin();
    pthread_cleanup_push(shell_end, &inheritance);
    status = NEXT(system)(command);
    pthread_cleanup_pop(1);
    return status;
}

int system(const char *command)
{
    if (!command)
        return NEXT(system)(command);
    uint64_t before_ns = rusage_of_children_ns();
    int status = run_shell(command);
    rusage_note_waited(before_ns);
    return status;
}

FILE *popen(const char *command, const char *mode)
{
    struct inheritance inheritance = shell_begin();
    FILE *file = NEXT(popen)(command, mode);
    inheritance_end(inheritance);
    return file;
}

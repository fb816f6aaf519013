/* SPDX-License-Identifier: MIT */
/*
 * The seals of both memories are added after the launcher has mapped them (fcntl(2)):
 *
 *     rec-tables     SHRINK GROW SEAL FUTURE_WRITE   no target can map the tables writable
 *     rec-requests   SHRINK GROW SEAL                every process of the recording writes requests
 *
 * The descriptors have no close-on-exec flag: targets inherit them over any number of fork() and
 * exec(), and map the memory by the numbers in SESSION_VARIABLE.
 */
#include "record/session/session.h"

#include "arch/own.h"
#include "base/budget.h"
#include "record/procfs/proc.h"
#include "record/launch/exec_target.h"
#include "record/sample/tsc_clock.h"
#include "wire/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Threshold for a dead launcher. With a thousand busy threads on two processors, rec may get no
 * processor for five seconds and more: a threshold of 2 lost 35 % of the samples, 5 up to 33 %,
 * 10 none. Threads running so rarely do not fill their rings meanwhile. */
#define STALE_S 10

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Above the low numbers, which programs expect to be free, but within the usual limits of open
 * files. */
static int move_up(int fd)
{
    struct rlimit limit;
    int lowest = 900;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1000)
        lowest = limit.rlim_cur > 24 ? (int)limit.rlim_cur - 8 : 3;
    int moved = fcntl(fd, F_DUPFD, lowest); /* no O_CLOEXEC: targets inherit the descriptor */
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

/* RLIMIT_FSIZE applies to memfds too. Only the hard limit is binding. */
int session_set_size(int fd, size_t bytes)
{
    struct rlimit before;
    if (getrlimit(RLIMIT_FSIZE, &before) != 0)
        return -errno;
    /* setrlimit(2) needs no rights up to the hard limit. */
    struct rlimit most = {before.rlim_max, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &most);
    int err = ftruncate(fd, (off_t)bytes) != 0 ? -errno : 0;
    setrlimit(RLIMIT_FSIZE, &before);
    return err;
}

/* Sealed: no target can shrink the memory and kill rec by SIGBUS (memfd_create(2)). */
static int make_memory(const char *name, size_t bytes, unsigned seals, int *fd, void **memory)
{
    int made = memfd_create(name, MFD_ALLOW_SEALING);
    if (made < 0)
        return -errno;
    made = move_up(made);
    *fd = made;
    int err = session_set_size(made, bytes);
    if (err)
        return err;
    *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
    if (*memory == MAP_FAILED) {
        *memory = NULL;
        return -errno;
    }
    madvise(*memory, bytes, MADV_DONTDUMP);
    madvise(*memory, bytes, MADV_DONTFORK); /* targets map the memory by descriptor */
    return fcntl(made, F_ADD_SEALS, seals) == 0 ? 0 : -errno;
}

static void describe(struct session *session, const struct session_config *config)
{
    struct tables_header *tables = &session->tables->header;
    tables->magic = SESSION_MAGIC;
    tables->version = SESSION_VERSION;
    tables->launcher_pid = (uint32_t)getpid();
    tables->launcher_namespace = proc_namespace(getpid());
    tables->token = session->token;
    tables->period_ns = config->period_ns;
    tables->kernel_interval_ns = config->kernel_interval_ns;
    tables->sig_data = session->token;
    tables->event = config->event;
    tables->event_weight = config->event_weight;
    tables->stale_ticks = tsc_per_second() * STALE_S;
    tables->self_check_every = config->self_check_every;
    tables->frames_max = (uint32_t)budget_amount(BUDGET_FRAMES);
    tables->withhold_tables = config->withhold_tables ? 1 : 0;
    tables->no_inherit = config->no_inherit ? 1 : 0;
    tables->quiet = config->is_quiet ? 1 : 0;
    tables->takes_departures = config->takes_departures ? 1 : 0;
    tables->takes_accounts = config->takes_accounts ? 1 : 0;
    tables->linkers[0] = exec_target_own_linker();
    tables->linkers[1] = config->command_linker;
    session->requests->magic = SESSION_MAGIC;
    session->requests->version = SESSION_VERSION;
    session->requests->token = session->token;
}

static const char *limit_hint(int err)
{
    if (err == -EFBIG)
        return " (`ulimit -H -f` limits shared memory, too)";
    return err == -ENOMEM ? " (see `ulimit -v`)" : "";
}

int session_open(struct session *session, const struct session_config *config, struct error *error)
{
    *session = (struct session){.tables_fd = -1,
                                .requests_fd = -1,
                                .uid = geteuid(),
                                .own_files = open("/proc/self/fd", O_PATH | O_CLOEXEC)};
    unsigned seals = F_SEAL_SHRINK | F_SEAL_GROW;
    int err =
        make_memory("rec-tables", sizeof(struct tables), seals | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL,
                    &session->tables_fd, (void **)&session->tables);
    if (err == 0)
        err = make_memory("rec-requests", sizeof(struct requests), seals | F_SEAL_SEAL,
                          &session->requests_fd, (void **)&session->requests);
    struct stat status = {0};
    if (err == 0 && fstat(session->requests_fd, &status) != 0)
        err = -errno;
    session->memory_device = status.st_dev;
    if (err == 0 && getrandom(&session->token, sizeof(session->token), 0) < 0)
        err = -errno;
    if (err) {
        session_close(session);
        return error_set(
            error, err, "cannot set up %llu MiB of shared address space: %s%s",
            (unsigned long long)((sizeof(struct tables) + sizeof(struct requests)) >> 20),
            strerror(-err), limit_hint(err));
    }
    describe(session, config);
    session_beat(session);
    return 0;
}

void session_close(struct session *session)
{
    if (session->tables)
        munmap(session->tables, sizeof(*session->tables));
    if (session->requests)
        munmap(session->requests, sizeof(*session->requests));
    if (session->tables_fd >= 0)
        close(session->tables_fd);
    if (session->requests_fd >= 0)
        close(session->requests_fd);
    if (session->own_files >= 0)
        close(session->own_files);
    *session = (struct session){.tables_fd = -1, .requests_fd = -1, .own_files = -1};
}

/* Samplers stop once the heartbeat is older than STALE_S. */
void session_beat(struct session *session)
{
    store_relaxed(&session->tables->header.heartbeat_ticks, arch_ticks());
}

void session_start_sampling(struct session *session)
{
    store_release(&session->tables->header.quiet, 0);
}

/* Blocks of a memfd are the pages in use: a few MiB of rows, unless a program has touched all. */
bool session_is_locked(const struct session *session)
{
    struct stat status;
    return fstat(session->tables_fd, &status) == 0 &&
           (uint64_t)status.st_blocks * 512 >= sizeof(struct tables);
}

/* An entry of environ with this name, whatever its value. */
static bool is_variable(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

void session_name(const struct session *session, char name[SESSION_NAME_BYTES])
{
    snprintf(name, SESSION_NAME_BYTES, "%s=%d:%d:%d:%llx:", SESSION_VARIABLE, session->tables_fd,
             session->requests_fd, (int)getpid(), (unsigned long long)session->token);
}

static bool is_sampler(const char *library, size_t length)
{
    static const char name[] = "/" SESSION_SAMPLER_NAME;
    size_t name_length = sizeof(name) - 1;
    return length >= name_length && memcmp(library + length - name_length, name, name_length) == 0;
}

/* Removes each sampler with its separator. Under an outer rec, the command joins a single
 * recording. */
static void remove_samplers(char *list)
{
    while (*list) {
        size_t length = strcspn(list, ": ");
        size_t end = length + (list[length] != '\0');
        if (is_sampler(list, length))
            memmove(list, list + end, strlen(list + end) + 1);
        else
            list += end;
    }
}

/* LD_PRELOAD without samplers, in *list; NULL: not set, or nothing but samplers. */
static int find_preloaded(char **list)
{
    const char *set = getenv("LD_PRELOAD");
    *list = set ? strdup(set) : NULL;
    if (!*list)
        return set ? -ENOMEM : 0;
    remove_samplers(*list);
    if (*set && !**list) {
        free(*list);
        *list = NULL;
    }
    return 0;
}

/* FORBIDDEN has all of its digits: samplers overwrite the digits. */
static int describe_recording(const struct session *session,
                              struct session_environment *environment)
{
    char name[SESSION_NAME_BYTES];
    char *preloaded;
    session_name(session, name);
    if (find_preloaded(&preloaded) != 0)
        return -ENOMEM;
    int made = asprintf(&environment->preload, "LD_PRELOAD=%s%s%s", session->sampler_path,
                        preloaded ? ":" : "", preloaded ? preloaded : "");
    free(preloaded);
    return made < 0 || asprintf(&environment->invitation, "%s%016x", name, 0) < 0 ? -ENOMEM : 0;
}

void session_name_sampler(struct session *session, const char *sampler_path)
{
    struct tables_header *tables = &session->tables->header;
    char name[SESSION_NAME_BYTES];
    session_name(session, name);
    session->sampler_path = sampler_path;
    snprintf(tables->session, sizeof(tables->session), "%s", name);
    snprintf(tables->preload, sizeof(tables->preload), "LD_PRELOAD=%s", sampler_path);
}

int session_environment(const struct session *session, struct session_environment *environment)
{
    *environment = (struct session_environment){0};
    size_t count = 0;
    while (environ[count])
        count++;
    environment->variables = calloc(count + 3, sizeof(char *));
    if (!environment->variables || describe_recording(session, environment) != 0) {
        session_environment_free(environment);
        return -ENOMEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        /* In place of an existing LD_PRELOAD: the order of variables stays the same. */
        if (is_variable(environ[i], "LD_PRELOAD"))
            environment->variables[used++] = environment->preload;
        else if (!is_variable(environ[i], SESSION_VARIABLE))
            environment->variables[used++] = environ[i];
    }
    if (!getenv("LD_PRELOAD"))
        environment->variables[used++] = environment->preload;
    environment->variables[used] = environment->invitation;
    return 0;
}

void session_environment_free(struct session_environment *environment)
{
    free(environment->variables);
    free(environment->preload);
    free(environment->invitation);
    *environment = (struct session_environment){0};
}

int session_find_sampler(char path[4096], bool has_hooks, struct error *error)
{
    static const char *const places[] = {"", "/../lib", ("/../lib/" ARCH_LIBRARIES), "/../lib64"};
    const char *name =
        has_hooks ? SESSION_RECORDERS_FOLDER "/" SESSION_SAMPLER_NAME : SESSION_SAMPLER_NAME;
    char directory[2048];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);
    if (length < 0)
        return error_set(error, -errno,
                         "cannot determine where rec is installed: /proc/self/exe: %s",
                         strerror(errno));
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, 4096, "%s%s/%s", directory, places[i], name);
        if (access(path, R_OK) == 0)
            return 0;
    }
    return error_set(error, -ENOENT, "%s is neither in %s nor in %s/../lib", name, directory,
                     directory);
}

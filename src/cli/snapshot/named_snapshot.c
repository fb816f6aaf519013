/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/named_snapshot.h"

#include "cli/report/symbolized_load.h"
#include "cli/snapshot/gone_files.h"
#include "profile/walk.h"
#include "record/attach/core/core_snapshot.h"
#include "record/attach/snapshot/snapshot_rows.h"
#include "record/attach/snapshot/snapshot_take.h"
#include "record/procfs/living_task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tid_index {
    pid_t tid;
    uint32_t thread;
};

static int by_tid(const void *a, const void *b)
{
    const struct tid_index *left = a, *right = b;
    return (left->tid > right->tid) - (left->tid < right->tid);
}

static int match_stacks(struct named_snapshot *named)
{
    const struct snapshot *snapshot = &named->snapshot;
    struct tid_index *index = calloc(snapshot->count + 1, sizeof(*index));
    named->stacks = calloc(snapshot->count + 1, sizeof(*named->stacks));
    if (!index || !named->stacks) {
        free(index);
        return -ENOMEM;
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        named->stacks[i] = PROFILE_NONE;
        index[i] = (struct tid_index){snapshot->threads[i].tid, (uint32_t)i};
    }
    qsort(index, snapshot->count, sizeof(*index), by_tid);
    struct profile_walk walk = profile_walk_all(named->profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        const struct tid_index key = {.tid = named->profile->threads[sample->thread].tid};
        const struct tid_index *found =
            bsearch(&key, index, snapshot->count, sizeof(*index), by_tid);
        if (found)
            named->stacks[found->thread] = sample->stack;
    }
    free(index);
    return 0;
}

static int find_names(struct named_snapshot *named, int fd, const struct snapshot_options *options,
                      struct error *error)
{
    char path[64], name[64];
    struct convert_options from = options->from;
    struct gone_files gone = {.files.count = 0};
    if (!named->snapshot.is_core)
        gone_files_open(&gone, living_task_find(named->snapshot.pid));
    gone_files_use(&gone, &from);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
    snprintf(name, sizeof(name), "process %d", (int)named->snapshot.pid);
    from.input_name = name;
    int err = symbolized_load(&named->profile, path, &from, error);
    gone_files_close(&gone);
    if (err)
        return err;
    if (options->short_names)
        symbolized_shorten(named->profile);
    return match_stacks(named) ? error_set(error, -ENOMEM, "out of memory") : 0;
}

static int read_target(struct named_snapshot *named, pid_t pid, int fd,
                       const struct snapshot_options *options, struct error *error)
{
    const struct core_request core = {.path = options->core,
                                      .executable = options->executable,
                                      .capture_fd = fd,
                                      .limit_ns = options->limit_ns};
    const struct snapshot_request process = {.pid = pid,
                                             .capture_fd = fd,
                                             .limit_ns = options->limit_ns,
                                             .is_stopping = options->is_stopping,
                                             .with_kernel_stacks = options->kernel_stacks};
    return pid ? snapshot_take(&named->snapshot, &process, error)
               : core_snapshot_take(&named->snapshot, &core, error);
}

int named_snapshot_take(struct named_snapshot *named, pid_t pid,
                        const struct snapshot_options *options, struct error *error)
{
    *named = (struct named_snapshot){.profile = NULL};
    int fd = memfd_create("rec-snapshot", MFD_CLOEXEC);
    if (fd < 0)
        return error_set(error, -errno, "cannot create a memory file: %s", strerror(errno));
    int err = read_target(named, pid, fd, options, error);
    if (err == 0)
        err = find_names(named, fd, options, error);
    close(fd);
    return err;
}

void named_snapshot_free(struct named_snapshot *named)
{
    snapshot_free(&named->snapshot);
    profile_free(named->profile);
    free(named->stacks);
    *named = (struct named_snapshot){.profile = NULL};
}

static bool is_in_kernel(const struct profile *profile, uint32_t stack)
{
    uint32_t lib = profile->frames[profile->stacks[stack].frame].lib;
    return lib != PROFILE_NONE && profile->libs[lib].category == PROFILE_KERNEL;
}

uint32_t named_snapshot_user_stack(const struct named_snapshot *named, size_t thread)
{
    uint32_t stack = named->stacks[thread];
    while (stack != PROFILE_NONE && is_in_kernel(named->profile, stack))
        stack = named->profile->stacks[stack].parent;
    return stack;
}

uint32_t named_snapshot_function(const struct named_snapshot *named, size_t thread)
{
    const struct profile *profile = named->profile;
    uint32_t leaf = named_snapshot_user_stack(named, thread), stack = leaf;
    if (leaf == PROFILE_NONE)
        return PROFILE_NONE;
    uint32_t lib = profile->frames[profile->stacks[leaf].frame].lib;
    if (named->snapshot.threads[thread].is_waiting)
        while (stack != PROFILE_NONE && profile->frames[profile->stacks[stack].frame].lib == lib)
            stack = profile->stacks[stack].parent;
    stack = stack == PROFILE_NONE ? leaf : stack;
    return profile->frames[profile->stacks[stack].frame].func;
}

static const char *name_of(const struct named_snapshot *named, pid_t tid)
{
    for (size_t i = 0; i < named->snapshot.count; i++)
        if (named->snapshot.threads[i].tid == tid)
            return named->snapshot.threads[i].facts.name;
    return "?";
}

static void append_object(const struct named_snapshot *named, const struct snapshot_thread *thread,
                          char *text, size_t size)
{
    const char *kind = wait_kind_name(thread->kind);
    if (thread->object[0])
        snprintf(text, size, "%s of %s (descriptor %d)", kind, thread->object, thread->descriptor);
    else if (thread->descriptor >= 0)
        snprintf(text, size, "%s of descriptor %d", kind, thread->descriptor);
    else if (thread->holder)
        snprintf(text, size, "%s 0x%lx, held by thread %d (%s)", kind,
                 (unsigned long)thread->futex_avma, (int)thread->holder,
                 name_of(named, thread->holder));
    else if (thread->futex_avma)
        snprintf(text, size, "%s 0x%lx", kind, (unsigned long)thread->futex_avma);
    else if (thread->polled)
        snprintf(text, size, "%s of %u descriptor%s", kind, thread->polled,
                 thread->polled == 1 ? "" : "s");
    else if (thread->child)
        snprintf(text, size, "%s %d", kind, (int)thread->child);
    else
        snprintf(text, size, "%s%s%s", kind,
                 thread->kind == WAIT_OTHER && thread->call[0] ? " " : "",
                 thread->kind == WAIT_OTHER ? thread->call : "");
}

struct wait_text named_snapshot_wait(const struct named_snapshot *named, size_t thread)
{
    const struct snapshot_thread *row = &named->snapshot.threads[thread];
    struct wait_text wait;
    if (row->is_waiting)
        append_object(named, row, wait.text, sizeof(wait.text));
    else if (row->signal)
        snprintf(wait.text, sizeof(wait.text), "ended by signal %d (%s)", row->signal,
                 strsignal(row->signal));
    else if (row->is_starved)
        snprintf(wait.text, sizeof(wait.text), "runnable without a processor");
    else
        snprintf(wait.text, sizeof(wait.text), "%s",
                 row->has_stack && !named->snapshot.is_core ? "runs" : "");
    return wait;
}

const char *named_snapshot_stop_problem(const struct snapshot_thread *thread)
{
    switch (thread->stop_error) {
    case 0:
    case -ESRCH: /* it has ended */
        return NULL;
    case -EPERM:
        return "traced by another process";
    default:
        return "no stop in time";
    }
}

static bool is_alike(const struct named_snapshot *named, size_t a, size_t b)
{
    const struct snapshot_thread *left = &named->snapshot.threads[a];
    const struct snapshot_thread *right = &named->snapshot.threads[b];
    if (named->stacks[a] != named->stacks[b] || left->is_waiting != right->is_waiting ||
        left->stop_error != right->stop_error || strcmp(left->problem, right->problem) != 0)
        return false;
    struct wait_text left_wait = named_snapshot_wait(named, a);
    struct wait_text right_wait = named_snapshot_wait(named, b);
    return strcmp(left_wait.text, right_wait.text) == 0;
}

int named_snapshot_groups(const struct named_snapshot *named,
                          void (*print)(void *context, const struct stack_group *group),
                          void *context)
{
    size_t count = named->snapshot.count;
    uint32_t *members = calloc(count + 1, sizeof(*members));
    bool *is_done = calloc(count + 1, sizeof(*is_done));
    for (size_t i = 0; members && is_done && i < count; i++) {
        struct stack_group group = {.named = named, .members = members};
        for (size_t k = i; !is_done[i] && k < count; k++)
            if (!is_done[k] && is_alike(named, i, k))
                members[group.count++] = (uint32_t)k;
        for (size_t k = 0; k < group.count; k++)
            is_done[members[k]] = true;
        if (group.count > 0)
            print(context, &group);
    }
    int err = members && is_done ? 0 : -ENOMEM;
    free(members);
    free(is_done);
    return err;
}

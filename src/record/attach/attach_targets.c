/* SPDX-License-Identifier: MIT */
#include "record/attach/attach_targets.h"

#include "base/pid_fd.h"
#include "record/attach/target_facts.h"
#include "record/perf_ring/ring_attach.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHILDREN_MAX = 1024 };

static void name_system(const struct record_options *options, struct record_summary *summary)
{
    char *target = summary->target;
    summary->has_several_targets = options->processors && strpbrk(options->processors, ",-");
    if (options->cgroup)
        snprintf(target, RECORD_TARGET_BYTES, "cgroup %s", options->cgroup);
    else if (options->processors)
        snprintf(target, RECORD_TARGET_BYTES, "processor%s %s",
                 summary->has_several_targets ? "s" : "", options->processors);
    else
        snprintf(target, RECORD_TARGET_BYTES, "the system");
}

static void name_running(const struct record_options *options, const struct target_facts *first,
                         struct record_summary *summary)
{
    char *target = summary->target;
    summary->has_several_targets = options->target_count > 1;
    const char *kind = options->targets_are_threads ? "thread" : "process";
    int size = snprintf(target, RECORD_TARGET_BYTES, "%s %d", kind, (int)options->targets[0]);
    if (first->inner_id)
        size += snprintf(target + size, RECORD_TARGET_BYTES - (size_t)size, ", namespace pid %d",
                         (int)first->inner_id);
    size += snprintf(target + size, RECORD_TARGET_BYTES - (size_t)size, " (%s)", first->name);
    if (options->target_count > 1)
        snprintf(target + size, RECORD_TARGET_BYTES - (size_t)size, " and %zu more",
                 options->target_count - 1);
}

int attach_targets_check(const struct record_options *options, const struct own_rights *own,
                         struct record_summary *summary, struct error *error)
{
    int err = 0;
    if (options->records_system)
        name_system(options, summary);
    else if (options->user)
        snprintf(summary->target, sizeof(summary->target), "user %s", options->user);
    for (size_t i = 0; err == 0 && !options->user && i < options->target_count; i++) {
        struct target_facts facts = target_facts_read(options->targets[i]);
        err = refusal_check(&facts, own, options->targets[i], options->targets_are_threads, error);
        if (i == 0)
            name_running(options, &facts, summary);
    }
    return err;
}

/* The requested threads of one process, which has them after its descriptor was opened. */
static int attach_threads(struct ring_source *source, const struct record_options *options,
                          pid_t pid)
{
    pid_t *tids = calloc(options->target_count, sizeof(*tids));
    const struct attached process = {pid, pid_fd_open(pid)};
    size_t count = 0;
    for (size_t i = 0; tids && i < options->target_count; i++)
        if (target_facts_read(options->targets[i]).pid == pid)
            tids[count++] = options->targets[i];
    int err = !tids ? -ENOMEM : count ? ring_attach(source, process, tids, count) : -ESRCH;
    if (process.pid_fd >= 0)
        close(process.pid_fd);
    free(tids);
    return err;
}

/* Of a user's processes, some end meanwhile, and some are refused: they have more rights than rec,
 * or are traced. */
static void leave_out(struct ring_source *source, pid_t pid, const struct target_facts *facts,
                      int err)
{
    struct ring_process *process = ring_process_find(&source->tasks.processes, pid);
    if (process)
        ring_process_end(&source->tasks.processes, process);
    if (err != -ESRCH)
        record_add_not_followed(source->samples.summary, pid, facts->name,
                                "the kernel refuses events on it, see rec doctor -p");
}

static bool is_target(const struct record_options *options, pid_t pid)
{
    for (size_t i = 0; i < options->target_count; i++)
        if (options->targets[i] == pid)
            return true;
    return false;
}

/* Children inherit events at their fork only. */
static void list_earlier_children(const struct record_options *options, pid_t pid,
                                  struct record_summary *summary)
{
    pid_t children[CHILDREN_MAX];
    size_t count = proc_children(pid, children, CHILDREN_MAX);
    for (size_t i = 0; i < count; i++) {
        struct target_facts facts = target_facts_read(children[i]);
        if (facts.pid && !is_target(options, children[i]))
            record_processes_add(&summary->earlier_children, children[i], facts.name, NULL);
    }
}

static int attach_running(struct ring_source *source, const struct record_options *options,
                          const int *pid_fds, const struct own_rights *own, struct error *error)
{
    size_t attached = 0;
    for (size_t i = 0; i < options->target_count; i++) {
        pid_t id = options->targets[i];
        struct target_facts facts = target_facts_read(id);
        bool is_attached = ring_process_find(&source->tasks.processes, facts.pid);
        if (is_attached && (options->user || !pid_fd_is_reaped(pid_fds[i])))
            continue; /* with an earlier thread, or as a child */
        const struct attached target = {id, pid_fds[i]};
        int err = -ESRCH;
        if (!options->targets_are_threads && !options->user && !options->no_inherit)
            list_earlier_children(options, id, source->samples.summary);
        if (facts.pid && !is_attached)
            err = options->targets_are_threads ? attach_threads(source, options, facts.pid)
                                               : ring_attach(source, target, NULL, 0);
        if (pid_fd_is_reaped(pid_fds[i])) { /* the events are another process's */
            facts = (struct target_facts){.pid = options->targets_are_threads ? 0 : id,
                                          .name = "process"};
            err = -ESRCH;
        }
        attached += err == 0;
        bool is_last = attached == 0 && i == options->target_count - 1;
        if (err && (!options->user || is_last))
            return refusal_explain(&facts, own, id, err, error);
        if (err)
            leave_out(source, id, &facts, err);
    }
    return 0;
}

/* Below the mount point of version 1's hierarchy perf_event if there is one, else of version 2: a
 * controller is in a single hierarchy. A descriptor, or a negative errno. */
static int open_cgroup(const char *name)
{
    char path[PATH_MAX] = "";
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    bool is_found = false;
    for (const struct mntent *mount; mounts && !is_found && (mount = getmntent(mounts));) {
        is_found = strcmp(mount->mnt_type, "cgroup") == 0 && hasmntopt(mount, "perf_event");
        if (is_found || strcmp(mount->mnt_type, "cgroup2") == 0)
            snprintf(path, sizeof(path), "%s/%s", mount->mnt_dir, name);
    }
    if (mounts)
        endmntent(mounts);
    int fd = path[0] ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    return fd >= 0 ? fd : path[0] ? -errno : -ENODEV;
}

static int record_system(struct ring_source *source, const char *cgroup,
                         const struct own_rights *own, struct error *error)
{
    int cgroup_fd = cgroup ? open_cgroup(cgroup) : -1;
    if (cgroup && cgroup_fd < 0)
        return error_set(error, cgroup_fd, "cannot record cgroup %s: %s", cgroup,
                         strerror(-cgroup_fd));
    int err = ring_attach_system(source, cgroup_fd);
    if (cgroup_fd >= 0)
        close(cgroup_fd);
    return err ? refusal_explain_system(own, err, error) : 0;
}

int attach_targets_open(struct ring_source *source, const struct record_options *options,
                        const int *pid_fds, const struct own_rights *own, struct error *error)
{
    return options->records_system ? record_system(source, options->cgroup, own, error)
                                   : attach_running(source, options, pid_fds, own, error);
}

static int add_system_off_cpu(struct off_recorder *off_cpu, const char *cgroup,
                              const struct own_rights *own, struct error *error)
{
    int cgroup_fd = cgroup ? open_cgroup(cgroup) : -1;
    int err = cgroup && cgroup_fd < 0 ? cgroup_fd
                                      : off_recorder_record_system(off_cpu, cgroup, cgroup_fd);
    if (cgroup_fd >= 0)
        close(cgroup_fd);
    return err ? refusal_explain_system(own, err, error) : 0;
}

int attach_targets_add_off_cpu(struct off_recorder *off_cpu, const struct record_options *options,
                               const int *pid_fds, const struct own_rights *own,
                               struct error *error)
{
    if (options->records_system)
        return add_system_off_cpu(off_cpu, options->cgroup, own, error);
    for (size_t i = 0; i < options->target_count; i++) {
        pid_t id = options->targets[i];
        struct target_facts facts = target_facts_read(id);
        if (pid_fd_is_reaped(pid_fds[i]))
            continue;
        int err = off_recorder_attach(off_cpu, facts.pid, &id, options->targets_are_threads);
        if (err && err != -ESRCH && !options->user) /* it has ended since its other events opened */
            return refusal_explain(&facts, own, id, err, error);
    }
    return 0;
}

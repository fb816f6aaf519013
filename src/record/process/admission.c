/* SPDX-License-Identifier: MIT */
#include "record/process/admission.h"
#include "record/procfs/proc.h"

#include "record/process/untracked/untracked_reason.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char admission_not_visible[] =
    "not visible from here (another pid namespace, or hidden /proc)";

const char admission_is_emulated[] = "runs inside another program (valgrind, qemu)";

/* A vDSO is a mapping of its own, so the address is the start of the mapping. */
static bool has_vdso(const struct proc_maps *mappings, uint64_t avma)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->mappings[i].start_avma == avma)
            return strcmp(mappings->mappings[i].path, "[vdso]") == 0;
    return false;
}

/* An emulator shows its guest another vDSO or executable than the kernel has: -EXDEV, returned by
 * no call below. The vDSO comes first: its address is in the mappings at hand, and random for each
 * exec. A process without a vDSO states its executable instead. */
static int compare_views(const struct process_slot *request, pid_t pid,
                         const struct proc_maps *mappings)
{
    char executable[sizeof(request->executable)] = "";
    if (request->vdso_avma && has_vdso(mappings, request->vdso_avma))
        return 0;
    int err = proc_executable(pid, executable, sizeof(executable));
    bool differs =
        request->vdso_avma || strncmp(executable, request->executable, sizeof(executable) - 1) != 0;
    return err == 0 && differs ? -EXDEV : err;
}

bool admission_has_other_view(const struct process_slot *request, pid_t pid,
                              const struct proc_maps *mappings)
{
    return compare_views(request, pid, mappings) == -EXDEV;
}

struct executable admission_look(struct admission *admission, pid_t pid)
{
    char link[64];
    struct stat file;
    struct executable executable = {0};
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    executable.is_there = executable_id_read(pid, &file, &executable.id);
    executable.is_go =
        executable.is_there && go_programs_have(&admission->go_programs, pid, link, &file);
    return executable;
}

/* The reason against sampling; NULL: none. A process that has ended is not refused. */
static const char *refusal(pid_t pid, const struct executable *executable,
                           const struct process_slot *request, const struct proc_maps *mappings)
{
    int err = compare_views(request, pid, mappings);
    if (err == -ENOENT || err == -ESRCH)
        return NULL;
    if (err == -EXDEV)
        return admission_is_emulated;
    if (err != 0)
        return admission_not_visible;
    return executable->is_go ? "a Go program (the Go runtime owns the signals)" : NULL;
}

static const char *tracer_refusal(pid_t pid, bool *has_one_thread)
{
    struct proc_status status = proc_status_read(pid);
    *has_one_thread = status.threads == 1;
    return status.tracer ? "is being traced by a debugger" : NULL;
}

/* Opens the event; if the kernel refuses, the timer stands in unless the user insists on
 * perf-trap. */
static const char *choose_engine(const struct admission *admission, struct process *process,
                                 bool has_one_thread)
{
    process->engine = ENGINE_TIMER;
    /* Without a pidfd, nothing proves that the event was opened on this process. */
    if (admission->engine == RECORD_ENGINE_TIMER || !admission->may_arm || process->pid_fd < 0)
        return NULL;
    int err = perf_event_open(&process->event, process->pid, has_one_thread, &admission->event);
    /* A killed process is no refusal by the kernel: nothing is left to be reported. */
    bool is_killed = err == -ESRCH;
    if (err == 0 || is_killed)
        process->engine = ENGINE_PERF_TRAP;
    else if (admission->engine == RECORD_ENGINE_PERF_TRAP || admission->event.request)
        process->engine = ENGINE_NONE;
    return process->engine == ENGINE_NONE ? "the kernel refuses perf events there" : NULL;
}

const char *admission_judge(const struct admission *admission, struct process *process,
                            const struct executable *executable, const struct process_slot *request,
                            const struct proc_maps *mappings, bool may_be_traced)
{
    bool has_one_thread = true; /* as every forked child, and every program in its constructor */
    const char *reason = NULL;
    process->engine = ENGINE_NONE;
    if (executable)
        reason = refusal(process->pid, executable, request, mappings);
    if (executable && !reason && may_be_traced)
        reason = tracer_refusal(process->pid, &has_one_thread);
    return reason ? reason : choose_engine(admission, process, has_one_thread);
}

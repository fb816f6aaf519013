/* SPDX-License-Identifier: MIT */
/*
 * Two searches, at most every LOOK_INTERVAL_NS:
 *
 *     recorded processes with new CPU time     children without an entry      ─▶ add()
 *                                              another executable than before ─▶ check_executable()
 *     items: processes without a sampler       children                       ─▶ add()
 *                                              CPU time, end                  ─▶ look_at()
 *
 * The states of an item; a late handshake ends each of them (untracked_processes_take()):
 *
 *     add() ─▶ seen ─ before its constructor? in the dynamic linker? ─▶ certain
 *     certain ─┬▶ perf-ring takes the process over: forgotten here
 *              └▶ written, with name and reason ─ looks at the CPU time ─▶ end()
 */
#include "record/process/untracked/untracked_processes.h"

#include "base/clock.h"
#include "base/pid_fd.h"
#include "record/process/membership.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"
#include "record/process/untracked/untracked_reason.h"
#include "wire/atomic.h"

#include <string.h>
#include <unistd.h>

#define LOOK_INTERVAL_NS 100000000
#define LOOK_SOON_NS 10000000
/* The interval between two looks is this part of the process' age. */
#define AGE_PARTS 50
/* Bounds the work of one look; the next looks continue with the other parents. */
#define PARENTS_A_LOOK 64
#define CHILDREN_MAX 1024
#define PATIENCE_CPU_NS 100000000
#define PATIENCE_NS UINT64_C(5000000000)
#define LOADER_CPU_NS UINT64_C(2000000000) /* of the dynamic linker; Blender's: 0.3 s */
/* Looks for processes in the linker take at most this part of the time. */
#define LOADER_PARTS 32
/* So do lists of children, beyond a burst. */
#define CHILDREN_PARTS 16
#define CHILDREN_BURST_NS 20000000

static struct untracked_process *find(struct untracked_processes *untracked, pid_t pid)
{
    for (size_t i = 0; i < untracked->count; i++)
        if (untracked->items[i].process.pid == pid)
            return &untracked->items[i];
    return NULL;
}

/* The list of 65 000 mappings takes 20 ms. Until its turn comes, a process may be in the linker. */
static bool may_be_in_loader(struct untracked_processes *untracked, pid_t pid)
{
    if (untracked->round->now_ns < untracked->loader_due_ns)
        return true;
    uint64_t start_ns = monotonic_ns();
    bool is_in_loader = untracked_is_in_loader(untracked->session, pid);
    uint64_t end_ns = monotonic_ns();
    untracked->loader_due_ns = end_ns + LOADER_PARTS * (end_ns - start_ns);
    return is_in_loader;
}

/* A process that can take the sampler may still be before its constructor, waiting for a
 * processor, or in the dynamic linker. */
static bool is_patience_over(struct untracked_processes *untracked, const struct process *process)
{
    const uint64_t cpu_ns = process->account.last_cpu_ns - process->untracked_cpu_ns;
    return (cpu_ns > PATIENCE_CPU_NS ||
            untracked->round->now_ns > process->untracked_since_ns + PATIENCE_NS) &&
           (cpu_ns > LOADER_CPU_NS || !may_be_in_loader(untracked, process->pid));
}

/* Counts one more look at a process without a sampler; true once the lack is certain. */
static bool is_certain(struct untracked_processes *untracked, struct process *process,
                       uint64_t executable)
{
    if (process->untracked_sightings++ == 0) {
        process->untracked_since_ns = untracked->round->now_ns;
        process->untracked_cpu_ns = process->account.last_cpu_ns;
        return false;
    }
    return is_patience_over(untracked, process) ||
           untracked_reason_permanent(untracked->session, process->pid, executable);
}

/* A child of a retired process has no sampler either. */
static const char *retired_because(struct untracked_processes *untracked, pid_t pid)
{
    const struct process *process = process_find(untracked->processes, pid);
    const struct untracked_process *item = process ? NULL : find(untracked, pid);
    return process ? process->retired_because : item ? item->process.retired_because : NULL;
}

static void forget(struct untracked_processes *untracked, struct untracked_process *item)
{
    if (item->process.pid_fd >= 0)
        close(item->process.pid_fd);
    *item = untracked->items[--untracked->count];
}

/* The pid is from a list, and may be another process's by now. The parent may have ended, too. */
static bool is_of_recording(const struct untracked_processes *untracked,
                            const struct process *process)
{
    struct proc_stat stat;
    return proc_stat_read(&stat, process->pid, 0) == 0 &&
           (stat.parent == process->parent_pid ||
            membership_descends(untracked->session, untracked->processes, process->pid,
                                stat.parent));
}

static void add(struct untracked_processes *untracked, pid_t pid, pid_t parent_pid,
                uint64_t parents)
{
    if (untracked->count == UNTRACKED_PROCESSES_MAX)
        return;
    struct untracked_process *item = &untracked->items[untracked->count++];
    *item = (struct untracked_process){
        .process = {.pid = pid,
                    .parent_pid = parent_pid,
                    .start_ns = untracked->round->now_ns,
                    .retired_because = retired_because(untracked, parent_pid),
                    .pid_fd = pid_fd_open(pid)},
        .parents_executable_id = parents,
    };
    if (!is_of_recording(untracked, &item->process))
        forget(untracked, item);
}

static uint64_t own_gap_ns(struct untracked_process *item)
{
    cpu_account_raise(&item->process.account, proc_cpu_ns(item->process.pid));
    return cpu_account_gap_ns(&item->process.account);
}

/* The process goes over to the engine perf-ring. A descendant of a process recorded there is a part
 * of that recording already. */
static bool is_taken_outside(struct untracked_processes *untracked, struct untracked_process *item)
{
    const struct process *process = &item->process;
    const struct attached target = {process->pid, process->pid_fd};
    bool is_taken = outside_has(untracked->outside, process->pid) ||
                    (untracked_takes_ring(untracked->session, process->pid) &&
                     outside_adopt(untracked->outside, target, own_gap_ns(item), false) == 0);
    if (is_taken)
        process_tree_take_leave(untracked->tree, process->pid, process->parent_pid);
    if (is_taken && process->parent_pid == getpid())
        untracked->has_command = true;
    return is_taken;
}

/* Adds the process to the file and the summary. */
static void write_start(struct untracked_processes *untracked, struct untracked_process *item)
{
    struct process *process = &item->process;
    item->is_written = true;
    if (process->parent_pid == getpid())
        untracked->has_command = true;
    process->executable_id = executable_id_of(process->pid);
    if (proc_name(process->pid, 0, process->name) != 0)
        strcpy(process->name, "?");
    task_write_start(untracked->samples->file, process, false);
    untracked->samples->summary->processes++;
    untracked->samples->summary->threads++;
    uint64_t parents_id = item->parents_executable_id;
    if (process->executable_id == 0 || process->executable_id != parents_id)
        process->retired_because = NULL;
    const char *reason = process->retired_because;
    if (!reason)
        reason =
            untracked_reason(untracked->session, process->pid, process->executable_id, parents_id);
    record_add_not_followed(untracked->samples->summary, process->pid, process->name, reason);
}

static void write_gap(struct untracked_processes *untracked, struct untracked_process *item)
{
    struct process *process = &item->process;
    if (!item->is_written)
        return;
    sample_write_synthetic(untracked->samples, process, process->pid, SYNTHETIC_NOT_FOLLOWED,
                           cpu_account_gap_ns(&process->account), untracked->round->now_ns);
    record_processes_add_cpu(&untracked->samples->summary->not_followed, process->pid,
                             process->account.last_cpu_ns);
}

static void end(struct untracked_processes *untracked, struct untracked_process *item)
{
    write_gap(untracked, item);
    if (item->is_written)
        process_tree_take_leave(untracked->tree, item->process.pid, item->process.parent_pid);
    if (item->is_written)
        task_write_exit(untracked->samples->file, &item->process, untracked->round->now_ns);
    forget(untracked, item);
}

/* Updates the CPU time; ends the item if the process has ended. */
static void look_at(struct untracked_processes *untracked, struct untracked_process *item)
{
    struct process *process = &item->process;
    struct proc_stat stat;
    bool is_read = proc_stat_read(&stat, process->pid, 0) == 0;
    uint64_t cpu_ns = is_read ? proc_cpu_ns(process->pid) : 0;
    bool is_gone = !is_read || pid_fd_is_reaped(process->pid_fd);
    if (is_gone)
        cpu_ns = 0;
    cpu_account_raise(&process->account, cpu_ns);
    if (is_gone || stat.state == 'Z')
        end(untracked, item);
    else if (item->is_written || !is_certain(untracked, process, executable_id_of(process->pid)))
        return;
    else if (is_taken_outside(untracked, item))
        forget(untracked, item);
    else
        write_start(untracked, item);
}

static bool may_list(struct children_share *share, uint64_t now_ns)
{
    uint64_t paid_ns = (now_ns - share->at_ns) / CHILDREN_PARTS;
    share->cost_ns -= paid_ns < share->cost_ns ? paid_ns : share->cost_ns;
    share->at_ns = now_ns;
    return share->cost_ns < CHILDREN_BURST_NS;
}

/* False: put off. */
static bool look_for_children(struct untracked_processes *untracked, struct children_share *share,
                              const struct process *parent)
{
    pid_t pids[CHILDREN_MAX];
    if (!may_list(share, untracked->round->now_ns))
        return false;
    const uint64_t begin_ns = monotonic_ns();
    size_t count = proc_children(parent->pid, pids, CHILDREN_MAX);
    share->cost_ns += monotonic_ns() - begin_ns;
    for (size_t i = 0; i < count; i++)
        if (!process_find(untracked->processes, pids[i]) && !find(untracked, pids[i]) &&
            !outside_has(untracked->outside, pids[i]))
            add(untracked, pids[i], parent->pid, parent->executable_id);
    return true;
}

/* Programs may hide their executable, as ssh-agent does; a hidden executable with the same process
 * name counts as unchanged. */
static bool is_other_program(const struct process *process, uint64_t executable)
{
    char name[16];
    if (executable == EXECUTABLE_HIDDEN && proc_name(process->pid, 0, name) == 0)
        return strcmp(name, process->name) != 0;
    return executable != 0 && executable != process->executable_id;
}

/* Detects the execve() of a program without a sampler by a recorded process. */
/* Detects the execve() of a program without a sampler by a recorded process. perf-ring takes the
 * process over; without perf-ring, the rest of its life is [not followed]. */
static void check_executable(struct untracked_processes *untracked, struct process *process)
{
    uint64_t executable = executable_id_of(process->pid);
    bool is_known = process->engine == ENGINE_NONE || process->is_departing;
    if (is_known || !is_other_program(process, executable)) {
        process->untracked_sightings = 0;
        return;
    }
    if (!is_certain(untracked, process, executable))
        return;
    uint64_t cpu_ns = proc_cpu_ns(process->pid);
    const struct attached target = {process->pid, process->pid_fd};
    if (untracked_takes_ring(untracked->session, process->pid) &&
        outside_adopt(untracked->outside, target, 0, true) == 0) {
        outside_set_parent(untracked->outside, process);
        process_leave(untracked->watch, process, cpu_ns);
        return;
    }
    process->executable_id = executable;
    process_turn_untracked(untracked->watch, process,
                           untracked_reason(untracked->session, process->pid, executable, 0));
}

/* Without CPU time since the last look, a process has neither started a child nor executed a
 * program. False: a part is put off. */
static bool look_at_process(struct untracked_processes *untracked, struct process *process)
{
    if (process->has_ended || (!process->has_run && !process->untracked_sightings))
        return true;
    bool lists = process->has_run && !untracked->command_only;
    process->has_run = lists && !look_for_children(untracked, &untracked->of_recorded, process);
    bool is_whole = !process->has_run;
    check_executable(untracked, process);
    return is_whole;
}

static void look_at_processes(struct untracked_processes *untracked)
{
    size_t count = untracked->processes->live_count < PARENTS_A_LOOK
                       ? untracked->processes->live_count
                       : PARENTS_A_LOOK;
    size_t *next = &untracked->of_recorded.next, first = *next, put_off = count;
    for (size_t i = 0; i < count; i++) {
        size_t index = (first + i) % untracked->processes->live_count;
        if (!look_at_process(untracked, process_table_at(untracked->processes, index)) &&
            put_off == count)
            put_off = i;
    }
    *next = first + put_off;
}

static void look_at_untracked(struct untracked_processes *untracked)
{
    for (size_t i = untracked->count; i-- > 0;)
        look_at(untracked, &untracked->items[i]);
    if (untracked->command_only)
        return;
    for (size_t i = 0, count = untracked->count; i < count; i++) {
        struct children_share *share = &untracked->of_items;
        if (!look_for_children(untracked, share, &untracked->items[share->next % count].process))
            break;
        share->next++;
    }
}

/* The command is rec's own child, not listed by any tracked process: look up by pid. */
static void find_command(struct untracked_processes *untracked)
{
    struct proc_stat stat;
    pid_t root_pid = load_relaxed(&untracked->tree->root_pid);
    if (root_pid && !process_find(untracked->processes, root_pid) && !find(untracked, root_pid) &&
        !outside_has(untracked->outside, root_pid) && proc_stat_read(&stat, root_pid, 0) == 0 &&
        stat.state != 'Z')
        add(untracked, root_pid, getpid(), 0);
}

/* Some process needs a second look soon. */
static bool has_suspect(const struct untracked_processes *untracked)
{
    for (size_t i = 0; i < untracked->processes->live_count; i++)
        if (process_table_at(untracked->processes, i)->untracked_sightings)
            return true;
    return false;
}

static void search(struct untracked_processes *untracked)
{
    find_command(untracked);
    look_at_processes(untracked);
}

/* UINT64_MAX: nothing to look at. */
static uint64_t interval_ns(const struct untracked_processes *untracked)
{
    uint64_t youngest_ns = 0;
    for (size_t i = 0; i < untracked->count; i++)
        if (untracked->items[i].process.start_ns > youngest_ns)
            youngest_ns = untracked->items[i].process.start_ns;
    for (size_t i = 0; i < untracked->processes->live_count; i++) {
        const struct process *process = process_table_at(untracked->processes, i);
        if (process->has_ended ||
            (process->engine != ENGINE_NONE && process->untracked_sightings == 0))
            continue;
        uint64_t start_ns =
            process->untracked_sightings ? untracked->round->now_ns : process->start_ns;
        if (start_ns > youngest_ns)
            youngest_ns = start_ns;
    }
    if (youngest_ns == 0)
        return UINT64_MAX;
    uint64_t part_ns = (untracked->round->now_ns - youngest_ns) / AGE_PARTS;
    if (part_ns > LOOK_INTERVAL_NS)
        return LOOK_INTERVAL_NS;
    return part_ns > LOOK_SOON_NS ? part_ns : LOOK_SOON_NS;
}

void untracked_processes_look(struct untracked_processes *untracked)
{
    if (untracked->round->now_ns < untracked->due_ns)
        return;
    look_at_untracked(untracked);
    if (untracked->round->now_ns >= untracked->search_ns || has_suspect(untracked)) {
        search(untracked);
        untracked->search_ns = untracked->round->now_ns + LOOK_INTERVAL_NS;
    }
    uint64_t most_ns = interval_ns(untracked);
    untracked->due_ns =
        untracked->round->now_ns + (most_ns < LOOK_INTERVAL_NS ? most_ns : LOOK_INTERVAL_NS);
}

uint64_t untracked_processes_wait_ns(const struct untracked_processes *untracked, uint64_t wait_ns)
{
    uint64_t most_ns = interval_ns(untracked);
    return wait_ns > most_ns ? most_ns : wait_ns;
}

bool untracked_processes_take(struct untracked_processes *untracked, pid_t pid, uint64_t *cpu_ns)
{
    struct untracked_process *item = find(untracked, pid);
    bool was_written = item && item->is_written;
    if (was_written) {
        write_gap(untracked, item);
        *cpu_ns = item->process.account.last_cpu_ns;
    }
    if (item)
        forget(untracked, item);
    return was_written;
}

void untracked_processes_begin(struct untracked_processes *untracked)
{
    for (size_t i = 0; i < untracked->count; i++)
        untracked->items[i].process.account.start_cpu_ns =
            proc_cpu_ns(untracked->items[i].process.pid);
}

uint64_t untracked_processes_finish(struct untracked_processes *untracked, bool command_runs)
{
    uint64_t live_ns = 0;
    while (untracked->count > 0) {
        struct untracked_process *item = &untracked->items[0];
        struct process *process = &item->process;
        uint64_t cpu_ns = proc_cpu_ns(process->pid);
        if (pid_fd_is_reaped(process->pid_fd))
            cpu_ns = 0;
        bool is_left = !command_runs && cpu_ns && process->pid != untracked->tree->root_pid;
        cpu_account_raise(&process->account, cpu_ns);
        if (is_left)
            live_ns += process->account.last_cpu_ns;
        if (is_left && item->is_written)
            record_processes_add(&untracked->samples->summary->left_running, process->pid,
                                 process->name, NULL);
        if (is_left || command_runs) {
            write_gap(untracked, item);
            forget(untracked, item);
        } else {
            end(untracked, item);
        }
    }
    return live_ns;
}

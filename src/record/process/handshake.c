/* SPDX-License-Identifier: MIT */
#include "record/process/handshake.h"

#include "record/process/membership.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"
#include "wire/atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Longer than any process waits for its reply. */
#define ABANDONED_NS 1000000000

/* A request, and what is found out about the process that made it. */
struct join {
    uint32_t slot;
    struct process_slot request; /* a copy; its ids are replaced by those of this namespace */
    struct identity identity;
    struct proc_maps mappings;
};

static struct process_slot *shared_slot(const struct handshake *handshake, uint32_t slot)
{
    return &handshake->session->rings->processes[slot];
}

static void load_request(const struct handshake *handshake, uint32_t slot,
                         struct process_slot *request)
{
    load_words(request, shared_slot(handshake, slot), sizeof(*request));
    request->executable[sizeof(request->executable) - 1] = '\0';
    request->name[sizeof(request->name) - 1] = '\0';
}

/* The recorded process whose memory a forked child copied, and whose program it runs; NULL:
 * none. */
static const struct process *original_of(const struct handshake *handshake,
                                         const struct process_slot *request)
{
    if (request->copy_of == 0 || request->copy_of > SESSION_PROCESSES)
        return NULL;
    const struct process *process = &handshake->processes->processes[request->copy_of - 1];
    bool is_it = process->in_use && process->pid == (pid_t)request->parent_pid;
    return is_it && process->engine != ENGINE_NONE ? process : NULL;
}

static void take_name(const struct process_slot *request, char name[16])
{
    snprintf(name, 16, "%.*s", (int)strcspn(request->name, "\n"), request->name);
    if (name[0] == '\0')
        strcpy(name, "?");
}

static void add_not_followed(struct handshake *handshake, const struct process_slot *request,
                             const char *reason)
{
    char name[16];
    take_name(request, name);
    record_add_not_followed(handshake->samples->summary, (pid_t)request->pid, name, reason);
}

static struct process *enter(struct handshake *handshake, const struct join *join,
                             uint64_t start_ns)
{
    const struct process_slot *request = &join->request;
    /* The process states its CPU time at its start; the kernel's figure of now is the upper
     * bound. */
    uint64_t cpu_ns = proc_cpu_ns((pid_t)request->pid);
    uint64_t start_cpu_ns = request->start_cpu_ns < cpu_ns ? request->start_cpu_ns : cpu_ns;
    struct process process = {
        .pid = (pid_t)request->pid,
        .parent_pid = (pid_t)request->parent_pid,
        .stated_pid = join->identity.stated_pid,
        .rights = proc_rights_of_owner((pid_t)request->pid),
        .pid_fd = -1,
        .start_ns = start_ns,
        .mapped_ns = start_ns,
        .checked_ns = handshake->round->now_ns,
        .account = cpu_account_start(start_cpu_ns, start_ns),
    };
    take_name(request, process.name);
    handshake->has_command |= process.parent_pid == getpid();
    handshake->has_inner_pids |= join->identity.stated_pid != join->identity.pid;
    return process_table_add(handshake->processes, join->slot, &process);
}

/* Wakes the process; false: it has given up waiting. */
static bool reply(struct handshake *handshake, const struct join *join, enum engine engine,
                  const struct perf_event *event)
{
    struct process_slot *slot = shared_slot(handshake, join->slot);
    struct process_verdict *verdict = &handshake->session->tables->verdicts[join->slot];
    process_maps_clear(handshake->maps, join->slot); /* the last owner's map */
    verdict->pid = (uint32_t)join->identity.stated_pid;
    verdict->engine = engine;
    verdict->namespace = join->identity.namespace;
    verdict->parents_namespace = join->identity.parents_namespace;
    verdict->pid_for_parent = (uint32_t)join->identity.pid_for_parent;
    bool waited = swap_acq_rel(&slot->state, PROCESS_TAKEN, PROCESS_ANSWERED);
    if (waited && event && !handshake->round->is_quiet)
        perf_event_enable(event);
    syscall(SYS_futex, &slot->state, FUTEX_WAKE, 1, NULL, NULL, 0);
    return waited;
}

/* Most forked children execute another program at once, and reading /proc takes longer than all
 * other steps, so their mappings are their parent's. False: the process is gone, or no member. */
static bool find_mappings(const struct handshake *handshake, struct join *join)
{
    if (!join->identity.is_marked) /* identified by its mappings, which are known then */
        return true;
    const struct process *original = original_of(handshake, &join->request);
    if (original && process_maps_inherit(handshake->maps, original, &join->mappings))
        return membership_is_shown(handshake->session, join->identity.pid, join->request.mark_avma);
    proc_maps_free(&join->mappings);
    return membership_read_maps(handshake->session, join->identity.pid, join->request.mark_avma,
                                &join->mappings);
}

/* The program that an exec replaced; NULL: none. A process that has ended, unseen so far, merely
 * had the same pid: it is ended here. */
static struct process *find_before(struct handshake *handshake, pid_t pid)
{
    struct process *before = process_find(handshake->processes, pid);
    struct pollfd end = {.fd = before ? before->pid_fd : -1, .events = POLLIN};
    if (!before || end.fd < 0 || poll(&end, 1, 0) != 1)
        return before;
    process_end(handshake->watch, before);
    return NULL;
}

/* Ends the replaced program. Returns the pidfd for its successor, or -1. Its event is closed later
 * by the caller: closing takes as long as opening, and the next program waits. */
static int end_before(struct handshake *handshake, struct process *before, struct perf_event *event)
{
    if (!before)
        return -1;
    int pid_fd = before->pid_fd;
    before->pid_fd = -1;
    *event = before->event;
    before->event = (struct perf_event){0};
    process_end_program(handshake->watch, before);
    return pid_fd;
}

static void place_in_tree(struct handshake *handshake, struct process *process,
                          const struct process *before)
{
    if (before && before->parent_pid == process->parent_pid) {
        process->is_detached = before->is_detached;
        process->ancestor_pid = before->ancestor_pid;
    } else {
        process_tree_place(handshake->tree, process);
    }
    process->counted_children_ns = before ? before->counted_children_ns : 0;
}

/* What can wait until the process runs on. */
static void start_in_file(struct handshake *handshake, struct process *process,
                          struct process *before)
{
    uint64_t earlier_ns = 0;
    process->follows_exec =
        untracked_processes_take(handshake->untracked, process->pid, &earlier_ns) || before;
    task_write_start(handshake->samples->file, process, process->follows_exec);
    accounting_start(handshake->accounting, process, before, earlier_ns);
    if (!process->follows_exec)
        handshake->samples->summary->processes++;
}

static void follow(struct handshake *handshake, struct join *join)
{
    pid_t pid = (pid_t)join->request.pid;
    struct process *before = find_before(handshake, pid);
    uint64_t start_ns = process_table_after_end_ns(
        handshake->processes, pid, round_time_ns(handshake->round, join->request.start_ticks));
    struct perf_event event_before = {0};
    int pid_fd = end_before(handshake, before, &event_before);
    struct process *process = enter(handshake, join, start_ns);
    place_in_tree(handshake, process, before);
    const char *reason =
        admission_judge(&handshake->admission, process, original_of(handshake, &join->request),
                        &join->request, &join->mappings);
    if (!reply(handshake, join, process->engine, &process->event)) {
        perf_event_close(&process->event);
        reason = "started while rec was stopped";
        process->engine = ENGINE_NONE;
    }
    perf_event_close(&event_before);
    process_watch_add(handshake->watch, process, pid_fd);
    start_in_file(handshake, process, before);
    if (reason) {
        record_add_not_followed(handshake->samples->summary, pid, process->name, reason);
        return;
    }
    process->first_mappings = join->mappings;
    join->mappings = (struct proc_maps){0};
}

/* A descendant of a process recorded by perf-ring, or a Go program. */
static bool belongs_outside(struct handshake *handshake, const struct join *join)
{
    return outside_has(handshake->outside, join->identity.pid) ||
           (handshake->outside->is_permitted && !original_of(handshake, &join->request) &&
            admission_is_go(&handshake->admission, join->identity.pid));
}

/* The process runs on without a sampler. Where perf-ring is not available either, the process is
 * found among the untracked processes. */
static void leave_outside(struct handshake *handshake, struct join *join)
{
    pid_t pid = join->identity.pid;
    if (outside_has(handshake->outside, pid) && find_mappings(handshake, join) &&
        admission_has_other_view(&join->request, pid, &join->mappings))
        add_not_followed(handshake, &join->request, admission_is_emulated);
    struct process *before = process_find(handshake->processes, pid);
    handshake->is_outside[join->slot] = true;
    reply(handshake, join, ENGINE_NONE, NULL);
    uint64_t cpu_ns = proc_cpu_ns(pid);
    if (!outside_has(handshake->outside, pid) &&
        outside_adopt(handshake->outside, pid, 0, before != NULL) == 0 && before)
        process_leave(handshake->watch, before, cpu_ns);
}

static void answer(struct handshake *handshake, uint32_t slot)
{
    struct join join = {.slot = slot};
    if (!swap_acq_rel(&shared_slot(handshake, slot)->state, PROCESS_REQUESTED, PROCESS_TAKEN))
        return;
    load_request(handshake, slot, &join.request);
    bool is_found = pid_namespace_identify(handshake->namespaces, slot, &join.request,
                                           &join.mappings, &join.identity);
    join.request.pid = (uint32_t)join.identity.pid;
    join.request.parent_pid = (uint32_t)join.identity.parent_pid;
    bool is_member = is_found && membership_descends(handshake->session, handshake->processes,
                                                     join.identity.pid);
    handshake->is_outside[slot] = false;
    if (is_member && belongs_outside(handshake, &join))
        leave_outside(handshake, &join);
    else if (is_member && find_mappings(handshake, &join))
        follow(handshake, &join);
    else
        reply(handshake, &join, ENGINE_NONE, NULL);
    proc_maps_free(&join.mappings);
}

/* The process has read that it is not recorded. Its stated pid leads to another process here, so
 * its name comes from the slot. */
static void take_dismissed(struct handshake *handshake, uint32_t slot)
{
    struct process_slot request;
    load_request(handshake, slot, &request);
    if (!handshake->is_outside[slot]) {
        handshake->samples->summary->processes++;
        add_not_followed(handshake, &request, admission_not_visible);
    }
    store_release(&shared_slot(handshake, slot)->state, PROCESS_FREE);
}

/* The pid may be one of an inner namespace; translating it here would delay processes that wait. */
static void take_withdrawn(struct handshake *handshake, uint32_t slot)
{
    struct process_slot request;
    load_request(handshake, slot, &request);
    add_not_followed(handshake, &request, record_started_late);
    store_release(&shared_slot(handshake, slot)->state, PROCESS_FREE);
}

bool handshake_answer(struct handshake *handshake)
{
    struct rings *rings = handshake->session->rings;
    uint32_t doorbell = load_acquire(&rings->header.doorbell);
    if (doorbell == handshake->doorbell)
        return false;
    handshake->doorbell = doorbell;
    uint32_t used = load_acquire(&rings->header.processes_used);
    for (uint32_t i = 0; i < used && i < SESSION_PROCESSES; i++) {
        uint32_t state = load_acquire(&rings->processes[i].state);
        if (handshake->processes->processes[i].in_use)
            continue; /* answered already, whatever the target wrote since */
        if (state == PROCESS_REQUESTED)
            answer(handshake, i);
        else if (state == PROCESS_WITHDRAWN)
            take_withdrawn(handshake, i);
        else if (state == PROCESS_DISMISSED)
            take_dismissed(handshake, i);
    }
    return true;
}

/* The pid in a slot that is claimed but not entered; 0: none. */
static uint32_t starting_pid(const struct handshake *handshake, uint32_t slot)
{
    const struct process_slot *shared = shared_slot(handshake, slot);
    uint32_t state = load_acquire(&shared->state);
    bool starts = state == PROCESS_CLAIMED || state == PROCESS_ANSWERED;
    bool is_entered = handshake->processes->processes[slot].in_use;
    return starts && !is_entered ? load_relaxed(&shared->pid) : 0;
}

static bool is_gone(uint32_t pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void handshake_free_abandoned(struct handshake *handshake)
{
    struct rings *rings = handshake->session->rings;
    uint32_t used = load_acquire(&rings->header.processes_used);
    if (handshake->round->now_ns < handshake->abandoned_due_ns)
        return;
    handshake->abandoned_due_ns = handshake->round->now_ns + ABANDONED_NS;
    for (uint32_t i = 0; i < used && i < SESSION_PROCESSES; i++) {
        uint32_t pid = starting_pid(handshake, i);
        bool is_second_look = pid && pid == handshake->starting_pids[i];
        handshake->starting_pids[i] = pid;
        if (!is_second_look || !is_gone(pid))
            continue;
        thread_table_release_claimed(handshake->threads, i, pid);
        store_release(&rings->processes[i].state, PROCESS_FREE);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * The ends of a request, in the order of the checks in take_request(); the program always runs on:
 *
 *     identity or membership not proven   reply alone       the process states UNSEEN, and may
 *                                                           become an untracked process
 *     recorded outside, or a Go program   leave_outside()   ENGINE_NONE, perf-ring
 *     guest of a recorded emulator        admit()           ENGINE_NONE, no entry
 *     no slot in the process table        turn_away()       ENGINE_NONE, no entry
 *     a reason against sampling           follow()          ENGINE_NONE, an entry with the reason
 *     no reason                           follow()          an entry with an engine
 *
 * A target is trusted with none of these steps. Shared words are copied once (load_words()), and
 * states change by compare-and-swap: the process may withdraw at any time, also between two steps.
 */
#include "record/process/handshake.h"

#include "base/clock.h"
#include "record/process/join.h"
#include "record/process/untracked/untracked_reason.h"
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
/* Of a round: running processes fill their rings meanwhile. */
#define REQUESTS_NS 20000000

static void take_name(const char stated[16], char name[16])
{
    snprintf(name, 16, "%.*s", (int)strcspn(stated, "\n"), stated);
    if (name[0] == '\0')
        strcpy(name, "?");
}

/* Fills in everything before the first use of the entry: drain and accounting find the process by
 * its slot from then on. NULL: the table is full. */
static struct process *enter(struct handshake *handshake, const struct join *join,
                             uint64_t start_ns)
{
    const struct process_slot *stated = &join->stated;
    const struct identity *identity = &join->identity;
    const struct tables_header *tables = &handshake->session->tables->header;
    /* The process states its CPU time at its start; the kernel's figure of now is the upper
     * bound. */
    uint64_t cpu_ns = proc_cpu_ns(identity->pid);
    uint64_t start_cpu_ns = stated->start_cpu_ns < cpu_ns ? stated->start_cpu_ns : cpu_ns;
    struct process process = {
        .pid = identity->pid,
        .parent_pid = (pid_t)stated->parent_pid,
        .stated_pid = identity->stated_pid,
        .namespace = identity->namespace,
        .parents_namespace = identity->parents_namespace,
        .pid_for_parent = identity->pid_for_parent,
        .rights = join->rights,
        .memory = join->memory,
        .pid_fd = join->pid_fd,
        .start_ns = start_ns,
        .mapped_ns = start_ns,
        .checked_ns = handshake->round->now_ns,
        .account = cpu_account_start(start_cpu_ns, start_ns),
        .executable_id = join->original ? join->original->executable_id : join->executable.id,
    };
    take_name(stated->name, process.name);
    handshake->has_command |= (uint32_t)process.parent_pid == tables->launcher_pid;
    handshake->has_inner_pids |= identity->stated_pid != identity->pid;
    return process_table_add(handshake->processes, &process);
}

/* Publishes the verdict. An event is enabled after the swap only: a program that has withdrawn has
 * no handler, and the first SIGTRAP would end it. False: the process has given up waiting. */
static bool answer(const struct handshake *handshake, const struct process *process)
{
    struct process_memory *memory = process->memory->shared;
    memory->verdict.index = process->slot;
    memory->verdict.engine = process->engine;
    memory->verdict.namespace = process->namespace;
    bool waited = swap_acq_rel(&memory->process.state, PROCESS_TAKEN, PROCESS_ANSWERED);
    if (waited && process->engine == ENGINE_PERF_TRAP && !handshake->round->is_quiet)
        perf_event_enable(&process->event);
    return waited;
}

/* Wakes the process, which reads its own memory. False: the process has abandoned the request. */
static bool reply(struct join_request *request)
{
    /* The process leaves an abandoned request to the launcher: only one side may free it. */
    if (!swap_acq_rel(&request->state, REQUEST_TAKEN, REQUEST_REPLIED)) {
        store_release(&request->state, REQUEST_FREE);
        return false;
    }
    syscall(SYS_futex, &request->state, FUTEX_WAKE, 1, NULL, NULL, 0);
    return true;
}

static bool is_readable(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    return fd >= 0 && poll(&end, 1, 0) == 1;
}

/* An ended process with the same pid, unnoticed so far, ends here. */
static struct process *find_before(struct handshake *handshake, pid_t pid)
{
    struct process *before = process_find(handshake->processes, pid);
    if (!before || !is_readable(before->pid_fd))
        return before;
    process_end(handshake->watch, before);
    return NULL;
}

/* Ends the replaced program, except for its event: closing takes as long as opening, and the next
 * program waits. The pidfd is the next program's, too. */
static struct perf_event end_before(struct handshake *handshake, struct process *before)
{
    if (!before)
        return (struct perf_event){0};
    struct perf_event event = before->event;
    before->pid_fd = -1;
    before->event = (struct perf_event){0};
    process_end_program(handshake->watch, before);
    return event;
}

/* exec changes neither parent nor children, so the place in the tree is that of the program before.
 * The children counted so far stay counted: the rusage of the pid includes their time. */
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
    if (!before)
        namespace_ids_add(&handshake->samples->summary->namespace_ids, process->pid,
                          process->stated_pid, process->start_ns);
    accounting_start(handshake->accounting, process, before, earlier_ns);
    if (!process->follows_exec)
        handshake->samples->summary->processes++;
}

/* Refuses or arms the process. Returns the reason against sampling, or NULL. */
static const char *judge(struct handshake *handshake, struct process *process,
                         const struct join *join)
{
    const char *reason =
        admission_judge(&handshake->admission, process, join->original ? NULL : &join->executable,
                        &join->stated, &join->mappings, join->may_be_traced);
    if (process->event.count && is_readable(process->pid_fd)) /* may be another process' event */
        perf_event_close(&process->event);
    return reason;
}

/* The verdict of a new memory is ENGINE_NONE. */
static void answer_unsampled(const struct join *join)
{
    store_release(&join->memory->shared->process.state, PROCESS_ANSWERED);
}

/* The stated pid may lead to another process here, so the name comes from the request. */
static void name_refused(struct handshake *handshake, const struct join_request *request,
                         const char *reason)
{
    char stated[16], name[16];
    memcpy(stated, request->name, sizeof(stated));
    stated[sizeof(stated) - 1] = '\0';
    take_name(stated, name);
    record_add_not_followed(handshake->samples->summary, (pid_t)request->pid, name, reason);
}

static void turn_away(struct handshake *handshake, const struct join *join)
{
    char name[16];
    take_name(join->stated.name, name);
    answer_unsampled(join);
    record_add_not_followed(handshake->samples->summary, join->identity.pid, name,
                            "too many at one time");
}

/* Returns the reason against sampling, or NULL. */
static const char *judge_and_answer(struct handshake *handshake, struct process *process,
                                    const struct join *join)
{
    const char *reason = judge(handshake, process, join);
    if (answer(handshake, process))
        return reason;
    perf_event_close(&process->event);
    process->engine = ENGINE_NONE;
    return record_started_late;
}

static void follow(struct handshake *handshake, struct join *join, struct join_request *request)
{
    pid_t pid = join->identity.pid;
    uint64_t start_ns = process_table_after_end_ns(
        handshake->processes, pid, round_time_ns(handshake->round, join->stated.start_ticks));
    struct perf_event event_before = end_before(handshake, join->before);
    bool is_watched = !join->owns_pid_fd; /* as the program before */
    join->owns_pid_fd = true;
    struct process *process = enter(handshake, join, start_ns);
    if (!process) {
        perf_event_close(&event_before);
        turn_away(handshake, join);
        reply(request);
        return;
    }
    join->owns_pid_fd = false; /* the process has both now */
    join->memory = NULL;
    place_in_tree(handshake, process, join->before);
    const char *reason = judge_and_answer(handshake, process, join);
    reply(request);
    perf_event_close(&event_before);
    if (!is_watched)
        process_watch_add(handshake->watch, process);
    start_in_file(handshake, process, join->before);
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
           (handshake->outside->is_permitted && join->executable.is_go);
}

/* The process runs on without a sampler. Where perf-ring is not available either, the process is
 * found among the untracked processes. The events are opened before the reply, while the process
 * waits: a thread or child that starts between the opening of two events, or before the enabling,
 * inherits a part of the events without a FORK record, and is sampled twice. */
static void leave_outside(struct handshake *handshake, struct join *join,
                          struct join_request *request)
{
    const pid_t pid = join->identity.pid;
    const bool is_there = outside_has(handshake->outside, pid);
    struct process *before = join->before;
    struct proc_stat stat;
    if (is_there && join_find_mappings(join, handshake->session) &&
        admission_has_other_view(&join->stated, pid, &join->mappings))
        name_refused(handshake, &join->request, admission_is_emulated);
    answer_unsampled(join);
    uint64_t cpu_ns = proc_cpu_ns(pid);
    if (!before && proc_stat_read(&stat, pid, 0) == 0)
        process_tree_take_leave(handshake->tree, pid, stat.parent);
    bool is_adopted =
        !is_there && outside_adopt(handshake->outside, (struct attached){pid, join->pid_fd}, 0,
                                   before != NULL) == 0;
    reply(request);
    if (!is_adopted || !before)
        return;
    outside_set_parent(handshake->outside, before);
    process_leave(handshake->watch, before, cpu_ns);
}

static void open_process(struct handshake *handshake, struct join *join, pid_t pid)
{
    struct process *before = find_before(handshake, pid);
    join_open(join, pid, before);
    join->is_near =
        (before && !join->owns_pid_fd) ||
        (join->facts.parent && membership_has(handshake->processes, join->facts.parent));
}

/* Opens the process that made the request: first the stated pid, without a search. The
 * search in other pid namespaces follows only if the stated pid does not have the memory. */
static bool identify(struct handshake *handshake, struct join *join)
{
    const pid_t stated = (pid_t)join->request.pid;
    open_process(handshake, join, stated);
    if (join_take_memory(join, handshake->session))
        return join_map(join, handshake->session);
    if (!pid_namespace_identify(handshake->namespaces, &join->request, &join->identity))
        return false;
    if (join->identity.pid != stated) {
        join_close(join);
        open_process(handshake, join, join->identity.pid);
    }
    return join_map(join, handshake->session);
}

/* The word is shared by all processes of the recording, so it is read in each round, and kept. */
static bool look_for_tracers(struct handshake *handshake)
{
    handshake->has_tracers |= load_acquire(&handshake->session->requests->has_tracers) != 0;
    return handshake->has_tracers;
}

/* A forked child runs its parent's program, so nothing about the executable is read for the child.
 * The program before an exec ends now, and is no original. */
static void look_at_program(struct handshake *handshake, struct join *join)
{
    join->original = join_original(join, handshake->processes);
    if (join->original == join->before)
        join->original = NULL;
    if (join->original)
        return;
    join->executable = admission_look(&handshake->admission, join->identity.pid);
    join->may_be_traced = look_for_tracers(handshake) ||
                          join_may_be_traced(join, handshake->processes, handshake->round->now_ns);
}

/* RLIMIT_FSIZE of the process forbids the size of the memory (wire/session.h). The real request
 * follows. */
static void give_size(struct handshake *handshake, const struct join_request *request)
{
    struct identity identity;
    if (!pid_namespace_identify(handshake->namespaces, request, &identity))
        return;
    target_memory_set_size(identity.memory_fd);
    close(identity.memory_fd);
}

static void admit(struct handshake *handshake, struct join *join, struct join_request *request)
{
    if (!join_is_guest(join)) {
        follow(handshake, join, request);
        return;
    }
    answer_unsampled(join);
    reply(request);
}

static void take_request(struct handshake *handshake, struct join_request *request)
{
    struct join join = {.pid_fd = -1};
    if (!swap_acq_rel(&request->state, REQUEST_MADE, REQUEST_TAKEN))
        return;
    load_words(&join.request, request, sizeof(join.request));
    if (join.request.wants_size) {
        give_size(handshake, &join.request);
        reply(request);
        return;
    }
    bool is_member = identify(handshake, &join) && join_load_statements(&join) &&
                     (join.is_near || membership_descends(handshake->session, handshake->processes,
                                                          join.identity.pid, join.facts.parent));
    if (is_member)
        look_at_program(handshake, &join);
    if (is_member && belongs_outside(handshake, &join))
        leave_outside(handshake, &join, request);
    else if (is_member && join_find_mappings(&join, handshake->session))
        admit(handshake, &join, request);
    else if (!reply(request))
        name_refused(handshake, &join.request, record_started_late);
    join_close(&join);
}

static void take_refused(struct handshake *handshake, struct join_request *shared)
{
    static const char *const reasons[] = {
        [REQUEST_LATE] = record_started_late,
        [REQUEST_UNSEEN] = admission_not_visible,
        [REQUEST_NO_MEMORY] = "no descriptor or memory is left for samples (ulimit -n, -f, -v)",
    };
    struct join_request request;
    load_words(&request, shared, sizeof(request));
    store_release(&shared->state, REQUEST_FREE);
    if (request.reason >= sizeof(reasons) / sizeof(reasons[0]))
        return;
    if (request.reason != REQUEST_LATE)
        handshake->samples->summary->processes++;
    name_refused(handshake, &request, reasons[request.reason]);
}

static void answer_one(struct handshake *handshake, struct join_request *request)
{
    uint32_t state = load_acquire(&request->state);
    if (state == REQUEST_MADE)
        take_request(handshake, request);
    else if (state == REQUEST_REFUSED)
        take_refused(handshake, request);
}

/* Answers from next_request on, so that the first requests of the array have no precedence.
 * Requests left for the next round keep the doorbell unread, and come first there. The clock is
 * read every 16 requests. */
bool handshake_answer(struct handshake *handshake)
{
    struct requests *requests = handshake->session->requests;
    uint32_t doorbell = load_acquire(&requests->doorbell);
    (void)look_for_tracers(handshake);
    if (doorbell == handshake->doorbell)
        return false;
    uint32_t used = load_acquire(&requests->used);
    if (used > SESSION_REQUESTS)
        used = SESSION_REQUESTS;
    uint64_t end_ns = monotonic_ns() + REQUESTS_NS;
    for (uint32_t i = 0; i < used; i++) {
        uint32_t at = handshake->next_request++ % used;
        answer_one(handshake, &requests->requests[at]);
        if (i % 16 == 15 && monotonic_ns() > end_ns)
            return true;
    }
    handshake->doorbell = doorbell;
    return true;
}

/* The pid in a request that is being filled in, or has a reply to be read; 0: none. */
static uint32_t starting_pid(const struct join_request *request)
{
    uint32_t state = load_acquire(&request->state);
    bool starts = state == REQUEST_CLAIMED || state == REQUEST_REPLIED;
    return starts ? load_relaxed(&request->pid) : 0;
}

static bool is_gone(uint32_t pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void handshake_free_abandoned(struct handshake *handshake)
{
    struct requests *requests = handshake->session->requests;
    uint32_t used = load_acquire(&requests->used);
    if (handshake->round->now_ns < handshake->abandoned_due_ns)
        return;
    handshake->abandoned_due_ns = handshake->round->now_ns + ABANDONED_NS;
    for (uint32_t i = 0; i < used && i < SESSION_REQUESTS; i++) {
        uint32_t pid = starting_pid(&requests->requests[i]);
        bool is_second_look = pid && pid == handshake->starting_pids[i];
        handshake->starting_pids[i] = pid;
        if (is_second_look && is_gone(pid))
            store_release(&requests->requests[i].state, REQUEST_FREE);
    }
}

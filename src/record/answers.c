/* SPDX-License-Identifier: MIT */
/* Processes that ask whether they are recorded get their answer: see the picture in wire/session.h. */
#include "record/collector_parts.h"

#include "record/identity.h"
#include "record/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Longer than any start waits. */
#define ABANDONED_NS 1000000000

const char answers_came_late[] = "started while rec was busy";
static const char not_visible[] = "not visible from here (another pid namespace, or hidden /proc)";

/* A forked child runs on in this image; NULL: in none that is sampled. */
static const struct image *original_of(const struct collector *collector,
                                       const struct process_slot *slot)
{
    if (slot->copy_of == 0 || slot->copy_of > SESSION_PROCESSES)
        return NULL;
    const struct image *image = &collector->images[slot->copy_of - 1];
    bool is_it = image->in_use && image->pid == (pid_t)slot->parent_pid;
    return is_it && image->engine != ENGINE_NONE ? image : NULL;
}

static bool has_vdso(const struct proc_maps *mappings, uint64_t avma)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->mappings[i].start_avma == avma)
            return strcmp(mappings->mappings[i].path, "[vdso]") == 0;
    return false;
}

/* Whether what a process sees of itself is what the kernel sees: 0, or -EXDEV. */
static int compare_views(const struct process_slot *slot, pid_t pid,
                         const struct proc_maps *mappings)
{
    char executable[sizeof(slot->executable)] = "";
    if (slot->vdso_avma && has_vdso(mappings, slot->vdso_avma))
        return 0;
    int err = proc_executable(pid, executable, sizeof(executable));
    bool differs =
        slot->vdso_avma || strncmp(executable, slot->executable, sizeof(executable) - 1) != 0;
    return err == 0 && differs ? -EXDEV : err;
}

/* Why this process must be left alone; NULL: it may be sampled. A forked child has one thread. */
static const char *refusal(struct collector *collector, const struct process_slot *slot,
                           const struct proc_maps *mappings, struct image *image,
                           bool *has_one_thread)
{
    *has_one_thread = true;
    char link[64];
    struct stat file;
    pid_t pid = image->pid;
    const struct image *original = original_of(collector, slot);
    if (original) { /* what was true of that one's program is true of its own */
        image->executable_id = original->executable_id;
        return NULL;
    }
    bool has_file = strangers_note_executable(image, &file);
    int err = compare_views(slot, pid, mappings);
    if (err == -ENOENT || err == -ESRCH)
        return NULL; /* it was killed since it was looked at */
    if (err == -EXDEV)
        return "runs inside another program (valgrind, qemu)";
    if (err != 0)
        return not_visible;
    struct proc_status status = proc_status_read(pid);
    *has_one_thread = status.threads == 1;
    if (status.tracer != 0)
        return "is being traced by a debugger";
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    if (has_file && go_programs_have(&collector->go_programs, link, &file))
        return "a Go program (its runtime owns the signals)";
    return NULL;
}

/* Opens the event; on refusal falls back to the timer, if the user did not insist. */
static enum engine choose_engine(struct collector *collector, struct image *image,
                                 bool has_one_thread, const char **reason)
{
    if (collector->options->engine == RECORD_ENGINE_TIMER || !collector->may_arm)
        return ENGINE_TIMER;
    int err = arm_open(&image->armed, image->pid, has_one_thread, collector->period_ns,
                       collector->session->tables->header.sig_data);
    if (err == 0 || err == -ESRCH) /* or it has been killed */
        return ENGINE_PERF_TRAP;
    if (collector->options->engine == RECORD_ENGINE_PERF_TRAP) {
        *reason = "the kernel refuses perf events on it";
        return ENGINE_NONE;
    }
    return ENGINE_TIMER;
}

static void wake(uint32_t *state)
{
    syscall(SYS_futex, state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* pid_fd: of the same process, from its program before; -1: there is none. */
static void watch_end(struct collector *collector, struct image *image, int pid_fd)
{
    int how = pid_fd < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    image->pid_fd = pid_fd < 0 ? (int)syscall(SYS_pidfd_open, image->pid, 0) : pid_fd;
    if (image->pid_fd < 0) {
        image->is_gone = errno == ESRCH; /* ended and reaped between its answer and now */
        return;
    }
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u32 = (uint32_t)(image - collector->images)};
    epoll_ctl(collector->end_fd, how, image->pid_fd, &event);
}

/* A slot's map may be its last owner's: an empty one first. */
static void clear_map(struct collector *collector, uint32_t index)
{
    struct process_verdict *verdict = &collector->session->tables->verdicts[index];
    uint64_t next = verdict->generation + 1;
    store_relaxed(&verdict->counts[next % 2], 0);
    store_relaxed(&verdict->unload_count, 0);
    store_release(&verdict->generation, next); /* publishes the count */
}

static void take_name(const struct process_slot *slot, char name[16])
{
    snprintf(name, 16, "%.*s", (int)strcspn(slot->name, "\n"), slot->name);
    if (name[0] == '\0')
        strcpy(name, "?");
}

static void fill_image(struct collector *collector, struct image *image,
                       const struct process_slot *slot, pid_t stated_pid, uint64_t start_ns)
{
    /* It says how much CPU it had used, the kernel how much it has used by now. */
    uint64_t cpu_ns = proc_cpu_ns((pid_t)slot->pid);
    uint64_t start_cpu_ns = slot->start_cpu_ns < cpu_ns ? slot->start_cpu_ns : cpu_ns;
    *image = (struct image){
        .in_use = true,
        .pid = (pid_t)slot->pid,
        .parent_pid = (pid_t)slot->parent_pid,
        .stated_pid = stated_pid,
        .pid_fd = -1,
        .start_ns = start_ns,
        .start_cpu_ns = start_cpu_ns,
        .last_cpu_ns = start_cpu_ns,
        .counted_cpu_ns = start_cpu_ns,
        .looked_ns = start_ns,
        .mapped_ns = start_ns,
    };
    collector->live[collector->live_count++] = (uint32_t)(image - collector->images);
    if (image->parent_pid == getpid())
        collector->has_root = true;
    take_name(slot, image->name);
    image->checked_ns = collector->round_ns;
}

/* Tells the process; false: it did not wait so long. */
static bool reply(struct collector *collector, uint32_t index, const struct identity *identity,
                  enum engine engine)
{
    struct process_slot *slot = &collector->session->rings->processes[index];
    struct process_verdict *verdict = &collector->session->tables->verdicts[index];
    clear_map(collector, index);
    verdict->pid = (uint32_t)identity->stated_pid;
    verdict->engine = engine;
    verdict->namespace = identity->namespace;
    verdict->parents_namespace = identity->parents_namespace;
    verdict->pid_for_parent = (uint32_t)identity->pid_for_parent;
    bool waited = swap_acq_rel(&slot->state, PROCESS_TAKEN, PROCESS_ANSWERED);
    if (waited && !collector->is_quiet)
        arm_enable(&collector->images[index].armed);
    wake(&slot->state);
    return waited;
}

bool answers_map_of_member(const struct collector *collector, pid_t pid, struct proc_maps *mappings)
{
    struct stat rings;
    if (fstat(collector->session->rings_fd, &rings) != 0)
        return false;
    mappings->memfd_inode = rings.st_ino;
    return proc_maps_read(mappings, pid) == 0 && mappings->has_memfd;
}

/* What it has mapped; of a forked child that is known: most execute something else at once, and looking takes longer
 * than all else that it waits for. False: it is not there to be looked at. */
static bool find_mappings(const struct collector *collector, const struct process_slot *request,
                          const struct identity *identity, struct proc_maps *mappings)
{
    if (!identity->is_marked) /* it was found by what it has mapped */
        return true;
    const struct image *original = original_of(collector, request);
    if (original && maps_inherit(collector, original, mappings))
        return true;
    proc_maps_free(mappings);
    return proc_maps_read(mappings, (pid_t)request->pid) == 0;
}

/* An exec keeps the process; one that has ended and whose end nobody looked at yet has nothing to do with
 * the one that got its pid. */
static struct image *same_process(struct collector *collector, pid_t pid)
{
    struct image *before = image_of_pid(collector, pid);
    struct pollfd end = {.fd = before ? before->pid_fd : -1, .events = POLLIN};
    if (!before || end.fd < 0 || poll(&end, 1, 0) != 1)
        return before;
    image_end_process(collector, before);
    return NULL;
}

/* An exec ends the program; what the process is watched by goes on to the next one, or -1. Its event is closed
 * later: that takes as long as opening one, and the next program waits. */
static int end_program(struct collector *collector, struct image *before, struct armed *event)
{
    if (!before)
        return -1;
    int pid_fd = before->pid_fd;
    before->pid_fd = -1;
    *event = before->armed;
    before->armed = (struct armed){0};
    image_end(collector, before);
    return pid_fd;
}

/* The slot has the ids that its process has here. */
static void follow(struct collector *collector, uint32_t index, const struct process_slot *request,
                   const struct identity *identity, struct proc_maps *mappings)
{
    struct image *image = &collector->images[index];
    struct image *before = same_process(collector, (pid_t)request->pid);
    uint64_t start_ns = images_after_end_ns(collector, (pid_t)request->pid,
                                            collector_time_ns(collector, request->start_ticks));
    struct armed event_before = {0};
    int pid_fd = end_program(collector, before, &event_before);
    fill_image(collector, image, request, identity->stated_pid, start_ns);
    collector->has_inner_pids |= identity->stated_pid != identity->pid;
    if (before && before->parent_pid == image->parent_pid) {
        image->is_detached = before->is_detached;
        image->ancestor_pid = before->ancestor_pid;
    } else {
        tree_place(collector, image);
    }
    image->counted_children_ns = before ? before->counted_children_ns : 0;
    bool has_one_thread;
    const char *reason = refusal(collector, request, mappings, image, &has_one_thread);
    image->engine = reason ? ENGINE_NONE : choose_engine(collector, image, has_one_thread, &reason);
    if (!reply(collector, index, identity, image->engine)) {
        arm_close(&image->armed);
        reason = "started while rec was stopped";
        image->engine = ENGINE_NONE;
    }
    arm_close(&event_before);
    watch_end(collector, image, pid_fd);
    uint64_t earlier_ns = 0;
    bool was_there = strangers_take(collector, image->pid, &earlier_ns) || before;
    images_write_start(collector, image, was_there);
    settle_start(collector, image, before, earlier_ns);
    image->follows_exec = was_there;
    if (!image->follows_exec)
        collector->summary->processes++;
    if (reason) {
        images_add_not_followed(collector, image->pid, image->name, reason);
        return;
    }
    image->first_mappings = *mappings;
    *mappings = (struct proc_maps){0};
}

static void answer(struct collector *collector, uint32_t index)
{
    struct process_slot *slot = &collector->session->rings->processes[index];
    if (!swap_acq_rel(&slot->state, PROCESS_REQUESTED, PROCESS_TAKEN))
        return;
    struct process_slot request;
    load_words(&request, slot, sizeof(request));
    struct proc_maps mappings = {0};
    struct identity identity;
    request.executable[sizeof(request.executable) - 1] = '\0';
    request.name[sizeof(request.name) - 1] = '\0';
    bool is_found = identity_find(collector, index, &request, &mappings, &identity);
    request.pid = (uint32_t)identity.pid;
    request.parent_pid = (uint32_t)identity.parent_pid;
    if (is_found && find_mappings(collector, &request, &identity, &mappings))
        follow(collector, index, &request, &identity, &mappings);
    else
        reply(collector, index, &identity, ENGINE_NONE);
    proc_maps_free(&mappings);
}

/* It has read that it is not followed. Nothing that its pid leads to is its own, its name included. */
static void take_dismissed(struct collector *collector, uint32_t index)
{
    struct process_slot *slot = &collector->session->rings->processes[index];
    struct process_slot request;
    load_words(&request, slot, sizeof(request));
    request.name[sizeof(request.name) - 1] = '\0';
    char name[16];
    take_name(&request, name);
    collector->summary->processes++;
    images_add_not_followed(collector, (pid_t)request.pid, name, not_visible);
    store_release(&slot->state, PROCESS_FREE);
}

/* In a pid namespace its pid is another one here. To look for it would cost those who wait now. */
static void take_withdrawn(struct collector *collector, uint32_t index)
{
    struct process_slot *slot = &collector->session->rings->processes[index];
    struct process_slot request;
    char name[16];
    load_words(&request, slot, sizeof(request));
    request.name[sizeof(request.name) - 1] = '\0';
    take_name(&request, name);
    images_add_not_followed(collector, (pid_t)request.pid, name, answers_came_late);
    store_release(&slot->state, PROCESS_FREE);
}

bool answers_give(struct collector *collector)
{
    struct rings *rings = collector->session->rings;
    uint32_t doorbell = load_acquire(&rings->header.doorbell);
    if (doorbell == collector->doorbell)
        return false;
    collector->doorbell = doorbell;
    uint32_t used = load_acquire(&rings->header.processes_used);
    for (uint32_t i = 0; i < used && i < SESSION_PROCESSES; i++) {
        uint32_t state = load_acquire(&rings->processes[i].state);
        if (collector->images[i].in_use)
            continue; /* it has been answered, whatever the slot says */
        if (state == PROCESS_REQUESTED)
            answer(collector, i);
        else if (state == PROCESS_WITHDRAWN)
            take_withdrawn(collector, i);
        else if (state == PROCESS_DISMISSED)
            take_dismissed(collector, i);
    }
    return true;
}

/* Whose slot it is while it starts, and nobody has made an image of it; 0: nobody's. */
static uint32_t starting_pid(const struct collector *collector, uint32_t index)
{
    const struct process_slot *slot = &collector->session->rings->processes[index];
    uint32_t state = load_acquire(&slot->state);
    bool starts = state == PROCESS_CLAIMED || state == PROCESS_ANSWERED;
    return starts && !collector->images[index].in_use ? load_relaxed(&slot->pid) : 0;
}

static bool is_nobodys(uint32_t pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void answers_take_abandoned(struct collector *collector)
{
    struct rings *rings = collector->session->rings;
    uint32_t used = load_acquire(&rings->header.processes_used);
    if (collector->round_ns < collector->abandoned_due_ns)
        return;
    collector->abandoned_due_ns = collector->round_ns + ABANDONED_NS;
    for (uint32_t i = 0; i < used && i < SESSION_PROCESSES; i++) {
        uint32_t pid = starting_pid(collector, i);
        bool is_second_look = pid && pid == collector->starting_pids[i];
        collector->starting_pids[i] = pid;
        if (!is_second_look || !is_nobodys(pid))
            continue;
        drain_release_threads(collector, i, pid);
        store_release(&rings->processes[i].state, PROCESS_FREE);
    }
}

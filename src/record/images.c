/* SPDX-License-Identifier: MIT */
/* The programs that are recorded: their begin and end in the file, what they need meanwhile. */
#include "record/collector_parts.h"

#include "record/proc.h"
#include "record/program.h"
#include "wire/atomic.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Tracer and file mappings are looked at this often while a process runs. */
#define CHECK_INTERVAL_NS 1000000000
/* Compiling the tables of `true` costs more than `true`: a process must have run for so long first. */
#define WORTH_TABLES_NS 3000000
/* CPU time between two looks at a process' event, which interrupt it, and take long when its processor is busy: this,
 * and this part of what it has used: eight times while that grows tenfold. What it used since the last look is shared out
 * by what was before, which matters where no bill is passed on. */
#define COUNT_INTERVAL_NS 20000000
#define COUNT_PARTS 4

struct process_slot *image_slot(const struct collector *collector, const struct image *image)
{
    return &collector->session->rings->processes[image - collector->images];
}

struct image *image_of_pid(struct collector *collector, pid_t pid)
{
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->pid == pid && !image->has_ended)
            return image;
    }
    return NULL;
}

void images_add_not_followed(struct collector *collector, pid_t pid, const char *name,
                             const char *reason)
{
    struct record_processes *processes = &collector->summary->not_followed;
    /* Who waited in vain has said so, before it is found to be without a sampler. */
    if (reason != answers_came_late || !record_processes_have(processes, pid, reason))
        record_processes_add(processes, pid, name, reason);
}

void images_add_cpu_not_followed(struct collector *collector, pid_t pid, uint64_t cpu_ns)
{
    record_processes_add_cpu(&collector->summary->not_followed, pid, cpu_ns);
}

struct perfdata_task image_task(const struct image *image, pid_t tid, pid_t parent_pid,
                                uint64_t time_ns)
{
    return (struct perfdata_task){
        .pid = (uint32_t)image->pid,
        .tid = (uint32_t)tid,
        .parent_pid = (uint32_t)parent_pid,
        .parent_tid = (uint32_t)parent_pid,
        .time_ns = time_ns,
    };
}

void images_write_start(struct collector *collector, struct image *image, bool is_exec)
{
    struct perfdata_task task = image_task(image, image->pid, image->parent_pid, image->start_ns);
    /* Readers give a child what its parent has mapped by then, in place of what is said of the child until then. */
    struct perfdata_task fork = task;
    fork.time_ns--;
    if (!is_exec)
        perfdata_write_fork(collector->writer, &fork);
    /* Also a process that was made by fork alone: its mappings are written anew. */
    perfdata_write_comm(collector->writer, &task, image->name, true);
    maps_write_synthetic(collector, image);
}

void images_start_silent(struct collector *collector, pid_t pid, const char *program)
{
    const char *slash = strrchr(program, '/');
    struct image image = {
        .pid = pid, .parent_pid = getpid(), .start_ns = collector->clock.first.ns, .pid_fd = -1};
    snprintf(image.name, sizeof(image.name), "%.15s", slash ? slash + 1 : program);
    images_write_start(collector, &image, false);
    collector->is_root_silent = true;
    collector->summary->processes++;
    collector->summary->threads++;
    const char *reason = program_look(program, 0).reason;
    images_add_not_followed(collector, pid, image.name,
                            reason ? reason : "its loader does not preload");
}

void images_turn_stranger(struct collector *collector, struct image *image, const char *reason)
{
    drain_image(collector, image);
    misses_finish(collector, true);
    arm_close(&image->armed);
    wake_forget(image);
    image->engine = ENGINE_NONE;
    image->start_ns = collector->round_ns;
    if (proc_name(image->pid, 0, image->name) != 0)
        strcpy(image->name, "?");
    images_write_start(collector, image, true);
    images_add_not_followed(collector, image->pid, image->name, reason);
}

void image_want_map(struct collector *collector, struct image *image)
{
    if (image->engine == ENGINE_NONE || image->has_ended)
        return;
    image->map_wanted_ns = collector->round_ns;
    if (compiler_request(collector->compiler, image->pid, (uint32_t)(image - collector->images),
                         NULL, 0) == 0)
        image->map_requests++;
}

void image_want_first_map(struct collector *collector, struct image *image)
{
    if (image->first_mappings.count == 0)
        return;
    image->map_wanted_ns = image->start_ns;
    if (compiler_request(collector->compiler, image->pid, (uint32_t)(image - collector->images),
                         &image->first_mappings, image->start_ns) == 0)
        image->map_requests++;
}

/* Its rings are empty afterwards. Samples that wait, and the slot itself, remain until no map is under way. */
void image_end(struct collector *collector, struct image *image)
{
    if (image->has_ended)
        return;
    image->has_ended = true;
    drain_image(collector, image);
    unannounced_end(collector, image);
    const struct process_slot *slot = image_slot(collector, image);
    collector->summary->lost[RECORD_LOST_NO_THREAD] += load_relaxed(&slot->lost_no_thread);
    arm_close(&image->armed);
    wake_forget(image);
    if (image->pid_fd >= 0)
        close(image->pid_fd);
    image->pid_fd = -1;
}

/* A process may start and end within a round, whose time is that of its beginning. */
uint64_t image_end_ns(const struct collector *collector, const struct image *image)
{
    uint64_t end_ns = image->gone_ns ? image->gone_ns : collector->round_ns;
    return end_ns > image->start_ns ? end_ns : image->start_ns;
}

void image_settle_and_end(struct collector *collector, struct image *image)
{
    drain_image(collector, image);
    settle_end(collector, image, image_end_ns(collector, image));
    image_end(collector, image);
}

void images_write_exit(struct collector *collector, const struct image *image)
{
    struct perfdata_task task =
        image_task(image, image->pid, image->parent_pid, image_end_ns(collector, image));
    perfdata_write_exit(collector->writer, &task);
}

void image_end_process(struct collector *collector, struct image *image)
{
    image_settle_and_end(collector, image);
    tree_take_end(collector, image);
    images_write_exit(collector, image);
    size_t next = collector->end_count++ % LAST_ENDS;
    collector->last_ends[next].pid = image->pid;
    collector->last_ends[next].end_ns = image_end_ns(collector, image);
}

uint64_t images_after_end_ns(const struct collector *collector, pid_t pid, uint64_t start_ns)
{
    for (size_t i = 0; i < LAST_ENDS && i < collector->end_count; i++) {
        if (collector->last_ends[i].pid == pid && collector->last_ends[i].end_ns >= start_ns)
            start_ns = collector->last_ends[i].end_ns + 1;
    }
    return start_ns;
}

static void release(struct collector *collector, size_t live_index)
{
    uint32_t index = collector->live[live_index];
    collector->live[live_index] = collector->live[--collector->live_count];
    struct image *image = &collector->images[index];
    drain_release_threads(collector, index, (uint32_t)image->stated_pid);
    image_map_release(image->map);
    proc_maps_free(&image->first_mappings);
    *image = (struct image){.pid_fd = -1};
    store_release(&collector->session->rings->processes[index].state, PROCESS_FREE);
}

/* Whoever has waited for it may just be about to pass its bill on: there is a second look for that. */
static void find_end(struct collector *collector, struct image *image)
{
    bool is_first_look = image->gone_ns == 0;
    if (is_first_look)
        image->gone_ns = collector->round_ns; /* by the second look its pid may be another one's */
    if (is_first_look && !settle_has_bill(collector, image))
        collector->waits_for_bill = true;
    else
        image_end_process(collector, image);
}

void images_find_ended(struct collector *collector)
{
    collector->waits_for_bill = false;
    struct epoll_event
        events[SESSION_PROCESSES]; /* all: those that wait for their bills would come again */
    int count = epoll_wait(collector->end_fd, events, SESSION_PROCESSES, 0);
    for (int i = 0; i < count; i++) {
        struct image *image = &collector->images[events[i].data.u32];
        if (image->in_use && !image->has_ended)
            find_end(collector, image);
    }
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->is_gone && !image->has_ended)
            find_end(collector, image);
    }
    /* Those of processes that just ended: a slot that is released must have none. */
    misses_finish(collector, false);
    for (size_t i = collector->live_count; i-- > 0;) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->has_ended && image->map_requests == 0 && image->waiting_count == 0)
            release(collector, i);
    }
}

/* A debugger that attaches would stop at every SIGTRAP; a library may have been unloaded behind the
 * C library's back. */
static void check(struct collector *collector, struct image *image)
{
    uint64_t cpu_ns = proc_cpu_ns(image->pid);
    bool ran = cpu_ns > image->last_cpu_ns;
    if (cpu_ns)
        image->looked_ns = collector->round_ns;
    if (ran)
        image->last_cpu_ns = cpu_ns;
    if (ran && cpu_ns - image->counted_cpu_ns > COUNT_INTERVAL_NS + cpu_ns / COUNT_PARTS) {
        image->counted_cpu_ns = cpu_ns;
        image->last_count_ns = arm_count_ns(&image->armed);
    }
    if (cpu_ns > image->start_cpu_ns + WORTH_TABLES_NS)
        image_want_first_map(collector, image);
    blind_check(collector, image);
    /* Without a pidfd (no descriptor was left) nobody else says that it has ended. */
    if (image->pid_fd < 0 && kill(image->pid, 0) != 0 && errno == ESRCH)
        image->is_gone = true;
    image->has_run |= ran;
    if (!ran || collector->round_ns - image->checked_ns < CHECK_INTERVAL_NS)
        return;
    image->checked_ns = collector->round_ns;
    if (image->armed.count && proc_status_read(image->pid).tracer != 0) {
        arm_close(&image->armed);
        image->engine = ENGINE_NONE;
        images_add_not_followed(collector, image->pid, image->name,
                                "a debugger attached to it; not sampled from then on");
    }
    if (image->map_requests == 0)
        image_want_map(collector, image);
}

void images_check(struct collector *collector)
{
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (!image->has_ended)
            check(collector, image);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Processes of the tree that run without a sampler. Nobody announces them: the children of all known
 * processes are looked at ten times a second, and what runs in a followed process, which may have executed
 * something that takes no sampler. So each gets its name, its CPU time and the reason. Once it is known, it
 * is looked at often enough to miss little of its time when it ends. What lived too shortly to be met remains
 * in the command's account, as [not followed].
 */
#include "record/collector_parts.h"

#include "base/io.h"
#include "record/proc.h"
#include "record/program.h"
#include "wire/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_INTERVAL_NS 100000000
#define LOOK_SOON_NS 10000000
/* A look after this part of its age. */
#define AGE_PARTS 50
/* Bounds the work of one look; the rest gets its turn in the next ones. */
#define PARENTS_A_LOOK 64
#define CHILDREN_MAX 1024
#define PATIENCE_CPU_NS 100000000
#define PATIENCE_NS UINT64_C(5000000000)
#define HIDDEN_FILE 1

static struct stranger *find(struct collector *collector, pid_t pid)
{
    for (size_t i = 0; i < collector->stranger_count; i++)
        if (collector->strangers[i].image.pid == pid)
            return &collector->strangers[i];
    return NULL;
}

/* One number for a file; 0: unknown. Of a privileged process it is hidden from everybody but root. False: stat() says
 * nothing. */
static bool look_at_executable(pid_t pid, struct stat *file, uint64_t *id)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    bool is_there = stat(path, file) == 0;
    if (is_there)
        *id = file->st_ino ^ (uint64_t)file->st_dev << 40;
    else
        *id = errno == EACCES ? HIDDEN_FILE : 0;
    return is_there;
}

static uint64_t executable_id(pid_t pid)
{
    struct stat file;
    uint64_t id;
    (void)look_at_executable(pid, &file, &id);
    return id;
}

bool strangers_note_executable(struct image *image, struct stat *file)
{
    return look_at_executable(image->pid, file, &image->executable_id);
}

/* It got a sampler, which is not ours. */
static bool is_in_other_recording(pid_t pid)
{
    char path[64];
    struct buffer maps = {0};
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    bool found = io_read_file(path, &maps, 16u << 20) == 0 &&
                 memmem(maps.bytes, maps.size, "/memfd:rec-rings", 16) != NULL;
    buffer_free(&maps);
    return found;
}

/* A copy of one that has our sampler. */
static bool has_our_rings(const struct collector *collector, pid_t pid)
{
    struct proc_maps mappings = {0};
    bool found = answers_map_of_member(collector, pid, &mappings);
    proc_maps_free(&mappings);
    return found;
}

static const char *reason_of_file(pid_t pid, uint64_t executable)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return executable == HIDDEN_FILE ? program_is_privileged : program_look(path, pid).reason;
}

/* The dynamic linker would have complained about it. */
static bool lacks_sampler(const struct collector *collector, pid_t pid)
{
    int fd = io_open_in_root_of(pid, collector->session->sampler_path, O_PATH);
    if (fd >= 0)
        close(fd);
    return fd == -ENOENT;
}

static bool lacks_address_space(pid_t pid)
{
    struct rlimit limit;
    return prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur < SESSION_LEAST_SPACE_BYTES;
}

/* Why it will never have the sampler; NULL: it could. */
static const char *reason_for_ever(const struct collector *collector, pid_t pid,
                                   uint64_t executable)
{
    const char *reason = reason_of_file(pid, executable);
    if (reason)
        return reason;
    if (lacks_sampler(collector, pid))
        return "in another root directory, where the sampler is not";
    if (lacks_address_space(pid))
        return "its address space is limited (ulimit -v), and the sampler would take too much of "
               "it";
    return NULL;
}

static const char *reason_of(const struct collector *collector, pid_t pid, uint64_t executable,
                             uint64_t parents)
{
    const char *reason = reason_for_ever(collector, pid, executable);
    if (reason)
        return reason;
    if (proc_status_read(pid).filters > proc_status_read(getpid()).filters)
        return "in a sandbox, whose filter forbids system calls that the sampler needs";
    if (has_our_rings(collector, pid))
        return executable != 0 && executable == parents
                   ? "made by clone(), not by fork(): it has no sampler of its own"
                   : answers_came_late;
    if (is_in_other_recording(pid))
        return "recorded by another rec";
    return "started without the sampler: its environment was replaced, or its loader refused";
}

/* A process that could take the sampler may just be on its way to it, and have to wait for a processor. */
static bool is_patience_over(const struct collector *collector, const struct image *image)
{
    return image->last_cpu_ns > image->strange_cpu_ns + PATIENCE_CPU_NS ||
           collector->round_ns > image->strange_since_ns + PATIENCE_NS;
}

/* One more look at something that seems to have no sampler: whether that is certain by now. */
static bool is_certain(const struct collector *collector, struct image *image, uint64_t executable)
{
    if (image->strange_sightings++ == 0) {
        image->strange_since_ns = collector->round_ns;
        image->strange_cpu_ns = image->last_cpu_ns;
        return false;
    }
    return is_patience_over(collector, image) || reason_for_ever(collector, image->pid, executable);
}

static void add(struct collector *collector, pid_t pid, pid_t parent_pid, uint64_t parents)
{
    if (collector->stranger_count == STRANGERS_MAX)
        return;
    collector->strangers[collector->stranger_count++] = (struct stranger){
        .image = {.pid = pid,
                  .parent_pid = parent_pid,
                  .start_ns = collector->round_ns,
                  .pid_fd = -1},
        .parents_executable_id = parents,
    };
}

/* It stays: from now on it is a process of the recording. */
static void announce(struct collector *collector, struct stranger *stranger)
{
    struct image *image = &stranger->image;
    stranger->is_announced = true;
    if (image->parent_pid == getpid())
        collector->has_root = true;
    image->executable_id = executable_id(image->pid);
    if (proc_name(image->pid, 0, image->name) != 0)
        strcpy(image->name, "?");
    images_write_start(collector, image, false);
    collector->summary->processes++;
    collector->summary->threads++;
    images_add_not_followed(
        collector, image->pid, image->name,
        reason_of(collector, image->pid, image->executable_id, stranger->parents_executable_id));
}

static void settle(struct collector *collector, struct stranger *stranger)
{
    struct image *image = &stranger->image;
    if (!stranger->is_announced)
        return;
    if (image->last_cpu_ns > image->start_cpu_ns + image->seen_ns)
        stack_write_synthetic(collector, image, image->pid, SYNTHETIC_NOT_FOLLOWED,
                              image->last_cpu_ns - image->start_cpu_ns - image->seen_ns,
                              collector->round_ns);
    images_add_cpu_not_followed(collector, image->pid, image->last_cpu_ns);
}

static void forget(struct collector *collector, struct stranger *stranger)
{
    *stranger = collector->strangers[--collector->stranger_count];
}

static void end(struct collector *collector, struct stranger *stranger)
{
    settle(collector, stranger);
    if (stranger->is_announced)
        images_write_exit(collector, &stranger->image);
    forget(collector, stranger);
}

/* What it used until now, and whether that is all. */
static void look_at(struct collector *collector, struct stranger *stranger)
{
    struct image *image = &stranger->image;
    struct proc_stat stat;
    bool is_gone = proc_stat_read(&stat, image->pid, 0) != 0;
    uint64_t cpu_ns = is_gone ? 0 : proc_cpu_ns(image->pid);
    if (cpu_ns > image->last_cpu_ns)
        image->last_cpu_ns = cpu_ns;
    if (is_gone || stat.state == 'Z')
        end(collector, stranger);
    else if (!stranger->is_announced && is_certain(collector, image, executable_id(image->pid)))
        announce(collector, stranger);
}

static void look_for_children(struct collector *collector, pid_t parent_pid, uint64_t executable)
{
    pid_t pids[CHILDREN_MAX];
    size_t count = proc_children(parent_pid, pids, CHILDREN_MAX);
    for (size_t i = 0; i < count; i++)
        if (!image_of_pid(collector, pids[i]) && !find(collector, pids[i]))
            add(collector, pids[i], parent_pid, executable);
}

/* Programs may hide themselves, as ssh-agent does; then they keep their names. */
static bool is_other_program(const struct image *image, uint64_t executable)
{
    char name[16];
    if (executable == HIDDEN_FILE && proc_name(image->pid, 0, name) == 0)
        return strcmp(name, image->name) != 0;
    return executable != 0 && executable != image->executable_id;
}

/* It executes something that takes no sampler: the same process, another program. */
static void check_executable(struct collector *collector, struct image *image)
{
    uint64_t executable = executable_id(image->pid);
    if (image->engine == ENGINE_NONE || !is_other_program(image, executable)) {
        image->strange_sightings = 0;
        return;
    }
    if (!is_certain(collector, image, executable))
        return;
    image->executable_id = executable;
    images_turn_stranger(collector, image, reason_of(collector, image->pid, executable, 0));
}

/* Who used no CPU time since then has started nothing, and executed nothing. */
static void look_at_image(struct collector *collector, struct image *image)
{
    if (image->has_ended || (!image->has_run && !image->strange_sightings))
        return;
    if (image->has_run && !collector->options->no_inherit)
        look_for_children(collector, image->pid, image->executable_id);
    image->has_run = false;
    check_executable(collector, image);
}

static void look_at_images(struct collector *collector)
{
    size_t count = collector->live_count < PARENTS_A_LOOK ? collector->live_count : PARENTS_A_LOOK;
    for (size_t i = 0; i < count; i++) {
        size_t index = (collector->strangers_next + i) % collector->live_count;
        look_at_image(collector, &collector->images[collector->live[index]]);
    }
    collector->strangers_next += count;
}

static void look_at_strangers(struct collector *collector)
{
    for (size_t i = collector->stranger_count; i-- > 0;)
        look_at(collector, &collector->strangers[i]);
    if (collector->options->no_inherit)
        return;
    for (size_t i = 0; i < collector->stranger_count; i++)
        look_for_children(collector, collector->strangers[i].image.pid,
                          collector->strangers[i].image.executable_id);
}

/* The command is nobody's child that is known. */
static void find_command(struct collector *collector)
{
    struct proc_stat stat;
    pid_t root_pid = load_relaxed(&collector->root_pid);
    if (root_pid && !image_of_pid(collector, root_pid) && !find(collector, root_pid) &&
        proc_stat_read(&stat, root_pid, 0) == 0 && stat.state != 'Z')
        add(collector, root_pid, getpid(), 0);
}

/* A second look follows soon. */
static bool has_suspect(const struct collector *collector)
{
    for (size_t i = 0; i < collector->live_count; i++)
        if (collector->images[collector->live[i]].strange_sightings)
            return true;
    return false;
}

static void find_strangers(struct collector *collector)
{
    find_command(collector);
    look_at_images(collector);
}

/* UINT64_MAX when nobody is there that had to be looked at. */
static uint64_t interval_ns(const struct collector *collector)
{
    uint64_t youngest_ns = 0;
    for (size_t i = 0; i < collector->stranger_count; i++)
        if (collector->strangers[i].image.start_ns > youngest_ns)
            youngest_ns = collector->strangers[i].image.start_ns;
    for (size_t i = 0; i < collector->live_count; i++) {
        const struct image *image = &collector->images[collector->live[i]];
        if (image->has_ended || (image->engine != ENGINE_NONE && image->strange_sightings == 0))
            continue;
        uint64_t start_ns = image->strange_sightings ? collector->round_ns : image->start_ns;
        if (start_ns > youngest_ns)
            youngest_ns = start_ns;
    }
    if (youngest_ns == 0)
        return UINT64_MAX;
    uint64_t part_ns = (collector->round_ns - youngest_ns) / AGE_PARTS;
    if (part_ns > LOOK_INTERVAL_NS)
        return LOOK_INTERVAL_NS;
    return part_ns > LOOK_SOON_NS ? part_ns : LOOK_SOON_NS;
}

void strangers_look(struct collector *collector)
{
    if (collector->round_ns < collector->strangers_due_ns)
        return;
    look_at_strangers(collector);
    if (collector->round_ns >= collector->strangers_search_ns || has_suspect(collector)) {
        find_strangers(collector);
        collector->strangers_search_ns = collector->round_ns + LOOK_INTERVAL_NS;
    }
    uint64_t most_ns = interval_ns(collector);
    collector->strangers_due_ns =
        collector->round_ns + (most_ns < LOOK_INTERVAL_NS ? most_ns : LOOK_INTERVAL_NS);
}

uint64_t strangers_wait_ns(const struct collector *collector, uint64_t wait_ns)
{
    uint64_t most_ns = interval_ns(collector);
    return wait_ns > most_ns ? most_ns : wait_ns;
}

bool strangers_take(struct collector *collector, pid_t pid, uint64_t *cpu_ns)
{
    struct stranger *stranger = find(collector, pid);
    bool was_announced = stranger && stranger->is_announced;
    if (was_announced) {
        settle(collector, stranger);
        *cpu_ns = stranger->image.last_cpu_ns;
    }
    if (stranger)
        forget(collector, stranger);
    return was_announced;
}

void strangers_begin(struct collector *collector)
{
    for (size_t i = 0; i < collector->stranger_count; i++)
        collector->strangers[i].image.start_cpu_ns = proc_cpu_ns(collector->strangers[i].image.pid);
}

uint64_t strangers_finish(struct collector *collector, bool command_runs)
{
    uint64_t live_ns = 0;
    while (collector->stranger_count > 0) {
        struct stranger *stranger = &collector->strangers[0];
        struct image *image = &stranger->image;
        uint64_t cpu_ns = proc_cpu_ns(image->pid);
        bool is_left = !command_runs && cpu_ns && image->pid != collector->root_pid;
        if (cpu_ns > image->last_cpu_ns)
            image->last_cpu_ns = cpu_ns;
        if (is_left)
            live_ns += image->last_cpu_ns;
        if (is_left && stranger->is_announced)
            record_processes_add(&collector->summary->left_running, image->pid, image->name, NULL);
        if (is_left || command_runs) {
            settle(collector, stranger);
            forget(collector, stranger);
        } else {
            end(collector, stranger);
        }
    }
    return live_ns;
}

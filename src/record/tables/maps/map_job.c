/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/map_job.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int add_mapping(struct process_map *map, struct proc_mapping *from)
{
    struct process_mapping *mapping = ARRAY_PUSH(map->mappings, map->count, map->capacity);
    if (!mapping)
        return -ENOMEM;
    mapping->start_avma = from->start_avma;
    mapping->end_avma = from->end_avma;
    mapping->file_offset = from->file_offset;
    mapping->device = from->device;
    mapping->inode = from->inode;
    mapping->path = from->path;
    from->path = NULL;
    mapping->is_file = (mapping->path[0] == '/' && strncmp(mapping->path, "//", 2) != 0) ||
                       strcmp(mapping->path, "[vdso]") == 0;
    return 0;
}

/* Every frame of every sample is compared with this range. */
static void note_sampler(struct process_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct process_mapping *mapping = &map->mappings[i];
        if (!mapping->module || !mapping->module->is_sampler)
            continue;
        map->sampler_start_avma = mapping->start_avma;
        map->sampler_end_avma = mapping->end_avma;
    }
}

/* Wakes the process, which may be blocked in dlclose() until this read. */
static int read_mappings(struct map_job *job)
{
    if (!job->memory)
        return proc_maps_read(&job->mappings, job->pid);
    struct process_slot *slot = &job->memory->shared->process;
    uint32_t unknown_count = load_acquire(&slot->unknown_count);
    int err = proc_maps_read(&job->mappings, job->pid);
    store_release(&slot->unknown_seen, unknown_count);
    syscall(SYS_futex, &slot->unknown_seen, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return err;
}

/* A process without root's rights changes them by exec alone, and joins again after the exec. A
 * process with root's rights may have dropped them since the handshake, as daemons do. */
static void update_rights(struct map_job *job)
{
    struct rights now;
    if (geteuid() != 0 || proc_rights_read(&now, job->pid) != 0)
        return;
    if (job->rights.uid == 0 || job->rights.uid == now.uid)
        job->rights = now;
}

/* The rights are read before and after: a process that drops root's rights may map what other
 * users made, and may then execute a set-user-id program. */
static int resolve(struct module_cache *modules, struct process_map *map, struct map_job *job)
{
    update_rights(job);
    int err = job->mappings.count ? 0 : read_mappings(job);
    if (job->rights.uid == 0)
        update_rights(job);
    map->left_out = job->mappings.left_out;
    map->is_gone = err != 0 || job->mappings.count == 0;
    for (size_t i = 0; err == 0 && i < job->mappings.count; i++)
        err = add_mapping(map, &job->mappings.mappings[i]);
    for (size_t i = 0; err == 0 && i < map->count; i++)
        if (map->mappings[i].is_file)
            process_mapping_resolve(&map->mappings[i], modules, job->pid, &job->rights);
    note_sampler(map);
    for (size_t i = 0; i < map->count; i++)
        process_map_note_jit(map, &map->mappings[i]);
    return err;
}

/* unload_count and the time are read before the mappings: code unloaded in between makes the map
 * old. */
void map_job_run(struct map_job *job, struct module_cache *modules)
{
    uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct process_map *map = job->map;
    if (job->mappings.count == 0)
        map->read_ns = monotonic_ns();
    if (job->memory)
        map->unload_count = load_acquire(&job->memory->shared->process.unload_count);
    if (resolve(modules, map, job) != 0)
        map->is_gone = true;
    map->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

void map_job_free(struct map_job *job)
{
    process_map_release(job->map);
    target_memory_release(job->memory);
    proc_maps_free(&job->mappings);
}

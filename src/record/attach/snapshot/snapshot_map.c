/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/snapshot_map.h"

#include "record/perf_ring/maps/ring_map.h"
#include "record/procfs/maps/proc_maps.h"

#include <errno.h>
#include <string.h>

/* "//anon" and other names of the kernel are no files. */
static bool is_file(const char *path)
{
    return (path[0] == '/' && strncmp(path, "//", 2) != 0) || strcmp(path, "[vdso]") == 0;
}

/* Moves the path out of the list. */
static int enter(struct process_map *map, struct ring_modules *modules, struct proc_mapping *listed,
                 pid_t pid, const struct rights *rights)
{
    struct process_mapping mapping = {.start_avma = listed->start_avma,
                                      .end_avma = listed->end_avma,
                                      .file_offset = listed->file_offset,
                                      .device = listed->device,
                                      .inode = listed->inode,
                                      .is_file = is_file(listed->path),
                                      .path = listed->path};
    listed->path = NULL;
    if (mapping.is_file)
        process_mapping_resolve(&mapping, modules->cache, pid, rights);
    return ring_map_put(map, &mapping);
}

/* Files first: a map beyond the budget lacks code without a file. */
static int enter_all(struct process_map *map, struct ring_modules *modules, struct proc_maps *list,
                     pid_t pid, const struct rights *rights)
{
    int err = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < list->count && err == 0; i++)
            if (list->mappings[i].path && is_file(list->mappings[i].path) == (pass == 0))
                err = enter(map, modules, &list->mappings[i], pid, rights);
    return err == -E2BIG ? 0 : err;
}

int snapshot_map_read(struct process_map **map, struct ring_modules *modules, pid_t pid,
                      const struct rights *rights)
{
    struct proc_maps list = {0};
    *map = ring_map_new();
    int err = *map ? proc_maps_read(&list, pid) : -ENOMEM;
    if (err == 0)
        err = enter_all(*map, modules, &list, pid, rights);
    proc_maps_free(&list);
    if (err) {
        process_map_release(*map);
        *map = NULL;
    }
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_modules.h"

#include <errno.h>
#include <sys/mman.h>

/* The tables are large and mostly untouched: MAP_NORESERVE. */
int ring_modules_open(struct ring_modules *modules, struct open_file_cache *open_files)
{
    void *memory = mmap(NULL, sizeof(struct tables), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    modules->tables = memory;
    return module_cache_open(&modules->cache, modules->tables, open_files);
}

void ring_modules_close(struct ring_modules *modules)
{
    module_cache_close(modules->cache);
    if (modules->tables)
        munmap(modules->tables, sizeof(struct tables));
    *modules = (struct ring_modules){0};
}

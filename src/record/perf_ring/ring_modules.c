/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_modules.h"

#include "base/clock.h"

#include <errno.h>
#include <sys/mman.h>

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

void ring_modules_resolve(struct ring_modules *modules, struct process_mapping *mapping, pid_t pid,
                          const struct rights *rights)
{
    const struct mapped_file file = {.pid = pid,
                                     .path = mapping->path,
                                     .device = mapping->device,
                                     .inode = mapping->inode,
                                     .start_avma = mapping->start_avma,
                                     .end_avma = mapping->end_avma,
                                     .rights = rights};
    struct known_module *module = module_cache_get(modules->cache, &file);
    if (!module)
        return;
    mapping->awaits_file = !module->is_opened;
    if (module->elf &&
        elf_load_bias(module->elf, mapping->start_avma, mapping->file_offset, &mapping->bias) == 0)
        mapping->module = module;
    else
        known_module_release(module);
}

bool ring_modules_has_cfi(struct ring_modules *modules, struct known_module *module)
{
    if (module->state == MODULE_NO_ROOM && monotonic_ns() >= module->pause_end_ns)
        module_cache_read(modules->cache, module);
    return module->state != MODULE_NO_ROOM;
}

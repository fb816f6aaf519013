/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/mapping_record.h"

#include "elf/elf_file.h"

#include <string.h>
#include <sys/mman.h>

static void write_of(struct perfdata_writer *file, struct perfdata_mapping *mapping,
                     const struct known_module *module)
{
    if (module) {
        mapping->build_id_bytes = module->build_id_bytes;
        memcpy(mapping->build_id, module->build_id, sizeof(mapping->build_id));
    }
    perfdata_write_mapping(file, mapping);
}

void mapping_record_write(struct perfdata_writer *file, pid_t pid,
                          const struct process_mapping *from, uint64_t time_ns)
{
    struct perfdata_mapping mapping = {
        .pid = (uint32_t)pid,
        .tid = (uint32_t)pid,
        .time_ns = time_ns,
        .start_avma = from->start_avma,
        .bytes = from->end_avma - from->start_avma,
        .file_offset = from->file_offset,
        .protection = PROT_READ | PROT_EXEC,
        /* The kernel's name for anonymous memory in MMAP2 records (perf_event_mmap_event()). */
        .path = from->path[0] ? from->path : "//anon",
    };
    write_of(file, &mapping, from->module);
}

void mapping_record_write_file(struct perfdata_writer *file, pid_t pid,
                               const struct process_mapping *code, uint64_t time_ns)
{
    /* Once for a file: a later record would replace the first code's. */
    if (!code->module || code->start_avma - code->bias > elf_segment(code->module->elf, 0)->svma)
        return;
    const struct elf_extent *extent = elf_extent(code->module->elf);
    const uint64_t before = code->start_avma - code->bias - extent->start_svma;
    const uint64_t bytes = extent->end_svma - extent->start_svma;
    if (before >= bytes || bytes > code->start_avma - before + bytes)
        return;
    struct perfdata_mapping mapping = {.pid = (uint32_t)pid,
                                       .tid = (uint32_t)pid,
                                       .time_ns = time_ns,
                                       .start_avma = code->start_avma - before,
                                       .bytes = bytes,
                                       .file_offset = extent->offset,
                                       .protection = PROT_READ,
                                       .path = code->path};
    write_of(file, &mapping, code->module);
}

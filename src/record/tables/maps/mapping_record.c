/* SPDX-License-Identifier: MIT */
#include "record/tables/maps/mapping_record.h"

#include <string.h>
#include <sys/mman.h>

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
        .path = from->path[0] ? from->path : "//anon",
    };
    if (from->module) {
        mapping.build_id_bytes = from->module->build_id_bytes;
        memcpy(mapping.build_id, from->module->build_id, sizeof(mapping.build_id));
    }
    perfdata_write_mapping(file, &mapping);
}

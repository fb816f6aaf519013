/* SPDX-License-Identifier: MIT */
#pragma once

#include "perfdata/writer.h"
#include "record/tables/maps/process_map.h"

#include <stdint.h>
#include <sys/types.h>

/* Writes the MMAP2 record of one mapping. */
void mapping_record_write(struct perfdata_writer *file, pid_t pid,
                          const struct process_mapping *mapping, uint64_t time_ns);

/* The same for all of the file, before the record of the code: perf 6.1 finds unwind data by the
 * mappings of the file's other segments. */
void mapping_record_write_file(struct perfdata_writer *file, pid_t pid,
                               const struct process_mapping *code, uint64_t time_ns);

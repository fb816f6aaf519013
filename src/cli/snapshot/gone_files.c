/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/gone_files.h"

#include "elf/elf_file.h"
#include "record/procfs/maps/proc_maps.h"
#include "record/procfs/proc.h"
#include "record/tables/files/mapped_file.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void hold(struct gone_files *gone, const struct mapped_file *file)
{
    struct stat status;
    struct elf_file *elf = NULL;
    uint8_t build_id[20];
    int fd = mapped_file_open(file, &status);
    if (fd >= 0 && elf_open(&elf, fd, NULL) == 0) {
        size_t bytes = elf_build_id(elf, build_id);
        open_file_cache_add(&gone->files, file->pid, file->path, build_id, bytes, fd);
    }
    elf_close(elf);
    if (fd >= 0)
        close(fd);
}

static bool is_at_path(const struct proc_mapping *mapping)
{
    struct stat there;
    return stat(mapping->path, &there) == 0 && there.st_ino == mapping->inode;
}

void gone_files_open(struct gone_files *gone, pid_t pid)
{
    struct proc_maps maps = {0};
    struct rights rights = proc_rights_of(pid);
    *gone = (struct gone_files){.files.count = 0};
    if (proc_maps_read(&maps, pid) == 0)
        for (size_t i = 0; i < maps.count; i++) {
            const struct proc_mapping *mapping = &maps.mappings[i];
            const struct mapped_file file = {.pid = pid,
                                             .path = mapping->path,
                                             .device = mapping->device,
                                             .inode = mapping->inode,
                                             .start_avma = mapping->start_avma,
                                             .end_avma = mapping->end_avma,
                                             .rights = &rights};
            if (mapping->path[0] == '/' && !is_at_path(mapping))
                hold(gone, &file);
        }
    proc_maps_free(&maps);
}

static const char *find(const void *context, const char *path, const uint8_t *build_id,
                        size_t build_id_bytes)
{
    return open_file_cache_find(context, path, build_id, build_id_bytes);
}

void gone_files_use(struct gone_files *gone, struct convert_options *options)
{
    options->find_gone = find;
    options->find_gone_context = &gone->files;
    options->gone_fds = gone->descriptors;
    options->gone_fd_count = open_file_cache_descriptors(&gone->files, gone->descriptors);
}

void gone_files_close(struct gone_files *gone)
{
    open_file_cache_free(&gone->files);
}

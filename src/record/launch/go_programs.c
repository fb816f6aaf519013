/* SPDX-License-Identifier: MIT */
#include "record/launch/go_programs.h"

#include "base/files/foreign_file.h"
#include "elf/elf_file.h"
#include "record/procfs/proc.h"

#include <unistd.h>

static bool look_at(pid_t pid, const char *path)
{
    struct elf_file *elf = NULL;
    struct rights rights = proc_rights_of(pid);
    int fd = foreign_file_reopen(foreign_file_find(0, path, 0, NULL), &rights, NULL);
    if (fd < 0)
        return false;
    bool is_go = elf_open(&elf, fd, NULL) == 0 && elf_is_go(elf);
    elf_close(elf);
    close(fd);
    return is_go;
}

bool go_programs_have(struct go_programs *known, pid_t pid, const char *path,
                      const struct stat *status)
{
    for (size_t i = 0; i < GO_PROGRAMS_REMEMBERED; i++)
        if (known->files[i].inode == status->st_ino && known->files[i].device == status->st_dev &&
            known->files[i].bytes == status->st_size &&
            known->files[i].changed.tv_sec == status->st_ctim.tv_sec &&
            known->files[i].changed.tv_nsec == status->st_ctim.tv_nsec)
            return known->files[i].is_go;
    size_t place = known->next++ % GO_PROGRAMS_REMEMBERED;
    known->files[place].device = status->st_dev;
    known->files[place].inode = status->st_ino;
    known->files[place].bytes = status->st_size;
    known->files[place].changed = status->st_ctim;
    known->files[place].is_go = look_at(pid, path);
    return known->files[place].is_go;
}

/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/known_module.h"

#include "base/files/foreign_file.h"
#include "base/text/path_name.h"
#include "wire/atomic.h"
#include "wire/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* _start is a few dozen bytes in every C library. */
#define ENTRY_FUNCTION_BYTES 256

/* The kernel maps the same vDSO into every 64-bit process. */
static int open_vdso(struct elf_file **elf)
{
    const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    return image ? elf_open_memory(elf, image, 8192, NULL) : -ENOENT;
}

/* Where stacks may end: in the C library and musl's loader anywhere (start of threads), in a
 * program in _start, in static and Go programs anywhere. */
static void find_root(struct known_module *module)
{
    const char *name = path_name(module->path);
    if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2.", 7) == 0 ||
        strncmp(name, "libpthread", 10) == 0 || strncmp(name, "ld-musl", 7) == 0) {
        module->root_end_svma = UINT64_MAX;
        return;
    }
    /* An ELF file without an interpreter is a static program or a library; libraries have no entry,
     * with few exceptions named .so. */
    bool is_loader = strncmp(name, "ld-", 3) == 0;
    bool is_static = !is_loader && !elf_interpreter(module->elf);
    if (elf_entry_svma(module->elf) == 0 || (is_static && strstr(name, ".so")))
        return;
    if (is_static || elf_is_go(module->elf)) { /* an executable with its library */
        module->root_end_svma = UINT64_MAX;
        return;
    }
    module->root_start_svma = elf_entry_svma(module->elf);
    module->root_end_svma = module->root_start_svma + ENTRY_FUNCTION_BYTES;
}

/* Returns whether the file can be opened later by its build-id. */
static bool open_file(struct known_module *module, const struct mapped_file *file,
                      struct open_file_cache *open_files)
{
    bool is_held = false;
    struct stat status;
    int fd = mapped_file_open(file, &status);
    if (fd >= 0 && elf_open(&module->elf, fd, NULL) == 0) {
        module->changed = status.st_mtim;
        module->build_id_bytes = elf_build_id(module->elf, module->build_id);
        is_held = open_file_cache_add(open_files, file->pid, module->path, module->build_id,
                                      module->build_id_bytes, fd);
    } else if (file->rights->uid != 0) {
        foreign_file_refuse(file->path, fd < 0 ? fd : -ENOEXEC);
    }
    if (fd >= 0)
        close(fd);
    return is_held && module->build_id_bytes;
}

bool known_module_open(struct known_module *module, const struct mapped_file *file,
                       struct open_file_cache *open_files)
{
    bool is_held = false;
    if (strcmp(module->path, "[vdso]") == 0) {
        if (open_vdso(&module->elf) == 0)
            module->build_id_bytes = elf_build_id(module->elf, module->build_id);
    } else if (module->path[0] == '/') {
        is_held = open_file(module, file, open_files);
    }
    if (!module->elf)
        return false;
    module->is_go = elf_is_go(module->elf);
    module->is_searched = !module->is_go && code_image_is_possible(module->elf);
    module->is_sampler = strcmp(path_name(module->path), SESSION_SAMPLER_NAME) == 0;
    find_root(module);
    return is_held;
}

size_t known_module_bytes(const char *path)
{
    return sizeof(struct known_module) + strlen(path) + 1;
}

size_t known_module_header_bytes(const struct known_module *module)
{
    return module->elf ? elf_released_bytes(module->elf) : 0;
}

void known_module_free(struct known_module *module)
{
    code_image_close(module->code);
    unwind_module_close(module->unwind);
    elf_close(module->elf);
    free(module->is_requested);
    free(module->path);
    free(module);
}

/* -1: not held. Without a build-id, the held file could be another file with the path. */
static int open_held(const struct known_module *module, struct open_file_cache *open_files)
{
    return module->build_id_bytes ? open_file_cache_open(open_files, module->path, module->build_id,
                                                         module->build_id_bytes)
                                  : -1;
}

struct elf_file *known_module_open_file(const struct known_module *module,
                                        struct open_file_cache *open_files)
{
    const struct mapped_file file = {.path = module->path,
                                     .device = module->device,
                                     .inode = module->inode,
                                     .rights = &module->rights};
    struct stat status;
    struct elf_file *elf = NULL;
    int fd = open_held(module, open_files);
    if (fd < 0)
        fd = mapped_file_open(&file, &status);
    if (fd >= 0) {
        (void)elf_open(&elf, fd, NULL);
        close(fd);
    }
    return elf;
}

int known_module_read_cfi(struct known_module *module, const struct elf_file *elf,
                          uint64_t bytes_max, struct row_room *room)
{
    struct unwind_module *unwind;
    int err = unwind_module_open_lazy(&unwind, elf, bytes_max, room, NULL);
    if (err == 0)
        store_release(&module->unwind, unwind);
    return err;
}

bool known_module_has_rows(const struct known_module *module)
{
    return module->unwind && unwind_module_text_bytes(module->unwind) > 0 &&
           (module->is_searched || unwind_module_fdes(module->unwind) > 0);
}

/* A linker may write the same inode again: the time of modification shows this. */
bool known_module_is_current(const struct known_module *module)
{
    struct stat status;
    if (stat(module->path, &status) != 0 || status.st_ino != module->inode)
        return true; /* deleted, or in another root directory: unknown */
    return status.st_mtim.tv_sec == module->changed.tv_sec &&
           status.st_mtim.tv_nsec == module->changed.tv_nsec;
}

/* A module without ELF may be a file that was closed to its first user, so another user gets a
 * module of its own. The path is compared, too: the held file is found by the path. */
bool known_module_is_of(const struct known_module *module, const struct mapped_file *file)
{
    return module->inode == file->inode && module->device == file->device &&
           (module->elf || module->rights.uid == file->rights->uid) &&
           strcmp(module->path, file->path) == 0;
}

void known_module_use(struct known_module *module)
{
    add_relaxed(&module->users, 1);
}

/* Release: the user's accesses come before the eviction by the compiler thread. */
void known_module_release(struct known_module *module)
{
    if (module)
        __atomic_fetch_sub(&module->users, 1, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: MIT */
#include "record/launch/exec_target.h"

#include "arch/own.h"
#include "base/files/foreign_file.h"
#include "base/files/io.h"
#include "elf/elf_file.h"
#include "record/procfs/proc.h"
#include "wire/session.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MAX 4  /* limit of nested scripts, as in the kernel (fs/exec.c, exec_binprm()) */
#define HEAD_BYTES 256 /* BINPRM_BUF_SIZE: the part of a script parsed by the kernel */
#define LINKER_BYTES_MAX (4u << 20)
#define OUR_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

const char exec_target_is_privileged[] =
    "set-user-id or with capabilities: the dynamic linker preloads nothing";

/* Parses "#! /path argument" in place. The argument has no meaning here. */
static const char *interpreter_of(char head[HEAD_BYTES + 1])
{
    char *start = head + 2 + strspn(head + 2, " \t");
    start[strcspn(start, " \t\n")] = '\0';
    return start[0] ? start : "/bin/sh";
}

/* The kernel sets AT_SECURE at such an exec, and the dynamic linker then ignores paths with slashes
 * in LD_PRELOAD (ld.so(8), secure-execution mode). File capabilities add nothing to root's rights:
 * with root, the dynamic linker still preloads. */
static bool is_privileged(const char *path, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    bool changes_user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
    bool changes_group =
        (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid();
    bool has_capabilities = geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
    return changes_user || changes_group || has_capabilities;
}

/* The process and the rights for the resolution of a path. */
struct view {
    pid_t pid; /* 0: the launcher */
    struct rights rights;
};

/* PT_INTERP of the running program, in its memory: the distance from file to memory is that of
 * PT_PHDR. */
static const char *own_interpreter(void)
{
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR), *table = NULL;
    const ElfW(Phdr) *interpreter = NULL;
    for (unsigned long i = 0; headers && i < getauxval(AT_PHNUM); i++) {
        if (headers[i].p_type == PT_PHDR)
            table = &headers[i];
        else if (headers[i].p_type == PT_INTERP)
            interpreter = &headers[i];
    }
    return table && interpreter ? (const char *)headers - table->p_vaddr + interpreter->p_vaddr
                                : NULL;
}

struct session_linker exec_target_own_linker(void)
{
    struct stat status;
    const char *path = own_interpreter();
    return path && stat(path, &status) == 0 ? (struct session_linker){status.st_dev, status.st_ino}
                                            : (struct session_linker){0};
}

static bool is_own_linker(const struct stat *status)
{
    struct session_linker own = exec_target_own_linker();
    return own.inode != 0 && status->st_dev == own.device && status->st_ino == own.inode;
}

/* rec's own linker is not read: rec was built with the same C library as the sampler. */
static bool read_linker(const char *path, const struct view *view, struct buffer *file,
                        struct session_linker *linker)
{
    struct stat status;
    int place = foreign_file_find(view->pid, path, 0, &view->rights);
    int fd = foreign_file_reopen(place, &view->rights, NULL);
    bool is_found = fd >= 0 && fstat(fd, &status) == 0;
    bool is_own = is_found && is_own_linker(&status);
    bool is_read = is_found && !is_own && io_read_all(fd, file, LINKER_BYTES_MAX) == 0;
    if (is_own || is_read)
        *linker = (struct session_linker){status.st_dev, status.st_ino};
    if (fd >= 0)
        close(fd);
    return is_read;
}

/* An unreadable linker counts as new enough: the program fails without the sampler, too. */
static bool is_linker_too_old(const char *path, const struct view *view,
                              struct session_linker *linker)
{
    static const char version[] = SESSION_LIBC_VERSION;
    struct buffer file = {0};
    bool is_too_old = read_linker(path, view, &file, linker) &&
                      !memmem(file.bytes, file.size, version, sizeof(version));
    buffer_free(&file);
    return is_too_old;
}

static struct exec_target look_at_elf(const char *path, const struct view *view, int fd)
{
    struct elf_file *elf = NULL;
    struct exec_target target = {0};
    if (elf_open(&elf, fd, NULL) != 0)
        return target;
    const char *interpreter = elf_interpreter(elf);
    if (elf_is_go(elf))
        target.reason = "a Go program (the Go runtime owns the signals)";
    else if (!interpreter)
        target.reason = "a static program: there is no loader to load the sampler";
    else if (strstr(interpreter, "/ld-musl"))
        target = (struct exec_target){"musl instead of the GNU C library", .is_foreign = true};
    else if (is_linker_too_old(interpreter, view, &target.linker))
        target = (struct exec_target){"a C library older than " SESSION_LIBC_VERSION,
                                      .is_foreign = true};
    bool is_safe = !is_privileged(path, fd); /* else the kernel closes the events at the exec */
    if (!target.reason && !is_safe)
        target.reason = exec_target_is_privileged;
    target.takes_ring = target.reason && is_safe;
    elf_close(elf);
    return target;
}

static struct exec_target look_at_head(const char *path, const struct view *view, int fd,
                                       const char head[HEAD_BYTES])
{
    /* e_ident and e_machine have the same offsets in both classes */
    const Elf64_Ehdr *elf = (const void *)head;
    if (memcmp(head, ELFMAG, SELFMAG) != 0)
        return (struct exec_target){0};
    if (elf->e_ident[EI_CLASS] != OUR_CLASS)
        return (struct exec_target){"a 32-bit program", .is_foreign = true,
                                    .is_other_machine = true};
    if (elf->e_machine != ARCH_ELF_MACHINE)
        return (struct exec_target){"a program for another processor", .is_foreign = true,
                                    .is_other_machine = true};
    return look_at_elf(path, view, fd);
}

/* Follows "#!" lines; the program at the end decides. Unreadable files have no reason against
 * them. */
struct exec_target exec_target_inspect(const char *path, pid_t pid)
{
    struct view view = {.pid = pid, .rights = proc_rights_of(pid)};
    struct exec_target target = {0};
    _Alignas(8) char head[HEAD_BYTES + 1];
    char script[HEAD_BYTES + 1];
    for (int i = 0; i <= SCRIPTS_MAX; i++) {
        memset(head, 0, sizeof(head));
        /* The first path is the user's command, or a /proc link. */
        int place = foreign_file_find(0, path, 0, i == 0 ? NULL : &view.rights);
        int fd = foreign_file_reopen(place, &view.rights, NULL);
        if (fd < 0)
            break;
        bool is_script = pread(fd, head, HEAD_BYTES, 0) > 2 && head[0] == '#' && head[1] == '!';
        if (!is_script)
            target = look_at_head(path, &view, fd, head);
        close(fd);
        if (!is_script)
            break;
        snprintf(script, sizeof(script), "%s", interpreter_of(head));
        path = script;
    }
    return target;
}

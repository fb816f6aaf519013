/* SPDX-License-Identifier: MIT */
/*
 * The kinds of program files:
 *
 *     this architecture, the dynamic linker of rec or the     takes the sampler
 *     command
 *     static, of unknown format, unreadable                   the variables, for its children
 *     other architecture or dynamic linker, set-user-id       no variables: the dynamic linker
 *                                                             complains, fails, or removes them
 *
 * A script is of the kind of its interpreter.
 */
#include "sampler/exec/exec_target.h"

#include "sampler/arch/arch.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"

#include <elf.h>
#include <sys/stat.h>

#define SCRIPTS_MAX 4       /* scripts as interpreters of scripts, as in the kernel */
#define SCRIPT_LINE_MAX 256 /* as in the kernel */
#define HEADERS_MAX 64u

/* A program file, and its first bytes: program headers usually begin there. */
struct program_file {
    long fd;
    const char *head;
    size_t head_bytes;
};

static bool read_at(const struct program_file *file, uint64_t offset, void *out, size_t bytes)
{
    if (offset <= file->head_bytes && bytes <= file->head_bytes - offset) {
        arch_copy(out, file->head + offset, bytes);
        return true;
    }
    return own_syscall(READ_AT, file->fd, out, bytes, offset) == (long)bytes;
}

/* The linkers that can load the sampler are known by device and inode: of rec, and of the
 * command. */
static bool linker_is_known(const char *path)
{
    const struct tables_header *header = &process.tables->header;
    struct stat status;
    if (raw_failed(own_syscall(STAT, AT_FDCWD, path, &status, 0)))
        return true; /* the program will not start anyway */
    for (uint32_t i = 0; i < SESSION_LINKERS; i++)
        if (status.st_dev == header->linkers[i].device && status.st_ino == header->linkers[i].inode)
            return true;
    return false;
}

static enum exec_kind kind_of_elf(const struct program_file *file, const Elf64_Ehdr *elf)
{
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != ARCH_ELF_MACHINE)
        return EXEC_UNSUITABLE;
    uint32_t count = elf->e_phnum < HEADERS_MAX ? elf->e_phnum : HEADERS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        Elf64_Phdr header;
        if (!read_at(file, elf->e_phoff + i * sizeof(header), &header, sizeof(header)))
            return EXEC_TAKES_SAMPLER;
        if (header.p_type != PT_INTERP)
            continue;
        char linker[SCRIPT_LINE_MAX];
        if (header.p_filesz == 0 || header.p_filesz > sizeof(linker) ||
            !read_at(file, header.p_offset, linker, header.p_filesz))
            return EXEC_TAKES_SAMPLER;
        linker[header.p_filesz - 1] = '\0';
        return linker_is_known(linker) ? EXEC_TAKES_SAMPLER : EXEC_OTHER_LOADER;
    }
    return EXEC_STATIC;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* "#! /path/of/interpreter argument": ends the path in place; NULL when there is none. */
static char *interpreter_of(char line[SCRIPT_LINE_MAX])
{
    char *start = line + 2;
    char *last = line + SCRIPT_LINE_MAX - 1;
    *last = '\0';
    while (is_blank(*start))
        start++;
    char *end = start;
    while (*end && *end != '\n' && !is_blank(*end))
        end++;
    bool is_cut = end == last;
    *end = '\0';
    return *start && !is_cut ? start : NULL;
}

/* For a script, its interpreter in `line`. */
static enum exec_kind kind_of_file(long fd, char line[SCRIPT_LINE_MAX], char **interpreter)
{
    Elf64_Ehdr elf;
    *interpreter = NULL;
    long bytes = own_syscall(READ_AT, fd, line, SCRIPT_LINE_MAX - 1, 0);
    if (bytes < 2)
        return EXEC_TAKES_SAMPLER;
    line[bytes] = '\0';
    if (line[0] == '#' && line[1] == '!') {
        *interpreter = interpreter_of(line);
        return EXEC_TAKES_SAMPLER;
    }
    if (bytes < (long)sizeof(elf) || !text_behind(line, ELFMAG))
        return EXEC_TAKES_SAMPLER;
    arch_copy(&elf, line, sizeof(elf));
    const struct program_file file = {fd, line, (size_t)bytes};
    return kind_of_elf(&file, &elf);
}

/* The dynamic linker of such a program removes the variables (AT_SECURE in ld.so(8)). For root,
 * `su` of root changes nothing. */
static bool changes_identity(const struct stat *file)
{
    bool changes_user = (file->st_mode & S_ISUID) && file->st_uid != (uid_t)own_syscall(GETUID);
    bool changes_group = (file->st_mode & S_ISGID) && file->st_gid != (gid_t)own_syscall(GETGID);
    return changes_user || changes_group;
}

static enum exec_kind kind_of_path(const char *path, char line[SCRIPT_LINE_MAX], char **interpreter)
{
    struct stat status;
    *interpreter = NULL;
    if (raw_failed(own_syscall(STAT, AT_FDCWD, path, &status, 0)) || !S_ISREG(status.st_mode))
        return EXEC_TAKES_SAMPLER;
    if (changes_identity(&status))
        return EXEC_UNSUITABLE;
    long fd = own_syscall(OPEN, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (raw_failed(fd))
        return EXEC_TAKES_SAMPLER;
    enum exec_kind kind = kind_of_file(fd, line, interpreter);
    own_syscall(CLOSE, fd);
    return kind;
}

enum exec_kind exec_target_kind(const char *path)
{
    char line[SCRIPT_LINE_MAX];
    char *interpreter;
    enum exec_kind kind = kind_of_path(path, line, &interpreter);
    for (int i = 0; i < SCRIPTS_MAX && interpreter; i++)
        kind = kind_of_path(interpreter, line, &interpreter);
    return kind;
}

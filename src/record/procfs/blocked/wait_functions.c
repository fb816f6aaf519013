/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/wait_functions.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of symbols, or of their names. */
#define TABLE_BYTES_MAX (UINT64_C(64) << 20)
/* glibc has 190. */
enum { FUNCTIONS_MAX = 4096 };

/* Prefixes cover all variants: pthread_mutex_timedlock, pthread_cond_clockwait, sem_timedwait. */
static const struct {
    const char *prefix;
    enum wait_kind kind;
} families[] = {
    {"pthread_mutex_", WAIT_LOCK},
    {"mtx_", WAIT_LOCK},
    {"pthread_rwlock_", WAIT_RWLOCK},
    {"pthread_cond_", WAIT_CONDITION},
    {"cnd_", WAIT_CONDITION},
    {"sem_", WAIT_SEMAPHORE},
    {"pthread_barrier_", WAIT_BARRIER},
    {"pthread_join", WAIT_JOIN},
    {"pthread_timedjoin", WAIT_JOIN},
    {"pthread_clockjoin", WAIT_JOIN},
    {"thrd_join", WAIT_JOIN},
    {"pthread_once", WAIT_ONCE},
    {"call_once", WAIT_ONCE},
    {"aio_suspend", WAIT_ASYNC_IO},
    {"lio_listio", WAIT_ASYNC_IO},
    {"getaddrinfo_a", WAIT_ASYNC_IO},
    {"nanosleep", WAIT_SLEEP},
    {"clock_nanosleep", WAIT_SLEEP},
    {"poll", WAIT_POLL},
};

/* Static programs have the internal names: __pthread_mutex_lock, ___pthread_mutex_lock. */
static enum wait_kind kind_of(const char *name)
{
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0)
            return families[i].kind;
    return WAIT_OTHER;
}

/* Symbols are of a foreign file: the number is bounded, sizes may overlap. */
static int add(struct wait_functions *functions, const Elf64_Sym *sym, const char *name)
{
    uint64_t end_svma;
    enum wait_kind kind = kind_of(name);
    if (kind == WAIT_OTHER || functions->count == FUNCTIONS_MAX ||
        ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_value == 0 ||
        __builtin_add_overflow(sym->st_value, sym->st_size, &end_svma))
        return 0;
    struct wait_function *function =
        ARRAY_PUSH(functions->functions, functions->count, functions->capacity);
    if (!function)
        return -ENOMEM;
    *function = (struct wait_function){sym->st_value, end_svma, kind};
    return 0;
}

static int read_section(const struct elf_file *elf, const struct elf_section *section,
                        struct buffer *out)
{
    return section->bytes > TABLE_BYTES_MAX ? -EFBIG : elf_read_section(elf, section, out, NULL);
}

static int read_symbols(struct wait_functions *functions, const struct elf_file *elf,
                        const struct elf_section *section)
{
    struct buffer symbols = {0}, names = {0};
    int err =
        section->link < elf_section_count(elf) ? read_section(elf, section, &symbols) : -EINVAL;
    if (err == 0)
        err = read_section(elf, elf_section(elf, section->link), &names);
    buffer_u8(&names, 0);
    bool is_usable = err == 0 && !names.failed;
    err = err == -ENOMEM || names.failed ? -ENOMEM : 0;
    for (size_t at = 0; is_usable && err == 0 && at + sizeof(Elf64_Sym) <= symbols.size;
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, symbols.bytes + at, sizeof(sym));
        if (sym.st_name < names.size)
            err = add(functions, &sym, (const char *)names.bytes + sym.st_name);
    }
    buffer_free(&symbols);
    buffer_free(&names);
    return err;
}

int wait_functions_read(struct wait_functions *functions, const struct elf_file *elf)
{
    int err = 0;
    *functions = (struct wait_functions){0};
    for (size_t i = 0; i < elf_section_count(elf) && err == 0; i++) {
        const struct elf_section *section = elf_section(elf, i);
        if (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM)
            err = read_symbols(functions, elf, section);
    }
    if (err == 0)
        err = SORT_BY(functions->functions, functions->count, start_svma);
    if (err)
        wait_functions_free(functions);
    return err;
}

/* The function separates locks from condition variables: both wait in futex(). */
enum wait_kind wait_functions_find(const struct wait_functions *functions, uint64_t svma)
{
    size_t i = ARRAY_COUNT_UP_TO(functions->functions, functions->count, start_svma, svma);
    return i && svma < functions->functions[i - 1].end_svma ? functions->functions[i - 1].kind
                                                            : WAIT_OTHER;
}

void wait_functions_free(struct wait_functions *functions)
{
    free(functions->functions);
    *functions = (struct wait_functions){0};
}

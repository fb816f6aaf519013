/* SPDX-License-Identifier: MIT */
#include "record/modules.h"

#include "base/array.h"
#include "unwind/compile.h"
#include "wire/atomic.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* _start is a few dozen bytes in every C library. */
#define ENTRY_FUNCTION_BYTES 256
/* As many stay whether they are used or not; more rows than this are worth keeping as long as there is room. */
#define MODULES_KEPT 128
#define ROWS_WORTH_KEEPING 16384
/* The functions that are compiled in the time that ten misses take, about. A miss is worth avoiding for its copy
 * of the stack, too. */
#define FDES_PER_MISS 2048

struct module_store {
    struct tables *tables;
    struct kept_files *kept;
    struct known_module **modules;
    size_t count, capacity;
    uint64_t rows_compiled;
    uint64_t uses;
};

int module_store_open(struct module_store **out, struct tables *tables, struct kept_files *kept)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->tables = tables;
    (*out)->kept = kept;
    return 0;
}

static void module_free(struct known_module *module)
{
    if (!module)
        return;
    unwind_module_close(module->unwind);
    elf_close(module->elf);
    free(module->path);
    free(module);
}

void module_store_close(struct module_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->count; i++)
        module_free(store->modules[i]);
    free(store->modules);
    free(store);
}

uint64_t module_store_rows(const struct module_store *store)
{
    return store->rows_compiled;
}

/* The kernel maps the same vDSO into every 64-bit process. */
static int open_vdso(struct elf_file **elf)
{
    const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    return image ? elf_open_memory(elf, image, 8192, NULL) : -ENOENT;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void find_root(struct known_module *module)
{
    const char *name = base_name(module->path);
    if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2.", 7) == 0 ||
        strncmp(name, "libpthread", 10) == 0) {
        module->root_end_svma = UINT64_MAX;
        return;
    }
    bool is_loader = strncmp(name, "ld-", 3) == 0;
    if (elf_entry_svma(module->elf) == 0 || (!is_loader && !elf_interpreter(module->elf)))
        return;
    module->root_start_svma = elf_entry_svma(module->elf);
    module->root_end_svma = module->root_start_svma + ENTRY_FUNCTION_BYTES;
}

/* Lets the one go that was not needed for the longest time, of those with so many rows; false: all are in use. */
static bool forget_oldest(struct module_store *store, uint32_t fewest_rows, uint32_t most_rows)
{
    size_t oldest = store->count;
    for (size_t i = 0; i < store->count; i++) {
        const struct known_module *module = store->modules[i];
        if (load_acquire(&module->users) || module->rows_count < fewest_rows ||
            module->rows_count > most_rows)
            continue;
        if (oldest == store->count || module->last_use < store->modules[oldest]->last_use)
            oldest = i;
    }
    if (oldest == store->count)
        return false;
    module_free(store->modules[oldest]);
    store->modules[oldest] = store->modules[--store->count];
    return true;
}

/* Where the module's rows end, if some of them lie in [first, first + count); 0: none does. */
static uint64_t end_of_rows_in(const struct known_module *module, uint64_t first, uint64_t count)
{
    uint64_t end = module->rows_first + row_cells(module->rows_count, module->buckets.count);
    return module->rows_count && module->rows_first < first + count && end > first ? end : 0;
}

/* The first place for so many rows between those of the modules. */
static bool find_gap(const struct module_store *store, uint64_t count, uint64_t *first)
{
    *first = 0;
    for (size_t i = 0; i < store->count;) {
        uint64_t end = end_of_rows_in(store->modules[i], *first, count);
        if (end)
            *first = end;
        i = end ? 0 : i + 1;
    }
    return *first + count <= SESSION_ROWS;
}

/* Copies the rows into shared memory, their index behind them; false when those that are in use fill it. */
static bool publish_rows(struct module_store *store, struct known_module *module,
                         const struct compiled_rows *rows)
{
    uint64_t first;
    if (rows->count > SESSION_ROWS)
        return false;
    struct row_buckets buckets = row_index_plan(rows->rows, rows->count);
    uint64_t cells = row_cells((uint32_t)rows->count, buckets.count);
    while (!find_gap(store, cells, &first))
        if (cells > SESSION_ROWS || !forget_oldest(store, 1, UINT32_MAX))
            return false;
    struct row *place = store->tables->rows + first;
    memcpy(place, rows->rows, rows->count * sizeof(*rows->rows));
    row_index_fill((uint32_t *)(void *)(place + rows->count), buckets, rows->rows, rows->count);
    module->rows_first = (uint32_t)first;
    module->rows_count = (uint32_t)rows->count;
    module->buckets = buckets;
    module->base_svma = unwind_module_base_svma(module->unwind);
    store->rows_compiled += rows->count;
    return true;
}

void module_store_compile(struct module_store *store, struct known_module *module)
{
    struct compiled_rows rows = {0};
    bool fits =
        unwind_module_compile(module->unwind, &rows) == 0 && publish_rows(store, module, &rows);
    compile_free(&rows);
    store_release(&module->state, fits ? MODULE_COMPILED : MODULE_NO_ROOM);
}

uint32_t known_module_worth_misses(const struct known_module *module)
{
    return (uint32_t)(unwind_module_fdes(module->unwind) / FDES_PER_MISS);
}

static void read_cfi(struct module_store *store, struct known_module *module,
                     const struct elf_file *elf)
{
    struct unwind_module *unwind;
    if (!elf || unwind_module_open(&unwind, elf, NULL, NULL) != 0) {
        store_release(&module->state, MODULE_COMPILED);
        return;
    }
    module->unwind = unwind;
    if (known_module_worth_misses(module) == 0)
        module_store_compile(store, module);
    else
        store_release(&module->state, MODULE_READ);
}

/* Where the file is held; NULL: nowhere. Without a build-id it could be another one of that path. */
static const char *find_held(const struct module_store *store, const struct known_module *module)
{
    return module->build_id_bytes ? kept_files_find(store->kept, module->path, module->build_id,
                                                    module->build_id_bytes)
                                  : NULL;
}

/* The file as it is held, or still lies at its path. */
static struct elf_file *open_again(const struct module_store *store,
                                   const struct known_module *module)
{
    const struct mapped_file file = {.path = module->path, .inode = module->inode};
    struct stat status;
    const char *held = find_held(store, module);
    int fd = held ? open(held, O_RDONLY | O_CLOEXEC) : mapped_file_open(&file, &status);
    struct elf_file *elf = NULL;
    if (fd >= 0) {
        (void)elf_open(&elf, fd, NULL);
        close(fd);
    }
    return elf;
}

void module_store_read(struct module_store *store, struct known_module *module)
{
    struct elf_file *elf = open_again(store, module);
    read_cfi(store, module, elf);
    elf_close(elf);
}

/* Headers and build-id; the file is held for whoever looks up names. */
static void open_file(struct module_store *store, struct known_module *module,
                      const struct mapped_file *file)
{
    struct stat status;
    int fd = mapped_file_open(file, &status);
    if (fd < 0)
        return;
    module->changed = status.st_mtim;
    if (elf_open(&module->elf, fd, NULL) == 0) {
        module->build_id_bytes = elf_build_id(module->elf, module->build_id);
        kept_files_add(store->kept, module->path, module->build_id, module->build_id_bytes, fd);
    }
    close(fd);
}

/* The CFI is read now if it could not be later. */
static void open_module(struct module_store *store, struct known_module *module,
                        const struct mapped_file *file)
{
    if (strcmp(module->path, "[vdso]") == 0) {
        if (open_vdso(&module->elf) == 0)
            module->build_id_bytes = elf_build_id(module->elf, module->build_id);
    } else if (module->path[0] == '/') {
        open_file(store, module, file);
    }
    module->state = MODULE_COMPILED;
    if (!module->elf)
        return;
    module->is_go = elf_is_go(module->elf);
    module->is_sampler = strcmp(base_name(module->path), SESSION_SAMPLER_NAME) == 0;
    find_root(module);
    if (find_held(store, module))
        module->state = MODULE_UNREAD;
    else
        read_cfi(store, module, module->elf);
    elf_release_file(module->elf);
}

/* A file may be written again in place, as cp does: then its path and inode are the same. */
static bool is_current(const struct known_module *module)
{
    struct stat status;
    if (stat(module->path, &status) != 0 || status.st_ino != module->inode)
        return true; /* deleted, or below another root: it cannot be told */
    return status.st_mtim.tv_sec == module->changed.tv_sec &&
           status.st_mtim.tv_nsec == module->changed.tv_nsec;
}

static struct known_module *find(const struct module_store *store, const char *path, uint64_t inode)
{
    for (size_t i = store->count; i-- > 0;) {
        struct known_module *module = store->modules[i];
        if (module->inode == inode && strcmp(module->path, path) == 0)
            return !module->elf || is_current(module) ? module : NULL;
    }
    return NULL;
}

void known_module_use(struct known_module *module)
{
    add_relaxed(&module->users, 1);
}

static struct known_module *use(struct module_store *store, struct known_module *module)
{
    known_module_use(module);
    module->last_use = ++store->uses;
    return module;
}

void known_module_release(struct known_module *module)
{
    if (module)
        __atomic_fetch_sub(&module->users, 1, __ATOMIC_RELEASE);
}

struct known_module *module_store_get(struct module_store *store, const struct mapped_file *file)
{
    struct known_module *module = find(store, file->path, file->inode);
    if (module)
        return use(store, module);
    if (store->count >= MODULES_KEPT)
        forget_oldest(store, 0, ROWS_WORTH_KEEPING);
    module = calloc(1, sizeof(*module));
    if (!module || !(module->path = strdup(file->path)))
        goto out;
    module->inode = file->inode;
    struct known_module **place = ARRAY_PUSH(store->modules, store->count, store->capacity);
    if (!place)
        goto out;
    *place = module;
    open_module(store, module, file);
    return use(store, module);
out:
    module_free(module);
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * The room of a module, by kind; the function takes it, and module_free() gives it back:
 *
 *     header, flags of pieces    reading_budget, of the user that pays     has_room()
 *     CFI, rules                 reading_budget, rule_room                 read_cfi()
 *     index and rows             row_allocator: the shared rows            take_cells()
 *     machine code               CODE_BYTES_MAX, never evicted for         read_code()
 *
 * Eviction takes the least recently used module without users; maps of live processes and jobs
 * under way are users. Where nothing can be evicted, the module becomes MODULE_NO_ROOM, or the
 * piece stays without rows, and the request may be repeated after NO_ROOM_PAUSE_NS.
 */
#include "record/tables/modules/module_cache.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "record/tables/modules/module_code.h"
#include "record/tables/modules/module_set.h"
#include "record/tables/modules/reading_budget.h"
#include "unwind/code/code_rows.h"
#include "unwind/rows/compile.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MODULES_KEPT modules stay cached without users. Above, only modules with more cells than this
 * stay, as long as there is room. */
#define MODULES_KEPT 128
#define CELLS_WORTH_KEEPING 16384
/* Pause before a retry after MODULE_NO_ROOM: compiling the rows of a piece takes 0.3 ms. */
#define NO_ROOM_PAUSE_NS 1000000000
/* Headers of a file take at most this part of the memory left. */
enum { HEADERS_SHARE = 256 };
/* Machine code of all modules together: ffmpeg's libraries without CFI take 30 MiB. */
#define CODE_BYTES_MAX (UINT64_C(96) << 20)

struct module_cache {
    struct row_allocator room;
    struct compiled_rows scratch; /* of the last piece */
    struct open_file_cache *open_files;
    struct module_set set;
    uint64_t rows_compiled, cfi_conflicts;
    struct reading_budget budget;
    size_t code_bytes; /* allocated by all code images */
};

int module_cache_open(struct module_cache **out, struct tables *tables,
                      struct open_file_cache *open_files)
{
    struct module_cache *store = *out = calloc(1, sizeof(*store));
    if (!store)
        return -ENOMEM;
    store->room.rows = tables->rows;
    reading_budget_open(&store->budget);
    store->open_files = open_files;
    if (module_set_open(&store->set) == 0)
        return 0;
    free(store);
    *out = NULL;
    return -ENOMEM;
}

static void module_free(struct module_cache *store, struct known_module *module)
{
    if (!module)
        return;
    row_allocator_free(&store->room, &module->blocks);
    store->code_bytes -= module->code ? code_image_memory(module->code) : 0;
    reading_budget_drop(&store->budget, module);
    known_module_free(module);
}

void module_cache_close(struct module_cache *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->set.count; i++)
        module_free(store, store->set.modules[i]);
    compile_free(&store->scratch);
    module_set_close(&store->set);
    free(store);
}

uint64_t module_cache_rows(const struct module_cache *store)
{
    return store->rows_compiled;
}

uint64_t module_cache_cfi_conflicts(const struct module_cache *store)
{
    return store->cfi_conflicts;
}

struct left_out module_cache_left_out(const struct module_cache *store)
{
    return store->budget.left_out.counts;
}

/* Evicts the least recently used module of this size range; false: all are in use. */
static bool forget_oldest(struct module_cache *store, size_t fewest_cells, size_t most_cells)
{
    struct known_module *oldest = module_set_take_oldest(&store->set, fewest_cells, most_cells);
    module_free(store, oldest);
    return oldest != NULL;
}

/* Room for bytes of the present reading: unused modules are evicted. */
static bool has_room(struct module_cache *store, size_t bytes)
{
    while (reading_budget_bytes(&store->budget) < bytes)
        if (!forget_oldest(store, 0, SIZE_MAX))
            return false;
    return true;
}

/* Allocates cells, evicting unused modules if necessary. 0, -ENOSPC: all are in use; or -ENOMEM. */
static int take_cells(struct module_cache *store, struct known_module *module, size_t cells,
                      uint32_t *first)
{
    int err;
    while ((err = row_allocator_take(&store->room, &module->blocks, cells, first)) == -ENOSPC)
        if (!forget_oldest(store, 1, SIZE_MAX))
            break;
    return err;
}

/* For a file of 4 GiB of code, 64 KiB. */
static int make_flags(struct module_cache *store, struct known_module *module)
{
    const size_t bytes = module->piece_count * sizeof(*module->is_requested);
    if (module->is_requested)
        return 0;
    if (!has_room(store, 2 * bytes)) {
        reading_budget_leave_out(&store->budget, module);
        return -E2BIG;
    }
    module->is_requested = calloc(2, bytes);
    if (!module->is_requested)
        return -ENOMEM;
    module->is_filled = module->is_requested + module->piece_count;
    reading_budget_hold(&store->budget, module, 2 * bytes);
    return 0;
}

/* Allocates the index of a module: zeros, no rows compiled yet. */
static int place_index(struct module_cache *store, struct known_module *module)
{
    uint32_t text_bytes = unwind_module_text_bytes(module->unwind);
    struct row_buckets buckets = row_index_plan(text_bytes);
    module->piece_count = ((size_t)text_bytes + ROW_PIECE_BYTES - 1) / ROW_PIECE_BYTES;
    int err = make_flags(store, module);
    if (err == 0)
        err = take_cells(store, module, buckets.count, &module->index_first);
    if (err != 0)
        return err;
    module->buckets = buckets;
    module->base_svma = unwind_module_base_svma(module->unwind);
    return 0;
}

/* The index words go last: samplers find the rows through them. */
static int publish_rows(struct module_cache *store, struct known_module *module, uint32_t piece,
                        const struct compiled_rows *rows)
{
    uint32_t first;
    int err = take_cells(store, module, rows->count, &first);
    if (err != 0)
        return err;
    struct row *place = store->room.rows + first;
    uint64_t *words = (uint64_t *)(void *)(store->room.rows + module->index_first);
    memcpy(place, rows->rows, rows->count * sizeof(*rows->rows));
    row_index_publish(words, module->buckets, piece, place, rows->count, first);
    store->rows_compiled += rows->count;
    return 0;
}

/* Allows a new request after the pause: other modules may have released room or memory by then. */
static void put_off(struct known_module *module, bool *is_requested)
{
    store_relaxed(&module->pause_end_ns, monotonic_ns() + NO_ROOM_PAUSE_NS);
    store_release(is_requested, false);
}

/* A piece without CFI has a row nevertheless: the piece is compiled. */
static int append_gap(struct compiled_rows *rows, uint32_t start)
{
    struct row *row = ARRAY_PUSH(rows->rows, rows->count, rows->capacity);
    if (row)
        *row = (struct row){start, row_rule(ROW_NONE, ROW_FP_SAME, 0)};
    return row ? 0 : -ENOMEM;
}

/* Once; without room for the code, module->code stays NULL. */
static void read_code(struct module_cache *store, struct known_module *module)
{
    struct code_image *code = module_code_open(module, store->open_files);
    if (code && store->code_bytes + code_image_memory(code) > CODE_BYTES_MAX) {
        code_image_close(code);
        code = NULL;
    }
    store->code_bytes += code ? code_image_memory(code) : 0;
    module->code = code;
    store_release(&module->code_state, MODULE_READ);
}

/* Rows by CFI, then rows of the gaps by machine code; a failure for lack of room is retried
 * later. */
static void compile(struct module_cache *store, struct known_module *module, uint32_t piece)
{
    struct compiled_rows *rows = &store->scratch;
    uint32_t start = piece << ROW_PIECE_SHIFT;
    uint64_t end = (uint64_t)start + ROW_PIECE_BYTES;
    rows->count = 0;
    int err = unwind_module_compile(module->unwind, start, end, rows);
    if (err == 0 && module_code_is_needed(module, rows, end))
        read_code(store, module);
    if (err == 0 && module->code)
        err = code_rows_fill(module->code, module->base_svma, start, end, rows);
    else if (err == 0 && rows->count == 0)
        err = append_gap(rows, start);
    if (err == 0)
        err = publish_rows(store, module, piece, rows);
    module->is_filled[piece] = err == 0 && module->code;
    if (module->is_filled[piece])
        store->cfi_conflicts += rows->cfi_conflicts;
    if (err == -ENOSPC || err == -ENOMEM)
        put_off(module, &module->is_requested[piece]);
}

void module_cache_compile(struct module_cache *store, struct known_module *module, uint32_t piece)
{
    if (module->is_filled[piece])
        return;
    if (!reading_budget_begin(&store->budget, module)) {
        put_off(module, &module->is_requested[piece]);
        return;
    }
    compile(store, module, piece);
    reading_budget_end(&store->budget);
}

/* Unused modules make room. */
static int read_cfi(struct module_cache *store, struct known_module *module,
                    const struct elf_file *elf)
{
    int err;
    do
        err = known_module_read_cfi(module, elf, reading_budget_bytes(&store->budget),
                                    reading_budget_rule_room(&store->budget));
    while (err == -E2BIG && forget_oldest(store, 0, SIZE_MAX));
    if (err == -E2BIG)
        reading_budget_leave_out(&store->budget, module);
    if (err == 0)
        reading_budget_hold(&store->budget, module, unwind_module_bytes(module->unwind));
    return err;
}

/* Ends in MODULE_READ also without CFI; in MODULE_NO_ROOM if reading or placing the index is to be
 * retried. */
static void read_module(struct module_cache *store, struct known_module *module,
                        const struct elf_file *elf)
{
    int err = elf && !module->unwind ? read_cfi(store, module, elf) : 0;
    if (known_module_has_rows(module))
        err = place_index(store, module);
    bool is_put_off = err == -ENOSPC || err == -ENOMEM || err == -E2BIG;
    if (is_put_off)
        put_off(module, &module->is_cfi_requested);
    store_release(&module->state, is_put_off ? MODULE_NO_ROOM : MODULE_READ);
}

struct elf_file *module_cache_open_file(const struct module_cache *store,
                                        const struct known_module *module)
{
    return known_module_open_file(module, store->open_files);
}

void module_cache_read(struct module_cache *store, struct known_module *module)
{
    if (!reading_budget_begin(&store->budget, module)) {
        put_off(module, &module->is_cfi_requested);
        store_release(&module->state, MODULE_NO_ROOM);
        return;
    }
    struct elf_file *elf = module->unwind ? NULL : module_cache_open_file(store, module);
    read_module(store, module, elf);
    elf_close(elf);
    reading_budget_end(&store->budget);
}

/* Pieces compiled before the code was read get their rows from code now. */
void module_cache_read_code(struct module_cache *store, struct known_module *module)
{
    if (module->code_state == MODULE_READ)
        return;
    if (!reading_budget_begin(&store->budget, module)) {
        put_off(module, &module->is_code_requested);
        store_release(&module->code_state, MODULE_NO_ROOM);
        return;
    }
    read_code(store, module);
    reading_budget_end(&store->budget);
    for (size_t piece = 0; module->code && piece < module->piece_count; piece++)
        if (load_acquire(&module->is_requested[piece]))
            module_cache_compile(store, module, (uint32_t)piece);
}

/* Without room for its headers, the file counts as unusable: a program or library has a few
 * segments, and files of many leave room for others. */
static void hold_headers(struct module_cache *store, struct known_module *module)
{
    const size_t bytes = known_module_header_bytes(module);
    if (has_room(store, HEADERS_SHARE * bytes)) {
        reading_budget_hold(&store->budget, module, bytes);
        return;
    }
    reading_budget_leave_out(&store->budget, module);
    elf_close(module->elf);
    module->elf = NULL;
}

/* Reads the CFI at once if the file could not be opened later. */
static void open_module(struct module_cache *store, struct known_module *module,
                        const struct mapped_file *file)
{
    bool is_held = known_module_open(module, file, store->open_files);
    hold_headers(store, module);
    if (!module->elf)
        return;
    if (is_held)
        module->state = MODULE_UNREAD;
    else
        read_module(store, module, module->elf);
    elf_release_file(module->elf);
}

static struct known_module *find(const struct module_cache *store, const struct mapped_file *file)
{
    struct known_module *module = module_set_find(&store->set, file);
    return module && (!module->elf || known_module_is_current(module)) ? module : NULL;
}

/* MODULE_READ without CFI: as an unusable file stays, until open_module() finds ELF headers. */
static struct known_module *new_module(const struct mapped_file *file)
{
    struct known_module *module = calloc(1, sizeof(*module));
    if (!module || !(module->path = strdup(file->path))) {
        free(module);
        return NULL;
    }
    module->device = file->device;
    module->inode = file->inode;
    module->rights = *file->rights;
    module->payers[0] = module->payers[1] = file->rights->uid;
    module->state = MODULE_READ;
    return module;
}

static struct known_module *add_module(struct module_cache *store, const struct mapped_file *file)
{
    const size_t bytes = known_module_bytes(file->path);
    while (store->set.count >= MODULES_KEPT && forget_oldest(store, 0, CELLS_WORTH_KEEPING))
        continue;
    reading_budget_pay(&store->budget, file->rights->uid);
    if (!has_room(store, bytes)) {
        reading_budget_refuse(&store->budget, file);
        return NULL;
    }
    struct known_module *module = new_module(file);
    if (module && module_set_add(&store->set, module) == 0) {
        reading_budget_hold(&store->budget, module, bytes);
        return module;
    }
    module_free(store, module);
    return NULL;
}

/* Opened at the first use with time left for the user's files. */
struct known_module *module_cache_get(struct module_cache *store, const struct mapped_file *file)
{
    struct known_module *module = find(store, file);
    if (!module)
        module = add_module(store, file);
    if (!module)
        return NULL;
    module_set_use(&store->set, module); /* stays while others make room */
    if (file->rights->uid != module->payers[0] && module->payers[1] != 0)
        module->payers[1] = file->rights->uid;
    if (!module->is_opened && reading_budget_begin(&store->budget, module)) {
        module->is_opened = true;
        module->rights = *file->rights;
        open_module(store, module, file);
        reading_budget_end(&store->budget);
    }
    return module;
}

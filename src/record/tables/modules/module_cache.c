/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/module_cache.h"

#include "base/clock.h"
#include "base/containers/array.h"
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
/* Machine code of all modules together: ffmpeg's libraries without CFI take 30 MiB. */
#define CODE_BYTES_MAX (UINT64_C(96) << 20)

struct module_cache {
    struct row_allocator room;
    struct compiled_rows scratch; /* of the last piece */
    struct open_file_cache *open_files;
    struct known_module **modules;
    size_t count, capacity;
    uint64_t rows_compiled, cfi_conflicts;
    struct reading_budget budget;
    size_t code_bytes; /* allocated by all code images */
    uint64_t uses;
};

int module_cache_open(struct module_cache **out, struct tables *tables,
                      struct open_file_cache *open_files)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->room.rows = tables->rows;
    reading_budget_open(&(*out)->budget);
    (*out)->open_files = open_files;
    return 0;
}

static void module_free(struct module_cache *store, struct known_module *module)
{
    if (!module)
        return;
    row_allocator_free(&store->room, &module->blocks);
    store->code_bytes -= module->code ? code_image_memory(module->code) : 0;
    reading_budget_drop_cfi(&store->budget, module);
    known_module_free(module);
}

void module_cache_close(struct module_cache *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->count; i++)
        module_free(store, store->modules[i]);
    compile_free(&store->scratch);
    free(store->modules);
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
    return store->budget.left_out;
}

/* Evicts the least recently used module of this size range; false: all are in use. */
static bool forget_oldest(struct module_cache *store, size_t fewest_cells, size_t most_cells)
{
    size_t oldest = store->count;
    for (size_t i = 0; i < store->count; i++) {
        const struct known_module *module = store->modules[i];
        if (load_acquire(&module->users) || module->blocks.cells < fewest_cells ||
            module->blocks.cells > most_cells)
            continue;
        if (oldest == store->count || module->last_use < store->modules[oldest]->last_use)
            oldest = i;
    }
    if (oldest == store->count)
        return false;
    module_free(store, store->modules[oldest]);
    store->modules[oldest] = store->modules[--store->count];
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

/* Allocates the index of a module: zeros, no rows compiled yet. */
static int place_index(struct module_cache *store, struct known_module *module)
{
    uint32_t text_bytes = unwind_module_text_bytes(module->unwind);
    struct row_buckets buckets = row_index_plan(text_bytes);
    module->piece_count = ((size_t)text_bytes + ROW_PIECE_BYTES - 1) / ROW_PIECE_BYTES;
    if (!module->is_requested)
        module->is_requested = calloc(module->piece_count, sizeof(*module->is_requested));
    if (!module->is_filled)
        module->is_filled = calloc(module->piece_count, sizeof(*module->is_filled));
    int err = module->is_requested && module->is_filled
                  ? take_cells(store, module, buckets.count, &module->index_first)
                  : -ENOMEM;
    if (err != 0)
        return err;
    module->buckets = buckets;
    module->base_svma = unwind_module_base_svma(module->unwind);
    return 0;
}

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

static struct code_image *open_code(const struct module_cache *store,
                                    const struct known_module *module)
{
    struct code_image *code = NULL;
    struct elf_file *elf = module_cache_open_file(store, module);
    if (elf && !module->is_searched) {
        (void)code_image_open_in_pieces(&code, elf);
        return code;
    }
    if (elf)
        (void)code_image_open(&code, elf);
    elf_close(elf);
    return code;
}

/* Once; without room for the code, module->code stays NULL. */
static void read_code(struct module_cache *store, struct known_module *module)
{
    struct code_image *code = open_code(store, module);
    if (code && store->code_bytes + code_image_memory(code) > CODE_BYTES_MAX) {
        code_image_close(code);
        code = NULL;
    }
    store->code_bytes += code ? code_image_memory(code) : 0;
    module->code = code;
    store_release(&module->code_state, MODULE_READ);
}

/* Code of the compiler's crtbegin.o, linked behind _start, has neither CFI nor sizes: about 200
 * bytes in each program. */
static bool is_of_start_files(const struct known_module *module, uint64_t start_svma,
                              uint64_t bytes)
{
    enum { ENTRY_BYTES = 64, START_FILES_BYTES = 256 };
    const uint64_t behind = start_svma - elf_entry_svma(module->elf);
    return behind < ENTRY_BYTES && bytes <= START_FILES_BYTES;
}

/* Whether the piece of a large file may have hand-written functions: code without CFI other than
 * padding between functions. */
static bool needs_symbols(const struct known_module *module, const struct compiled_rows *rows,
                          uint64_t end)
{
    enum { PADDING_BYTES = 64 }; /* of hand-written functions, at most */
    bool has_gap = rows->count == 0;
    for (size_t i = 0; i < rows->count && !has_gap; i++) {
        const struct row *row = &rows->rows[i];
        uint64_t bytes = (i + 1 < rows->count ? row[1].start : end) - row->start;
        has_gap = row_kind(row->rule) == ROW_NONE && bytes > PADDING_BYTES &&
                  !is_of_start_files(module, module->base_svma + row->start, bytes);
    }
    return has_gap && !module->is_searched && !module->is_go && module->code_state != MODULE_READ;
}

static void compile(struct module_cache *store, struct known_module *module, uint32_t piece)
{
    struct compiled_rows *rows = &store->scratch;
    uint32_t start = piece << ROW_PIECE_SHIFT;
    uint64_t end = (uint64_t)start + ROW_PIECE_BYTES;
    rows->count = 0;
    int err = unwind_module_compile(module->unwind, start, end, rows);
    if (err == 0 && needs_symbols(module, rows, end))
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
        err = known_module_read_cfi(module, elf, reading_budget_cfi_bytes(&store->budget),
                                    reading_budget_rule_room(&store->budget));
    while (err == -E2BIG && reading_budget_is_cfi_held(&store->budget) &&
           forget_oldest(store, 1, SIZE_MAX));
    if (err == -E2BIG)
        reading_budget_leave_out(&store->budget, module);
    if (err == 0)
        reading_budget_hold_cfi(&store->budget, module);
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

/* Reads the CFI at once if the file could not be opened later. */
static void open_module(struct module_cache *store, struct known_module *module,
                        const struct mapped_file *file)
{
    bool is_held = known_module_open(module, file, store->open_files);
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
    for (size_t i = store->count; i-- > 0;) {
        struct known_module *module = store->modules[i];
        if (known_module_is_of(module, file))
            return !module->elf || known_module_is_current(module) ? module : NULL;
    }
    return NULL;
}

static struct known_module *use(struct module_cache *store, struct known_module *module)
{
    known_module_use(module);
    module->last_use = ++store->uses;
    return module;
}

static struct known_module *add_module(struct module_cache *store, const struct mapped_file *file)
{
    while (store->count >= MODULES_KEPT && forget_oldest(store, 0, CELLS_WORTH_KEEPING))
        continue;
    struct known_module *module = calloc(1, sizeof(*module));
    if (!module || !(module->path = strdup(file->path)))
        goto out;
    module->device = file->device;
    module->inode = file->inode;
    module->rights = *file->rights;
    module->payers[0] = module->payers[1] = file->rights->uid;
    module->state = MODULE_READ;
    struct known_module **place = ARRAY_PUSH(store->modules, store->count, store->capacity);
    if (!place)
        goto out;
    *place = module;
    return module;
out:
    module_free(store, module);
    return NULL;
}

struct known_module *module_cache_get(struct module_cache *store, const struct mapped_file *file)
{
    struct known_module *module = find(store, file);
    if (!module)
        module = add_module(store, file);
    if (!module)
        return NULL;
    if (file->rights->uid != module->payers[0] && module->payers[1] != 0)
        module->payers[1] = file->rights->uid;
    if (!module->is_opened && reading_budget_begin(&store->budget, module)) {
        module->is_opened = true;
        module->rights = *file->rights;
        open_module(store, module, file);
        reading_budget_end(&store->budget);
    }
    return use(store, module);
}

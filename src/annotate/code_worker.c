/* SPDX-License-Identifier: MIT */
/*
 * Debug info is read for the needed addresses only, all of them in one pass. So the instructions
 * come first:
 *
 *     code_job ─▶ read_bytes() ─▶ disassemble() ─▶ needed_addresses() ─▶ lib_symbols_open()
 *                                                                        ─▶ write_all()
 *
 * The end of a function may be unknown (is_open_ended). Then more bytes are disassembled, and cut
 * where the name of another function begins.
 */
#include "annotate/code_worker.h"

#include "annotate/disassembler.h"
#include "arch/machines.h"
#include "base/containers/array.h"
#include "convert/files/module_segments.h"
#include "convert/files/symfs.h"
#include "convert/symbolize/lib_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More than functions of unknown size have, mostly: hand-written code. */
enum { OPEN_END_BYTES = 16384 };

struct listing {
    const struct code_job *job;
    uint16_t machine;
    struct buffer bytes;
    struct instruction *items;
    size_t count, capacity;
    struct lib_symbols symbols;
    bool failed; /* out of memory */
};

static bool take(void *context, const struct instruction *instruction)
{
    struct listing *listing = context;
    struct instruction *item = ARRAY_PUSH(listing->items, listing->count, listing->capacity);
    if (!item) {
        listing->failed = true;
        return false;
    }
    *item = *instruction;
    return true;
}

static const struct profile_lib *lib_of(const struct code_job *job)
{
    return &job->request->profile->libs[job->request->lib];
}

static const char *path_of(const struct code_job *job)
{
    return profile_text(job->request->profile, lib_of(job)->path);
}

/* An open end may lie beyond the section's: the largest readable part, by halves. */
static int read_part(struct listing *listing, const struct elf_file *elf)
{
    const struct code_request *request = listing->job->request;
    uint64_t more = request->is_open_ended ? OPEN_END_BYTES : 0;
    for (;; more /= 2) {
        size_t size = (size_t)(request->bytes + more);
        uint8_t *room = buffer_room(&listing->bytes, size);
        int err = room ? elf_read_svma(elf, request->svma, room, size) : -ENOMEM;
        if (err == 0)
            listing->bytes.size = size;
        if (err == 0 || err == -ENOMEM || more == 0)
            return err;
    }
}

static int read_bytes(struct listing *listing, struct error *error)
{
    const struct code_job *job = listing->job;
    const struct profile_lib *lib = lib_of(job);
    if (job->generated) {
        listing->machine = job->machine;
        buffer_append(&listing->bytes, job->generated->bytes, job->generated->size);
        return listing->bytes.failed ? -ENOMEM : 0;
    }
    struct symfs_path here =
        symfs_path_of(job->options, path_of(job), lib->build_id, lib->build_id_bytes);
    struct elf_file *elf;
    int err = module_file_open(&elf, here.text, lib->build_id, lib->build_id_bytes);
    if (err == 0) {
        listing->machine = elf_machine(elf);
        err = read_part(listing, elf);
    }
    elf_close(elf);
    if (err == -ESTALE)
        return error_set(error, err, "%s is not the recorded file: the build-id differs",
                         here.text);
    return err ? error_set(error, err, "%s: cannot read the code: %s", here.text, strerror(-err))
               : 0;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The addresses with names or lines to be found, ascending; NULL: out of memory. */
static uint64_t *needed_addresses(const struct listing *listing, size_t *count)
{
    const struct code_request *request = listing->job->request;
    bool all = request->wants_lines || request->is_open_ended;
    uint64_t *needed = calloc(2 * listing->count + 1, sizeof(*needed));
    *count = 0;
    for (size_t i = 0; needed && i < listing->count; i++) {
        if (all || i == 0)
            needed[(*count)++] = listing->items[i].svma;
        if (listing->items[i].has_target)
            needed[(*count)++] = listing->items[i].target_svma;
    }
    if (needed)
        qsort(needed, *count, sizeof(*needed), compare);
    return needed;
}

/* The symbol, or the FDE, around an address. */
static const char *name_at(struct listing *listing, uint64_t svma, struct symbol_result *result)
{
    *result = (struct symbol_result){0};
    if (!listing->symbols.symbols || symbols_resolve(listing->symbols.symbols, svma, result) != 0)
        return NULL;
    if (result->symbol_name)
        return result->symbol_name;
    return result->frame_count ? result->frames[0].name : NULL;
}

/* The instructions before the first one of another function. */
static void cut_open_end(struct listing *listing)
{
    const struct code_request *request = listing->job->request;
    struct symbol_result result;
    const char *name = name_at(listing, request->svma, &result);
    uint64_t start = result.symbol_svma;
    size_t count =
        ARRAY_COUNT_BELOW(listing->items, listing->count, svma, request->svma + request->bytes);
    for (; name && count < listing->count; count++) {
        const char *here = name_at(listing, listing->items[count].svma, &result);
        if (!here || strcmp(here, name) != 0 || result.symbol_svma != start)
            break;
    }
    listing->count = count;
}

static void write_text(struct listing *listing, const struct instruction *instruction,
                       struct buffer *out)
{
    struct symbol_result result;
    buffer_text(out, instruction->text);
    const char *name =
        instruction->has_target ? name_at(listing, instruction->target_svma, &result) : NULL;
    if (name && result.symbol_name && instruction->target_svma != result.symbol_svma)
        buffer_printf(out, " <%s+0x%" PRIx64 ">", name,
                      instruction->target_svma - result.symbol_svma);
    else if (name)
        buffer_printf(out, " <%s>", name);
    buffer_u8(out, 0);
}

static void write_instruction(struct listing *listing, const struct instruction *instruction,
                              struct buffer *out)
{
    struct symbol_result result = {0};
    buffer_u64(out, instruction->svma);
    buffer_u32(out, instruction->bytes);
    if (listing->job->request->wants_lines)
        (void)name_at(listing, instruction->svma, &result);
    const struct symbol_frame *inner =
        result.frame_count ? &result.frames[result.frame_count - 1] : NULL;
    buffer_u32(out, inner ? inner->line : 0);
    const char *file = inner && inner->file ? inner->file : "";
    write_text(listing, instruction, out);
    buffer_append(out, file, strlen(file) + 1);
}

static void write_all(struct listing *listing, struct buffer *out)
{
    buffer_u16(out, 0);
    buffer_u16(out, listing->machine);
    buffer_u32(out, (uint32_t)listing->count);
    for (size_t i = 0; i < listing->count; i++)
        write_instruction(listing, &listing->items[i], out);
}

/* Names and lines are optional: without them the code is shown as it is. */
static int open_symbols(struct listing *listing, struct error *error)
{
    const struct code_job *job = listing->job;
    size_t count;
    if (job->generated)
        return 0;
    uint64_t *needed = needed_addresses(listing, &count);
    if (!needed)
        return -ENOMEM;
    listing->symbols.profile = job->request->profile;
    listing->symbols.options = job->options;
    listing->symbols.debuginfod = job->debuginfod;
    listing->symbols.lib = job->request->lib;
    lib_symbols_open(&listing->symbols, needed, count);
    free(needed);
    if (listing->symbols.err == -ESTALE || listing->symbols.err == -ENOMEM)
        *error = listing->symbols.error;
    return listing->symbols.err == -ESTALE || listing->symbols.err == -ENOMEM ? listing->symbols.err
                                                                              : 0;
}

static int list(struct listing *listing, struct error *error)
{
    int err = read_bytes(listing, error);
    if (err)
        return err;
    const struct disassembly disassembly = {.machine = listing->machine,
                                            .is_att = listing->job->request->is_att,
                                            .svma = listing->job->request->svma,
                                            .bytes = listing->bytes.bytes,
                                            .size = listing->bytes.size,
                                            .take = take,
                                            .context = listing};
    if (!disassemble(&disassembly)) {
        const char *gap = disassembler_gap(listing->machine);
        return error_set(error, -ENOTSUP, "no disassembler for %s: %s",
                         machine_of_elf(listing->machine)->name,
                         gap ? gap : "the library does not support the machine");
    }
    err = listing->failed ? -ENOMEM : open_symbols(listing, error);
    if (!err && listing->job->request->is_open_ended && !listing->job->generated)
        cut_open_end(listing);
    return err;
}

void code_worker_run(const struct code_job *job, struct buffer *out)
{
    struct listing listing = {.job = job};
    struct error error = {{0}};
    int err = list(&listing, &error);
    if (err) {
        buffer_u16(out, (uint16_t)-err);
        buffer_text(out, error.text);
        buffer_u8(out, 0);
    } else {
        write_all(&listing, out);
    }
    lib_symbols_close(&listing.symbols);
    buffer_free(&listing.bytes);
    free(listing.items);
}

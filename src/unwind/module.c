/* SPDX-License-Identifier: MIT */
#include "unwind/module.h"

#include "unwind/arch/machine.h"
#include "unwind/arch/arch.h"
#include "unwind/cfi/eh_frame_hdr.h"
#include "unwind/module_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* From the first byte of executable segments to the last, at most 4 GiB: rows hold 32-bit
 * addresses. */
static void find_text(const struct elf_file *elf, struct module_bytes *bytes)
{
    uint64_t start_svma = UINT64_MAX, end_svma = 0;
    for (size_t i = 0; i < elf_segment_count(elf); i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        uint64_t segment_end_svma;
        if (segment->type != PT_LOAD || !(segment->flags & PF_X) ||
            __builtin_add_overflow(segment->svma, segment->memory_bytes, &segment_end_svma))
            continue;
        if (segment->svma < start_svma)
            start_svma = segment->svma;
        if (segment_end_svma > end_svma)
            end_svma = segment_end_svma;
    }
    uint64_t size = end_svma > start_svma ? end_svma - start_svma : 0;
    bytes->text_svma = size ? start_svma : 0;
    bytes->text_bytes = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* room_bytes: the rest of bytes_max of unwind_module_open_lazy(). */
static int take_room(struct module_bytes *bytes, uint64_t needed_bytes, struct error *error)
{
    if (needed_bytes > bytes->room_bytes)
        return error_set(error, -E2BIG, "more unwind information than there is memory for");
    bytes->room_bytes -= needed_bytes;
    return 0;
}

/* The content of a section; nothing if absent, as .eh_frame in separate debug files. */
static int read_section(const struct elf_file *elf, const struct elf_section *section,
                        struct module_bytes *bytes, struct buffer *out, struct error *error)
{
    if (!section || section->type == SHT_NOBITS)
        return 0;
    if (section->bytes > CFI_SECTION_BYTES_MAX)
        return error_set(error, -EBADMSG, "more unwind information than any program has");
    int err = take_room(bytes, elf_section_memory(elf, section), error);
    return err ? err : elf_read_section(elf, section, out, error);
}

/*
 * Without section headers (sstrip, truncated files) the segment of .eh_frame_hdr has the address of
 * .eh_frame: version 1, the encodings of three fields, then the address. The end is the terminator,
 * or at most the end of the segment.
 */
static int read_by_header(const struct elf_file *elf, const struct elf_segment *header,
                          struct module_bytes *bytes, struct error *error)
{
    uint8_t head[12];
    if (elf_read_svma(elf, header->svma, head, sizeof(head)) != 0 || head[0] != 1)
        return 0;
    struct cfi_section section = {.bytes = head, .size = sizeof(head), .svma = header->svma};
    struct cursor c = cursor_of(head, sizeof(head));
    c.at = 4;
    uint64_t svma = cfi_read_address(&section, &c, head[1]);
    for (size_t i = 0; !c.failed && i < elf_segment_count(elf); i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        uint64_t inside = svma - segment->svma;
        if (segment->type != PT_LOAD || svma < segment->svma || inside >= segment->file_bytes)
            continue;
        uint64_t size = segment->file_bytes - inside;
        if (size > CFI_SECTION_BYTES_MAX)
            size = CFI_SECTION_BYTES_MAX;
        int err = take_room(bytes, size, error);
        if (err)
            return err;
        buffer_zeros(&bytes->eh_frame, size);
        if (bytes->eh_frame.failed)
            return -ENOMEM;
        bytes->eh_frame_svma = svma;
        bytes->eh_frame_ends_at_terminator = true;
        if (elf_read_svma(elf, svma, bytes->eh_frame.bytes, size) != 0)
            buffer_clear(&bytes->eh_frame);
        break;
    }
    return 0;
}

/* By the section header, or without section headers by PT_GNU_EH_FRAME. */
static int read_eh_frame(const struct elf_file *elf, struct module_bytes *bytes,
                         struct error *error)
{
    const struct elf_section *section = elf_find_section(elf, ".eh_frame");
    if (section) {
        bytes->eh_frame_svma = section->svma;
        return read_section(elf, section, bytes, &bytes->eh_frame, error);
    }
    for (size_t i = 0; i < elf_segment_count(elf); i++)
        if (elf_segment(elf, i)->type == PT_GNU_EH_FRAME)
            return read_by_header(elf, elf_segment(elf, i), bytes, error);
    return 0;
}

static void free_bytes(struct module_bytes *bytes)
{
    buffer_free(&bytes->eh_frame);
    buffer_free(&bytes->eh_frame_hdr);
    buffer_free(&bytes->debug_frame);
}

static int read_eh_frame_hdr(const struct elf_file *elf, struct module_bytes *bytes,
                             struct error *error)
{
    const struct elf_section *section = elf_find_section(elf, ".eh_frame_hdr");
    bytes->eh_frame_hdr_svma = section ? section->svma : 0;
    return read_section(elf, section, bytes, &bytes->eh_frame_hdr, error);
}

static bool has_debug_frame(const struct elf_file *elf)
{
    const struct elf_section *section = elf_find_section(elf, ".debug_frame");
    return section && section->type != SHT_NOBITS;
}

/* A separate debug file has .debug_frame only: its .eh_frame is SHT_NOBITS. Go programs have
 * neither section: their CFI is made from Go's own table of functions. */
static int open_from(struct unwind_module **out, const struct elf_file *elf,
                     const struct elf_file *debug, struct module_bytes *bytes, struct error *error)
{
    find_text(elf, bytes);
    bytes->entry_svma = elf_entry_svma(elf);
    int err = read_eh_frame(elf, bytes, error);
    const struct elf_file *holder = debug && !has_debug_frame(elf) ? debug : elf;
    bool is_go = err == 0 && bytes->machine->make_go_cfi &&
                 bytes->machine->make_go_cfi(&bytes->debug_frame, elf);
    if (is_go)
        err = take_room(bytes, bytes->debug_frame.size, error);
    else if (err == 0)
        err = read_section(holder, elf_find_section(holder, ".debug_frame"), bytes,
                           &bytes->debug_frame, error);
    if (err != 0) {
        free_bytes(bytes);
        return err;
    }
    if (bytes->machine->add_plt_cfi)
        bytes->machine->add_plt_cfi(&bytes->debug_frame, elf);
    return unwind_module_from_bytes(out, bytes, error);
}

static int refuse_machine(const struct elf_file *elf, struct error *error)
{
    return error_set(error, -ENOEXEC, "made for another machine (ELF machine %u)",
                     elf_machine(elf));
}

int unwind_module_open(struct unwind_module **out, const struct elf_file *elf,
                       const struct elf_file *debug, struct error *error)
{
    *out = NULL;
    struct module_bytes bytes = {.machine = unwind_machine_of_elf(elf_machine(elf)),
                                 .room_bytes = UINT64_MAX};
    return bytes.machine ? open_from(out, elf, debug, &bytes, error) : refuse_machine(elf, error);
}

/* Machine and .eh_frame_hdr first; open_from() frees the buffers if it fails. */
static int open_by_header(struct unwind_module **out, const struct elf_file *elf,
                          const struct elf_file *debug, struct module_bytes *bytes,
                          struct error *error)
{
    *out = NULL;
    bytes->machine = unwind_machine_of_elf(elf_machine(elf));
    if (!bytes->machine)
        return refuse_machine(elf, error);
    int err = read_eh_frame_hdr(elf, bytes, error);
    if (err == 0)
        return open_from(out, elf, debug, bytes, error);
    free_bytes(bytes);
    return err;
}

int unwind_module_open_sparse(struct unwind_module **out, const struct elf_file *elf,
                              const struct elf_file *debug, struct error *error)
{
    struct module_bytes bytes = {.room_bytes = UINT64_MAX};
    return open_by_header(out, elf, debug, &bytes, error);
}

int unwind_module_open_lazy(struct unwind_module **out, const struct elf_file *elf,
                            uint64_t bytes_max, struct row_room *room, struct error *error)
{
    struct module_bytes bytes = {.is_lazy = true, .room_bytes = bytes_max, .room = room};
    return open_by_header(out, elf, NULL, &bytes, error);
}

/* .debug_frame has no fixed address: relative addresses do not occur there. */
static void use_section(struct cfi_index *index, const struct module_bytes *bytes,
                        bool is_debug_frame)
{
    const struct buffer *buffer = is_debug_frame ? &bytes->debug_frame : &bytes->eh_frame;
    if (buffer->size)
        index->sections[index->section_count++] = (struct cfi_section){
            .bytes = buffer->bytes,
            .size = buffer->size,
            .svma = is_debug_frame ? 0 : bytes->eh_frame_svma,
            .is_debug_frame = is_debug_frame,
            .ends_at_terminator = !is_debug_frame && bytes->eh_frame_ends_at_terminator,
            .machine = bytes->machine};
}

/* 0 or -ENOMEM. Three kinds of index:
 *
 *     lazy     by piece of code      .eh_frame_hdr lists the records of a piece
 *     sparse   by address            .eh_frame_hdr leads to the record of an address
 *     whole    all records           without a usable .eh_frame_hdr (-EBADMSG)
 *
 * .eh_frame_hdr does not list .debug_frame, so a lazy module with both sections has a whole index.
 * Pieces keep the header; the other kinds free the header here. */
static int make_index(struct unwind_module *module)
{
    struct cfi_index *index = &module->index;
    struct buffer *header = &module->bytes.eh_frame_hdr;
    uint64_t header_svma = module->bytes.eh_frame_hdr_svma;
    int err = -EBADMSG;
    if (module->bytes.is_lazy && index->section_count == 1)
        err = lazy_index_new(&module->pieces, index, header, header_svma);
    else if (header->size && !module->bytes.is_lazy)
        err = eh_frame_hdr_fill(index, header, header_svma);
    if (module->pieces)
        return 0;
    buffer_free(header);
    if (err == -EBADMSG)
        err = cfi_index_build(index);
    return err ? err : lazy_rules_new(&module->lazy, index);
}

int unwind_module_from_bytes(struct unwind_module **out, struct module_bytes *bytes,
                             struct error *error)
{
    *out = NULL;
    int err;
    struct unwind_module *module = calloc(1, sizeof(*module));
    if (!module) {
        free_bytes(bytes);
        return error_set(error, -ENOMEM, "out of memory");
    }
    module->bytes = *bytes;
    if (bytes->eh_frame.size > CFI_SECTION_BYTES_MAX ||
        bytes->debug_frame.size > CFI_SECTION_BYTES_MAX) {
        err = error_set(error, -EBADMSG, "more unwind information than any program has");
        goto out;
    }
    struct cfi_index *index = &module->index;
    use_section(index, bytes, false);
    use_section(index, bytes, true);
    index->room = bytes->room;
    index->base_svma = bytes->text_svma;
    index->size = bytes->text_bytes;
    index->entry = (uint32_t)(bytes->entry_svma - bytes->text_svma);
    index->has_entry = bytes->entry_svma >= bytes->text_svma && bytes->entry_svma != 0 &&
                       bytes->entry_svma - bytes->text_svma < bytes->text_bytes;
    module->full_rows = full_rows_new(bytes->eh_frame.size + bytes->debug_frame.size, bytes->room);
    err = module->full_rows ? make_index(module) : -ENOMEM;
    if (err != 0)
        error_set(error, err, "out of memory");
    else if (index->bad_fdes > 0 && index->entry_count == 0)
        err = error_set(error, -EBADMSG, "the unwind information is malformed");
out:
    if (err != 0)
        unwind_module_close(module);
    else
        *out = module;
    return err;
}

void unwind_module_close(struct unwind_module *module)
{
    if (!module)
        return;
    lazy_rules_free(module->lazy);
    cfi_index_free(&module->index);
    lazy_index_free(module->pieces);
    full_rows_free(module->full_rows);
    free_bytes(&module->bytes);
    free(module);
}

int unwind_module_compile(const struct unwind_module *module, uint32_t start, uint64_t end,
                          struct compiled_rows *out)
{
    return module->pieces ? lazy_index_compile(module->pieces, start, end, out)
                          : compile_rows(&module->index, start, end, out);
}

struct lazy_rules *unwind_module_rules(const struct unwind_module *module, uint32_t relative)
{
    return module->pieces ? lazy_index_rules(module->pieces, relative) : module->lazy;
}

uint32_t unwind_module_rule(const struct unwind_module *module, uint32_t relative)
{
    struct lazy_rules *lazy = relative < module->index.size || !module->pieces
                                  ? unwind_module_rules(module, relative)
                                  : NULL;
    return lazy ? lazy_rules_find(lazy, relative) : row_rule(ROW_NONE, ROW_FP_SAME, 0);
}

uint64_t unwind_module_base_svma(const struct unwind_module *module)
{
    return module->index.base_svma;
}

uint32_t unwind_module_text_bytes(const struct unwind_module *module)
{
    return module->index.size;
}

size_t unwind_module_fdes(const struct unwind_module *module)
{
    return module->pieces ? lazy_index_fdes(module->pieces) : module->index.entry_count;
}

size_t unwind_module_bytes(const struct unwind_module *module)
{
    const struct module_bytes *bytes = &module->bytes;
    return bytes->eh_frame.size + bytes->eh_frame_hdr.size + bytes->debug_frame.size;
}

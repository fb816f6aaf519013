/* SPDX-License-Identifier: MIT */
#include "unwind/code/code_image.h"

#include "arch/machines.h"
#include "base/containers/array.h"
#include "unwind/arch/machine.h"

#include <errno.h>
#include <stdlib.h>

struct code_image {
    struct code_bytes *code; /* pieces are read through a constant image, too */
    uint64_t entry_svma;
    bool is_entered;
    struct code_tables tables;
};

void code_image_close(struct code_image *image)
{
    if (!image)
        return;
    if (image->code)
        code_bytes_close(image->code);
    free(image->code);
    code_tables_free(&image->tables);
    free(image);
}

/* NULL: code of the file's machine cannot be read. */
static const struct machine_code *machine_of(const struct elf_file *elf)
{
    const struct unwind_machine *machine = unwind_machine_of_elf(elf_machine(elf));
    return machine ? machine->code : NULL;
}

bool code_image_is_possible(const struct elf_file *elf)
{
    uint64_t start_svma, end_svma;
    return machine_of(elf) && code_bytes_bounds(elf, &start_svma, &end_svma) &&
           end_svma - start_svma <= CODE_BYTES_AT_ONCE_MAX;
}

/* The addresses taken in the entry function are main() and the like, which may never return. */
static void confirm_main(struct code_image *image)
{
    enum { ENTRY_BYTES = 64 };
    uint64_t svma = image->entry_svma, target_svma;
    size_t size, at = 0, step = 1;
    const uint8_t *code = code_image_bytes(image, svma, ENTRY_BYTES, &size);
    const struct machine_code *machine = image->tables.machine;
    for (; at < size && step > 0; at += step) {
        step = machine->instruction_bytes(code + at, size - at);
        if (machine->function_reference(code + at, size - at, svma + at, &target_svma) ==
            REFERENCE_ADDRESS)
            function_starts_confirm(&image->tables.starts, target_svma);
    }
}

/* On failure, too, *out is to be closed. */
static int make(struct code_image **out, const struct elf_file *elf)
{
    const struct machine_code *machine = machine_of(elf);
    struct code_image *image = machine ? calloc(1, sizeof(*image)) : NULL;
    *out = image;
    if (!image)
        return machine ? -ENOMEM : -ENOTSUP;
    image->tables.machine = machine;
    image->tables.relocations = machine_of_elf(elf_machine(elf));
    image->entry_svma = elf_entry_svma(elf);
    image->code = calloc(1, sizeof(*image->code));
    image->tables.code = image->code;
    return image->code ? 0 : -ENOMEM;
}

int code_image_open(struct code_image **out, const struct elf_file *elf)
{
    struct code_image *image;
    int err = make(&image, elf);
    if (err == 0)
        err = code_bytes_read(image->code, elf);
    if (err == 0)
        err = code_tables_read(&image->tables, elf);
    if (err == 0)
        err = function_starts_find(&image->tables.starts);
    if (err == 0)
        confirm_main(image);
    if (err != 0)
        code_image_close(image);
    *out = err == 0 ? image : NULL;
    return err;
}

/* Few functions have an FDE, and one of them enters the rest. Of a large file's many functions the
 * code is not read. */
static bool finds_entry(const struct code_image *image)
{
    enum { CODE_OF_A_START = 2048, ENTRY_BYTES_MIN = 4096 };
    const struct function_starts *starts = &image->tables.starts;
    struct code_frame frame;
    if (starts->count > image->code->size / CODE_OF_A_START)
        return false;
    for (size_t i = 0; i < starts->count; i++)
        if (code_image_entry_frame(image, starts->starts[i].svma, &frame) &&
            frame.return_bytes >= ENTRY_BYTES_MIN)
            return true;
    return false;
}

int code_image_open_in_pieces(struct code_image **out, struct elf_file *elf)
{
    struct code_image *image;
    int err = make(&image, elf);
    if (err == 0)
        err = code_bytes_open(image->code, elf);
    else
        elf_close(elf);
    if (err == 0)
        err = code_tables_read(&image->tables, elf);
    if (err == 0)
        err = code_tables_read_starts(&image->tables, elf);
    if (err == 0)
        image->is_entered = finds_entry(image);
    else
        code_image_close(image);
    *out = err == 0 ? image : NULL;
    return err;
}

bool code_image_is_entered(const struct code_image *image)
{
    return image->is_entered;
}

bool code_image_has_all_starts(const struct code_image *image)
{
    return !image->code->elf;
}

bool code_image_sized_part(const struct code_image *image, uint64_t *start_svma, uint64_t *end_svma)
{
    return code_symbols_sized_part(&image->tables.symbols, start_svma, end_svma);
}

bool code_image_knows_start(const struct code_image *image, uint64_t svma)
{
    uint64_t start_svma = svma, end_svma = svma + 1;
    return code_image_has_all_starts(image) || code_image_sized_part(image, &start_svma, &end_svma);
}

size_t code_image_memory(const struct code_image *image)
{
    return code_bytes_memory(image->code) + code_tables_memory(&image->tables);
}

const struct machine_code *code_image_machine(const struct code_image *image)
{
    return image->tables.machine;
}

const uint8_t *code_image_bytes(const struct code_image *image, uint64_t svma, size_t size,
                                size_t *available)
{
    uint64_t left =
        code_bytes_hold(image->code, svma) ? image->code->svma + image->code->size - svma : 0;
    *available = left < size ? (size_t)left : size;
    const uint8_t *bytes = code_bytes_get(image->code, svma, *available);
    *available = bytes ? *available : 0;
    return bytes;
}

const uint8_t *code_image_before(const struct code_image *image, uint64_t svma, size_t size)
{
    bool is_behind = svma >= image->code->svma && svma - image->code->svma >= size;
    return is_behind ? code_bytes_get(image->code, svma - size, size) : NULL;
}

bool code_image_function(const struct code_image *image, uint64_t svma,
                         struct code_function *function)
{
    const struct function_start *start = function_starts_before(&image->tables.starts, svma);
    if (!start || !code_bytes_hold(image->code, svma))
        return false;
    const struct function_starts *starts = &image->tables.starts;
    bool is_last = start + 1 == starts->starts + starts->count;
    *function = (struct code_function){.start_svma = start->svma,
                                       .end_svma = is_last ? image->code->svma + image->code->size
                                                           : start[1].svma,
                                       .is_firm = start->is_firm,
                                       .is_label = start->is_label};
    return true;
}

uint64_t code_image_entry_svma(const struct code_image *image)
{
    return image->entry_svma;
}

const struct code_slot *code_image_slot(const struct code_image *image, uint64_t slot_svma)
{
    size_t below =
        ARRAY_COUNT_BELOW(image->tables.slots, image->tables.slot_count, slot_svma, slot_svma);
    bool is_known =
        below < image->tables.slot_count && image->tables.slots[below].slot_svma == slot_svma;
    return is_known ? &image->tables.slots[below] : NULL;
}

size_t code_image_symbols(const struct code_image *image)
{
    return image->tables.symbols.count;
}

uint64_t code_image_find(const struct code_image *image, const struct code_name *name)
{
    return code_symbols_find(&image->tables.symbols, name);
}

bool code_image_defines(const struct code_image *image, const struct code_name *name, uint64_t svma)
{
    return code_symbols_have(&image->tables.symbols, name, svma);
}

enum { FUNCTION_BYTES_MAX = 256 }; /* up to the jump */

bool code_image_entry_frame(const struct code_image *image, uint64_t start_svma,
                            struct code_frame *frame)
{
    size_t size;
    const uint8_t *code = code_image_bytes(image, start_svma, FUNCTION_BYTES_MAX, &size);
    const struct machine_code *machine = image->tables.machine;
    size_t jump = machine->first_indirect_jump(code, size, false);
    *frame = jump > 0 ? machine->frame_at(code, jump) : (struct code_frame){0};
    return frame->is_known;
}

/* return_bytes 0: the return address is at SP, as at the entry of the function. */
bool code_image_leaves_by_register(const struct code_image *image, uint64_t start_svma)
{
    size_t size;
    const uint8_t *code = code_image_bytes(image, start_svma, FUNCTION_BYTES_MAX, &size);
    const struct machine_code *machine = image->tables.machine;
    size_t jump = machine->first_indirect_jump(code, size, true);
    if (jump == 0 || size - jump < machine->register_jump_bytes)
        return false;
    const struct code_frame frame = machine->frame_at(code, jump);
    return frame.is_known && frame.return_bytes == 0 && machine->is_register_jump(code + jump);
}

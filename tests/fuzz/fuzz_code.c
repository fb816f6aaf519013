/* SPDX-License-Identifier: MIT */
/* Machine code of arbitrary bytes: decoded instruction by instruction, and searched for callers. The first three quarters
 * of the input are an ELF file, the rest is the stack. */
#include "unwind/arch/x86_64_code.h"
#include "unwind/arch/x86_64_frame.h"
#include "unwind/code/caller_search.h"
#include "unwind/code/code_rows.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_AVMA = 0x7f0000000000, STACK_AVMA = 0x7ffc00000000, NEAR = 0x3fff, STEPS_MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void decode(const uint8_t *data, size_t size)
{
    uint64_t target;
    for (size_t at = 0; at < size; at++) {
        require(x86_64_instruction_bytes(data + at, size - at) <= size - at);
        require(x86_64_instruction_bytes(data + at, size - at) <= 15);
        x86_64_jump_at(data + at, size - at, at);
        x86_64_function_reference(data + at, size - at, at, &target);
        x86_64_ends_thread(data + at, size - at);
        x86_64_is_sigreturn(data + at, size - at);
        x86_64_call_before(data, at, at);
        x86_64_may_end_function(data, at);
    }
    for (size_t at = 0, before = 0; x86_64_next_jump(data, size, &at, 0, &target); before = at)
        require(at > before && at <= size);
    x86_64_has_indirect_jump(data, size);
    x86_64_frame_at(data, size);
}

static bool find(void *context, uint64_t avma, struct code_place *place)
{
    *place = (struct code_place){context, CODE_AVMA};
    return avma >= CODE_AVMA && avma - CODE_AVMA < UINT64_C(1) << 32;
}

/* Every word with an odd last byte becomes an address in the code. */
static uint64_t *make_stack(const uint8_t *data, size_t words)
{
    uint64_t *stack = calloc(words + 1, sizeof(*stack));
    if (!stack)
        exit(1);
    memcpy(stack, data, words * sizeof(*stack));
    for (size_t i = 0; i < words; i++)
        if (stack[i] >> 56 & 1)
            stack[i] = CODE_AVMA + (stack[i] & NEAR);
    return stack;
}

static void search(struct code_image *image, const uint8_t *data, size_t words)
{
    uint64_t *bytes = make_stack(data, words);
    const struct code_map map = {.find = find, .context = image};
    const struct stack_view stack = {STACK_AVMA, STACK_AVMA + words * 8, (uint8_t *)bytes, NULL};
    struct stack_frame frame = {
        .regs = {.pc = CODE_AVMA + code_image_entry_svma(image), .sp = STACK_AVMA}};
    for (int i = 0; i < STEPS_MAX; i++) {
        struct caller caller = caller_search_of_fde(&map, &frame, &stack);
        if (caller.evidence == CALLER_NONE || caller.evidence == CALLER_IS_ROOT)
            break;
        bool is_interrupted = !caller.frame.is_return_address; /* maybe on another stack */
        require(is_interrupted || caller.frame.regs.sp > frame.regs.sp);
        frame = caller.frame;
    }
    free(bytes);
}

static void derive_rows(const struct code_image *image)
{
    enum { BYTES = 128 << 10 };
    struct compiled_rows rows = {0};
    if (code_rows_fill(image, code_image_entry_svma(image) & ~UINT64_C(0xfff), 0, BYTES, &rows) !=
        0)
        return;
    for (size_t i = 0; i < rows.count; i++)
        require(rows.rows[i].start < BYTES &&
                (i == 0 || rows.rows[i].start > rows.rows[i - 1].start));
    compile_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_file *elf;
    struct code_image *image;
    size_t elf_bytes = size / 4 * 3;
    decode(data, size < 512 ? size : 512);
    if (elf_open_memory(&elf, data, elf_bytes, NULL) != 0)
        return 0;
    if (code_image_open(&image, elf) == 0) {
        search(image, data + elf_bytes, (size - elf_bytes) / 8);
        derive_rows(image);
        code_image_close(image);
    }
    if (code_image_open_in_pieces(&image, elf) == 0) {
        search(image, data + elf_bytes, (size - elf_bytes) / 8);
        code_image_close(image);
    }
    return 0;
}

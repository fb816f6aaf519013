/* SPDX-License-Identifier: MIT */
/* Call frame information that anybody may have written: compiled whole, then evaluated, then found by a header. The input
 * is half .eh_frame, half .debug_frame (or .eh_frame_hdr), and the stack too. */
#include "unwind/arch/machine.h"
#include "unwind/module_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_machine(const struct unwind_machine *machine, const uint8_t *data, size_t size)
{
    struct module_bytes bytes = {
        .eh_frame_svma = 0x2000, .text_svma = 0x1000, .text_bytes = 0x4000, .machine = machine};
    buffer_append(&bytes.eh_frame, data, size / 2);
    buffer_append(&bytes.debug_frame, data + size / 2, size - size / 2);
    struct unwind_module *module;
    if (unwind_module_from_bytes(&module, &bytes, NULL) != 0)
        return;
    struct compiled_rows compiled = {0};
    unwind_module_compile(module, 0, COMPILE_END, &compiled);
    const struct row *rows = compiled.rows;
    const struct stack_view stack = {0x7000, 0x7000 + size, data, NULL};
    for (size_t i = 0; i < compiled.count; i++) {
        struct unwind_regs fast = {0x1000 + rows[i].start, 0x7000, 0x7010};
        struct full_regs full = {.known = UINT32_MAX};
        for (uint64_t reg = 0; reg < UNWIND_DWARF_REGS; reg++)
            full.value[reg] = 0x7000 + 8 * (reg ^ UNWIND_DWARF_SP);
        bool is_signal;
        if (unwind_module_rule(module, rows[i].start) != rows[i].rule)
            abort();
        unwind_module_step(module, fast.pc, &full, &stack, &is_signal);
        if (i > 0 && rows[i].start <= rows[i - 1].start)
            abort();
        if (unwind_apply(rows[i].rule, &fast, &stack) == UNWIND_OK &&
            row_kind(rows[i].rule) != ROW_SIGNAL && fast.sp <= 0x7000)
            abort();
    }
    compile_free(&compiled);
    unwind_module_close(module);
}

static void try_header(const uint8_t *data, size_t size)
{
    struct module_bytes bytes = {.eh_frame_svma = 0x2000,
                                 .eh_frame_hdr_svma = 0x1800,
                                 .text_svma = 0x1000,
                                 .text_bytes = 0x4000};
    buffer_append(&bytes.eh_frame, data, size / 2);
    buffer_append(&bytes.eh_frame_hdr, data + size / 2, size - size / 2);
    struct unwind_module *module;
    if (unwind_module_from_bytes(&module, &bytes, NULL) != 0)
        return;
    for (uint32_t at = 0; at < 0x4000; at += 0x11)
        unwind_module_rule(module, at);
    unwind_module_close(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_header(data, size);
    try_machine(&unwind_x86_64, data, size);
    try_machine(&unwind_aarch64, data, size);
    return 0;
}

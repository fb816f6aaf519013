/* SPDX-License-Identifier: MIT */
#include "record/kernel_time/kernel_copy.h"

#include "unwind/arch/machine.h"
#include "wire/records.h"

#include <string.h>

/* A copy that is not full ends with the stack, or at an absent page. */
static uint64_t stack_end_avma(const struct ring_record *record, uint64_t copy_end_avma,
                               struct stack_pages *pages)
{
    bool goes_on = record->is_stack_full ||
                   (record->stack_bytes > 0 &&
                    stack_pages_request(pages, (pid_t)record->pid, copy_end_avma, record->time_ns));
    return goes_on ? RECORD_ADDRESSES_END : copy_end_avma;
}

bool kernel_copy_build(struct buffer *out, const struct ring_record *record, uint64_t weight_ns,
                       uint32_t unload_count, struct stack_pages *pages)
{
    struct full_regs regs;
    if (record->abi != PERF_SAMPLE_REGS_ABI_64 ||
        !unwind_machine_captured(unwind_machine_own(), &regs, RING_REGISTERS, record->registers))
        return false;
    uint64_t sp_avma = regs.value[UNWIND_DWARF_SP];
    if (sp_avma >= RECORD_ADDRESSES_END || record->stack_bytes > RECORD_COPY_BYTES_MAX)
        return false;
    /* Whole words, as stack_copy_parse() demands. */
    const uint32_t stack_bytes = (uint32_t)(record->stack_bytes & ~(size_t)7);
    const struct record_stack stack = {.unload_count = unload_count};
    struct record_copy copy = {.known = regs.known,
                               .leaf_bytes = stack_bytes,
                               .stack_start_avma = sp_avma,
                               .stack_end_avma =
                                   stack_end_avma(record, sp_avma + stack_bytes, pages)};
    memcpy(copy.registers, regs.value, sizeof(copy.registers));
    const struct record_header header = {
        .bytes = (uint32_t)(sizeof(header) + sizeof(stack) + sizeof(copy) + stack_bytes),
        .event = RECORD_EVENT_CPU,
        .kind = RECORD_COPY,
        .flags = RECORD_KERNEL,
        .weight_ns = weight_ns};
    buffer_clear(out);
    buffer_append(out, &header, sizeof(header));
    buffer_append(out, &stack, sizeof(stack));
    buffer_append(out, &copy, sizeof(copy));
    buffer_append(out, record->stack, stack_bytes);
    return !out->failed;
}

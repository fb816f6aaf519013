/* SPDX-License-Identifier: MIT */
/* Samples of kernel time next to the sampler: which are the sampler's own, and their stack copies. */
#include "record/events/event_files.h"
#include "record/events/tracefs.h"
#include "record/kernel_time/kernel_copy.h"
#include "record/kernel_time/signal_delivery.h"

#include "record/sample/stack_copy.h"
#include "unwind/registers.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static const char symbols[] = "0000000000000000 A fixed\n"
                              "ffffffff81000100 T asm_sysvec_apic_timer_interrupt\n"
                              "ffffffff81000200 T asm_sysvec_reschedule_ipi\n"
                              "ffffffff81000300 T irqentry_exit_to_user_mode_not\n"
                              "ffffffff81000400 T irqentry_exit_to_user_mode\n"
                              "ffffffff81000400 T alias\n"
                              "ffffffff81000500 t perf_pending_task\n"
                              "ffffffff81000600 T schedule\n"
                              "ffffffff81000700 T schedule_timeout\n"
                              "ffffffff81000800 t perf_swevent_hrtimer\n"
                              "ffffffff81000900 t perf_swevent_start_hrtimer\n"
                              "ffffffffc0000000 t schedule\t[module]\n";

enum { TIMER = 0x150, IPI = 0x250, OTHER = 0x350, EXIT = 0x450, PENDING = 0x550, SWITCH = 0x650 };

#define BASE UINT64_C(0xffffffff81000000)

static struct signal_delivery read_symbols(const char *text)
{
    struct signal_delivery delivery;
    FILE *file = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(file);
    signal_delivery_read(&delivery, file);
    fclose(file);
    return delivery;
}

static bool is_own(const char *text, uint32_t inner, uint32_t middle, uint32_t outer)
{
    const uint64_t frames[] = {BASE + inner, BASE + middle, BASE + outer};
    const struct signal_delivery delivery = read_symbols(text);
    return signal_delivery_has(&delivery, frames, 3);
}

static void the_return_from_the_timer_with_work_is_the_samplers(void **state)
{
    (void)state;
    assert_true(is_own(symbols, PENDING, EXIT, TIMER));
    assert_true(is_own(symbols, EXIT, EXIT, TIMER));
    assert_true(is_own(symbols, PENDING, 0x500, TIMER)); /* a call at the end of the function */
}

static void other_kernel_time_is_the_programs(void **state)
{
    (void)state;
    assert_false(is_own(symbols, PENDING, OTHER, TIMER)); /* work of the interrupt itself */
    assert_false(is_own(symbols, PENDING, EXIT, IPI));
    assert_false(is_own(symbols, SWITCH, EXIT, TIMER)); /* another thread's turn */
    assert_false(is_own(symbols, TIMER, EXIT, PENDING));
    assert_false(is_own("0000000000000000 T asm_sysvec_apic_timer_interrupt\n", EXIT, EXIT, TIMER));
    assert_false(is_own("\n", EXIT, EXIT, TIMER));
}

static void the_interrupt_ends_with_its_innermost_entry(void **state)
{
    (void)state;
    const struct signal_delivery delivery = read_symbols(symbols);
    const uint64_t frames[] = {BASE + OTHER, BASE + TIMER, BASE + PENDING, BASE + TIMER};
    assert_int_equal(signal_delivery_interrupt(&delivery, frames, 4), 2);
    assert_int_equal(signal_delivery_interrupt(&delivery, frames, 2), 2); /* of user code */
    assert_int_equal(signal_delivery_interrupt(&delivery, frames, 1), 1);
    assert_int_equal(signal_delivery_interrupt(&delivery, frames, 0), 0);
    const uint64_t other[] = {BASE + OTHER, BASE + IPI};
    assert_int_equal(signal_delivery_interrupt(&delivery, other, 2), 2);
}

static void functions_are_found_by_kind(void **state)
{
    (void)state;
    const struct signal_delivery delivery = read_symbols(symbols), none = read_symbols("\n");
    assert_int_equal(signal_delivery_find(&delivery, DELIVERY_TIMER), BASE + 0x800);
    assert_int_equal(signal_delivery_find(&delivery, DELIVERY_ENTRY), BASE + 0x100);
    assert_int_equal(signal_delivery_find(&none, DELIVERY_TIMER), 0);
}

static void tracepoints_have_numbers_without_a_mount(void **state)
{
    (void)state;
    struct event_request request = {.period = 1};
    if (geteuid() != 0)
        skip();
    int err = tracefs_tracepoint(&request, &event_roots_system, "timer", "hrtimer_expire_entry");
    if (err == -EPERM || err == -ENODEV)
        skip(); /* refused, or a kernel without tracefs */
    assert_int_equal(err, 0);
    assert_int_equal(request.type, PERF_TYPE_TRACEPOINT);
    assert_in_range(request.config, 1, UINT16_MAX);
    assert_int_equal(tracefs_tracepoint(&request, &event_roots_system, "timer", "no_such_event"),
                     -ENOENT);
}

/* The kernel's own frame: this is the stack at the return from a handler. */
static uint8_t at_return[1024];

static void copy_frame(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    memcpy(at_return, context, sizeof(at_return));
}

static void take_signal(int number, int code)
{
    const struct sigaction action = {.sa_sigaction = copy_frame, .sa_flags = SA_SIGINFO};
    siginfo_t info = {.si_signo = number, .si_code = code};
    assert_int_equal(sigaction(number, &action, NULL), 0);
    assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, &info), 0);
}

static void the_return_from_the_samplers_signal_is_the_samplers(void **state)
{
    (void)state;
    enum { TRAP_BY_EVENT = 6, TRAP_BY_BREAKPOINT = 1, FRAME_BYTES = 304 + 12 };
    take_signal(SIGTRAP, TRAP_BY_EVENT);
    assert_true(signal_delivery_is_return(at_return, sizeof(at_return)));
    assert_true(signal_delivery_is_return(at_return, FRAME_BYTES));
    assert_false(signal_delivery_is_return(at_return, FRAME_BYTES - 1));
    assert_false(signal_delivery_is_return(NULL, 0));
    take_signal(SIGTRAP, TRAP_BY_BREAKPOINT);
    assert_false(signal_delivery_is_return(at_return, sizeof(at_return)));
    take_signal(SIGUSR1, TRAP_BY_EVENT);
    assert_false(signal_delivery_is_return(at_return, sizeof(at_return)));
}

/* Registers in the order of RING_REGISTERS: SP is the eighth, IP the ninth. */
static struct ring_record sample_of(uint64_t registers[17], const uint8_t *stack, size_t bytes)
{
    memset(registers, 0, 17 * sizeof(registers[0]));
    registers[7] = 0x7ffc00001000;
    registers[8] = 0x401000;
    return (struct ring_record){.type = PERF_RECORD_SAMPLE,
                                .abi = PERF_SAMPLE_REGS_ABI_64,
                                .registers = registers,
                                .stack = stack,
                                .stack_bytes = bytes};
}

static void a_copy_has_registers_stack_and_weight(void **state)
{
    (void)state;
    uint64_t registers[17];
    const uint8_t stack[24] = {1, 2, 3};
    struct buffer out = {0};
    struct stack_copy copy;
    struct stack_pages pages = {0};
    struct ring_record record = sample_of(registers, stack, sizeof(stack));
    assert_true(kernel_copy_build(&out, &record, 940000, 3, &pages));
    assert_true(stack_copy_parse(&copy, out.bytes, out.size));
    assert_int_equal(copy.header.weight_ns, 940000);
    assert_int_equal(copy.stack.unload_count, 3);
    assert_int_equal(copy.copy.registers[UNWIND_DWARF_SP], 0x7ffc00001000);
    assert_int_equal(copy.copy.registers[UNWIND_DWARF_PC], 0x401000);
    assert_memory_equal(copy.leaf, stack, sizeof(stack));
    assert_false(stack_copy_is_whole(&copy)); /* it may have ended at a page without memory */
    record.time_ns = UINT64_MAX;              /* long after a read of the page */
    assert_true(kernel_copy_build(&out, &record, 940000, 3, &pages));
    assert_true(stack_copy_parse(&copy, out.bytes, out.size));
    assert_true(stack_copy_is_whole(&copy));
    record.is_stack_full = true; /* the stack goes on */
    assert_true(kernel_copy_build(&out, &record, 940000, 3, &pages));
    assert_true(stack_copy_parse(&copy, out.bytes, out.size));
    assert_false(stack_copy_is_whole(&copy));
    stack_pages_close(&pages);
    buffer_free(&out);
}

static void without_a_user_stack_there_is_no_copy(void **state)
{
    (void)state;
    uint64_t registers[17];
    struct buffer out = {0};
    struct stack_pages pages = {0};
    struct ring_record record = sample_of(registers, NULL, 0);
    record.abi = PERF_SAMPLE_REGS_ABI_NONE;
    assert_false(kernel_copy_build(&out, &record, 1, 0, &pages));
    record.abi = PERF_SAMPLE_REGS_ABI_64;
    registers[7] = UINT64_MAX; /* SP above all user addresses */
    assert_false(kernel_copy_build(&out, &record, 1, 0, &pages));
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_return_from_the_timer_with_work_is_the_samplers),
        cmocka_unit_test(other_kernel_time_is_the_programs),
        cmocka_unit_test(the_interrupt_ends_with_its_innermost_entry),
        cmocka_unit_test(functions_are_found_by_kind),
        cmocka_unit_test(tracepoints_have_numbers_without_a_mount),
        cmocka_unit_test(the_return_from_the_samplers_signal_is_the_samplers),
        cmocka_unit_test(a_copy_has_registers_stack_and_weight),
        cmocka_unit_test(without_a_user_stack_there_is_no_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

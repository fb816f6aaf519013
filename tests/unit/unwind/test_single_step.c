/* SPDX-License-Identifier: MIT */
/*
 * Runs a program one instruction at a time and unwinds at every single one. The truth is a shadow
 * stack of the executed calls: shadow.h. Two kinds of difference are not ours, and counted apart:
 *
 *     no CFI      the start files of the C compiler (_init, frame_dummy, …) have none
 *     flat CFI    one row for the whole function, CFA = SP + 8, while SP is elsewhere: the author
 *                 of some assembly code described none of its pushes (glibc's __mpn_addmul_1)
 *
 * All others are listed by function and have to stay below 0.1 %. Seen so far: glibc's __longjmp,
 * whose CFI describes the destination instead of the caller; and the last instructions of functions
 * that realign the stack, where gcc 12 does not say that `leave` has given FP back.
 *
 * Usage as a tool: test_single_step PROGRAM [ARG…]
 */
#include "shadow.h"
#include "sorted_mappings.h"

#include "unwind/module_internal.h"

enum { WINDOW_BYTES = 4096, REPORTED_MAX = 64 };

/* No more than this of a program that does not end. */
static const size_t steps_max = 3000000;

/* One function that was unwound wrongly somewhere. */
struct wrong {
    char name[320];
    size_t count;
};

struct stepping {
    struct tracee tracee;
    struct shadow shadow;
    struct stack_bytes stack; /* the window, or the whole stack */
    size_t steps;             /* with a caller in the shadow stack */
    size_t outermost;         /* with none */
    size_t by_row;            /* right by a row */
    size_t by_evaluator;      /* right by the full evaluator: the row is complex */
    size_t wrong_rows;        /* not right, for no reason that is known */
    size_t no_cfi, flat_cfi;  /* see the top */
    size_t no_module;
    size_t signals;
    size_t whole_stacks, wrong_stacks; /* unwound to the end, each time a call was executed … */
    size_t captured_stacks, wrong_captured; /* those without what is below SP */
    struct wrong wrong[REPORTED_MAX];
    size_t wrong_count;
};

/* The FDE that covers pc, or NULL. */
static const struct cfi_entry *find_fde(const struct tracee *tracee, uint64_t pc)
{
    const struct offline_mapping *mapping = &tracee->mappings[tracee_find(tracee, pc)];
    const struct cfi_index *index = &mapping->module->index;
    return cfi_index_find(index, (uint32_t)(pc - mapping->bias - index->base_svma));
}

static bool has_flat_cfi(const struct tracee *tracee, uint64_t pc)
{
    const struct offline_mapping *mapping = &tracee->mappings[tracee_find(tracee, pc)];
    const struct cfi_entry *fde = find_fde(tracee, pc);
    struct cfi_walk walk;
    if (!fde || !cfi_index_walk(&mapping->module->index, fde, &walk) || !cfi_walk_next(&walk))
        return false;
    return walk.row.cfa.reg == UNWIND_DWARF_SP && walk.row.cfa.offset == 8 &&
           !walk.row.cfa.expression && !cfi_walk_next(&walk);
}

/* Named by file and the first address of the FDE: system libraries have few symbols. */
static void count_wrong(struct stepping *s, uint64_t pc)
{
    char name[320];
    size_t mapping = tracee_find(&s->tracee, pc);
    const struct cfi_entry *fde = find_fde(&s->tracee, pc);
    snprintf(name, sizeof(name), "%s at 0x%" PRIx64, s->tracee.names[mapping],
             s->tracee.mappings[mapping].module->index.base_svma + (fde ? fde->start : 0));
    s->wrong_rows++;
    size_t i = 0;
    while (i < s->wrong_count && strcmp(s->wrong[i].name, name) != 0)
        i++;
    if (i == REPORTED_MAX)
        return;
    if (i == s->wrong_count)
        strcpy(s->wrong[s->wrong_count++].name, name);
    s->wrong[i].count++;
}

/* One step up by row, or by the evaluator where the row is complex. */
static enum unwind_result unwind_once(const struct stepping *s, const struct full_regs *now,
                                      const struct stack_view *stack, struct unwind_regs *caller,
                                      bool *is_complex)
{
    *is_complex = false;
    uint64_t pc = now->value[UNWIND_DWARF_PC];
    *caller = (struct unwind_regs){pc, now->value[UNWIND_DWARF_SP], now->value[UNWIND_DWARF_FP]};
    const struct offline_mapping *mapping = &s->tracee.mappings[tracee_find(&s->tracee, pc)];
    uint64_t svma = pc - mapping->bias;
    uint32_t relative = (uint32_t)(svma - unwind_module_base_svma(mapping->module));
    enum unwind_result result =
        unwind_apply(unwind_module_rule(mapping->module, relative), caller, stack);
    if (result != UNWIND_COMPLEX)
        return result;
    *is_complex = true;
    struct full_regs full = *now;
    bool is_signal;
    result = unwind_module_step(mapping->module, svma, &full, stack, &is_signal);
    *caller = (struct unwind_regs){full.value[UNWIND_DWARF_PC], full.value[UNWIND_DWARF_SP],
                                   full.value[UNWIND_DWARF_FP]};
    return result;
}

static void judge_step(struct stepping *s, const struct full_regs *now)
{
    uint64_t pc = now->value[UNWIND_DWARF_PC], sp = now->value[UNWIND_DWARF_SP];
    if (s->shadow.depth == 0) {
        s->outermost++;
        return;
    }
    s->steps++;
    size_t mapping = tracee_find(&s->tracee, pc);
    if (mapping == s->tracee.mapping_count) {
        tracee_map(&s->tracee);
        mapping = tracee_find(&s->tracee, pc);
    }
    if (mapping == s->tracee.mapping_count || !s->tracee.mappings[mapping].module) {
        s->no_module++;
        return;
    }
    struct stack_view stack = read_stack(&s->tracee, &s->stack, sp, WINDOW_BYTES);
    struct unwind_regs caller;
    bool is_complex;
    enum unwind_result result = unwind_once(s, now, &stack, &caller, &is_complex);
    if (result == UNWIND_OFF_STACK || (result == UNWIND_COMPLEX && is_complex)) {
        stack = read_stack(&s->tracee, &s->stack, sp, SIZE_MAX);
        result = unwind_once(s, now, &stack, &caller, &is_complex);
    }
    const struct shadow_entry *truth = &s->shadow.entries[s->shadow.depth - 1];
    if (result != UNWIND_OK || caller.pc != truth->caller.pc || caller.sp != truth->caller.sp ||
        (truth->fp_is_known && caller.fp != truth->caller.fp)) {
        if (result == UNWIND_NO_ROW)
            s->no_cfi++;
        else if (truth->caller.sp != sp + 8 && has_flat_cfi(&s->tracee, pc))
            s->flat_cfi++;
        else
            count_wrong(s, pc);
    } else if (is_complex)
        s->by_evaluator++;
    else
        s->by_row++;
}

/* The whole stack at once, against the whole shadow stack. How it ends is not asked: the dynamic
 * linker's first function has no CFI that would say so. */
static bool stack_is_right(const struct stepping *s, const struct full_regs *now,
                           const struct stack_view *stack)
{
    static uint64_t frames[SHADOW_MAX + 8];
    struct offline_result result = offline_unwind(s->tracee.mappings, s->tracee.mapping_count, now,
                                                  false, stack, frames, SHADOW_MAX + 8);
    bool right = result.frame_count > s->shadow.depth;
    for (size_t i = 0; right && i < s->shadow.depth; i++)
        right = frames[1 + i] == s->shadow.entries[s->shadow.depth - 1 - i].caller.pc;
    return right;
}

static void judge_stack(struct stepping *s, const struct full_regs *now)
{
    struct stack_view stack =
        read_stack(&s->tracee, &s->stack, now->value[UNWIND_DWARF_SP], SIZE_MAX);
    s->whole_stacks++;
    s->wrong_stacks += !stack_is_right(s, now, &stack);
}

/* The kernel copies a stack from SP up. Right before a `ret` the registers that were saved are below it,
 * and CFI often still says that they are to be read there. */
static void judge_captured(struct stepping *s, const struct full_regs *now)
{
    uint8_t code = 0;
    if (s->shadow.depth == 0 || s->captured_stacks >= 5000 ||
        !tracee_read(&s->tracee, now->value[UNWIND_DWARF_PC], &code, sizeof(code)) || code != 0xc3)
        return;
    struct stack_view stack =
        read_stack(&s->tracee, &s->stack, now->value[UNWIND_DWARF_SP], SIZE_MAX);
    if (stack.lo > now->value[UNWIND_DWARF_SP])
        return;
    stack.bytes += now->value[UNWIND_DWARF_SP] - stack.lo;
    stack.lo = now->value[UNWIND_DWARF_SP];
    s->captured_stacks++;
    s->wrong_captured += !stack_is_right(s, now, &stack);
}

static void run(struct stepping *s)
{
    struct user_regs_struct user;
    ptrace(PTRACE_GETREGS, s->tracee.pid, NULL, &user);
    struct full_regs before = tracee_regs(&user);
    intptr_t signal = 0;
    tracee_map(&s->tracee);
    while (s->steps + s->outermost < steps_max) {
        int status;
        if (ptrace(PTRACE_SINGLESTEP, s->tracee.pid, NULL, (void *)signal) != 0 ||
            waitpid(s->tracee.pid, &status, 0) < 0 || !WIFSTOPPED(status))
            return;
        ptrace(PTRACE_GETREGS, s->tracee.pid, NULL, &user);
        struct full_regs after = tracee_regs(&user);
        if (signal) {
            s->signals++;
            shadow_follow_signal(&s->shadow, &s->tracee, &before, &after);
        } else if (shadow_follow(&s->shadow, &s->tracee, &before, &after) &&
                   s->whole_stacks < 20000) {
            judge_stack(s, &after);
        }
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        judge_step(s, &after);
        judge_captured(s, &after);
        before = after;
    }
}

static void report(const struct stepping *s)
{
    size_t right = s->by_row + s->by_evaluator, judged = right + s->wrong_rows;
    printf(
        "%zu instructions below a known caller: %zu right by row, %zu right by the evaluator, %zu "
        "wrong (%.4f %% right)\n",
        s->steps, s->by_row, s->by_evaluator, s->wrong_rows,
        100.0 * (double)right / (double)(judged ? judged : 1));
    printf("besides: %zu without CFI, %zu with flat CFI, %zu outside of modules; %zu signals\n",
           s->no_cfi, s->flat_cfi, s->no_module, s->signals);
    printf("%zu whole stacks, %zu of them not equal to the calls made\n", s->whole_stacks,
           s->wrong_stacks);
    printf("%zu captured at their end, %zu of them not equal\n", s->captured_stacks,
           s->wrong_captured);
    for (size_t i = 0; i < s->wrong_count; i++)
        printf("    wrong %6zu times in %s\n", s->wrong[i].count, s->wrong[i].name);
}

static bool step_program(struct stepping *s, char *const argv[])
{
    *s = (struct stepping){0};
    if (!tracee_start(&s->tracee, argv))
        return false;
    run(s);
    report(s);
    tracee_end(&s->tracee);
    free(s->stack.bytes);
    return true;
}

static void every_instruction_unwinds_to_its_caller(void **state)
{
    (void)state;
    static struct stepping s;
    char path[] = TARGETS_DIR "/unwind_steps";
    assert_true(step_program(&s, (char *[]){path, NULL}));
    size_t judged = s.by_row + s.by_evaluator + s.wrong_rows;
    assert_true(judged > 50000);
    assert_true(s.signals > 0);
    assert_true(s.wrong_rows * 1000 <= judged);
    assert_true((s.no_cfi + s.flat_cfi) * 200 <= s.steps);
    assert_int_equal(s.no_module, 0);
    assert_true(s.wrong_stacks * 200 <= s.whole_stacks);
    assert_true(s.captured_stacks > 500 && s.wrong_captured * 200 <= s.captured_stacks);
}

static bool may_trace(void)
{
    struct tracee tracee;
    char path[] = "/bin/true";
    bool may = tracee_start(&tracee, (char *[]){path, NULL});
    tracee_end(&tracee);
    return may;
}

int main(int argc, char **argv)
{
    static struct stepping s;
    if (argc > 1)
        return step_program(&s, argv + 1) ? 0 : 1;
    if (!may_trace()) {
        fprintf(stderr, "ptrace is not permitted here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_unwinds_to_its_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

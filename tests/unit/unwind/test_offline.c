/* SPDX-License-Identifier: MIT */
/*
 * Real processes, stopped at a known depth; their registers and stack are copied and unwound. The
 * truth is what the program noted itself, through __builtin_return_address() in each of its
 * functions.
 */
#include "cfi_bytes.h"
#include "sorted_mappings.h"
#include "tracee.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "real_files.h"

enum { FRAMES_MAX = 1200, NOTES_MAX = 1024 };

/* What a sample consists of, and the truth about it. */
struct capture {
    struct tracee tracee;
    struct full_regs regs;
    struct stack_view stack;
    uint8_t *bytes;
    uint64_t notes[NOTES_MAX];
    size_t note_count;
};

/* Runs the tracee until it stops itself; signals meant for it are passed on. */
static void run_to_stop(struct tracee *tracee)
{
    intptr_t signal = 0;
    for (int status;;) {
        assert_int_equal(ptrace(PTRACE_CONT, tracee->pid, NULL, (void *)signal), 0);
        assert_int_equal(waitpid(tracee->pid, &status, 0), tracee->pid);
        assert_true(WIFSTOPPED(status));
        signal = WSTOPSIG(status);
        if (signal == SIGSTOP)
            return;
    }
}

static void capture(struct capture *c, int depth, const char *how)
{
    char path[] = TARGETS_DIR "/unwind_depth", number[16], line[64] = "";
    int ends[2];
    snprintf(number, sizeof(number), "%d", depth);
    assert_int_equal(pipe(ends), 0);
    int out = dup(1);
    dup2(ends[1], 1);
    bool started = tracee_start(&c->tracee, (char *[]){path, number, (char *)(uintptr_t)how, NULL});
    dup2(out, 1);
    close(out);
    assert_true(started);
    run_to_stop(&c->tracee);
    assert_true(read(ends[0], line, sizeof(line) - 1) > 0);
    close(ends[0]);
    close(ends[1]);

    uint64_t notes_avma = strtoull(line, NULL, 16), count;
    assert_true(tracee_read(&c->tracee, notes_avma, &count, sizeof(count)));
    assert_true(count <= NOTES_MAX);
    c->note_count = count;
    assert_true(tracee_read(&c->tracee, notes_avma + 8, c->notes, 8 * count));

    struct user_regs_struct user;
    assert_int_equal(ptrace(PTRACE_GETREGS, c->tracee.pid, NULL, &user), 0);
    c->regs = tracee_regs(&user);
    tracee_map(&c->tracee);
    size_t size = c->tracee.stack_hi - user.rsp;
    c->bytes = malloc(size);
    assert_non_null(c->bytes);
    assert_true(tracee_read(&c->tracee, user.rsp, c->bytes, size));
    c->stack = (struct stack_view){user.rsp, user.rsp + size, c->bytes, NULL};
}

static void release(struct capture *c)
{
    tracee_end(&c->tracee);
    free(c->bytes);
}

static struct offline_result unwind(const struct capture *c, uint64_t *frames, size_t max)
{
    return offline_unwind(c->tracee.mappings, c->tracee.mapping_count, &c->regs, false, &c->stack,
                          frames, max);
}

/* The notes, newest first, have to be the frames from frames[first] on. */
static void assert_noted(const struct capture *c, const uint64_t *frames, size_t first,
                         size_t newest, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(frames[first + i], c->notes[newest - i]);
}

/* Where the frame whose return address is `address` stands. */
static size_t index_of(const uint64_t *frames, size_t count, uint64_t address)
{
    size_t i = 0;
    while (i < count && frames[i] != address)
        i++;
    return i;
}

static void stack_of_depth(int depth)
{
    static struct capture c;
    static uint64_t frames[FRAMES_MAX];
    capture(&c, depth, "stop");
    struct offline_result result = unwind(&c, frames, FRAMES_MAX);
    assert_int_equal(result.end, OFFLINE_ROOT);
    assert_int_equal(c.note_count, depth);
    /* In libc: raise() and what it calls; then the innermost descend(), whose own PC is not noted.
     */
    size_t first = index_of(frames, result.frame_count, c.notes[depth - 1]);
    assert_in_range(first, 2, 5);
    assert_true(result.frame_count >= first + (size_t)depth + 2);
    assert_noted(&c, frames, first, (size_t)depth - 1, (size_t)depth);
    /* main(), then two functions of libc and _start. */
    assert_in_range(result.frame_count - first - (size_t)depth, 2, 4);
    release(&c);
}

static bool find_captured(void *context, uint64_t pc, struct offline_mapping *mapping)
{
    const struct capture *c = context;
    size_t i = tracee_find(&c->tracee, pc);
    if (i < c->tracee.mapping_count)
        *mapping = c->tracee.mappings[i];
    return i < c->tracee.mapping_count;
}

static void deep_stacks_keep_both_ends(void **state)
{
    (void)state;
    static struct capture c;
    static uint64_t all[FRAMES_MAX], frames[FRAMES_MAX];
    static bool are_return_addresses[FRAMES_MAX];
    capture(&c, 100, "stop");
    const struct offline_map map = {.find = find_captured, .context = &c};
    size_t count = unwind(&c, all, FRAMES_MAX).frame_count;
    for (size_t max = 5; max < count + 3; max++) {
        const struct offline_frames out = {.pcs = frames,
                                           .are_return_addresses = are_return_addresses,
                                           .max = max,
                                           .leaf_max = max * 3 / 4};
        struct offline_result result = offline_unwind_in(&map, &c.regs, false, &c.stack, &out);
        size_t kept = max < count ? max : count;
        size_t leaf = count > max ? out.leaf_max : kept;
        assert_int_equal(result.end, OFFLINE_ROOT);
        assert_int_equal(result.frame_count, kept);
        assert_int_equal(result.dropped, count - kept);
        assert_memory_equal(frames, all, 8 * leaf);
        assert_memory_equal(frames + leaf, all + count - (kept - leaf), 8 * (kept - leaf));
        assert_false(are_return_addresses[0]);
        assert_true(are_return_addresses[kept - 1]);
    }
    release(&c);
}

static void stack_of_5_frames_is_whole(void **state)
{
    (void)state;
    stack_of_depth(5);
}

static void stack_of_50_frames_is_whole(void **state)
{
    (void)state;
    stack_of_depth(50);
}

static void stack_of_500_frames_is_whole(void **state)
{
    (void)state;
    stack_of_depth(500);
}

static void stack_through_a_signal_frame_is_whole(void **state)
{
    (void)state;
    static struct capture c;
    static uint64_t frames[FRAMES_MAX];
    capture(&c, 10, "signal");
    struct offline_result result = unwind(&c, frames, FRAMES_MAX);
    assert_int_equal(result.end, OFFLINE_ROOT);
    assert_int_equal(c.note_count, 11);
    /* raise() …, on_signal(), the restorer, raise() …, descend() ten times */
    size_t restorer = index_of(frames, result.frame_count, c.notes[10]);
    size_t first = index_of(frames, result.frame_count, c.notes[9]);
    assert_true(restorer < first && first < result.frame_count);
    assert_noted(&c, frames, first, 9, 10);
    release(&c);
}

static void captured_bytes_that_end_early_are_said_to(void **state)
{
    (void)state;
    static struct capture c;
    static uint64_t frames[FRAMES_MAX], cut[FRAMES_MAX];
    capture(&c, 50, "stop");
    struct offline_result whole = unwind(&c, frames, FRAMES_MAX);
    for (uint64_t size = 0; size < 4096; size += 56) {
        c.stack.hi = c.stack.lo + size;
        struct offline_result result = unwind(&c, cut, FRAMES_MAX);
        assert_int_equal(result.end, OFFLINE_CUT);
        assert_in_range(result.frame_count, 1, whole.frame_count - 1);
        assert_memory_equal(cut, frames, 8 * result.frame_count);
    }
    release(&c);
}

static void no_more_frames_than_asked_for(void **state)
{
    (void)state;
    static struct capture c;
    static uint64_t frames[FRAMES_MAX];
    capture(&c, 50, "stop");
    frames[20] = 4711;
    struct offline_result result = unwind(&c, frames, 20);
    assert_int_equal(result.end, OFFLINE_TOO_DEEP);
    assert_int_equal(result.frame_count, 20);
    assert_int_equal(frames[20], 4711);
    assert_int_equal(unwind(&c, frames, 0).frame_count, 0);
    release(&c);
}

static void innermost_pc_is_kept_even_when_it_is_nowhere(void **state)
{
    (void)state;
    static struct capture c;
    static uint64_t frames[FRAMES_MAX];
    capture(&c, 5, "stop");
    c.regs.value[UNWIND_DWARF_PC] = 0xdead0000;
    struct offline_result result = unwind(&c, frames, FRAMES_MAX);
    assert_int_equal(result.end, OFFLINE_UNMAPPED);
    assert_int_equal(result.frame_count, 1);
    assert_int_equal(frames[0], 0xdead0000);
    release(&c);
}

/* Only the innermost module is mapped: its frames must survive that their caller is nowhere. */
static void frames_before_a_caller_that_is_nowhere_are_kept(void **state)
{
    (void)state;
    static struct capture c;
    static uint64_t all[FRAMES_MAX], frames[FRAMES_MAX];
    capture(&c, 5, "stop");
    size_t all_count = unwind(&c, all, FRAMES_MAX).frame_count;
    const struct offline_mapping *innermost = c.tracee.mappings;
    while (all[0] < innermost->start_avma || all[0] >= innermost->end_avma)
        innermost++;
    size_t own = 0;
    while (own < all_count && all[own] > innermost->start_avma && all[own] <= innermost->end_avma)
        own++;
    assert_in_range(own, 2, all_count - 1);
    struct offline_result result =
        offline_unwind(innermost, 1, &c.regs, false, &c.stack, frames, FRAMES_MAX);
    assert_int_equal(result.end, OFFLINE_UNMAPPED);
    assert_int_equal(result.frame_count, own);
    assert_memory_equal(frames, all, own * sizeof(frames[0]));
    release(&c);
}

/* At 0x10111 in code without CFI, with the words from SP 0x7000 on, and FP 0x7010. */
static struct offline_result unwind_jit_code(const uint64_t words[8], uint64_t frames[8])
{
    const struct offline_mapping jit = {0x10000, 0x20000, 0, NULL};
    const struct stack_view stack = {0x7000, 0x7040, (const uint8_t *)words, NULL};
    struct full_regs regs = {.known = UINT32_MAX};
    regs.value[UNWIND_DWARF_PC] = 0x10111;
    regs.value[UNWIND_DWARF_SP] = 0x7000;
    regs.value[UNWIND_DWARF_FP] = 0x7010;
    return offline_unwind(&jit, 1, &regs, false, &stack, frames, 8);
}

/* Without any CFI for it, code is stepped by frame pointer, and only as long as that leads to code.
 */
static void code_without_cfi_needs_a_plausible_frame_pointer(void **state)
{
    (void)state;
    const uint64_t words[8] = {
        0, 0, 0x7030, 0x10222, /* 0x7010: FP and return address */
        0, 0, 0x7999, 0x666,   /* 0x7030: … of a caller that is no code */
    };
    uint64_t frames[8];
    struct offline_result result = unwind_jit_code(words, frames);
    assert_int_equal(result.end, OFFLINE_NO_CODE);
    assert_int_equal(result.frame_count, 2);
    assert_int_equal(frames[0], 0x10111);
    assert_int_equal(frames[1], 0x10222);
}

static void a_chain_of_frame_records_that_leaves_the_copy_is_cut(void **state)
{
    (void)state;
    const uint64_t words[8] = {0, 0, 0x8000, 0x10222}; /* 0x7010: FP and return address */
    uint64_t frames[8];
    struct offline_result result = unwind_jit_code(words, frames);
    assert_int_equal(result.end, OFFLINE_CUT);
    assert_int_equal(result.frame_count, 2);
    assert_int_equal(frames[1], 0x10222);
}

/* Three functions with rows, with an expression-like CFA, and a signal frame:
 *
 *     0x100  CFA = SP + 16, saves rbx at CFA - 16
 *     0x200  CFA = rbx + 8: no row can say it
 *     0x300  the restorer: ucontext at SP
 *     0x400  the outermost: the return address is undefined
 */
static struct offline_mapping made_up_module(void)
{
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    size_t signal_cie = add_cie(&frame, "zRS", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, TEXT + 0x100, 0x20, BYTES(0x0e, 16, 0x83, 2));
    add_fde(&frame, cie, TEXT + 0x200, 0x20, BYTES(0x0c, 3, 8));
    add_fde(&frame, signal_cie, TEXT + 0x300, 0x20,
            BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1));
    add_fde(&frame, cie, TEXT + 0x400, 0x20, BYTES(0x07, 16));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    return (struct offline_mapping){TEXT, TEXT + 0x10000, 0, module};
}

static struct full_regs made_up_regs(uint64_t pc, uint64_t sp)
{
    struct full_regs regs = {.known = UINT32_MAX};
    regs.value[UNWIND_DWARF_PC] = pc;
    regs.value[UNWIND_DWARF_SP] = sp;
    return regs;
}

static void complex_frame_gets_the_registers_that_frames_below_saved(void **state)
{
    (void)state;
    struct offline_mapping mapping = made_up_module();
    /* Two frames of the first function; the second one's saved rbx is the one that counts. */
    const uint64_t words[12] = {
        0xbad,
        TEXT + 0x110, /* 0x7000: rbx, return address */
        0x7040,
        TEXT + 0x210,       /* 0x7010: rbx, return address: into the complex one */
        [8] = TEXT + 0x410, /* 0x7040: what rbx points to: its return address */
    };
    struct stack_view stack = {0x7000, 0x7060, (const uint8_t *)words, NULL};
    struct full_regs regs = made_up_regs(TEXT + 0x100, 0x7000);
    uint64_t frames[8];
    struct offline_result result = offline_unwind(&mapping, 1, &regs, false, &stack, frames, 8);
    assert_int_equal(result.end, OFFLINE_ROOT);
    assert_int_equal(result.frame_count, 4);
    assert_int_equal(frames[1], TEXT + 0x110);
    assert_int_equal(frames[2], TEXT + 0x210);
    assert_int_equal(frames[3], TEXT + 0x410);
    unwind_module_close((struct unwind_module *)(uintptr_t)mapping.module);
}

static void interrupted_pc_is_looked_up_as_it_is(void **state)
{
    (void)state;
    struct offline_mapping mapping = made_up_module();
    /* A handler returns to the restorer at 0x7008, where the ucontext lies; what it interrupted was
     * about to run the first instruction of a function, before which there is nothing. */
    uint64_t words[40] = {TEXT + 0x301};
    words[1 + 160 / 8] = 0x7100;       /* rsp */
    words[1 + 168 / 8] = TEXT + 0x100; /* rip */
    words[32 + 1] = TEXT + 0x410;      /* 0x7108: return address of 0x100 */
    struct stack_view stack = {0x7000, 0x7140, (const uint8_t *)words, NULL};
    struct full_regs regs = made_up_regs(TEXT + 0x301, 0x7008);
    uint64_t frames[8];
    struct offline_result result = offline_unwind(&mapping, 1, &regs, true, &stack, frames, 8);
    assert_int_equal(result.end, OFFLINE_ROOT);
    assert_int_equal(result.frame_count, 3);
    assert_int_equal(frames[1], TEXT + 0x100);
    assert_int_equal(frames[2], TEXT + 0x410);
    unwind_module_close((struct unwind_module *)(uintptr_t)mapping.module);
}

/* The C library's clone(), behind its system call, which no CFI covers. */
struct clone_call {
    struct elf_file *elf;
    struct unwind_module *module;
    struct offline_mapping mappings[2]; /* the library's code, and a caller without CFI */
    uint64_t pc;
};

static struct clone_call find_clone_call(void)
{
    static const uint8_t syscall_bytes[] = {0x0f, 0x05};
    struct clone_call call = {0};
    Dl_info info;
    const void *start = dlsym(RTLD_DEFAULT, "clone");
    assert_true(start && dladdr(start, &info));
    const uint8_t *found = memmem(start, 128, syscall_bytes, sizeof(syscall_bytes));
    assert_non_null(found);
    call.pc = (uint64_t)(uintptr_t)(found + sizeof(syscall_bytes));
    call.elf = open_real_file(info.dli_fname);
    assert_non_null(call.elf);
    assert_int_equal(unwind_module_open(&call.module, call.elf, NULL, NULL), 0);
    call.mappings[0] = (struct offline_mapping){TEXT, TEXT + 0x1000, 0, NULL};
    call.mappings[1] = (struct offline_mapping){.start_avma = (uint64_t)(uintptr_t)start,
                                                .end_avma = call.pc + 0x100,
                                                .bias = (uint64_t)(uintptr_t)info.dli_fbase,
                                                .module = call.module};
    return call;
}

/* From everywhere between the system call and the code that is marked as the root. */
static void a_child_that_begins_in_clone_is_its_root(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ /* puts a clone() of its own before the C library's */
    skip();
#endif
    struct clone_call call = find_clone_call();
    const uint64_t words[4] = {TEXT + 0x10, 0x7008};
    struct stack_view stack = {0x7000, 0x7020, (const uint8_t *)words, NULL};
    uint64_t frames[8];
    for (uint64_t pc = call.pc; pc <= call.pc + 8; pc++) {
        struct full_regs regs = made_up_regs(pc, 0x7000);
        struct offline_result result =
            offline_unwind(call.mappings, 2, &regs, false, &stack, frames, 8);
        assert_int_equal(result.end, OFFLINE_ROOT);
        assert_int_equal(result.frame_count, 1);
        regs.value[0] = 4711; /* rax: the child's pid */
        result = offline_unwind(call.mappings, 2, &regs, false, &stack, frames, 8);
        if (pc == call.pc + 8)
            continue; /* only the child gets there */
        assert_true(result.frame_count >= 2);
        assert_int_equal(frames[1], TEXT + 0x10);
    }
    unwind_module_close(call.module);
    elf_close(call.elf);
}

static bool may_trace(void)
{
    struct tracee tracee;
    char path[] = "/bin/true";
    bool may = tracee_start(&tracee, (char *[]){path, NULL});
    tracee_end(&tracee);
    return may;
}

int main(void)
{
    if (!may_trace()) {
        fprintf(stderr, "ptrace is not permitted here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_stacks_keep_both_ends),
        cmocka_unit_test(stack_of_5_frames_is_whole),
        cmocka_unit_test(stack_of_50_frames_is_whole),
        cmocka_unit_test(stack_of_500_frames_is_whole),
        cmocka_unit_test(stack_through_a_signal_frame_is_whole),
        cmocka_unit_test(captured_bytes_that_end_early_are_said_to),
        cmocka_unit_test(no_more_frames_than_asked_for),
        cmocka_unit_test(innermost_pc_is_kept_even_when_it_is_nowhere),
        cmocka_unit_test(frames_before_a_caller_that_is_nowhere_are_kept),
        cmocka_unit_test(code_without_cfi_needs_a_plausible_frame_pointer),
        cmocka_unit_test(a_chain_of_frame_records_that_leaves_the_copy_is_cut),
        cmocka_unit_test(complex_frame_gets_the_registers_that_frames_below_saved),
        cmocka_unit_test(interrupted_pc_is_looked_up_as_it_is),
        cmocka_unit_test(a_child_that_begins_in_clone_is_its_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Programs without CFI, run one instruction at a time, and unwound by the search for callers. The
 * truth is the shadow stack of the executed calls. A stack is
 *
 *     right       all frames up to the program's start, and reported as complete
 *     short       reported as incomplete
 *     wrong       reported as complete, but not equal to the calls made
 *
 * Usage as a tool: test_caller_search PROGRAM [ARG…]
 */
#include "shadow.h"

#include <sys/mman.h>

enum { STEPS_MAX = 200000, EVERY = 7, REPORTED_MAX = 12 };

struct searching {
    struct tracee tracee;
    struct code_image *images[TRACEE_MAPPINGS_MAX]; /* by mapping */
    struct caller_cache callers;
    uint64_t generation;
    struct shadow shadow;
    struct stack_bytes stack;
    size_t steps, right, incomplete, wrong;
    size_t incomplete_reported_max;
};

static bool find_code(void *context, uint64_t avma, struct code_place *place)
{
    struct searching *s = context;
    size_t i = tracee_find(&s->tracee, avma);
    if (i == s->tracee.mapping_count || !s->tracee.elfs[i])
        return false;
    if (!s->images[i])
        (void)code_image_open(&s->images[i], s->tracee.elfs[i]);
    *place = (struct code_place){s->images[i], s->tracee.mappings[i].bias};
    return s->images[i];
}

static bool find_mapping(void *context, uint64_t avma, struct offline_mapping *mapping)
{
    struct searching *s = context;
    size_t i = tracee_find(&s->tracee, avma);
    if (i < s->tracee.mapping_count)
        *mapping = s->tracee.mappings[i];
    return i < s->tracee.mapping_count;
}

static void forget_images(struct searching *s)
{
    s->generation++;
    for (size_t i = 0; i < TRACEE_MAPPINGS_MAX; i++) {
        code_image_close(s->images[i]);
        s->images[i] = NULL;
    }
}

/* Frames equal to the calls made, as far as there are frames. */
static bool is_prefix(const struct shadow *shadow, const uint64_t *frames, size_t count)
{
    bool is_equal = count <= shadow->depth + 1;
    for (size_t i = 1; is_equal && i < count; i++)
        is_equal = frames[i] == shadow->entries[shadow->depth - i].caller.pc;
    return is_equal;
}

static void print_frame(const struct searching *s, uint64_t pc)
{
    size_t i = tracee_find(&s->tracee, pc);
    uint64_t bias = i < s->tracee.mapping_count ? s->tracee.mappings[i].bias : 0;
    printf(" %zu:%" PRIx64, i, pc - bias);
}

static void report(const struct searching *s, const uint64_t *frames, size_t count)
{
    printf("found");
    for (size_t i = 0; i < count && i < 8; i++)
        print_frame(s, frames[i]);
    printf("; made");
    for (size_t i = 1; i <= s->shadow.depth && i < 8; i++)
        print_frame(s, s->shadow.entries[s->shadow.depth - i].caller.pc);
    printf("\n");
}

static void judge(struct searching *s, const struct full_regs *now)
{
    static uint64_t frames[SHADOW_MAX + 8];
    struct stack_view stack =
        read_stack(&s->tracee, &s->stack, now->value[UNWIND_DWARF_SP], SIZE_MAX);
    const struct code_map code = {
        .find = find_code, .context = s, .cache = &s->callers, .generation = s->generation};
    const struct offline_map map = {.find = find_mapping, .context = s, .code = &code};
    const struct offline_frames out = {.pcs = frames, .max = SHADOW_MAX + 8};
    struct offline_result result = offline_unwind_in(&map, now, false, &stack, &out);
    bool is_right = is_prefix(&s->shadow, frames, result.frame_count);
    if (result.end == OFFLINE_ROOT && is_right && result.frame_count == s->shadow.depth + 1)
        s->right++;
    else if (result.end == OFFLINE_ROOT && s->wrong++ < REPORTED_MAX)
        report(s, frames, result.frame_count);
    else if (result.end != OFFLINE_ROOT && s->incomplete++ < s->incomplete_reported_max)
        report(s, frames, result.frame_count);
}

/* To the program's first instruction, past the dynamic linker. */
static void run_to_entry(struct searching *s)
{
    tracee_map(&s->tracee);
    uint64_t entry = elf_entry_svma(s->tracee.elfs[0]) + s->tracee.mappings[0].bias;
    void *place = (void *)(uintptr_t)entry;
    struct user_regs_struct user;
    int status;
    long word = ptrace(PTRACE_PEEKTEXT, s->tracee.pid, place, NULL);
    ptrace(PTRACE_POKETEXT, s->tracee.pid, place, (void *)((word & ~0xffl) | 0xcc));
    ptrace(PTRACE_CONT, s->tracee.pid, NULL, NULL);
    assert_true(waitpid(s->tracee.pid, &status, 0) > 0 && WIFSTOPPED(status));
    ptrace(PTRACE_POKETEXT, s->tracee.pid, place, (void *)word);
    ptrace(PTRACE_GETREGS, s->tracee.pid, NULL, &user);
    user.rip = entry;
    ptrace(PTRACE_SETREGS, s->tracee.pid, NULL, &user);
    tracee_map(&s->tracee);
}

static void run(struct searching *s)
{
    struct user_regs_struct user;
    run_to_entry(s);
    ptrace(PTRACE_GETREGS, s->tracee.pid, NULL, &user);
    struct full_regs before = tracee_regs(&user);
    intptr_t signal = 0;
    for (; s->steps < STEPS_MAX; s->steps++) {
        int status;
        if (ptrace(PTRACE_SINGLESTEP, s->tracee.pid, NULL, (void *)signal) != 0 ||
            waitpid(s->tracee.pid, &status, 0) < 0 || !WIFSTOPPED(status))
            return;
        ptrace(PTRACE_GETREGS, s->tracee.pid, NULL, &user);
        struct full_regs after = tracee_regs(&user);
        if (signal)
            shadow_follow_signal(&s->shadow, &s->tracee, &before, &after);
        else
            shadow_follow(&s->shadow, &s->tracee, &before, &after);
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (tracee_find(&s->tracee, after.value[UNWIND_DWARF_PC]) == s->tracee.mapping_count) {
            forget_images(s);
            tracee_map(&s->tracee);
        }
        if (s->steps % EVERY == 0)
            judge(s, &after);
        before = after;
    }
}

static void search_in(struct searching *s, char *const argv[])
{
    s->generation++;
    s->steps = s->right = s->incomplete = s->wrong = s->shadow.depth = 0;
    assert_true(tracee_start(&s->tracee, argv));
    run(s);
    size_t judged = s->right + s->incomplete + s->wrong;
    printf("%s: %zu stacks, %.2f %% right, %.2f %% incomplete, %.2f %% wrong\n", argv[0], judged,
           100.0 * (double)s->right / (double)judged,
           100.0 * (double)s->incomplete / (double)judged,
           100.0 * (double)s->wrong / (double)judged);
    tracee_end(&s->tracee);
    forget_images(s);
    caller_cache_free(&s->callers);
    free(s->stack.bytes);
    s->stack = (struct stack_bytes){0};
}

static bool find_one(void *context, uint64_t avma, struct code_place *place)
{
    (void)avma;
    *place = (struct code_place){context, 0};
    return true;
}

static void search_nonsense(struct code_image *image, uint64_t *words, size_t count)
{
    struct caller_cache callers = {0};
    const struct code_map map = {
        .find = find_one, .context = image, .cache = &callers, .generation = 1};
    const struct stack_view stack = {
        .lo = 0x7ff000000000, .hi = 0x7ff000000000 + 8 * count, .bytes = (uint8_t *)words};
    for (int i = 0; i < 300; i++) {
        for (size_t k = 0; k < count; k++)
            words[k] = 0x400000 + (uint64_t)random() % 0x100000;
        const struct stack_frame callee = {.regs = {.pc = words[0],
                                                    .sp = stack.lo + (uint64_t)random() % 64,
                                                    .fp = stack.lo + (uint64_t)random() % 4096},
                                           .is_return_address = i & 1,
                                           .fp_is_known = i & 2};
        struct caller caller = caller_search(&map, &callee, &stack);
        bool is_caller = caller.evidence != CALLER_NONE && caller.evidence != CALLER_IS_ROOT;
        if (is_caller && caller.frame.is_return_address)
            assert_true(caller.frame.regs.sp > callee.regs.sp);
    }
    caller_cache_free(&callers);
}

static size_t expect_callers(const char *name, size_t judged_min, size_t right_percent_min)
{
    static struct searching s;
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", TARGETS_DIR, name);
    search_in(&s, (char *[]){path, NULL});
    size_t judged = s.right + s.incomplete + s.wrong;
    assert_true(judged > judged_min);
    assert_true(s.right * 100 >= judged * right_percent_min);
    assert_true(s.wrong * 100 <= judged);
    return s.wrong;
}

static void optimised_code_has_its_callers(void **state)
{
    (void)state;
    expect_callers("steps_optimised", 2000, 95);
}

static void code_that_keeps_all_in_memory_has_its_callers(void **state)
{
    (void)state;
    expect_callers("steps_plain", 2000, 95);
}

static void stripped_static_code_has_its_callers(void **state)
{
    (void)state;
    expect_callers("steps_stripped", 2000, 95);
}

static void code_written_by_hand_has_its_callers(void **state)
{
    (void)state;
    assert_int_equal(expect_callers("by_hand", 500, 99), 0);
}

/* A damaged copy of a program, and words of its code on a stack of nonsense: any answer, quickly. */
static void damaged_files_and_stacks_are_harmless(void **state)
{
    (void)state;
    static uint8_t file[4 << 20];
    uint64_t words[512];
    FILE *program = fopen(TARGETS_DIR "/steps_stripped", "rb");
    assert_non_null(program);
    size_t size = fread(file, 1, sizeof(file), program);
    fclose(program);
    srandom(7);
    for (int round = 0; round < 30; round++) {
        struct code_image *image = NULL;
        struct elf_file *elf;
        for (int i = 0; round && i < 2000; i++)
            file[(size_t)random() % size] = (uint8_t)random();
        int fd = memfd_create("damaged", MFD_CLOEXEC);
        assert_true(fd >= 0 && write(fd, file, size) == (ssize_t)size);
        int err = elf_open(&elf, fd, NULL);
        close(fd);
        if (err != 0)
            continue;
        if (code_image_open(&image, elf) == 0)
            search_nonsense(image, words, 512);
        code_image_close(image);
        elf_close(elf);
    }
}

int main(int argc, char **argv)
{
    static struct searching s;
    setenv("LD_BIND_NOW", "1", 1); /* the dynamic linker does its work before the program */
    if (argc > 1) {
        s.incomplete_reported_max = REPORTED_MAX;
        search_in(&s, argv + 1);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_code_has_its_callers),
        cmocka_unit_test(code_that_keeps_all_in_memory_has_its_callers),
        cmocka_unit_test(stripped_static_code_has_its_callers),
        cmocka_unit_test(code_written_by_hand_has_its_callers),
        cmocka_unit_test(damaged_files_and_stacks_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

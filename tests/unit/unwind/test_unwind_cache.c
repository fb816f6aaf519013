/* SPDX-License-Identifier: MIT */
/*
 * Stacks at random, many of them alike, are unwound with and without the walks made before: what differs would be a
 * sample in a stack that it never had.
 */
#include "cfi_bytes.h"

#include "unwind/offline.h"

#include "base/containers/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS = 24, STACKS = 8, ROUNDS = 200000, FRAMES_MAX = 32 };

#define STACK UINT64_C(0x7000)
#define LEAF (TEXT + 0x100)
#define PLAIN (TEXT + 0x200)
#define SAVES_FP (TEXT + 0x300)
#define HAS_FP (TEXT + 0x400)
#define REALIGNED (TEXT + 0x500)
#define COMPLEX (TEXT + 0x600)
#define ROOT (TEXT + 0x700)

static const uint64_t functions[] = {LEAF,   PLAIN,     PLAIN,   SAVES_FP, SAVES_FP, HAS_FP,
                                     HAS_FP, REALIGNED, COMPLEX, ROOT,     ROOT};

static struct unwind_module *module_of_all_kinds(void)
{
    struct buffer frame = {0};
    struct unwind_module *module;
    size_t cie = add_cie(&frame, "zR", BYTES(CFA_RSP_8, RA_AT_CFA_MINUS_8));
    add_fde(&frame, cie, LEAF, 0x20, BYTES(0));
    add_fde(&frame, cie, PLAIN, 0x20, BYTES(0x0e, 24));
    add_fde(&frame, cie, SAVES_FP, 0x20, BYTES(0x0e, 24, 0x86, 2));
    add_fde(&frame, cie, HAS_FP, 0x20, BYTES(0x0c, 6, 16, 0x86, 2));
    /* CFA = *(fp - 8), fp saved where fp points to */
    add_fde(&frame, cie, REALIGNED, 0x20, BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0));
    add_fde(&frame, cie, COMPLEX, 0x20, BYTES(0x0c, 3, 8));
    add_fde(&frame, cie, ROOT, 0x20, BYTES(0x07, 16));
    assert_int_equal(open_module(&module, &frame, NULL), 0);
    return module;
}

static uint64_t random_state = 1;

static uint64_t any(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 33) % below;
}

static uint64_t any_pc(void)
{
    return functions[any(sizeof(functions) / sizeof(functions[0]))] + 1;
}

static uint64_t any_word(void)
{
    return any(4) ? any_pc() : STACK + 8 * any(WORDS);
}

struct process {
    const struct unwind_module *module;
    uint64_t generation; /* in the second, one function is not mapped */
};

static bool find(void *context, uint64_t pc, struct offline_mapping *mapping)
{
    const struct process *process = context;
    *mapping = (struct offline_mapping){TEXT, TEXT + 0x10000, 0, process->module};
    return pc >= TEXT && pc < TEXT + 0x10000 &&
           (process->generation != 2 || pc < PLAIN || pc >= SAVES_FP);
}

struct unwound {
    struct offline_result result;
    uint64_t pcs[FRAMES_MAX];
    bool are_return_addresses[FRAMES_MAX];
};

static void unwind(struct unwound *out, const struct offline_map *map, const struct full_regs *regs,
                   const struct stack_view *stack)
{
    *out = (struct unwound){0};
    const struct offline_frames frames = {
        .pcs = out->pcs, .are_return_addresses = out->are_return_addresses, .max = FRAMES_MAX};
    out->result = offline_unwind_in(map, regs, false, stack, &frames);
}

static struct full_regs any_regs(void)
{
    struct full_regs regs = {.known = UINT32_MAX};
    regs.value[UNWIND_DWARF_PC] = any_pc();
    regs.value[UNWIND_DWARF_SP] = STACK + 8 * any(3);
    regs.value[UNWIND_DWARF_FP] = STACK + 8 * any(6);
    regs.value[3] = STACK + 8 * any(6);
    return regs;
}

/* A walk that is known as another one's would give its samples the other one's stack. */
static void check_call(struct unwound *got, size_t *known)
{
    uint32_t call = (uint32_t)hash_bytes(got->pcs, sizeof(got->pcs)) | 1;
    if (!got->result.walk)
        return;
    *known += got->result.walk->call != 0;
    assert_true(got->result.walk->call == 0 || got->result.walk->call == call);
    got->result.walk->call = call;
}

static void unwind_cache_are_the_same_walks(void **state)
{
    (void)state;
    struct unwind_module *module = module_of_all_kinds();
    struct unwind_cache walks = {0};
    static uint64_t stacks[STACKS][WORDS];
    size_t known = 0;
    for (size_t i = 0; i < STACKS * WORDS; i++)
        stacks[i / WORDS][i % WORDS] = any_word();
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t *words = stacks[round / 128 % STACKS];
        if (any(50) == 0)
            words[any(WORDS)] = any_word();
        const struct full_regs regs = any_regs();
        uint64_t sp = regs.value[UNWIND_DWARF_SP];
        const struct stack_view stack = {sp, STACK + 8 * (WORDS - any(3)),
                                         (const uint8_t *)words + (sp - STACK), NULL};
        struct process process = {module, 1 + any(2)};
        struct offline_map map = {
            .find = find, .context = &process, .generation = process.generation};
        static struct unwound expected, got;
        unwind(&expected, &map, &regs, &stack);
        map.walks = &walks;
        unwind(&got, &map, &regs, &stack);
        assert_int_equal(got.result.frame_count, expected.result.frame_count);
        assert_int_equal(got.result.end, expected.result.end);
        assert_memory_equal(got.pcs, expected.pcs, sizeof(got.pcs));
        assert_memory_equal(got.are_return_addresses, expected.are_return_addresses,
                            sizeof(got.are_return_addresses));
        check_call(&got, &known);
    }
    assert_true(known > ROUNDS / 50);
    unwind_cache_free(&walks);
    unwind_module_close(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwind_cache_are_the_same_walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

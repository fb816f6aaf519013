/* SPDX-License-Identifier: MIT */
/* Where the walk goes and ends, and what rules it follows. */
#include "made_up_stack.h"

static void every_frame_up_to_the_root_is_there(void **state)
{
    (void)state;
    make_stack(3, ROOT);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_STACK);
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 5);
    assert_int_equal(found.stack.dropped, 0);
    assert_int_equal(found.frames[0], LEAF);
    assert_int_equal(found.frames[1], CALLER + 2);
    assert_int_equal(found.frames[2], CALLER + 1);
    assert_int_equal(found.frames[3], CALLER);
    assert_int_equal(found.frames[4], ROOT);
}

/* Callers + leaf + root frames; the frame pointer is not used. */
static void a_stack_of(uint32_t frames, uint32_t kept)
{
    make_stack(frames - 2, ROOT);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, kept);
    assert_int_equal(found.stack.dropped, frames - kept);
    for (uint32_t i = 0; i < kept; i++) {
        /* What place this frame has in the whole stack. */
        uint32_t place = i < FRAMES_LEAF ? i : i + found.stack.dropped;
        uint64_t expected = place == 0            ? LEAF
                            : place == frames - 1 ? ROOT
                                                  : CALLER + (frames - 2 - place) % 64;
        if (found.frames[i] != expected)
            fail_msg("frame %u of %u is 0x%lx", i, frames, (unsigned long)found.frames[i]);
    }
}

static void deep_stacks_keep_both_ends_in_order(void **state)
{
    (void)state;
    static const uint32_t depths[] = {2,    767,  768,  769,  1023, 1024, 1025,
                                      1026, 1279, 1280, 1281, 5000, 30000};
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        a_stack_of(depths[i], depths[i] < FRAMES_MAX ? depths[i] : FRAMES_MAX);
}

static void the_recording_sets_the_limit_of_frames(void **state)
{
    (void)state;
    at.tables->header.frames_max = 64;
    make_stack(100, ROOT);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.frame_count, 64);
    assert_int_equal(found.stack.dropped, 38);
    assert_int_equal(found.frames[47], CALLER + (100 - 47) % 64);
    assert_int_equal(found.frames[48], CALLER + (100 - 48 - 38) % 64);
    assert_int_equal(found.frames[63], ROOT);
    at.tables->header.frames_max = UINT32_MAX; /* more than any record has room for */
    make_stack(20000, ROOT);
    assert_int_equal(walk_and_read().stack.frame_count, RECORD_FRAMES_MAX);
}

static void the_callers_frame_pointer_is_restored(void **state)
{
    (void)state;
    /* WITH_FP saved the frame pointer of another WITH_FP, which is called by the root. */
    uint64_t inner = STACK_WORDS - 20, outer = STACK_WORDS - 10;
    at.stack[inner] = address_of(outer);
    at.stack[inner + 1] = WITH_FP + 1;
    at.stack[outer] = 0;
    at.stack[outer + 1] = ROOT;
    interrupted_at(WITH_FP, address_of(inner - 5), address_of(inner));
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 3);
    assert_int_equal(found.frames[1], WITH_FP + 1);
}

/* On the stack that the child was given lie the function and its argument. */
static void a_child_that_begins_in_clone_is_its_root(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 2;
    at.stack[word] = CALLER;
    interrupted_at(IN_CLONE, address_of(word), 0);
    at.context.uc_mcontext.gregs[REG_RAX] = 0;
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_STACK);
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 1);
    assert_int_equal(found.frames[0], IN_CLONE);
}

static void the_parent_in_clone_has_its_callers(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 5;
    at.stack[word] = CALLER;
    at.stack[word + 2] = ROOT;
    interrupted_at(IN_CLONE, address_of(word), 0);
    at.context.uc_mcontext.gregs[REG_RAX] = 4711;
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 3);
    assert_int_equal(found.frames[1], CALLER);
    assert_int_equal(found.frames[2], ROOT);
}

/* A call that never returns is the last instruction: its return address belongs to the next function. */
static void return_addresses_belong_to_the_call_before_them(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 5;
    at.stack[word] = BASE + 0x200; /* the end of CALLER, the start of ROOT */
    at.stack[word + 2] = ROOT;
    interrupted_at(LEAF, address_of(word), 0);
    struct found found = walk_and_read();
    assert_int_equal(found.frames[1], BASE + 0x200);
    assert_int_equal(found.stack.frame_count, 3); /* CALLER's row led on, ROOT's would have ended */
}

/* But an interrupted instruction is itself. */
static void an_interrupted_pc_is_looked_up_as_it_is(void **state)
{
    (void)state;
    interrupted_at(BASE + 0x200, address_of(STACK_WORDS - 1), 0);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 1);
}

static void rules_that_point_off_the_stack_end_the_walk(void **state)
{
    (void)state;
    make_stack(2, TOO_FAR);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_OFF_STACK);
    assert_int_equal(found.stack.frame_count, 4);
    /* The CFA is the stack's end: the return address would still be inside, the next step not. */
    make_stack(2, CALLER);
    found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_OFF_STACK);
}

static void no_byte_outside_of_the_stack_is_read(void **state)
{
    (void)state;
    /* Every word an address of code, so that nothing but the end stops the walk; at every SP near the
     * end, which is followed by a page that cannot be read. */
    for (uint64_t i = STACK_WORDS - 64; i < STACK_WORDS; i++)
        at.stack[i] = CALLER;
    static const uint64_t codes[] = {LEAF,    CALLER, WITH_FP, TOO_FAR,
                                     COMPLEX, NO_CFI, SIGNAL,  BY_REGISTER};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        for (uint64_t sp = address_of(STACK_WORDS) - 300; sp < address_of(STACK_WORDS) + 8; sp++) {
            interrupted_at(codes[i], sp, sp);
            at.context.uc_mcontext.gregs[REG_RAX] = (greg_t)sp;
            walk_and_read();
        }
}

/* Two pages, the second of which cannot be read. */
static uint64_t *make_coroutine_page(void)
{
    uint64_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    mprotect(page + 512, 4096, PROT_NONE);
    for (uint64_t i = 0; i < 512; i++)
        page[i] = CALLER;
    return page;
}

static void a_stack_pointer_that_the_kernel_need_not_have_written_at_gives_the_leaf(void **state)
{
    (void)state;
    uint64_t *page = make_coroutine_page();
    for (uint64_t offset = 0; offset < 200; offset++) {
        interrupted_at(LEAF, (uint64_t)(uintptr_t)(page + 512) + offset, 0);
        struct found found = walk_and_read();
        assert_int_equal(found.header.kind, RECORD_STACK);
        assert_int_equal(found.stack.end, WALK_FOREIGN);
        assert_int_equal(found.stack.frame_count, 1);
        assert_int_equal(found.frames[0], LEAF);
    }
    munmap(page, 8192);
}

static void of_an_unknown_stack_one_page_is_read(void **state)
{
    (void)state;
    uint64_t *page = make_coroutine_page();
    page[500] = ROOT;
    interrupted_at(LEAF, (uint64_t)(uintptr_t)&page[500], 0);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_FIBER);
    assert_int_equal(found.stack.frame_count, 2);
    page[500] = CALLER;
    for (uint64_t i = 64; i < 512; i++) {
        interrupted_at(LEAF, (uint64_t)(uintptr_t)&page[i], 0);
        found = walk_and_read();
        assert_int_equal(found.stack.end, WALK_FOREIGN);
        assert_in_range(found.stack.frame_count, 2, 512);
    }
    munmap(page, 8192);
}

static void a_return_address_of_0_on_an_unknown_stack_ends_a_fiber(void **state)
{
    (void)state;
    uint64_t *page = make_coroutine_page();
    page[502] = 0;
    interrupted_at(LEAF, (uint64_t)(uintptr_t)&page[500], 0);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_STACK);
    assert_int_equal(found.stack.end, WALK_FIBER);
    assert_int_equal(found.stack.frame_count, 2);
    /* On the thread's own stack no root begins so. */
    make_stack(2, 0);
    assert_int_equal(walk_and_read().stack.end, WALK_UNKNOWN);
    munmap(page, 8192);
}

/* Frame records with an FP of 0 in the first one, as in stacks of Erlang processes. */
static void a_chain_of_frame_pointers_that_ends_at_0_is_for_the_launcher(void **state)
{
    (void)state;
    uint64_t *page = make_coroutine_page();
    page[502] = 0;
    page[503] = NO_CFI;
    interrupted_at(NO_CFI, (uint64_t)(uintptr_t)&page[500], (uint64_t)(uintptr_t)&page[502]);
    assert_int_equal(walk_and_read().header.kind, RECORD_COPY);
    /* A register that holds 0 is no chain; the stack may hold terms. */
    interrupted_at(NO_CFI, (uint64_t)(uintptr_t)&page[500], 0);
    assert_int_equal(walk_and_read().header.kind, RECORD_COPY);
    munmap(page, 8192);
}

static void a_frame_pointer_that_leaves_the_known_page_is_no_lack_of_cfi(void **state)
{
    (void)state;
    uint64_t *page = make_coroutine_page();
    interrupted_at(NO_CFI, (uint64_t)(uintptr_t)&page[500], (uint64_t)(uintptr_t)&page[520]);
    assert_int_equal(walk_and_read().stack.end, WALK_FOREIGN);
    interrupted_at(NO_CFI, (uint64_t)(uintptr_t)&page[500], 7);
    assert_int_equal(walk_and_read().header.kind, RECORD_COPY);
    munmap(page, 8192);
    /* On the thread's own stack the walk ends there. */
    uint64_t word = make_stack(1, ROOT);
    interrupted_at(NO_CFI, address_of(word), 7);
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
}

static void a_context_ends_where_makecontext_let_it_begin(void **state)
{
    (void)state;
    uint64_t own[256] = {0};
    at.thread.context_stacks[1] = (stack_t){.ss_sp = own, .ss_size = sizeof(own)};
    own[253] = NO_CFI;
    interrupted_at(LEAF, (uint64_t)(uintptr_t)&own[253], 0);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 2);
    assert_int_equal(found.frames[1], NO_CFI + 1);
    /* Farther down it is code without CFI like any other. */
    own[200] = NO_CFI;
    interrupted_at(LEAF, (uint64_t)(uintptr_t)&own[200], 0);
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    at.thread.context_stacks[1].ss_size = 0;
}

static void the_alternate_stack_is_a_known_one(void **state)
{
    (void)state;
    uint64_t alternate[64] = {0};
    at.context.uc_stack = (stack_t){.ss_sp = alternate, .ss_size = sizeof(alternate)};
    alternate[60] = ROOT;
    interrupted_at(LEAF, (uint64_t)(uintptr_t)&alternate[60], 0);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 2);
    /* One that wraps around the address space is none. */
    at.context.uc_stack.ss_size = SIZE_MAX;
    interrupted_at(LEAF, 16, 0);
    assert_int_equal(walk_and_read().stack.end, WALK_FOREIGN);
}

/* A handler of the program on the alternate stack, entered from the thread's own. */
static void a_signal_frame_leads_to_the_interrupted_stack(void **state)
{
    (void)state;
    uint64_t alternate[256] = {0};
    at.context.uc_stack = (stack_t){.ss_sp = alternate, .ss_size = sizeof(alternate)};
    uint64_t word = make_stack(1, ROOT);
    ucontext_t *interrupted = (ucontext_t *)(void *)&alternate[41];
    interrupted->uc_mcontext.gregs[REG_RIP] =
        (greg_t)(BASE + 0x100); /* CALLER's first instruction */
    interrupted->uc_mcontext.gregs[REG_RSP] = (greg_t)address_of(word);
    alternate[40] = SIGNAL;
    at.stack[word + 1] = ROOT;
    interrupted_at(LEAF, (uint64_t)(uintptr_t)&alternate[40], 0);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 4);
    assert_int_equal(found.frames[1], SIGNAL);
    assert_int_equal(found.frames[2], BASE + 0x101); /* readers take one off */
    assert_int_equal(found.frames[3], ROOT);
}

static void code_without_rows_is_walked_by_frame_pointer(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 10;
    at.stack[word] = 0;
    at.stack[word + 1] = ROOT;
    interrupted_at(NO_CFI, address_of(word - 4), address_of(word));
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.frames[1], ROOT);
    at.stack[word] = address_of(word) + 1;
    interrupted_at(NO_CFI, address_of(word - 4), address_of(word) + 1);
    found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_NO_CFI);
    assert_int_equal(found.stack.frame_count, 1);
}

/* Code that is newer than the map, or a value that is no frame pointer and never will be. */
static void a_frame_pointer_to_what_is_no_code_is_copied_some_times_under_each_map(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 10;
    at.stack[word] = 0;
    at.stack[word + 1] = 0x12345678;
    interrupted_at(NO_CFI, address_of(word - 4), address_of(word));
    for (uint64_t generation = 1; generation < 4; generation++) {
        publish(generation);
        int copies = 0;
        struct found found = walk_and_read();
        for (; found.header.kind == RECORD_COPY && copies < 1000; copies++) {
            assert_int_equal(found.stack.end, WALK_UNKNOWN);
            found = walk_and_read();
        }
        assert_in_range(copies, 10, 100);
        assert_int_equal(found.stack.end, WALK_NO_CFI);
        assert_int_equal(found.stack.frame_count, 1);
    }
}

static void code_that_no_map_knows_is_copied(void **state)
{
    (void)state;
    make_stack(2, PAST_THE_END + 0x1000);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
    at.memory->verdict.generation = 0; /* nothing published yet */
    found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
}

static void while_a_library_is_unloaded_the_map_is_not_trusted(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    at.memory->process.unload_count = 1;
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
    assert_int_equal(found.stack.unload_count, 1);
    at.memory->verdict.unload_count = 1; /* the launcher has looked again */
    found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.unload_count, 1);
}

/* What was cached of one map must not be used with the next. */
static void a_new_map_changes_the_rules(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    assert_int_equal(walk_and_read().stack.frame_count, 4);
    at.tables->rows[0].rule = row_rule(ROW_END, 0, 0);
    assert_int_equal(walk_and_read().stack.frame_count, 4); /* not published: still the old one */
    publish(2);
    assert_int_equal(walk_and_read().stack.frame_count, 1);
}

/* It has a copy of the parent's cache, and maps of its own with the same numbers. */
static void a_forked_child_forgets_the_rules_of_its_parent(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    assert_int_equal(walk_and_read().stack.frame_count, 4);
    at.tables->rows[0].rule = row_rule(ROW_END, 0, 0);
    assert_int_equal(walk_and_read().stack.frame_count, 4);
    process.joins++;
    assert_int_equal(walk_and_read().stack.frame_count, 1);
}

/* The launcher compiles them meanwhile; no new map says so. */
static void code_whose_rows_are_not_compiled_yet_is_copied_until_they_are(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    index_word((ROOT - BASE) >> BUCKET_SHIFT, 0);
    for (int i = 0; i < 2; i++) {
        struct found found = walk_and_read();
        assert_int_equal(found.header.kind, RECORD_COPY);
        assert_int_equal(found.stack.end, WALK_UNKNOWN);
    }
    index_word((ROOT - BASE) >> BUCKET_SHIFT, row_bucket(0, at.row_count));
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_STACK);
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 4);
}

/* So are rows derived from code, into a piece that is compiled already. */
static void rows_of_code_without_cfi_may_come_later(void **state)
{
    (void)state;
    make_stack(2, NO_CFI);
    at.memory->maps[1].modules[0].flags = WIRE_MODULE_SEARCHED;
    assert_int_equal(walk_and_read().stack.end, WALK_SEARCH);
    for (uint32_t i = 0; i < at.row_count; i++)
        if (at.tables->rows[i].start == NO_CFI - BASE - NO_CFI % 0x100)
            at.tables->rows[i].rule = row_rule(ROW_END, 0, 0);
    assert_int_equal(walk_and_read().stack.end, WALK_ROOT);
}

/* Whether there will be rows is not known. */
static void code_of_a_module_that_is_not_read_yet_is_copied(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    struct wire_module *module = &at.memory->maps[1].modules[0];
    *module = (struct wire_module){.start_avma = module->start_avma,
                                   .end_avma = module->end_avma,
                                   .flags = WIRE_MODULE_UNREAD};
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
    publish(2);
    assert_int_equal(walk_and_read().header.kind, RECORD_STACK);
}

/* A frame pointer that leads to code is no proof: functions without a frame keep the caller's. */
static void where_cfi_ends_in_a_searched_module_the_stack_is_copied(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 10;
    at.stack[word] = address_of(STACK_WORDS - 2);
    at.stack[word + 1] = ROOT;
    interrupted_at(NO_CFI, address_of(word), address_of(word));
    assert_int_equal(walk_and_read().header.kind, RECORD_STACK);
    at.memory->maps[1].modules[0].flags = WIRE_MODULE_SEARCHED;
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_SEARCH);
    assert_int_equal(found.copy.registers[ARCH_DWARF_PC], NO_CFI);
    interrupted_at(LEAF, address_of(STACK_WORDS - 1), 0);
    at.stack[STACK_WORDS - 1] = ROOT;
    assert_int_equal(walk_and_read().stack.end, WALK_ROOT);
}

/* Only the launcher can write it; still. */
static void a_damaged_map_leads_nowhere(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    struct wire_module *module = &at.memory->maps[1].modules[0];
    module->index_first = SESSION_ROWS - 2; /* there is no room for so many words */
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    module->index_first = UINT32_MAX;
    module->bucket_count = UINT32_MAX;
    at.memory->verdict.generation = 3; /* the same place, uncached */
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    module->index_first = INDEX;
    module->bucket_count = BUCKETS;
    index_word((LEAF - BASE) >> BUCKET_SHIFT, row_bucket(UINT32_MAX, UINT32_MAX));
    at.memory->verdict.generation = 5;
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    index_word((LEAF - BASE) >> BUCKET_SHIFT, row_bucket(SESSION_ROWS - 1, 2));
    at.memory->verdict.generation = 7;
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    at.memory->verdict.counts[1] = UINT32_MAX;
    at.memory->verdict.generation = 9;
    assert_int_equal(walk_and_read().stack.end, WALK_UNKNOWN);
}

static void a_register_that_a_callee_may_have_changed_is_not_used(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 4;
    at.stack[word] = ROOT;
    interrupted_at(BY_REGISTER, address_of(word - 3), 0);
    at.context.uc_mcontext.gregs[REG_RAX] = (greg_t)address_of(word);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 2);
    make_stack(2, BY_REGISTER);
    assert_int_equal(walk_and_read().stack.end, WALK_COMPLEX);
}

/* Signal frames may lead anywhere, also back to themselves. */
static void a_circle_of_signal_frames_ends(void **state)
{
    (void)state;
    uint64_t word = STACK_WORDS - 200;
    ucontext_t *interrupted = (ucontext_t *)(void *)&at.stack[word];
    interrupted->uc_mcontext.gregs[REG_RIP] = (greg_t)SIGNAL;
    interrupted->uc_mcontext.gregs[REG_RSP] = (greg_t)address_of(word);
    interrupted_at(SIGNAL, address_of(word), 0);
    struct found found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_TOO_LONG);
    assert_int_equal(found.stack.frame_count, FRAMES_MAX);
    assert_int_equal(found.stack.dropped, SAMPLER_WORDS_MAX - FRAMES_MAX);
}

/* The frame pointer leads to the root, from a function that NO_CFI is in; a word is at SP + 8 * place. */
static uint8_t kind_with_word(uint64_t place, uint64_t word, uint64_t frame)
{
    const uint64_t sp = STACK_WORDS - 10;
    memset(at.stack + sp, 0, 80);
    at.stack[sp + frame] = 0;
    at.stack[sp + frame + 1] = ROOT;
    if (word)
        at.stack[sp + place] = word;
    interrupted_at(NO_CFI, address_of(sp), address_of(sp + frame));
    return walk_and_read().header.kind;
}

static void a_return_address_where_no_frame_is_set_up_is_for_the_launcher(void **state)
{
    (void)state;
    assert_int_equal(kind_with_word(0, 0, 4), RECORD_STACK);
    assert_int_equal(kind_with_word(0, 0xdead, 4), RECORD_STACK);
    assert_int_equal(kind_with_word(0, NO_CFI + 5, 4), RECORD_COPY);
    assert_int_equal(kind_with_word(1, NO_CFI + 5, 4), RECORD_COPY);
    assert_int_equal(kind_with_word(2, NO_CFI + 5, 4), RECORD_STACK);
    assert_int_equal(kind_with_word(0, 0, 0), RECORD_STACK); /* that of the frame itself */
}

static void a_full_ring_takes_no_record(void **state)
{
    (void)state;
    unsigned written = 0;
    make_stack(700, ROOT);
    while (walk_record(&at.thread, &at.context, 111, 222, 0))
        written++;
    uint64_t head = at.control.head;
    assert_false(walk_record(&at.thread, &at.context, 111, 222, 0));
    assert_int_equal(at.control.head, head);
    assert_int_equal(at.thread_slot.produced, written + 2);
    assert_true(written > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_frame_up_to_the_root_is_there),
        TEST(deep_stacks_keep_both_ends_in_order),
        TEST(the_recording_sets_the_limit_of_frames),
        TEST(the_callers_frame_pointer_is_restored),
        TEST(a_child_that_begins_in_clone_is_its_root),
        TEST(the_parent_in_clone_has_its_callers),
        TEST(return_addresses_belong_to_the_call_before_them),
        TEST(an_interrupted_pc_is_looked_up_as_it_is),
        TEST(rules_that_point_off_the_stack_end_the_walk),
        TEST(no_byte_outside_of_the_stack_is_read),
        TEST(a_stack_pointer_that_the_kernel_need_not_have_written_at_gives_the_leaf),
        TEST(of_an_unknown_stack_one_page_is_read),
        TEST(a_return_address_of_0_on_an_unknown_stack_ends_a_fiber),
        TEST(a_chain_of_frame_pointers_that_ends_at_0_is_for_the_launcher),
        TEST(a_frame_pointer_that_leaves_the_known_page_is_no_lack_of_cfi),
        TEST(a_context_ends_where_makecontext_let_it_begin),
        TEST(the_alternate_stack_is_a_known_one),
        TEST(a_signal_frame_leads_to_the_interrupted_stack),
        TEST(code_without_rows_is_walked_by_frame_pointer),
        TEST(a_frame_pointer_to_what_is_no_code_is_copied_some_times_under_each_map),
        TEST(code_that_no_map_knows_is_copied),
        TEST(while_a_library_is_unloaded_the_map_is_not_trusted),
        TEST(a_new_map_changes_the_rules),
        TEST(a_forked_child_forgets_the_rules_of_its_parent),
        TEST(code_whose_rows_are_not_compiled_yet_is_copied_until_they_are),
        TEST(rows_of_code_without_cfi_may_come_later),
        TEST(code_of_a_module_that_is_not_read_yet_is_copied),
        TEST(where_cfi_ends_in_a_searched_module_the_stack_is_copied),
        TEST(a_damaged_map_leads_nowhere),
        TEST(a_register_that_a_callee_may_have_changed_is_not_used),
        TEST(a_circle_of_signal_frames_ends),
        TEST(a_return_address_where_no_frame_is_set_up_is_for_the_launcher),
        TEST(a_full_ring_takes_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

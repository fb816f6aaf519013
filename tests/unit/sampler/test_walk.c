/* SPDX-License-Identifier: MIT */
/*
 * Walks over stacks that are made up word by word, with rows that are made up to go with them.
 *
 *     code                                        stack, in memory that ends before a page nobody may read
 *     0x10000  LEAF      CFA = SP + 8             [ … | ret | ret | … | ret |]▒▒▒▒
 *     0x10100  CALLER    CFA = SP + 16                   ▲ SP                ▲ end
 *     0x10200  ROOT      no caller
 *     …                  see rows[]
 */
#include "sampler/copy.c"
#include "sampler/walk.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define BASE UINT64_C(0x10000)
#define LEAF (BASE + 0x10)
#define CALLER (BASE + 0x110)
#define ROOT (BASE + 0x210)
#define COMPLEX (BASE + 0x310)
#define NO_CFI (BASE + 0x410)
#define WITH_FP (BASE + 0x510)
#define TOO_FAR (BASE + 0x610)
#define SIGNAL (BASE + 0x710)
#define BY_REGISTER (BASE + 0x810)
#define PAST_THE_END (BASE + 0x1000)

/* Of the shared rows: behind those that there are. */
#define INDEX 100
#define BUCKET_SHIFT 8
#define BUCKETS (0x1000 >> BUCKET_SHIFT)

struct process process;
static uint32_t alive = 1;
uint32_t *process_alive = &alive;
__thread struct thread_state *thread_self;

#define STACK_WORDS (UINT64_C(64) << 10)
#define PAGE 4096

static struct {
    struct tables *tables;
    struct ring_control control;
    uint8_t *data;
    struct process_slot process_slot;
    struct thread_slot thread_slot;
    struct thread_state thread;
    ucontext_t context;
    uint64_t *stack; /* STACK_WORDS of them, then no memory */
} at;

static void *memory(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(start, MAP_FAILED);
    return start;
}

static void add_row(uint32_t start, uint32_t rule)
{
    at.tables->rows[at.tables->verdicts[0].unused[0]++] = (struct row){start, rule};
}

/* The word of a bucket of the index; all rows are in each. */
static void index_word(uint32_t bucket, uint64_t word)
{
    memcpy(&at.tables->rows[INDEX + bucket], &word, sizeof(word));
}

static void publish(uint64_t generation)
{
    struct process_verdict *verdict = &at.tables->verdicts[0];
    for (uint32_t i = 0; i < BUCKETS; i++)
        index_word(i, row_bucket(0, verdict->unused[0]));
    at.tables->maps[0][generation % 2].modules[0] =
        (struct wire_module){.start_avma = BASE,
                             .end_avma = PAST_THE_END,
                             .base_avma = BASE,
                             .index_first = INDEX,
                             .bucket_count = BUCKETS,
                             .bucket_shift = BUCKET_SHIFT};
    verdict->counts[generation % 2] = 1;
    verdict->generation = generation;
}

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.tables = memory(sizeof(*at.tables));
    at.data = memory(SESSION_RING_BYTES);
    at.stack = memory(STACK_WORDS * 8 + PAGE);
    assert_int_equal(mprotect(at.stack + STACK_WORDS, PAGE, PROT_NONE), 0);
    process = (struct process){
        .tables = at.tables, .slot = &at.process_slot, .verdict = &at.tables->verdicts[0]};
    at.thread.slot = &at.thread_slot;
    at.thread.ring = (struct ring){&at.control, at.data};
    at.thread.stack_start_avma = (uint64_t)(uintptr_t)at.stack;
    at.thread.stack_end_avma = (uint64_t)(uintptr_t)(at.stack + STACK_WORDS);
    at.context.uc_stack.ss_flags = SS_DISABLE;
    add_row(0x000, row_rule(ROW_SP, ROW_FP_SAME, 1));
    add_row(0x100, row_rule(ROW_SP, ROW_FP_SAME, 2));
    add_row(0x200, row_rule(ROW_END, 0, 0));
    add_row(0x300, row_rule(ROW_COMPLEX, 0, 0));
    add_row(0x400, row_rule(ROW_NONE, 0, 0));
    add_row(0x500, row_rule(ROW_FP, 2, 2));
    add_row(0x600, row_rule(ROW_SP, ROW_FP_SAME, ROW_OFFSET_MAX));
    add_row(0x700, row_rule(ROW_SIGNAL, 0, 0));
    add_row(0x800, row_rule_register(ROW_FP_SAME, 0, 1)); /* rax */
    publish(1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(at.tables, sizeof(*at.tables));
    munmap(at.data, SESSION_RING_BYTES);
    munmap(at.stack, STACK_WORDS * 8 + PAGE);
    return 0;
}

static uint64_t address_of(uint64_t word)
{
    return (uint64_t)(uintptr_t)(at.stack + word);
}

static void interrupted_at(uint64_t pc, uint64_t sp, uint64_t fp)
{
    at.context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    at.context.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    at.context.uc_mcontext.gregs[REG_RBP] = (greg_t)fp;
}

/* LEAF, `callers` times CALLER, then `last`, at the very end of the stack. Returns the word that SP is at:
 * the return address from LEAF, a local of CALLER, its return address, … */
static uint64_t make_stack(uint32_t callers, uint64_t last)
{
    uint64_t word = STACK_WORDS - 1;
    at.stack[word] = last;
    for (uint32_t i = 0; i < callers; i++) {
        word -= 2;
        at.stack[word] = CALLER + i % 64;
        at.stack[word + 1] = 0xdead;
    }
    interrupted_at(LEAF, address_of(word), 0);
    return word;
}

struct found {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
    const uint64_t *frames;
    const uint8_t *bytes;
};

/* Walks and takes the record apart; it must be all that is in the ring. */
static struct found walk_and_read(void)
{
    struct found found = {0};
    uint64_t before = at.control.head;
    assert_true(walk_record(&at.thread, &at.context, 111, 222, 0));
    const uint8_t *record = at.data + (before - at.control.base) % SESSION_RING_BYTES;
    memcpy(&found.header, record, sizeof(found.header));
    if (found.header.kind == RECORD_PADDING) {
        before += found.header.bytes;
        record = at.data;
        memcpy(&found.header, record, sizeof(found.header));
    }
    assert_int_equal(at.control.head - before, found.header.bytes);
    assert_int_equal(found.header.bytes % 8, 0);
    assert_int_equal(found.header.ticks, 111);
    assert_int_equal(found.header.weight_ns, 222);
    memcpy(&found.stack, record + sizeof(found.header), sizeof(found.stack));
    const uint8_t *rest = record + sizeof(found.header) + sizeof(found.stack);
    if (found.header.kind != RECORD_STACK) {
        memcpy(&found.copy, rest, sizeof(found.copy));
        rest += sizeof(found.copy);
    }
    found.frames = (const uint64_t *)(const void *)rest;
    found.bytes = rest + 8 * (size_t)found.stack.frame_count;
    assert_int_equal(found.bytes + found.copy.stack_bytes - record, found.header.bytes);
    at.control.tail = at.control.head;
    return found;
}

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
        uint32_t place = i < RECORD_FRAMES_LEAF ? i : i + found.stack.dropped;
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
        a_stack_of(depths[i], depths[i] < RECORD_FRAMES_MAX ? depths[i] : RECORD_FRAMES_MAX);
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
    assert_int_equal(found.stack.end, WALK_ROOT);
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

static void a_frame_pointer_that_leaves_the_known_page_is_no_lack_of_cfi(void **state)
{
    (void)state;
    uint64_t *page = make_coroutine_page();
    interrupted_at(NO_CFI, (uint64_t)(uintptr_t)&page[500], (uint64_t)(uintptr_t)&page[520]);
    assert_int_equal(walk_and_read().stack.end, WALK_FOREIGN);
    interrupted_at(NO_CFI, (uint64_t)(uintptr_t)&page[500], 7);
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    munmap(page, 8192);
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
    /* A value that is no frame pointer: what it would lead to is no code. */
    at.stack[word + 1] = 0x12345678;
    found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_NO_CFI);
    assert_int_equal(found.stack.frame_count, 1);
}

static void fill_registers(void)
{
    for (int i = 0; i < 17; i++)
        at.context.uc_mcontext.gregs[i] = 0x1000 + i;
}

/* DWARF calls them: rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, the return address. */
static void expect_interrupted_registers(const struct record_copy *copy)
{
    static const int order[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    assert_int_equal(copy->known, 0x1ffff);
    for (int i = 0; i < 17; i++)
        assert_int_equal(copy->registers[i], at.context.uc_mcontext.gregs[order[i]]);
}

static void expect_stack_bytes(const struct found *found)
{
    uint64_t start = found->copy.stack_start_avma;
    assert_int_equal(start % 8, 0);
    assert_int_equal(found->copy.stack_end_avma, address_of(STACK_WORDS));
    uint32_t leaf_bytes = found->copy.stack_bytes - found->copy.root_bytes;
    assert_memory_equal(found->bytes, (const void *)(uintptr_t)start, leaf_bytes);
    assert_memory_equal(found->bytes + leaf_bytes,
                        (const void *)(uintptr_t)(address_of(STACK_WORDS) - found->copy.root_bytes),
                        found->copy.root_bytes);
}

static void what_no_row_describes_is_copied_from_the_leaf(void **state)
{
    (void)state;
    for (uint64_t i = STACK_WORDS - 1000; i < STACK_WORDS; i++)
        at.stack[i] = i * 3;
    uint64_t word = make_stack(2, COMPLEX);
    fill_registers();
    interrupted_at(LEAF, address_of(word), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_COMPLEX);
    assert_int_equal(found.stack.frame_count, 0); /* the launcher does all of it again */
    expect_interrupted_registers(&found.copy);
    assert_int_equal(found.copy.stack_start_avma, address_of(word) - ARCH_RED_ZONE);
    assert_int_equal(found.copy.stack_bytes, (STACK_WORDS - word) * 8 + ARCH_RED_ZONE);
    expect_stack_bytes(&found);
}

static void a_large_stack_is_copied_from_where_the_walk_stopped(void **state)
{
    (void)state;
    const uint32_t callers = 1000;
    uint64_t last = STACK_WORDS - 20000; /* more than is ever copied lies beyond it */
    uint64_t word = last - 2 * callers;
    for (uint32_t i = 0; i < callers; i++)
        at.stack[word + 2 * i] = CALLER + i % 64;
    at.stack[last] = COMPLEX;
    interrupted_at(LEAF, address_of(word), 77);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.frame_count, 1 + callers); /* COMPLEX itself comes again */
    assert_int_equal(found.frames[0], LEAF);
    for (uint32_t i = 0; i < callers; i++)
        assert_int_equal(found.frames[1 + i], CALLER + i % 64);
    assert_int_equal(found.copy.known, 1u << 6 | 1u << 7 | 1u << 16);
    assert_int_equal(found.copy.registers[16], COMPLEX);
    assert_int_equal(found.copy.registers[7], address_of(last + 1));
    assert_int_equal(found.copy.registers[6], 77);
    assert_int_equal(found.copy.stack_bytes, RECORD_COPY_BYTES_MAX);
    assert_int_equal(found.copy.root_bytes, RECORD_COPY_ROOT_BYTES);
    assert_int_equal(found.copy.stack_start_avma, address_of(last + 1) - ARCH_RED_ZONE);
    expect_stack_bytes(&found);
}

/* The less room there is, the less is copied; what is copied of a stack has no hole then. */
static void a_ring_that_fills_up_takes_smaller_copies(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < STACK_WORDS; i++)
        at.stack[i] = i * 3;
    interrupted_at(COMPLEX, address_of(100), 77);
    const uint64_t fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint64_t place = 0; /* in a ring that was empty */
    uint32_t copies = 0, before = UINT32_MAX;
    for (; walk_record(&at.thread, &at.context, 111, 222, 0); copies++) {
        const struct record_copy *copy = (const void *)(at.data + place + fixed);
        assert_true(copy->stack_bytes <= before);
        assert_int_equal(copy->root_bytes, copies < 2 ? RECORD_COPY_ROOT_BYTES : 0);
        assert_true(copies < 2 || copy->stack_bytes < RECORD_COPY_LEAF_BYTES);
        before = copy->stack_bytes;
        place = at.control.head - at.control.base;
    }
    assert_true(copies > 20);
}

static void code_that_no_map_knows_is_copied(void **state)
{
    (void)state;
    make_stack(2, PAST_THE_END + 0x1000);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
    at.tables->verdicts[0].generation = 0; /* nothing published yet */
    found = walk_and_read();
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
}

static void while_a_library_is_unloaded_the_map_is_not_trusted(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    at.process_slot.unload_count = 1;
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_COPY);
    assert_int_equal(found.stack.end, WALK_UNKNOWN);
    assert_int_equal(found.stack.unload_count, 1);
    at.tables->verdicts[0].unload_count = 1; /* the launcher has looked again */
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
    index_word((ROOT - BASE) >> BUCKET_SHIFT, row_bucket(0, at.tables->verdicts[0].unused[0]));
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_STACK);
    assert_int_equal(found.stack.end, WALK_ROOT);
    assert_int_equal(found.stack.frame_count, 4);
}

/* Only the launcher can write it; still. */
static void a_damaged_map_leads_nowhere(void **state)
{
    (void)state;
    make_stack(2, ROOT);
    struct wire_module *module = &at.tables->maps[0][1].modules[0];
    module->index_first = SESSION_ROWS - 2; /* there is no room for so many words */
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    module->index_first = UINT32_MAX;
    module->bucket_count = UINT32_MAX;
    at.tables->verdicts[0].generation = 3; /* the same place, uncached */
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    module->index_first = INDEX;
    module->bucket_count = BUCKETS;
    index_word((LEAF - BASE) >> BUCKET_SHIFT, row_bucket(UINT32_MAX, UINT32_MAX));
    at.tables->verdicts[0].generation = 5;
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    index_word((LEAF - BASE) >> BUCKET_SHIFT, row_bucket(SESSION_ROWS - 1, 2));
    at.tables->verdicts[0].generation = 7;
    assert_int_equal(walk_and_read().stack.end, WALK_NO_CFI);
    at.tables->verdicts[0].counts[1] = UINT32_MAX;
    at.tables->verdicts[0].generation = 9;
    assert_int_equal(walk_and_read().stack.end, WALK_UNKNOWN);
}

static void a_check_carries_the_walk_and_what_to_compare_it_with(void **state)
{
    (void)state;
    at.tables->header.self_check_every = 10;
    at.thread.samples = 20;
    uint64_t word = make_stack(3, ROOT);
    struct found found = walk_and_read();
    assert_int_equal(found.header.kind, RECORD_CHECK);
    assert_int_equal(found.stack.frame_count, 5);
    assert_int_equal(found.frames[0], LEAF);
    assert_int_equal(found.frames[4], ROOT);
    expect_interrupted_registers(&found.copy);
    expect_stack_bytes(&found);
    assert_int_equal(found.copy.stack_bytes, (STACK_WORDS - word) * 8 + ARCH_RED_ZONE);
    at.thread.samples = 21;
    assert_int_equal(walk_and_read().header.kind, RECORD_STACK);
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
    assert_int_equal(found.stack.frame_count, RECORD_FRAMES_MAX);
    assert_int_equal(found.stack.dropped, SAMPLER_WORDS_MAX - RECORD_FRAMES_MAX);
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

/* So many bytes before the end of the ring, which is not empty: then it would begin again. */
static void leave_room(uint64_t back)
{
    at.control.base = 0;
    at.control.head = 5 * SESSION_RING_BYTES - back;
    at.control.tail = at.control.head - 8;
}

/* Records of all kinds where the ring's end forces them to its beginning. */
static void records_at_the_end_of_the_ring_are_whole(void **state)
{
    (void)state;
    static const uint64_t lasts[] = {ROOT, COMPLEX};
    for (uint64_t back = 8; back < 150000; back += 1000) {
        for (size_t i = 0; i < 2; i++) {
            uint64_t word = make_stack(100, lasts[i]);
            leave_room(back);
            struct found found = walk_and_read();
            if (i == 0)
                assert_int_equal(found.stack.frame_count, 102);
            else
                assert_int_equal(found.copy.registers[7], address_of(word));
        }
        /* The copy needs more room than the walk did: its frames move to the beginning. */
        uint64_t last = STACK_WORDS - 20000;
        at.stack[last] = COMPLEX;
        for (uint32_t j = 1; j <= 50; j++)
            at.stack[last - 2 * j] = CALLER + j;
        interrupted_at(LEAF, address_of(last - 100), 0);
        leave_room(back);
        struct found found = walk_and_read();
        assert_int_equal(found.stack.frame_count, 51);
        for (uint32_t j = 1; j <= 50; j++)
            assert_int_equal(found.frames[51 - j], CALLER + j);
        expect_stack_bytes(&found);
    }
}

/* Half a ring is free, but not in one piece. */
static void a_copy_for_which_the_rings_end_leaves_no_room_is_smaller(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < STACK_WORDS; i++)
        at.stack[i] = i * 3;
    interrupted_at(COMPLEX, address_of(100), 77);
    leave_room(RECORD_COPY_BYTES_MAX);
    at.control.tail = at.control.head - SESSION_RING_BYTES / 2;
    struct found found = walk_and_read();
    assert_int_equal(found.copy.registers[7], address_of(100));
    assert_int_equal(found.copy.stack_bytes, RECORD_COPY_BYTES_MAX / 2);
    assert_int_equal(found.copy.root_bytes, 0);
    expect_stack_bytes(&found);
}

/* Then the ring begins again at its first byte, before the frames that were walked. */
static void the_launcher_may_empty_the_ring_between_the_walk_and_the_copy(void **state)
{
    (void)state;
    const uint32_t callers = 50, fixed = sizeof(struct record_header) + sizeof(struct record_stack);
    uint64_t last = STACK_WORDS - 20000, position;
    at.stack[last] = COMPLEX;
    for (uint32_t i = 1; i <= callers; i++)
        at.stack[last - 2 * i] = CALLER + i;
    interrupted_at(LEAF, address_of(last - 2 * callers), 0);
    for (uint64_t head = 64; head < 1024; head += 64) {
        struct walk walk = {.thread = &at.thread, .context = &at.context};
        at.control = (struct ring_control){.head = head, .tail = head - 8};
        walk.frames =
            (void *)(ring_reserve(&at.thread.ring, fixed + 8 * RECORD_FRAMES_MAX, &position) +
                     fixed);
        assert_int_equal(walk_once(&walk, 0), WALK_COMPLEX);
        at.control.tail = head;
        assert_true(copy_record(&walk, (struct record_header){.kind = RECORD_COPY}, 0, 0));
        const uint64_t *frames = (const void *)(at.data + fixed + sizeof(struct record_copy));
        for (uint32_t i = 1; i <= callers; i++)
            assert_int_equal(frames[callers + 1 - i], CALLER + i);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_frame_up_to_the_root_is_there),
        TEST(deep_stacks_keep_both_ends_in_order),
        TEST(the_callers_frame_pointer_is_restored),
        TEST(return_addresses_belong_to_the_call_before_them),
        TEST(an_interrupted_pc_is_looked_up_as_it_is),
        TEST(rules_that_point_off_the_stack_end_the_walk),
        TEST(no_byte_outside_of_the_stack_is_read),
        TEST(a_stack_pointer_that_the_kernel_need_not_have_written_at_gives_the_leaf),
        TEST(of_an_unknown_stack_one_page_is_read),
        TEST(a_frame_pointer_that_leaves_the_known_page_is_no_lack_of_cfi),
        TEST(a_context_ends_where_makecontext_let_it_begin),
        TEST(the_alternate_stack_is_a_known_one),
        TEST(a_signal_frame_leads_to_the_interrupted_stack),
        TEST(code_without_rows_is_walked_by_frame_pointer),
        TEST(what_no_row_describes_is_copied_from_the_leaf),
        TEST(a_large_stack_is_copied_from_where_the_walk_stopped),
        TEST(a_ring_that_fills_up_takes_smaller_copies),
        TEST(code_that_no_map_knows_is_copied),
        TEST(while_a_library_is_unloaded_the_map_is_not_trusted),
        TEST(a_new_map_changes_the_rules),
        TEST(code_whose_rows_are_not_compiled_yet_is_copied_until_they_are),
        TEST(a_damaged_map_leads_nowhere),
        TEST(a_check_carries_the_walk_and_what_to_compare_it_with),
        TEST(a_register_that_a_callee_may_have_changed_is_not_used),
        TEST(a_circle_of_signal_frames_ends),
        TEST(a_full_ring_takes_no_record),
        TEST(records_at_the_end_of_the_ring_are_whole),
        TEST(a_copy_for_which_the_rings_end_leaves_no_room_is_smaller),
        TEST(the_launcher_may_empty_the_ring_between_the_walk_and_the_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

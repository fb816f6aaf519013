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
#pragma once

#include "sampler/sample/stack_copy.c"
#include "sampler/sample/stack_record.c"
#include "sampler/sample/walk.c"

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
#define IN_CLONE (BASE + 0x910)
#define PAST_THE_END (BASE + 0x1000)

/* Of the shared rows: behind those that there are. */
#define INDEX 100
#define BUCKET_SHIFT 8
#define BUCKETS (0x1000 >> BUCKET_SHIFT)

/* Of the recording: the default of --max-frames. */
#define FRAMES_MAX 1024u
#define FRAMES_LEAF 768u

struct process process;
static uint32_t alive = 1;
uint32_t *process_alive = &alive;
__thread struct thread_state *thread_self;

#define STACK_WORDS (UINT64_C(256) << 10)
#define PAGE 4096

static struct {
    struct tables *tables;
    struct ring_control control;
    uint8_t *data;
    struct process_memory *memory;
    uint32_t row_count;
    struct thread_slot thread_slot;
    struct thread_state thread;
    ucontext_t context;
    uint64_t *stack; /* STACK_WORDS of them, then no memory */
} at;

static inline void *memory(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(start, MAP_FAILED);
    return start;
}

static inline void add_row(uint32_t start, uint32_t rule)
{
    at.tables->rows[at.row_count++] = (struct row){start, rule};
}

/* The word of a bucket of the index; all rows are in each. */
static inline void index_word(uint32_t bucket, uint64_t word)
{
    memcpy(&at.tables->rows[INDEX + bucket], &word, sizeof(word));
}

static inline void publish(uint64_t generation)
{
    struct process_verdict *verdict = &at.memory->verdict;
    for (uint32_t i = 0; i < BUCKETS; i++)
        index_word(i, row_bucket(0, at.row_count));
    at.memory->maps[generation % 2].modules[0] = (struct wire_module){.start_avma = BASE,
                                                                      .end_avma = PAST_THE_END,
                                                                      .base_avma = BASE,
                                                                      .index_first = INDEX,
                                                                      .bucket_count = BUCKETS,
                                                                      .bucket_shift = BUCKET_SHIFT};
    verdict->counts[generation % 2] = 1;
    verdict->generation = generation;
}

static inline int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.tables = memory(sizeof(*at.tables));
    at.memory = memory(sizeof(*at.memory));
    at.tables->header.frames_max = FRAMES_MAX;
    at.data = memory(SESSION_RING_BYTES);
    at.stack = memory(STACK_WORDS * 8 + PAGE);
    assert_int_equal(mprotect(at.stack + STACK_WORDS, PAGE, PROT_NONE), 0);
    process = (struct process){.tables = at.tables,
                               .memory = at.memory,
                               .slot = &at.memory->process,
                               .verdict = &at.memory->verdict};
    at.thread.slot = &at.thread_slot;
    at.thread.ring = (struct ring){.control = &at.control, .data = at.data};
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
    add_row(0x900, row_rule_clone(ROW_FP_SAME, 0, 1));
    publish(1);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    munmap(at.tables, sizeof(*at.tables));
    munmap(at.memory, sizeof(*at.memory));
    munmap(at.data, SESSION_RING_BYTES);
    munmap(at.stack, STACK_WORDS * 8 + PAGE);
    return 0;
}

static inline uint64_t address_of(uint64_t word)
{
    return (uint64_t)(uintptr_t)(at.stack + word);
}

static inline void interrupted_at(uint64_t pc, uint64_t sp, uint64_t fp)
{
    at.context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    at.context.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    at.context.uc_mcontext.gregs[REG_RBP] = (greg_t)fp;
}

/* LEAF, `callers` times CALLER, then `last`, at the very end of the stack. Returns the word that SP is at:
 * the return address from LEAF, a local of CALLER, its return address, … */
static inline uint64_t make_stack(uint32_t callers, uint64_t last)
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
    const uint8_t *leaf;
    const uint64_t *words;
    const uint8_t *root;
};

/* Walks and takes the record apart; it must be all that is in the ring. */
static inline struct found walk_and_read(void)
{
    struct found found = {0};
    uint64_t before = at.thread.ring.head;
    assert_true(walk_record(&at.thread, &at.context, 111, 222, 0));
    const uint8_t *record = at.data + ring_place(at.thread.ring.base, before);
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
    found.leaf = rest + 8 * (size_t)found.stack.frame_count;
    found.words = (const uint64_t *)(const void *)(found.leaf + found.copy.leaf_bytes);
    found.root = (const uint8_t *)(found.words + found.copy.word_count);
    assert_int_equal(found.root + found.copy.root_bytes - record, found.header.bytes);
    at.control.tail = at.control.head;
    return found;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* SPDX-License-Identifier: MIT */
/* Requests to the compiler are made once, unless memory was out or the shared rows were full. */
#include "record/tables/compiler.h"

static int request_cfi_of(struct compiler *compiler, struct known_module *module);
static int request_code_of(struct compiler *compiler, struct known_module *module);
static int request_rows_of(struct compiler *compiler, struct known_module *module, uint32_t piece);
#define compiler_request_cfi request_cfi_of
#define compiler_request_code request_code_of
#define compiler_request_rows request_rows_of
#include "record/sample/stack_unwind.c"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../unwind/real_files.h"

enum { START = 0x400000, PIECES = 3 };

static struct {
    struct round round;
    struct stack_unwinder unwinder;
    struct known_module module;
    bool is_requested[PIECES];
    struct process_mapping mapping;
    struct process_map map;
    int answer;
    unsigned cfi, code, rows; /* were asked for so often */
    uint32_t piece;
} at;

static int request_cfi_of(struct compiler *compiler, struct known_module *module)
{
    (void)compiler;
    assert_ptr_equal(module, &at.module);
    at.cfi++;
    return at.answer;
}

static int request_code_of(struct compiler *compiler, struct known_module *module)
{
    (void)compiler;
    assert_ptr_equal(module, &at.module);
    at.code++;
    return at.answer;
}

static int request_rows_of(struct compiler *compiler, struct known_module *module, uint32_t piece)
{
    (void)compiler;
    assert_ptr_equal(module, &at.module);
    at.rows++;
    at.piece = piece;
    return at.answer;
}

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.unwinder.round = &at.round;
    at.round.now_ns = 1000;
    at.module.is_requested = at.is_requested;
    at.module.piece_count = PIECES;
    at.mapping = (struct process_mapping){.start_avma = START,
                                          .end_avma = START + PIECES * ROW_PIECE_BYTES,
                                          .bias = START,
                                          .module = &at.module};
    at.map = (struct process_map){.mappings = &at.mapping, .count = 1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stack_unwinder_free(&at.unwinder);
    return 0;
}

/* A sample leads through the piece. */
static struct known_module *lead_through(enum module_state state, uint32_t piece)
{
    struct stack_walk walk = {.map = &at.map};
    struct lookup lookup = {.unwinder = &at.unwinder, .walk = &walk};
    struct offline_mapping found;
    at.module.state = state;
    assert_true(find_mapping(&lookup, START + (uint64_t)piece * ROW_PIECE_BYTES + 7, &found));
    assert_ptr_equal(found.module, state == MODULE_UNREAD ? NULL : at.module.unwind);
    return walk.unread;
}

static void the_rows_of_a_piece_are_asked_for_once(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_null(lead_through(MODULE_READ, 2));
    assert_int_equal(at.rows, 1);
    assert_int_equal(at.piece, 2);
    assert_null(lead_through(MODULE_READ, 1));
    assert_int_equal(at.rows, 2);
    assert_int_equal(at.cfi, 0);
}

static void what_is_not_taken_for_want_of_memory_is_asked_for_again(void **state)
{
    (void)state;
    at.answer = -ENOMEM;
    request_cfi(&at.unwinder, &at.module);
    lead_through(MODULE_READ, 0);
    at.answer = 0;
    for (int i = 0; i < 2; i++) {
        request_cfi(&at.unwinder, &at.module);
        lead_through(MODULE_READ, 0);
    }
    assert_int_equal(at.cfi, 2);
    assert_int_equal(at.rows, 2);
}

/* As module_cache.c leaves it. */
static void put_off(bool *is_requested)
{
    assert_true(*is_requested);
    *is_requested = false;
    at.module.pause_end_ns = at.round.now_ns + 500;
}

static void rows_that_found_no_room_are_asked_for_again_after_a_pause(void **state)
{
    (void)state;
    lead_through(MODULE_READ, 0);
    put_off(&at.is_requested[0]);
    lead_through(MODULE_READ, 0);
    at.round.now_ns += 499;
    lead_through(MODULE_READ, 0);
    assert_int_equal(at.rows, 1);
    at.round.now_ns += 1;
    lead_through(MODULE_READ, 0);
    lead_through(MODULE_READ, 0);
    assert_int_equal(at.rows, 2);
}

static void an_index_that_found_no_room_is_asked_for_again_after_a_pause(void **state)
{
    (void)state;
    assert_ptr_equal(lead_through(MODULE_UNREAD, 0), &at.module);
    request_cfi(&at.unwinder, &at.module);
    put_off(&at.module.is_cfi_requested);
    assert_null(lead_through(MODULE_NO_ROOM, 0)); /* samples do not wait for it */
    assert_int_equal(at.cfi, 1);
    at.round.now_ns += 500;
    lead_through(MODULE_NO_ROOM, 0);
    lead_through(MODULE_NO_ROOM, 0);
    assert_int_equal(at.cfi, 2);
    assert_int_equal(at.rows, 0);
}

/* The caller search meets the module; what it waits for is requested. */
static bool search_in(struct stack_walk *walk)
{
    struct lookup lookup = {.unwinder = &at.unwinder, .walk = walk};
    struct code_place place;
    *walk = (struct stack_walk){.map = &at.map};
    bool is_found = find_code(&lookup, START + 7, &place) && place.image;
    if (walk->unread)
        stack_unwind_want(&at.unwinder, walk);
    return is_found;
}

static void machine_code_is_requested_once_and_behind_the_cfi(void **state)
{
    (void)state;
    struct stack_walk walk;
    at.module.is_go = true; /* without code that lacks CFI */
    assert_false(search_in(&walk));
    assert_null(walk.unread);
    at.module.is_go = false;
    at.module.state = MODULE_UNREAD;
    assert_false(search_in(&walk));
    assert_true(walk.unread && !walk.needs_code && at.cfi == 1 && at.code == 0);
    at.module.state = MODULE_READ;
    for (int i = 0; i < 3; i++) {
        assert_false(search_in(&walk));
        assert_true(walk.unread && walk.needs_code);
    }
    assert_int_equal(at.code, 1);
    at.module.code_state = MODULE_READ; /* but it could not be read */
    assert_false(search_in(&walk));
    assert_null(walk.unread);
    at.module.code = (struct code_image *)&at;
    assert_true(search_in(&walk));
}

static void code_put_off_for_lack_of_time_is_requested_again_after_a_pause(void **state)
{
    (void)state;
    struct stack_walk walk;
    at.module.state = MODULE_READ;
    assert_false(search_in(&walk));
    put_off(&at.module.is_code_requested);
    at.module.code_state = MODULE_NO_ROOM;
    at.module.code = (struct code_image *)&at; /* as the compiler writes it, not published */
    assert_false(search_in(&walk));
    assert_null(walk.unread); /* samples do not wait for it */
    assert_int_equal(at.code, 1);
    at.round.now_ns += 500;
    for (int i = 0; i < 2; i++)
        assert_false(search_in(&walk));
    assert_int_equal(at.code, 2);
    at.module.code_state = MODULE_READ;
    assert_true(search_in(&walk));
}

/* A sample waits for a newer map: see pending_stacks.c. */
static void a_walk_notes_a_file_that_was_put_off(void **state)
{
    (void)state;
    for (int is_put_off = 0; is_put_off < 2; is_put_off++) {
        struct stack_walk walk = {.map = &at.map};
        struct lookup lookup = {.unwinder = &at.unwinder, .walk = &walk};
        struct offline_mapping mapping;
        at.mapping.module = is_put_off ? NULL : &at.module;
        at.mapping.awaits_file = is_put_off;
        assert_true(find_mapping(&lookup, START + 7, &mapping));
        assert_int_equal(walk.awaits_file, is_put_off);
    }
}

extern const uint8_t _start[]; /* of the C library: the root of the main thread's stack */

/* This program as the module of a process. */
static void map_own_program(void)
{
    struct elf_file *elf = open_real_file("/proc/self/exe");
    assert_non_null(elf);
    assert_int_equal(unwind_module_open(&at.module.unwind, elf, NULL, NULL), 0);
    assert_int_equal(code_image_open(&at.module.code, elf), 0);
    const uint64_t start_avma = (uint64_t)(uintptr_t)_start;
    at.mapping.bias = start_avma - code_image_entry_svma(at.module.code);
    at.mapping.start_avma = start_avma - ROW_PIECE_BYTES;
    at.mapping.end_avma = start_avma + ROW_PIECE_BYTES;
    at.module.piece_count = 0;
    at.module.state = MODULE_READ;
    elf_close(elf);
}

static void unmap_own_program(void)
{
    unwind_module_close(at.module.unwind);
    code_image_close(at.module.code);
}

/* Before hlt, f4: `call *__libc_start_main@GOTPCREL(%rip)`, ff 15, or a direct call, e8. */
static uint64_t return_address_in_start(void)
{
    size_t i = 6;
    while (i < 64 && (_start[i] != 0xf4 || (_start[i - 5] != 0xe8 && _start[i - 6] != 0xff)))
        i++;
    assert_true(i < 64);
    return (uint64_t)(uintptr_t)_start + i;
}

/* The walk from these words at the end of a stack. Returns the number of frames. */
static size_t find_root_in(const uint64_t *words, size_t count, uint64_t frames[4],
                           struct known_module **unread)
{
    struct stack_walk walk = {.map = &at.map};
    struct lookup lookup = {.unwinder = &at.unwinder, .walk = &walk};
    const struct code_map code = {.find = find_code, .context = &lookup};
    const struct offline_map map = {.find = find_mapping, .context = &lookup, .code = &code};
    const struct stack_view root = {
        .lo = 0x7000, .hi = 0x7000 + 8 * count, .bytes = (const uint8_t *)words};
    const struct offline_frames out = {.pcs = frames, .max = 4, .leaf_max = 2};
    size_t found = find_root_part(&map, &root, &out);
    *unread = walk.unread;
    return found;
}

static void the_root_part_of_a_stack_starts_at_a_return_address(void **state)
{
    (void)state;
    struct known_module *unread;
    uint64_t frames[4] = {0};
    map_own_program();
    const uint64_t returned_to = return_address_in_start();
    /* The address of a function, as in a table of functions on the stack, and one inside. */
    const uint64_t words[] = {0, (uint64_t)(uintptr_t)_start + 1, returned_to - 1, returned_to};
    assert_int_equal(find_root_in(words, 4, frames, &unread), 0);
    assert_true(unread == &at.module); /* not yet known: the stack waits for the code */
    at.module.code_state = MODULE_READ;
    assert_int_equal(find_root_in(words, 4, frames, &unread), 1);
    assert_true(frames[0] == returned_to && !unread);
    assert_int_equal(find_root_in(words, 3, frames, &unread), 0);
    struct code_image *image = at.module.code;
    at.module.code = NULL; /* unreadable: any address may be one */
    assert_int_equal(find_root_in(words, 4, frames, &unread), 1);
    assert_true(frames[0] == words[1]);
    at.module.code = image;
    unmap_own_program();
}

/* What is kept of the frames 0, 1, … of a stack. Returns the number of frames. */
static size_t keep(uint64_t kept[RECORD_FRAMES_MAX], uint64_t first, size_t count)
{
    size_t max = stack_unwind_frames_max();
    size_t leaf = count > max ? record_frames_leaf((uint32_t)max) : count;
    size_t most = count > max ? max : count;
    for (size_t i = 0; i < most; i++)
        kept[i] = first + (i < leaf ? i : count - most + i);
    return most;
}

/* The sampler walked `inner` frames, the launcher `outer`. */
static void join_parts(size_t inner, size_t outer)
{
    static uint64_t walked[RECORD_FRAMES_MAX], frames[RECORD_FRAMES_MAX],
        expected[RECORD_FRAMES_MAX];
    struct offline_result result = {.frame_count = keep(frames, inner, outer)};
    result.dropped = outer - result.frame_count;
    /* The last frame walked is repeated by the launcher. */
    size_t known = keep(walked, 0, inner + 1) - 1;
    const struct stack_copy from = {
        .frames = walked,
        .stack = {.frame_count = (uint32_t)known, .dropped = (uint32_t)(inner - known)}};
    stack_unwind_join(&from, frames, &result);
    size_t count = keep(expected, 0, inner + outer);
    assert_int_equal(result.frame_count, count);
    assert_int_equal(result.frame_count + result.dropped, inner + outer);
    assert_memory_equal(frames, expected, 8 * count);
}

static void join_all(void)
{
    static const size_t counts[] = {1,   2,    255,  256,  257,  700,  767, 768,
                                    769, 1022, 1023, 1024, 1025, 1300, 5000};
    const size_t count = sizeof(counts) / sizeof(counts[0]);
    for (size_t i = 0; i < count; i++) {
        join_parts(0, counts[i]);
        for (size_t k = 0; k < count; k++)
            join_parts(counts[i], counts[k]);
    }
}

static void frames_of_sampler_and_launcher_are_one_stack(void **state)
{
    (void)state;
    static const uint64_t limits[] = {64, 1024, RECORD_FRAMES_MAX};
    for (size_t i = 0; i < 3; i++) {
        budget_set(BUDGET_FRAMES, limits[i]);
        join_all();
    }
    budget_set(BUDGET_FRAMES, 1024);
}

/* The number of frames left out comes from the target. */
static void a_made_up_number_of_frames_left_out_is_harmless(void **state)
{
    (void)state;
    static uint64_t walked[RECORD_FRAMES_MAX], frames[RECORD_FRAMES_MAX];
    for (uint32_t known = 0; known <= 2048; known += 128) {
        const struct stack_copy from = {.frames = walked,
                                        .stack = {.frame_count = known, .dropped = UINT32_MAX}};
        struct offline_result result = {.frame_count = 3, .dropped = 1 << 20};
        stack_unwind_join(&from, frames, &result);
        assert_int_equal(result.frame_count, known + 3 < 1024 ? known + 3 : 1024);
        assert_true(result.dropped > UINT32_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(the_rows_of_a_piece_are_asked_for_once),
        TEST(what_is_not_taken_for_want_of_memory_is_asked_for_again),
        TEST(rows_that_found_no_room_are_asked_for_again_after_a_pause),
        TEST(machine_code_is_requested_once_and_behind_the_cfi),
        TEST(code_put_off_for_lack_of_time_is_requested_again_after_a_pause),
        TEST(a_walk_notes_a_file_that_was_put_off),
        TEST(the_root_part_of_a_stack_starts_at_a_return_address),
        TEST(frames_of_sampler_and_launcher_are_one_stack),
        TEST(a_made_up_number_of_frames_left_out_is_harmless),
        TEST(an_index_that_found_no_room_is_asked_for_again_after_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

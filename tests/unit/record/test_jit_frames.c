/* SPDX-License-Identifier: MIT */
/* A stack through JIT code without frame pointers has a gap, by the machine code of another process or of a core. */
#include "record/jit/jit_frames.h"

#include "record/jit/code_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CODE_BYTES = 8192, WITH = 0x100, WITHOUT = 0x200, IN_BODY = 16 };
#define FILE_CODE UINT64_C(0x400000)

static const uint8_t with[] = {0x55, 0x48, 0x89, 0xe5}, without[] = {0x55, 0x48, 0x83, 0xec, 0x10};

struct fixture {
    uint8_t *code;
    struct known_module module;
    struct process_mapping mappings[2];
    struct process_map map;
    struct jit_frames jit;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){
        .code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
    assert_ptr_not_equal(f.code, MAP_FAILED);
    memcpy(f.code + WITH, with, sizeof(with));
    memcpy(f.code + WITHOUT, without, sizeof(without));
    f.mappings[0] = (struct process_mapping){
        .start_avma = FILE_CODE, .end_avma = FILE_CODE + 4096, .module = &f.module};
    f.mappings[1] = (struct process_mapping){.start_avma = (uint64_t)f.code,
                                             .end_avma = (uint64_t)f.code + CODE_BYTES};
    f.map = (struct process_map){.mappings = f.mappings, .count = 2};
    for (size_t i = 0; i < f.map.count; i++)
        process_map_note_jit(&f.map, &f.mappings[i]);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    jit_frames_free(&f->jit);
    munmap(f->code, CODE_BYTES);
    return 0;
}

static size_t before_gap(struct fixture *f, pid_t pid, uint64_t leaf_offset, uint64_t caller_offset)
{
    const uint64_t base = (uint64_t)f->code;
    const uint64_t frames[] = {FILE_CODE + 8, base + leaf_offset + IN_BODY,
                               base + caller_offset + IN_BODY, FILE_CODE + 16};
    const struct jit_stack stack = {.pid = pid, .map = &f->map, .frames = frames, .count = 4};
    return jit_frames_before_gap(&f->jit, &stack);
}

static void the_range_is_around_code_of_no_file(void **state)
{
    const struct fixture *f = *state;
    assert_int_equal(f->map.jit_start_avma, (uint64_t)f->code);
    assert_int_equal(f->map.jit_end_avma, (uint64_t)f->code + CODE_BYTES);
}

static void the_gap_is_behind_the_first_function_without_frame_pointer(void **state)
{
    struct fixture *f = *state;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(before_gap(f, getpid(), WITH, WITH), 0);
        assert_int_equal(before_gap(f, getpid(), WITH, WITHOUT), 3);
        assert_int_equal(before_gap(f, getpid(), WITHOUT, WITH), 2);
    }
}

static void code_of_unknown_kind_is_not_verified(void **state)
{
    struct fixture *f = *state;
    memset(f->code, 0, CODE_BYTES);
    assert_int_equal(before_gap(f, getpid(), WITH, WITH), 2);
}

static void a_prologue_may_be_behind_the_code(void **state)
{
    struct fixture *f = *state;
    memset(f->code, 0, CODE_BYTES);
    memcpy(f->code + 0x800, with, sizeof(with));
    assert_int_equal(before_gap(f, getpid(), WITH, WITH), 0);
}

static void code_of_an_ended_process_is_as_the_code_before(void **state)
{
    struct fixture *f = *state;
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    assert_int_equal(before_gap(f, pid, WITH, WITH), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(before_gap(f, pid, WITH, WITH + 1), 0);
    /* a process that was never read */
    jit_frames_free(&f->jit);
    assert_int_equal(before_gap(f, pid, WITH, WITH), 2);
}

static const uint8_t *read_zeros(void *context, uint64_t avma, size_t bytes)
{
    static const uint8_t zeros[CODE_READ_BYTES_MAX];
    (void)avma;
    *(size_t *)context += bytes;
    return zeros;
}

static void a_core_has_its_own_memory(void **state)
{
    struct fixture *f = *state;
    size_t read_bytes = 0;
    const struct jit_memory memory = {read_zeros, &read_bytes};
    f->jit.memory = &memory;
    assert_int_equal(before_gap(f, getpid(), WITH, WITH), 2);
    assert_true(read_bytes >= WITH);
}

static void made_up_addresses_are_not_all_looked_at(void **state)
{
    enum { STACKS = 400, BYTES = 1 << 30, OF_STACK = 16 << 10, AHEAD = 16 << 20 };
    struct fixture *f = *state;
    size_t read_bytes = 0;
    const struct jit_memory memory = {read_zeros, &read_bytes};
    f->jit.memory = &memory;
    f->mappings[1].end_avma = f->mappings[1].start_avma + BYTES;
    process_map_note_jit(&f->map, &f->mappings[1]);
    for (uint64_t i = 0; i < STACKS; i++)
        (void)before_gap(f, getpid(), BYTES / 2 + i, BYTES / 2 + i);
    assert_true(read_bytes > AHEAD / 2);
    assert_true(read_bytes <= AHEAD + STACKS * OF_STACK);
}

static void unreadable_code_is_no_code(void **state)
{
    const struct fixture *f = *state;
    struct code_reader *reader = code_reader_open();
    assert_non_null(reader);
    assert_null(code_reader_read(reader, getpid(), 0, 16));
    assert_null(code_reader_read(reader, getpid(), (uint64_t)f->code, CODE_READ_BYTES_MAX + 1));
    const uint8_t *code =
        code_reader_read(reader, getpid(), (uint64_t)f->code + WITH, sizeof(with));
    assert_non_null(code);
    assert_memory_equal(code, with, sizeof(with));
    code_reader_close(reader);
    code_reader_close(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_range_is_around_code_of_no_file),
        TEST(the_gap_is_behind_the_first_function_without_frame_pointer),
        TEST(code_of_unknown_kind_is_not_verified),
        TEST(a_prologue_may_be_behind_the_code),
        TEST(code_of_an_ended_process_is_as_the_code_before),
        TEST(a_core_has_its_own_memory),
        TEST(made_up_addresses_are_not_all_looked_at),
        TEST(unreadable_code_is_no_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

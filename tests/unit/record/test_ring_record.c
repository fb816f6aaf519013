/* SPDX-License-Identifier: MIT */
/* Records of kernel rings, laid out by hand as perf_event_open(2) describes them. */
#include "record/perf_ring/rings/ring_record.h"

#include "base/containers/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

enum { REGISTERS = 17, EVENT_ID = 99 };

static void put_u32(struct buffer *out, uint32_t value)
{
    buffer_append(out, &value, sizeof(value));
}

static void put_u64(struct buffer *out, uint64_t value)
{
    buffer_append(out, &value, sizeof(value));
}

static void begin(struct buffer *out, uint32_t type, uint16_t misc)
{
    uint16_t size = 0;
    buffer_clear(out);
    put_u32(out, type);
    buffer_append(out, &misc, sizeof(misc));
    buffer_append(out, &size, sizeof(size));
}

static void put_trailer(struct buffer *out, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    put_u32(out, pid);
    put_u32(out, tid);
    put_u64(out, time_ns);
    put_u64(out, EVENT_ID);
}

/* A copy of its own size, so that sanitizers see reads beyond the end. */
static bool decode(struct ring_record *record, const struct buffer *from, size_t size)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(size ? size : 1);
    memcpy(copy, from->bytes, size);
    return ring_record_decode(record, copy, size);
}

static void put_sample_in(struct buffer *out, const uint64_t *callchain, uint64_t count,
                          uint64_t abi, uint64_t reserved, uint64_t copied)
{
    begin(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put_u64(out, 0x401000);
    put_u32(out, 7);
    put_u32(out, 8);
    put_u64(out, 1234);
    put_u64(out, EVENT_ID);
    put_u64(out, 1001001);
    put_u64(out, count);
    for (uint64_t i = 0; i < count; i++)
        put_u64(out, callchain[i]);
    put_u64(out, abi);
    for (uint64_t i = 0; abi && i < REGISTERS; i++)
        put_u64(out, 100 + i);
    put_u64(out, reserved);
    for (uint64_t i = 0; i < reserved / 8; i++)
        put_u64(out, i);
    if (reserved)
        put_u64(out, copied);
}

static void put_sample(struct buffer *out, uint64_t abi, uint64_t reserved, uint64_t copied)
{
    put_sample_in(out, NULL, 0, abi, reserved, copied);
}

static void a_sample_has_registers_and_stack(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.pid, 7);
    assert_int_equal(record.tid, 8);
    assert_int_equal(record.time_ns, 1234);
    assert_int_equal(record.id, EVENT_ID);
    assert_int_equal(record.period, 1001001);
    assert_int_equal(record.registers[REGISTERS - 1], 100 + REGISTERS - 1);
    assert_int_equal(record.stack_bytes, 40);
    assert_int_equal(record.stack[8], 1);
    assert_false(record.is_stack_full);
    buffer_free(&bytes);
}

static void a_copy_of_the_whole_request_may_lack_stack(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 64);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_true(record.is_stack_full);
    buffer_free(&bytes);
}

static void the_kernels_part_of_a_callchain_comes_without_its_marker(void **state)
{
    (void)state;
    static const uint64_t callchain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81001000,
                                         0xffffffff81002000};
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample_in(&bytes, callchain, 3, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.kernel_count, 2);
    assert_int_equal(record.kernel_frames[0], 0xffffffff81001000);
    assert_int_equal(record.kernel_frames[1], 0xffffffff81002000);
    assert_int_equal(record.stack_bytes, 40);
    for (size_t size = 0; size < bytes.size; size++)
        assert_false(decode(&record, &bytes, size));
    put_sample_in(&bytes, callchain + 1, 2, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.kernel_count, 0);
    assert_int_equal(record.user_count, 0);
    buffer_free(&bytes);
}

static void each_part_of_a_callchain_is_behind_its_marker(void **state)
{
    (void)state;
    static const uint64_t callchain[] = {(uint64_t)PERF_CONTEXT_KERNEL,
                                         0xffffffff81001000,
                                         (uint64_t)PERF_CONTEXT_USER,
                                         0x401000,
                                         0x402000,
                                         (uint64_t)PERF_CONTEXT_GUEST,
                                         0x403000};
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample_in(&bytes, callchain, 7, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.kernel_count, 1);
    assert_int_equal(record.kernel_frames[0], 0xffffffff81001000);
    assert_int_equal(record.user_count, 2);
    assert_int_equal(record.user_frames[0], 0x401000);
    assert_int_equal(record.user_frames[1], 0x402000);
    put_sample_in(&bytes, callchain + 2, 1, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.user_count, 0);
    buffer_free(&bytes);
}

/* The kernel never writes such a number; the sum of bytes must not overflow. */
static void a_callchain_longer_than_its_record_is_refused(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    static const uint64_t counts[] = {1000, UINT64_MAX, UINT64_C(1) << 61};
    for (size_t i = 0; i < 3; i++) {
        memcpy(bytes.bytes + 48, &counts[i], sizeof(counts[i]));
        assert_false(decode(&record, &bytes, bytes.size));
    }
    buffer_free(&bytes);
}

/* A task without user memory, at its end. */
static void a_sample_may_lack_registers_and_stack(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample(&bytes, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_null(record.registers);
    assert_int_equal(record.stack_bytes, 0);
    buffer_free(&bytes);
}

static void no_cut_record_is_decoded(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    put_sample(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 40);
    for (size_t size = 0; size < bytes.size; size++)
        assert_false(decode(&record, &bytes, size));
    put_sample(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 72);
    assert_false(decode(&record, &bytes, bytes.size));
    buffer_free(&bytes);
}

static void a_mapping_has_its_file(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    begin(&bytes, PERF_RECORD_MMAP2, 0);
    put_u32(&bytes, 7);
    put_u32(&bytes, 9);
    put_u64(&bytes, 0x7f0000001000);
    put_u64(&bytes, 0x2000);
    put_u64(&bytes, 0x3000);
    put_u32(&bytes, 8);
    put_u32(&bytes, 1);
    put_u64(&bytes, 4711);
    put_u64(&bytes, 0);
    put_u32(&bytes, 5);
    put_u32(&bytes, 2);
    buffer_append(&bytes, "/lib/x.so\0\0\0\0\0\0", 16);
    put_trailer(&bytes, 7, 9, 555);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.start_avma, 0x7f0000001000);
    assert_int_equal(record.bytes, 0x2000);
    assert_int_equal(record.file_offset, 0x3000);
    assert_int_equal(record.device, makedev(8, 1));
    assert_int_equal(record.inode, 4711);
    assert_int_equal(record.protection, 5);
    assert_string_equal(record.text, "/lib/x.so");
    assert_int_equal(record.time_ns, 555);
    buffer_free(&bytes);
}

/* The path must end inside of the record, not in its trailer. */
static void a_path_without_an_end_is_refused(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    begin(&bytes, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put_u32(&bytes, 7);
    put_u32(&bytes, 7);
    buffer_append(&bytes, "abcdefgh", 8);
    put_trailer(&bytes, 0, 0, 0);
    assert_false(decode(&record, &bytes, bytes.size));
    buffer_free(&bytes);
}

static void fork_exit_and_losses(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    struct ring_record record;
    begin(&bytes, PERF_RECORD_FORK, 0);
    put_u32(&bytes, 10);
    put_u32(&bytes, 7);
    put_u32(&bytes, 11);
    put_u32(&bytes, 8);
    put_u64(&bytes, 99);
    put_trailer(&bytes, 7, 8, 100);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.pid, 10);
    assert_int_equal(record.parent_pid, 7);
    assert_int_equal(record.tid, 11);
    assert_int_equal(record.parent_tid, 8);
    assert_int_equal(record.time_ns, 99);
    begin(&bytes, PERF_RECORD_LOST, 0);
    put_u64(&bytes, 1);
    put_u64(&bytes, 42);
    put_trailer(&bytes, 7, 8, 100);
    assert_true(decode(&record, &bytes, bytes.size));
    assert_int_equal(record.lost, 42);
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_has_registers_and_stack),
        cmocka_unit_test(a_copy_of_the_whole_request_may_lack_stack),
        cmocka_unit_test(the_kernels_part_of_a_callchain_comes_without_its_marker),
        cmocka_unit_test(each_part_of_a_callchain_is_behind_its_marker),
        cmocka_unit_test(a_callchain_longer_than_its_record_is_refused),
        cmocka_unit_test(a_sample_may_lack_registers_and_stack),
        cmocka_unit_test(no_cut_record_is_decoded),
        cmocka_unit_test(a_mapping_has_its_file),
        cmocka_unit_test(a_path_without_an_end_is_refused),
        cmocka_unit_test(fork_exit_and_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Records about more than tasks and mappings, and the fields of samples that only some events have;
 * in both byte orders. */
#include "layout.h"

enum { IP = 1 << 0, TID = 1 << 1, TIME = 1 << 2, CALLCHAIN = 1 << 5, CPU = 1 << 7, RAW = 1 << 10 };
enum { BRANCHES = 1 << 11, REGISTERS = 1 << 12, STACK = 1 << 13, WEIGHT = 1 << 14 };
enum { DATA_SOURCE = 1 << 15, IDENTIFIER = 1 << 16, CGROUP = 1 << 21, WEIGHTS = 1 << 24 };

static const struct event task_event = {
    .sample_type = TID | TIME | CPU | IDENTIFIER, .flags = "a", .id = 9};

static void put_trailer(struct file *file)
{
    put32(file, 21), put32(file, 22); /* pid, tid */
    put64(file, 333);                 /* time */
    put32(file, 6), put32(file, 0);   /* cpu */
    put64(file, 9);                   /* identifier */
    end_record(file);
}

/* The only event of a file; the caller closes the reader. The file, which it borrows, stays open. */
static struct perfdata_reader *read_first(struct file *file, struct perfdata_event *event)
{
    int fd = end_file(file);
    struct perfdata_reader *reader = open_reader(fd);
    assert_int_equal(perfdata_next(reader, event), 1);
    assert_null(perfdata_damage(reader));
    return reader;
}

static void a_switch_says_who_where_and_why(void **state)
{
    (void)state;
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 14, 1 << 13 | 1 << 14), put_trailer(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_SWITCH);
        assert_true(event.is_switch_out && event.is_preempted);
        assert_int_equal(event.tid, 22);
        assert_int_equal(event.time_ns, 333);
        assert_int_equal(event.cpu, 6);
        assert_int_equal(event.id, 9);
        perfdata_reader_close(reader);

        file = begin_file(big, &task_event, 1);
        begin_record(&file, 15, 0), put32(&file, 31), put32(&file, 32), put_trailer(&file);
        reader = read_first(&file, &event);
        assert_false(event.is_switch_out);
        assert_int_equal(event.switch_pid, 31);
        assert_int_equal(event.switch_tid, 32);
        assert_int_equal(event.tid, 22);
        perfdata_reader_close(reader);
    }
}

static void a_value_has_its_task_and_its_event(void **state)
{
    (void)state;
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 8, 0);
        put32(&file, 31), put32(&file, 32), put64(&file, 77);
        put_trailer(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_READ);
        assert_int_equal(event.pid, 31);
        assert_int_equal(event.tid, 32);
        assert_int_equal(event.value, 77);
        assert_int_equal(event.attr_index, 0);
        assert_int_equal(event.time_ns, 333);
        perfdata_reader_close(reader);
    }
}

static void put_mapping(struct file *file)
{
    begin_record(file, 10, 2); /* MMAP2 of a user's program */
    put32(file, 51), put32(file, 52);
    put64(file, 0x400000), put64(file, 0x1000), put64(file, 0x2000); /* address, size, offset */
    put64(file, 3), put64(file, 4), put64(file, 5); /* device, inode, inode's generation */
}

/* The kernel of RHEL 7 writes no protection, perf inject --jit the mode of its file. */
static void mappings_with_and_without_a_protection_are_read(void **state)
{
    (void)state;
    const char *const paths[] = {"/bin/true", "[vdso]", "//anon", "anon_inode:[x]"};
    struct perfdata_event event;
    for (int big = 0; big < 2; big++)
        for (size_t i = 0; i < 3 * sizeof(paths) / sizeof(paths[0]); i++) {
            const char *path = paths[i / 3];
            uint32_t protection = (uint32_t[]){0, 7, 0100644}[i % 3]; /* 0: there is none */
            struct file file = begin_file(big, &task_event, 1);
            put_mapping(&file);
            if (protection)
                put32(&file, protection), put32(&file, 0x1802);
            put_text(&file, path, 16), put_trailer(&file);
            struct perfdata_reader *reader = read_first(&file, &event);
            assert_int_equal(event.kind, PERFDATA_MAPPING);
            assert_string_equal(event.path, path);
            assert_int_equal(event.protection, protection ? protection : 5);
            assert_int_equal(event.file_offset, 0x2000);
            assert_int_equal(event.time_ns, 333);
            perfdata_reader_close(reader);
        }
}

static void namespaces_and_cgroups_are_read(void **state)
{
    (void)state;
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 16, 0), put32(&file, 41), put32(&file, 42), put64(&file, 2);
        for (uint64_t i = 1; i <= 4; i++)
            put64(&file, i);
        put_trailer(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_NAMESPACES);
        assert_int_equal(event.tid, 42);
        assert_int_equal(event.namespace_count, 2);
        assert_int_equal(event.namespaces[1].device, 3);
        assert_int_equal(event.namespaces[1].inode, 4);
        perfdata_reader_close(reader);

        file = begin_file(big, &task_event, 1);
        begin_record(&file, 19, 0), put64(&file, 77), put_text(&file, "/user.slice", 16);
        put_trailer(&file);
        reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_CGROUP);
        assert_int_equal(event.cgroup, 77);
        assert_string_equal(event.path, "/user.slice");
        perfdata_reader_close(reader);
    }
}

static void kernel_code_that_comes_and_goes_is_read(void **state)
{
    (void)state;
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 17, 0), put64(&file, 0xffffc000), put32(&file, 64);
        put16(&file, 1), put16(&file, 1), put_text(&file, "bpf_prog_x", 16), put_trailer(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_KSYMBOL);
        assert_int_equal(event.start_avma, 0xffffc000);
        assert_int_equal(event.bytes, 64);
        assert_true(event.is_gone);
        assert_string_equal(event.name, "bpf_prog_x");
        perfdata_reader_close(reader);

        file = begin_file(big, &task_event, 1);
        begin_record(&file, 18, 0), put16(&file, 1), put16(&file, 0), put32(&file, 5);
        put64(&file, 0), put_trailer(&file);
        reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_BPF);
        assert_int_equal(event.bpf_id, 5);
        assert_false(event.is_gone);
        perfdata_reader_close(reader);

        file = begin_file(big, &task_event, 1);
        begin_record(&file, 20, 0), put64(&file, 0xffff8000), put16(&file, 5), put16(&file, 3);
        put_text(&file, "bytes", 12), put_trailer(&file);
        reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_TEXT_POKE);
        assert_int_equal(event.start_avma, 0xffff8000);
        assert_int_equal(event.bytes, 3);
        perfdata_reader_close(reader);
    }
}

/* Written by perf itself: no trailer. */
static void what_the_processor_s_counter_means_is_read(void **state)
{
    (void)state;
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 79, 0), put64(&file, 31), put64(&file, 1 << 30), put64(&file, 77);
        end_record(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_COUNTER);
        assert_int_equal(event.counter_shift, 31);
        assert_int_equal(event.counter_multiplier, 1 << 30);
        assert_int_equal(event.counter_zero_ns, 77);
        perfdata_reader_close(reader);
    }
}

static void a_deferred_callchain_has_its_cookie(void **state)
{
    (void)state;
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 22, 2), put64(&file, 0xc00c1e), put64(&file, 2);
        put64(&file, 0x401000), put64(&file, 0x402000), put_trailer(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.kind, PERFDATA_DEFERRED);
        assert_int_equal(event.deferred_cookie, 0xc00c1e);
        assert_int_equal(event.callchain_count, 2);
        assert_int_equal(event.callchain[1], 0x402000);
        assert_int_equal(event.tid, 22);
        perfdata_reader_close(reader);
    }
}

static void put_branches(struct file *file)
{
    put64(file, 2);
    for (uint64_t i = 1; i <= 6; i++)
        put64(file, i);
}

static void what_only_some_events_sample_is_read(void **state)
{
    (void)state;
    struct event rich = {.sample_type = IP | RAW | BRANCHES | REGISTERS | STACK | WEIGHT |
                                        DATA_SOURCE | CGROUP,
                         .registers_user = 3};
    struct perfdata_event event;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &rich, 1);
        begin_record(&file, 9, 2), put64(&file, 0x1000);
        put32(&file, 4), put32(&file, 0x01020304);
        put_branches(&file);
        put64(&file, 1), put64(&file, 7), put64(&file, 8); /* registers of a 32-bit program */
        put64(&file, 16), put_text(&file, "stack", 16), put64(&file, 5);
        put64(&file, 55), put64(&file, 0), put64(&file, 66);
        end_record(&file);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_int_equal(event.raw_bytes, 4);
        assert_int_equal(event.raw[0], big ? 1 : 4);
        assert_int_equal(event.branch_count, 2);
        assert_int_equal(event.branches[1].from_avma, 4);
        assert_int_equal(event.branches[1].to_avma, 5);
        assert_int_equal(event.user_abi, PERFDATA_ABI_32);
        assert_int_equal(event.user_registers[1], 8);
        assert_int_equal(event.user_stack_bytes, 5);
        assert_int_equal(event.user_stack_wanted_bytes, 16);
        assert_int_equal(event.weight, 55);
        assert_int_equal(event.cgroup, 66);
        perfdata_reader_close(reader);
    }
}

static void of_several_weights_the_first_is_the_weight(void **state)
{
    (void)state;
    struct event event = {.sample_type = IP | WEIGHTS};
    struct perfdata_event read;
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 9, 2), put64(&file, 0x1000);
    put32(&file, 12), put16(&file, 34), put16(&file, 56), end_record(&file);
    struct perfdata_reader *reader = read_first(&file, &read);
    assert_int_equal(read.weight, 12);
    perfdata_reader_close(reader);
}

/* simpleperf's own records are of 32768 and above; the upper half of their size is where others have
 * their flags. */
static void records_of_android_are_stepped_over_whatever_their_size(void **state)
{
    (void)state;
    struct file file = begin_file(false, &task_event, 1);
    size_t size = 8 + 3 * 65536 + 16;
    put32(&file, 32769), put16(&file, 3), put16(&file, 24);
    assert_int_equal(size, 3u << 16 | 24);
    buffer_zeros(&file.bytes, size - 8);
    put32(&file, 32770), put16(&file, 0), put16(&file, 8);
    begin_record(&file, 68, 0), end_record(&file);
    expect_events(&file, "other 32769\nother 32770\nround\n");
}

/* simpleperf before 2018-03 writes TRACING_DATA, padded to 64 bytes, inside the record. */
static void records_behind_tracing_data_inside_its_record_are_read(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &task_event, 1);
        begin_record(&file, 66, 0), put32(&file, 70);
        buffer_zeros(&file.bytes, 128), end_record(&file);
        begin_record(&file, 68, 0), end_record(&file);
        begin_record(&file, 3, 0), put32(&file, 21), put32(&file, 21);
        put_text(&file, "app", 8), put_trailer(&file);
        expect_events(&file, "other 66\nround\ncomm 21/21 @333 app\n");
    }
}

static void a_sample_of_an_event_that_nobody_described_is_counted_as_unknown(void **state)
{
    (void)state;
    struct event events[] = {task_event, task_event};
    events[1].id = 10;
    struct file file = begin_file(false, events, 2);
    begin_record(&file, 9, 2), put64(&file, 4711), put_trailer(&file);
    struct perfdata_event event;
    struct perfdata_reader *reader = read_first(&file, &event);
    assert_int_equal(event.kind, PERFDATA_UNKNOWN);
    perfdata_reader_close(reader);
}

static const char tracing_preamble[] = "\x17\x08\x44tracing0.6";

static void put_sized(struct buffer *out, bool big, const char *text)
{
    put(out, big, strlen(text), 8);
    buffer_text(out, text);
}

/* As perf writes it, with one system and two events. */
static void put_tracing(struct buffer *out, bool big)
{
    buffer_append(out, tracing_preamble, sizeof(tracing_preamble));
    buffer_u8(out, big), buffer_u8(out, 8), put(out, big, 4096, 4);
    buffer_append(out, "header_page", 12), put_sized(out, big, "page");
    buffer_append(out, "header_event", 13), put_sized(out, big, "event");
    put(out, big, 1, 4), put_sized(out, big, "name: function\nID: 314\n");
    put(out, big, 1, 4), buffer_append(out, "sched", 6), put(out, big, 2, 4);
    put_sized(out, big, "name: sched_wakeup\nID: 313\nformat:\n");
    put_sized(out, big,
              "name: sched_switch\nID: 314\nformat:\n"
              "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
              "\tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n"
              "\tfield:int state;\toffset:4;\tsize:4;\tsigned:1;\n");
}

static void a_tracepoints_fields_are_found_by_name(void **state)
{
    (void)state;
    struct event tracepoint = {.sample_type = IP | RAW, .type = 2, .config = 314};
    struct perfdata_event event;
    struct perfdata_field field;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &tracepoint, 1);
        begin_record(&file, 9, 2), put64(&file, 0x1000), put32(&file, 20), put32(&file, 0);
        put32(&file, (uint32_t)-2), put64(&file, 130), put32(&file, 0), end_record(&file);
        put_tracing(&file.features[1], big);
        struct perfdata_reader *reader = read_first(&file, &event);
        assert_true(perfdata_field(reader, 0, "state", &field));
        assert_int_equal(perfdata_field_value(reader, &event, field), -2);
        assert_true(perfdata_field(reader, 0, "prev_state", &field));
        assert_int_equal(perfdata_field_value(reader, &event, field), 130);
        assert_true(perfdata_field(reader, 0, "prev_comm", &field));
        assert_int_equal(field.bytes, 16);
        assert_false(perfdata_field(reader, 0, "next_pid", &field));
        perfdata_reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_says_who_where_and_why),
        cmocka_unit_test(a_value_has_its_task_and_its_event),
        cmocka_unit_test(mappings_with_and_without_a_protection_are_read),
        cmocka_unit_test(namespaces_and_cgroups_are_read),
        cmocka_unit_test(kernel_code_that_comes_and_goes_is_read),
        cmocka_unit_test(what_the_processor_s_counter_means_is_read),
        cmocka_unit_test(a_deferred_callchain_has_its_cookie),
        cmocka_unit_test(what_only_some_events_sample_is_read),
        cmocka_unit_test(of_several_weights_the_first_is_the_weight),
        cmocka_unit_test(records_of_android_are_stepped_over_whatever_their_size),
        cmocka_unit_test(records_behind_tracing_data_inside_its_record_are_read),
        cmocka_unit_test(a_sample_of_an_event_that_nobody_described_is_counted_as_unknown),
        cmocka_unit_test(a_tracepoints_fields_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

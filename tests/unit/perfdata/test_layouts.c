/* SPDX-License-Identifier: MIT */
/* What records and samples look like, by the attrs of their events. */
#include "layout.h"

/* Every field that Linux 6.1 knows, each with content, in the order of perf_event_open(2). */
static void put_full_sample(struct file *file, uint64_t identifier)
{
    begin_record(file, 9, 2);
    put64(file, identifier);
    put64(file, 0x1111);              /* ip */
    put32(file, 21), put32(file, 22); /* pid, tid */
    put64(file, 333);                 /* time */
    put64(file, 0xadd7);              /* addr */
    put64(file, identifier);          /* id */
    put64(file, 5);                   /* stream_id */
    put32(file, 6), put32(file, 0);   /* cpu */
    put64(file, 777);                 /* period */
    put64(file, 2);                   /* read: group of two, times, and value, id, lost of each */
    for (int i = 0; i < 2 + 2 * 3; i++)
        put64(file, 0x99);
    put64(file, 3); /* callchain */
    put64(file, (uint64_t)-512), put64(file, 0x1111), put64(file, 0x2222);
    put32(file, 12), put_text(file, "raw bytes", 12);
    put64(file, 2); /* branch stack with hw_idx */
    for (int i = 0; i < 1 + 2 * 3; i++)
        put64(file, 0x88);
    put64(file, 2); /* registers: 64-bit ABI, as many as bits in the mask */
    put64(file, 0xabc), put64(file, 0xdef);
    put64(file, 16); /* stack: room, bytes, and how many of them are true */
    put_text(file, "stack-", 16);
    put64(file, 6);
    for (int i = 0; i < 8; i++) /* weight … code_page_size */
        put64(file, 0x77);
    end_record(file);
}

static const struct event full_event = {
    .sample_type = 0x1ffffff & ~(UINT64_C(1) << 24), /* all but aux */
    .read_format = 1 | 2 | 4 | 8 | 16,
    .branch_sample_type = 1 << 17,
    .registers_user = 1 << 7 | 1 << 8,
    .period = 4000,
    .flags = "fa",
    .id = 71,
};

static void every_sample_field_is_stepped_over_in_order(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &full_event, 1);
        put_full_sample(&file, 71);
        expect_events(&file, "sample #0 21/22 @333 ip 1111 period 777 cpu 6 chain "
                             "fffffffffffffe00 1111 2222 registers 180: abc stack 6: 73\n");
    }
}

static void flags_are_read_in_both_byte_orders(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct event events[] = {full_event, {.period = 99, .flags = "a"}};
        struct file file = begin_file(big, events, 2);
        int fd = end_file(&file);
        struct perfdata_reader *reader;
        struct error error = {0};
        assert_int_equal(perfdata_reader_open(&reader, fd, "FILE", &error), 0);
        assert_int_equal(perfdata_attr_count(reader), 2);
        assert_true(perfdata_attr(reader, 0)->is_frequency);
        assert_int_equal(perfdata_attr(reader, 0)->period_or_frequency, 4000);
        assert_false(perfdata_attr(reader, 1)->is_frequency);
        assert_string_equal(perfdata_attr(reader, 1)->name, "cycles");
        perfdata_reader_close(reader);
        close(fd);
    }
}

enum { TID = 1 << 1, TIME = 1 << 2, ADDR = 1 << 3, READ = 1 << 4, CHAIN = 1 << 5, ID = 1 << 6 };
enum { CPU = 1 << 7, PERIOD = 1 << 8, RAW = 1 << 10, REGISTERS = 1 << 12, STACK = 1 << 13 };
enum { IDENTIFIER = 1 << 16 };

static void a_single_counter_is_stepped_over(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1 | READ | CHAIN, .read_format = 1 | 2 | 4, .period = 5};
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 9, 2);
    put64(&file, 0x10);
    for (int i = 0; i < 4; i++) /* value, enabled, running, id */
        put64(&file, 0x99);
    put64(&file, 1);
    put64(&file, 0x10);
    end_record(&file);
    expect_events(&file, "sample #0 0/0 @0 ip 10 period 5 cpu -1 chain 10\n");
}

/* Behind them and the raw bytes, a kernel thread has no registers. */
static void a_callchain_is_found_between_counts_and_raw_bytes(void **state)
{
    (void)state;
    struct event event = {.sample_type = TID | READ | CHAIN | RAW | REGISTERS,
                          .read_format = 1 | 2 | 4 | 8,
                          .registers_user = 3,
                          .period = 5};
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &event, 1);
        for (int abi = 0; abi < 2; abi++) {
            begin_record(&file, 9, 1);
            put32(&file, 7), put32(&file, 8);
            put64(&file, 2); /* two counts, two times, value and id of each */
            for (int i = 0; i < 2 + 2 * 2; i++)
                put64(&file, 0x99);
            put64(&file, 2), put64(&file, 0x10), put64(&file, 0x20);
            put32(&file, 4), put_text(&file, "raw", 4);
            put64(&file, abi ? 2 : 0);
            if (abi)
                put64(&file, 0xabc), put64(&file, 0xdef);
            end_record(&file);
        }
        expect_events(&file, "sample #0 7/8 @0 ip 0 period 5 cpu -1 chain 10 20\n"
                             "sample #0 7/8 @0 ip 0 period 5 cpu -1 chain 10 20 "
                             "registers 3: abc\n");
    }
}

/* With a frequency, and no period in the sample, one sample counts once. */
static void without_a_period_the_event_tells_it(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1, .period = 99, .flags = "f"};
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 9, 2);
    put64(&file, 0x10);
    end_record(&file);
    expect_events(&file, "sample #0 0/0 @0 ip 10 period 1 cpu -1 chain\n");
}

static void put_tasks(struct file *file, bool trailers)
{
    static const struct {
        uint32_t type;
        unsigned misc;
    } records[] = {{3, 1 << 13}, {7, 0}, {2, 0}, {13, 0}};
    for (size_t i = 0; i < 4; i++) {
        begin_record(file, records[i].type, records[i].misc);
        if (records[i].type == 3)
            put32(file, 1), put32(file, 2), put_text(file, "name", 8);
        if (records[i].type == 7) /* pid, ppid, tid, ptid, time */
            put32(file, 3), put32(file, 1), put32(file, 4), put32(file, 2), put64(file, 44);
        if (records[i].type == 2)
            put64(file, 71), put64(file, 5);
        if (records[i].type == 13)
            put64(file, 6);
        if (trailers) { /* tid, time, id, stream_id, cpu, identifier */
            put32(file, 8), put32(file, 9), put64(file, 100 + i);
            put64(file, 71), put64(file, 0), put64(file, 1), put64(file, 71);
        }
        end_record(file);
    }
}

static void the_time_of_a_record_is_in_its_trailer(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &full_event, 1);
        put_tasks(&file, true);
        expect_events(&file, "comm 1/2 @100 name exec\n"
                             "fork 3/4 of 1/2 @44\n"
                             "lost 5 @102\n"
                             "lost 6 @103\n");
    }
}

static void without_sample_id_all_there_is_no_trailer(void **state)
{
    (void)state;
    struct event event = full_event;
    event.flags = "";
    struct file file = begin_file(false, &event, 1);
    put_tasks(&file, false);
    expect_events(&file, "comm 1/2 @0 name exec\n"
                         "fork 3/4 of 1/2 @44\n"
                         "lost 5 @0\n"
                         "lost 6 @0\n");
}

static void an_identifier_selects_the_event_and_its_layout(void **state)
{
    (void)state;
    struct event events[] = {
        {.sample_type = IDENTIFIER | 1 | TIME, .id = 7, .period = 1, .flags = "a"},
        {.sample_type = IDENTIFIER | 1 | TID | CPU, .id = 9, .period = 2, .flags = "a"}};
    struct file file = begin_file(false, events, 2);
    begin_record(&file, 9, 2);
    put64(&file, 9), put64(&file, 0x20), put32(&file, 1), put32(&file, 2), put64(&file, 3);
    end_record(&file);
    begin_record(&file, 9, 2);
    put64(&file, 7), put64(&file, 0x30), put64(&file, 55);
    end_record(&file);
    begin_record(&file, 9, 2); /* of an event the file does not describe */
    put64(&file, 8), put64(&file, 0x40);
    end_record(&file);
    begin_record(&file, 3, 0); /* trailer of the second event: tid, cpu, identifier */
    put32(&file, 5), put32(&file, 5), put_text(&file, "x", 8);
    put64(&file, 0), put64(&file, 3), put64(&file, 9);
    end_record(&file);
    expect_events(&file, "sample #1 1/2 @0 ip 20 period 2 cpu 3 chain\n"
                         "sample #0 0/0 @55 ip 30 period 1 cpu -1 chain\n"
                         "other 9\n"
                         "comm 5/5 @0 x\n");
}

static void an_id_behind_other_fields_selects_the_event(void **state)
{
    (void)state;
    struct event events[] = {{.sample_type = 1 | TID | TIME | ADDR | ID | PERIOD, .id = 7},
                             {.sample_type = 1 | TID | TIME | ADDR | ID | PERIOD, .id = 9}};
    struct file file = begin_file(false, events, 2);
    static const uint64_t ids[] = {9, 7, 0};
    for (size_t i = 0; i < 3; i++) {
        begin_record(&file, 9, 2);
        put64(&file, 0x20), put32(&file, 1), put32(&file, 2), put64(&file, 50 + i);
        put64(&file, 0xadd7), put64(&file, ids[i]), put64(&file, 70 + i);
        end_record(&file);
    }
    expect_events(&file, "sample #1 1/2 @50 ip 20 period 70 cpu -1 chain\n"
                         "sample #0 1/2 @51 ip 20 period 71 cpu -1 chain\n"
                         "sample #0 1/2 @52 ip 20 period 72 cpu -1 chain\n");
}

static void only_fields_that_are_there_precede_the_id(void **state)
{
    (void)state;
    struct event events[] = {{.sample_type = TIME | ID, .id = 7},
                             {.sample_type = TIME | ID, .id = 9}};
    struct file file = begin_file(false, events, 2);
    begin_record(&file, 9, 2), put64(&file, 50), put64(&file, 9), end_record(&file);
    expect_events(&file, "sample #1 0/0 @50 ip 0 period 0 cpu -1 chain\n");
}

/* EVENT_DESC (12): count, attr size, and per event its attr, the number of ids, the name, the ids.
 */
static void put_description(struct file *file, const char *name, uint64_t id)
{
    struct buffer *out = &file->features[12];
    buffer_zeros(out, 112);
    put(out, file->big, 1, 4);
    put(out, file->big, 16, 4);
    buffer_text(out, name);
    buffer_zeros(out, 16 - strlen(name));
    put(out, file->big, id, 8);
}

static void names_and_ids_come_from_the_event_description(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct event events[] = {{.sample_type = IDENTIFIER, .period = 1},
                                 {.sample_type = IDENTIFIER, .period = 2}};
        struct file file = begin_file(big, events, 2);
        put(&file.features[12], big, 2, 4);
        put(&file.features[12], big, 112, 4);
        put_description(&file, "sky:is", 71);
        put_description(&file, "sea:was", 72);
        begin_record(&file, 9, 2);
        put64(&file, 72);
        end_record(&file);
        int fd = end_file(&file);
        struct perfdata_reader *reader = open_reader(fd);
        assert_string_equal(perfdata_attr(reader, 0)->name, "sky:is");
        assert_string_equal(perfdata_attr(reader, 1)->name, "sea:was");
        char *text = print_events(reader);
        assert_string_equal(text, "sample #1 0/0 @0 ip 0 period 2 cpu -1 chain\n");
        free(text);
        perfdata_reader_close(reader);
        close(fd);
    }
}

/* BUILD_ID (2): record header, pid, 20 bytes and 4 of size and padding, path. */
static void put_build_id(struct file *file, unsigned misc, const char *path, uint8_t first,
                         size_t length, uint8_t size)
{
    struct buffer *out = &file->features[2];
    put(out, file->big, 0, 4);
    put(out, file->big, misc, 2);
    put(out, file->big, 8 + 4 + 24 + 32, 2);
    put(out, file->big, UINT32_MAX, 4);
    for (size_t i = 0; i < 20; i++)
        buffer_u8(out, (uint8_t)(i < length ? first + i : 0));
    buffer_u8(out, size);
    buffer_zeros(out, 3);
    buffer_text(out, path);
    buffer_zeros(out, 32 - strlen(path));
}

static void put_mapping(struct file *file, uint32_t type, unsigned misc, const char *path)
{
    begin_record(file, type, misc);
    put32(file, 1), put32(file, 2);
    put64(file, 0x5000), put64(file, 0x300), put64(file, 0x40);
    if (type == 10) {
        for (int i = 0; i < 3; i++)
            put64(file, i == 0 && misc >> 14 ? (file->big ? UINT64_C(0x0400000001020304)
                                                          : UINT64_C(0x0403020100000004))
                                             : 0);
        put32(file, 7), put32(file, 2);
    }
    put_text(file, path, 32);
    end_record(file);
}

static void mappings_find_their_build_ids(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1};
    for (int big = 0; big < 2; big++) {
        struct file file = begin_file(big, &event, 1);
        put_build_id(&file, 2, "/lib/md5", 0xa0, 16, 0); /* size not stored */
        put_build_id(&file, 2 | 1 << 15, "/lib/short", 0xb0, 20, 3);
        put_build_id(&file, 1 | 1 << 15, "[kernel.kallsyms]", 0xc0, 20, 2);
        put_mapping(&file, 10, 2, "/lib/md5");
        put_mapping(&file, 10, 2, "/lib/short");
        put_mapping(&file, 10, 2 | 1 << 14, "/lib/short");
        put_mapping(&file, 10, 2, "/lib/none");
        put_mapping(&file, 1, 1, "[kernel.kallsyms]_text");
        put_mapping(&file, 1, 2 | 1 << 13, "/data");
        expect_events(&file,
                      "map 1/2 @0 5000+300 from 40 prot 7 /lib/md5 "
                      "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf\n"
                      "map 1/2 @0 5000+300 from 40 prot 7 /lib/short b0b1b2\n"
                      "map 1/2 @0 5000+300 from 40 prot 7 /lib/short 01020304\n"
                      "map 1/2 @0 5000+300 from 40 prot 7 /lib/none\n"
                      "map 1/2 @0 5000+300 from 40 prot 5 kernel [kernel.kallsyms]_text c0c1\n"
                      "map 1/2 @0 5000+300 from 40 prot 1 /data\n");
    }
}

static void unknown_records_are_stepped_over(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1};
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 63, 0), put64(&file, 1), end_record(&file);
    begin_record(&file, 4711, 0), end_record(&file);
    begin_record(&file, 71, 0), put64(&file, 24), end_record(&file); /* AUXTRACE: 24 bytes follow */
    put_text(&file, "these are not records", 24);
    begin_record(&file, 68, 0), end_record(&file);
    expect_events(&file, "other 63\nother 4711\nother 71\nround\n");
}

/* The capture at the end of a sample may be damaged, or of a kind that is not known yet. */
static void a_bad_stack_copy_costs_no_sample(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1 | REGISTERS | STACK, .registers_user = 3, .period = 1};
    for (int i = 0; i < 3; i++) {
        struct file file = begin_file(false, &event, 1);
        begin_record(&file, 9, 2);
        put64(&file, 0x10);
        put64(&file, 2), put64(&file, 1), put64(&file, 2);
        put64(&file, i == 0 ? 4096 : 8); /* more room than the record has */
        put64(&file, 0);
        if (i != 1)
            put64(&file, i == 2 ? 9 : 8); /* more bytes than room */
        end_record(&file);
        expect_events(&file, "sample #0 0/0 @0 ip 10 period 1 cpu -1 chain\n");
    }
}

static void threads_without_user_registers_have_none(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1 | REGISTERS | STACK, .registers_user = 3, .period = 1};
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 9, 2);
    put64(&file, 0x10);
    put64(&file, 0); /* no ABI: a kernel thread */
    put64(&file, 0); /* no stack: no dynamic size either */
    end_record(&file);
    expect_events(&file, "sample #0 0/0 @0 ip 10 period 1 cpu -1 chain\n");
}

static void expect_damage(struct file *file, const char *expected, const char *damage)
{
    int fd = end_file(file);
    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    char *text = print_events(reader);
    assert_string_equal(text, expected);
    assert_memory_equal(perfdata_damage(reader), damage, strlen(damage));
    assert_int_equal(perfdata_next(reader, &event), 0);
    free(text);
    perfdata_reader_close(reader);
    close(fd);
}

static void a_callchain_larger_than_its_record_is_damage(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1 | CHAIN, .period = 1};
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 9, 2), put64(&file, 1), put64(&file, 0), end_record(&file);
    begin_record(&file, 9, 2), put64(&file, 2), put64(&file, 3), put64(&file, 2), end_record(&file);
    expect_damage(&file, "sample #0 0/0 @0 ip 1 period 1 cpu -1 chain\n", "a malformed record");
}

static void a_name_without_an_end_is_damage(void **state)
{
    (void)state;
    struct file file = begin_file(false, &full_event, 1);
    begin_record(&file, 5, 0), end_record(&file); /* without the trailer it should have */
    begin_record(&file, 3, 0), put32(&file, 1), put32(&file, 1), put64(&file, UINT64_MAX);
    end_record(&file);
    begin_record(&file, 68, 0), end_record(&file);
    expect_damage(&file, "other 5\nround\n", "a malformed record");
}

static void a_trace_that_is_cut_off_is_damage(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1};
    struct file file = begin_file(false, &event, 1);
    begin_record(&file, 68, 0), end_record(&file);
    begin_record(&file, 71, 0), put64(&file, 24), end_record(&file);
    begin_record(&file, 68, 0), end_record(&file);
    expect_damage(&file, "round\n", "a truncated trace");
}

/* perf before Linux 3.4 wrote attrs of 64 bytes, without branches and registers. */
static void the_oldest_attr_is_enough(void **state)
{
    (void)state;
    struct event event = {.sample_type = 1 | PERIOD, .id = 0};
    struct file file = begin_file(false, &event, 1);
    struct buffer old = {0};
    buffer_append(&old, file.bytes.bytes, 112);      /* header and the id */
    buffer_append(&old, file.bytes.bytes + 112, 64); /* attr */
    buffer_zeros(&old, 16);
    buffer_free(&file.bytes);
    file.bytes = old;
    file.data = old.size;
    patch64(&file, 16, 64 + 16);
    patch64(&file, 32, 64 + 16);
    patch64(&file, 40, old.size);
    file.bytes.bytes[112 + 4] = 64;
    begin_record(&file, 9, 2), put64(&file, 1), put64(&file, 2), end_record(&file);
    expect_events(&file, "sample #0 0/0 @0 ip 1 period 2 cpu -1 chain\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_field_is_stepped_over_in_order),
        cmocka_unit_test(flags_are_read_in_both_byte_orders),
        cmocka_unit_test(a_single_counter_is_stepped_over),
        cmocka_unit_test(a_callchain_is_found_between_counts_and_raw_bytes),
        cmocka_unit_test(without_a_period_the_event_tells_it),
        cmocka_unit_test(the_time_of_a_record_is_in_its_trailer),
        cmocka_unit_test(without_sample_id_all_there_is_no_trailer),
        cmocka_unit_test(an_identifier_selects_the_event_and_its_layout),
        cmocka_unit_test(an_id_behind_other_fields_selects_the_event),
        cmocka_unit_test(only_fields_that_are_there_precede_the_id),
        cmocka_unit_test(names_and_ids_come_from_the_event_description),
        cmocka_unit_test(mappings_find_their_build_ids),
        cmocka_unit_test(unknown_records_are_stepped_over),
        cmocka_unit_test(a_bad_stack_copy_costs_no_sample),
        cmocka_unit_test(threads_without_user_registers_have_none),
        cmocka_unit_test(a_callchain_larger_than_its_record_is_damage),
        cmocka_unit_test(a_name_without_an_end_is_damage),
        cmocka_unit_test(a_trace_that_is_cut_off_is_damage),
        cmocka_unit_test(the_oldest_attr_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

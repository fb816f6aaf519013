/* SPDX-License-Identifier: MIT */
/* What becomes of samples of every kind: contexts, captured registers, branches, stacks that come later,
 * switches, and which of them are wanted. */
#include "raw.h"
#include "story.h"

#include <errno.h>
#include <time.h>

#define MARK(context) ((uint64_t)(int64_t)(context))
#define DEFERRED_MARK ((uint64_t)-640)

enum { PID = 10, CLOCK = 0, TEXT = 0x10000, STACK = 0x7f0000 };

static const struct event clock_event = {.type = PERF_TYPE_SOFTWARE,
                                         .config = PERF_COUNT_SW_CPU_CLOCK};

/* A program with code at [TEXT, TEXT + 0x10000), whose file is gone. */
static struct raw begin_program(const struct event *events, size_t count)
{
    struct raw raw = raw_begin(events, count);
    raw_comm(&raw, PID, PID, "app");
    raw_mmap(&raw, PID, TEXT, 0x10000, "/nonexistent/app");
    return raw;
}

static void every_context_has_its_label(void **state)
{
    (void)state;
    struct raw raw = begin_program(&clock_event, 1);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_GUEST_KERNEL, CLOCK, PID, PID,
               MARK(PERF_CONTEXT_GUEST_KERNEL), 0xffffffff81000010, 0xffffffff81000020,
               MARK(PERF_CONTEXT_GUEST_USER), 0x401000, MARK(PERF_CONTEXT_HV), 0x77,
               MARK(PERF_CONTEXT_KERNEL), 0xffffffff82000000, MARK(PERF_CONTEXT_USER), TEXT + 0x10,
               TEXT + 0x20);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0),
                        "app+0x1f;app+0x10;[kernel.kallsyms]+0xffffffff82000000;"
                        "[hypervisor]+0x77;[guest user]+0x401000;"
                        "[guest kernel]+0xffffffff8100001f;[guest kernel]+0xffffffff81000010");
    profile_free(profile);
}

static void put_meta_info(struct raw *raw, const char *text, size_t size)
{
    buffer_append(&raw->file.features[129], text, size);
}

/* Its recorder has moved the return addresses back already, by 1 or (Arm) 2 bytes. */
static void callers_in_recordings_of_simpleperf_are_taken_as_they_are(void **state)
{
    (void)state;
    static const char simpleperf[] = "clockid\0monotonic\0simpleperf_version\0"
                                     "1.build.7848450";
    static const char other[] = "clockid\0simpleperf_version\0author\0x";
    for (int i = 0; i < 2; i++) {
        struct raw raw = begin_program(&clock_event, 1);
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
                   0xffffffff82000010, 0xffffffff82000020, MARK(PERF_CONTEXT_USER), TEXT + 0x10,
                   TEXT + 0x20);
        if (i == 0)
            put_meta_info(&raw, simpleperf, sizeof(simpleperf));
        else
            put_meta_info(&raw, other, sizeof(other));
        struct profile *profile = raw_load(&raw, NULL);
        assert_string_equal(addresses_of(profile, 0),
                            i == 0 ? "app+0x20;app+0x10;[kernel.kallsyms]+0xffffffff82000020;"
                                     "[kernel.kallsyms]+0xffffffff82000010"
                                   : "app+0x1f;app+0x10;[kernel.kallsyms]+0xffffffff8200001f;"
                                     "[kernel.kallsyms]+0xffffffff82000010");
        profile_free(profile);
    }
}

/* Cut off, or no pairs of strings. */
static void damaged_meta_info_is_no_simpleperf_s(void **state)
{
    (void)state;
    static const char filter[] = "simpleperf_version\0"
                                 "1.build";
    for (size_t size = 1; size < sizeof(filter); size++) {
        struct raw raw = begin_program(&clock_event, 1);
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, MARK(PERF_CONTEXT_USER),
                   TEXT + 0x10, TEXT + 0x20);
        put_meta_info(&raw, filter, size);
        struct profile *profile = raw_load(&raw, NULL);
        assert_string_equal(addresses_of(profile, 0), "app+0x1f;app+0x10");
        profile_free(profile);
    }
}

/* Each record that has a time, as the last one of a file, is where the recording ends. */
static void the_recording_ends_with_its_last_record_of_any_kind(void **state)
{
    (void)state;
    static const uint32_t types[] = {PERF_RECORD_LOST,   PERF_RECORD_COMM,   PERF_RECORD_MMAP,
                                     PERF_RECORD_SWITCH, PERF_RECORD_CGROUP, PERF_RECORD_KSYMBOL};
    static const uint8_t zeros[48];
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct raw raw = begin_program(&clock_event, 1);
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, TEXT + 0x10);
        raw.time_ns += 5000;
        uint64_t last_ns = raw.time_ns;
        raw_record(&raw, types[i], PERF_RECORD_MISC_USER);
        buffer_append(&raw.file.bytes, zeros, types[i] == PERF_RECORD_SWITCH ? 0 : sizeof(zeros));
        raw_trailer(&raw, PID, PID);
        struct profile *profile = raw_load(&raw, NULL);
        assert_int_equal(profile->end_ns, last_ns);
        profile_free(profile);
    }
}

static void add_loss(struct raw *raw, uint32_t type, uint64_t count)
{
    raw_record(raw, type, 0);
    if (type == PERF_RECORD_LOST)
        put64(&raw->file, 100);
    put64(&raw->file, count);
    raw_trailer(raw, PID, PID);
}

static void a_loss_that_is_told_twice_is_counted_once(void **state)
{
    (void)state;
    struct raw raw = begin_program(&clock_event, 1);
    add_loss(&raw, PERF_RECORD_LOST, 5);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, MARK(PERF_CONTEXT_USER), TEXT + 0x10);
    add_loss(&raw, PERF_RECORD_LOST, 4);
    add_loss(&raw, PERF_RECORD_LOST_SAMPLES, 6);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(profile_note(profile, "lost_records"), "9");
    profile_free(profile);
    raw = begin_program(&clock_event, 1);
    add_loss(&raw, PERF_RECORD_LOST, 1);
    add_loss(&raw, PERF_RECORD_LOST_SAMPLES, 6);
    add_loss(&raw, PERF_RECORD_LOST_SAMPLES, 3);
    profile = raw_load(&raw, NULL);
    assert_string_equal(profile_note(profile, "lost_records"), "9");
    profile_free(profile);
}

/* perf kvm: a guest's kernel lies where the host's does. */
static void mappings_of_guests_hide_none_of_the_host(void **state)
{
    (void)state;
    static const char guest[24] = "[guest.kernel.kallsyms]";
    struct raw raw = begin_program(&clock_event, 1);
    raw_record(&raw, PERF_RECORD_MMAP, PERF_RECORD_MISC_GUEST_KERNEL);
    put32(&raw.file, PID);
    put32(&raw.file, PID);
    put64(&raw.file, 0xffffffff81000000);
    put64(&raw.file, 0x1000000);
    put64(&raw.file, 0);
    buffer_append(&raw.file.bytes, guest, sizeof(guest));
    raw_trailer(&raw, PID, PID);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
               0xffffffff81000010);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "[kernel.kallsyms]+0xffffffff81000010");
    profile_free(profile);
}

static void put_kernel_symbol(struct raw *raw, uint16_t flags, uint64_t start_avma, uint32_t bytes,
                              const char *name)
{
    raw_record(raw, PERF_RECORD_KSYMBOL, 0);
    put64(&raw->file, start_avma);
    put32(&raw->file, bytes);
    put16(&raw->file, PERF_RECORD_KSYMBOL_TYPE_BPF);
    put16(&raw->file, flags);
    buffer_append(&raw->file.bytes, name, strlen(name) + 1);
    buffer_zeros(&raw->file.bytes, -raw->file.bytes.size & 7);
    raw_trailer(raw, PID, PID);
}

/* What loading alone gave the innermost address of a sample. */
static const char *leaf_name(const struct profile *profile, size_t sample)
{
    uint32_t call = sample_at(profile, sample).call;
    const struct profile_address *address = &profile->addresses[profile->calls[call].address];
    if (address->frame_count == 0)
        return "";
    return profile_text(profile, profile->funcs[profile->frames[address->first_frame].func].name);
}

/* On the machine that reads the file there are other programs at these addresses, or none. */
static void bpf_programs_have_the_names_that_the_file_gives_them(void **state)
{
    (void)state;
    const uint64_t code = 0xffffffffc0001000, unload = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
    struct raw raw = begin_program(&clock_event, 1);
    put_kernel_symbol(&raw, 0, code, 0x200, "bpf_prog_6deef735_first");
    put_kernel_symbol(&raw, 0, code + 0x1000, 0x200, "bpf_prog_2b90e8ff_other");
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
               code + 0x10, code + 0x1020);
    put_kernel_symbol(&raw, (uint16_t)unload, code, 0x200, "bpf_prog_6deef735_first");
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
               code + 0x10);
    put_kernel_symbol(&raw, 0, code, 0x100, "bpf_prog_77f6d4a1_second");
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
               code + 0x10);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(leaf_name(profile, 0), "bpf_prog_6deef735_first");
    assert_string_equal(addresses_of(profile, 0), "bpf_prog_2b90e8ff_other+0xffffffffc000201f;"
                                                  "bpf_prog_6deef735_first+0xffffffffc0001010");
    assert_string_equal(leaf_name(profile, 1), "");
    assert_string_equal(addresses_of(profile, 1), "[kernel.kallsyms]+0xffffffffc0001010");
    assert_string_equal(leaf_name(profile, 2), "bpf_prog_77f6d4a1_second");
    profile_free(profile);
}

/* A sample of event 0 with the counters of both: {value, id} each, after how many there are. */
static void put_counts(struct raw *raw, uint32_t tid, uint64_t clock, uint64_t faults)
{
    const uint64_t group[] = {2, clock, 100, faults, 101};
    raw_begin_sample(raw, PERF_RECORD_MISC_USER, 0, PID, tid, 0, TEXT + 0x10);
    buffer_append(&raw->file.bytes, group, sizeof(group));
    put64(&raw->file, 0); /* no callchain */
    raw_end_record(raw);
}

static struct profile *counted(bool is_inherited)
{
    struct event events[] = {clock_event,
                             {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}};
    for (int i = 0; i < 2; i++) {
        events[i].sample_type = PERF_SAMPLE_READ;
        events[i].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
        events[i].flags = is_inherited ? "aci" : "ac";
    }
    struct raw raw = begin_program(events, 2);
    put_counts(&raw, PID, 1000, 7);
    put_counts(&raw, PID, 2500, 7);
    put_counts(&raw, PID + 1, 3000, 9);
    return raw_load(&raw, NULL);
}

static void assert_weights(const struct profile *profile, const uint64_t *weights, size_t count)
{
    assert_int_equal(profile->sample_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sample_at(profile, i).weight, weights[i]);
        assert_string_equal(addresses_of(profile, i), "app+0x10");
    }
}

static void a_groups_counters_are_samples_of_its_events(void **state)
{
    (void)state;
    struct profile *profile = counted(false);
    assert_weights(profile, (const uint64_t[]){1000, 7, 1500, 500, 2}, 5);
    assert_int_equal(profile->event_count, 2);
    const uint16_t events[] = {0, 1, 0, 0, 1};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(sample_at(profile, i).event, events[i]);
    profile_free(profile);
}

static void inherited_counters_are_of_one_thread(void **state)
{
    (void)state;
    struct profile *profile = counted(true);
    assert_weights(profile, (const uint64_t[]){1000, 7, 1500, 3000, 9}, 5);
    profile_free(profile);
}

static void an_exec_has_its_caller_until_it_returns(void **state)
{
    (void)state;
    struct raw raw = begin_program(&clock_event, 1);
    raw_exec(&raw, PID, "new");
    raw_mmap(&raw, PID, 0x80000, 0x1000, "/nonexistent/new");
    for (int i = 0; i < 2; i++) {
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
                   0xffffffff82000000, MARK(PERF_CONTEXT_USER), TEXT + 0x10);
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, MARK(PERF_CONTEXT_USER), 0x80010);
    }
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "app+0x10;[kernel.kallsyms]+0xffffffff82000000");
    assert_string_equal(addresses_of(profile, 1), "new+0x10");
    assert_string_equal(addresses_of(profile, 2), "?+0x10010;[kernel.kallsyms]+0xffffffff82000000");
    profile_free(profile);
}

static void a_sample_without_a_chain_has_its_ip(void **state)
{
    (void)state;
    struct raw raw = begin_program(&clock_event, 1);
    raw_sample(&raw, PERF_RECORD_MISC_GUEST_USER, CLOCK, PID, PID, 0, 0x401000, NULL, 0);
    raw_end_record(&raw);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "[guest user]+0x401000");
    profile_free(profile);
}

/* perf record -a: perf tells of the processes that run already, each with its parent and all of its mappings. */
static void processes_that_were_there_have_no_mapping_of_their_parents(void **state)
{
    (void)state;
    struct raw raw = begin_program(&clock_event, 1);
    raw_fork(&raw, PERF_RECORD_MISC_FORK_EXEC, PID, PID + 1);
    raw_comm(&raw, PID + 1, PID + 1, "other");
    raw_mmap(&raw, PID + 1, TEXT + 0x20000, 0x1000, "/nonexistent/other");
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID + 1, PID + 1, MARK(PERF_CONTEXT_USER),
               TEXT + 0x20010, TEXT + 0x11);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "?+0x10010;other+0x10");
    assert_int_equal(profile->libs[0].category, PROFILE_USER);
    profile_free(profile);
}

/* The kernel marks the side of a guest's samples, and has no address of it. */
static void samples_of_equal_chains_without_any_address_have_each_their_ip(void **state)
{
    (void)state;
    const uint64_t mark = MARK(PERF_CONTEXT_USER);
    struct raw raw = begin_program(&clock_event, 1);
    for (uint64_t i = 0; i < 2; i++) {
        raw_sample(&raw, PERF_RECORD_MISC_GUEST_USER, CLOCK, PID, PID, 0, 0x401000 + i, &mark, 1);
        raw_end_record(&raw);
    }
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "[guest user]+0x401000");
    assert_string_equal(addresses_of(profile, 1), "[guest user]+0x401001");
    profile_free(profile);
}

static void branches_in_call_stack_mode_are_the_stack(void **state)
{
    (void)state;
    struct event event = clock_event;
    event.sample_type = PERF_SAMPLE_BRANCH_STACK;
    event.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK;
    struct raw raw = begin_program(&event, 1);
    const uint64_t chain[] = {MARK(PERF_CONTEXT_KERNEL), 0xffffffff82000000,
                              MARK(PERF_CONTEXT_USER), TEXT + 0x10, TEXT + 0x20};
    raw_sample(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, 0, chain[1], chain, 5);
    put64(&raw.file, 2);
    const uint64_t branches[] = {TEXT + 0x100, TEXT, 0, TEXT + 0x200, TEXT + 0xf0, 0};
    buffer_append(&raw.file.bytes, branches, sizeof(branches));
    raw_end_record(&raw);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "app+0x200;app+0x100;app+0x10;"
                                                  "[kernel.kallsyms]+0xffffffff82000000");
    profile_free(profile);
}

/* Linux' numbers of the registers: SP 7, IP 8, BP 6. */
static struct event captured_event(uint64_t registers)
{
    struct event event = clock_event;
    event.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    event.registers_user = registers;
    return event;
}

/* Two frames by frame pointer, then a frame pointer that leads to itself. */
static void put_stack(struct raw *raw, uint64_t room, uint64_t copied)
{
    const uint64_t words[] = {0, STACK + 0x20, TEXT + 0x20, 0, STACK + 0x20, TEXT + 0x30};
    put64(&raw->file, room);
    buffer_append(&raw->file.bytes, words, sizeof(words));
    buffer_zeros(&raw->file.bytes, room - sizeof(words));
    put64(&raw->file, copied);
    raw_end_record(raw);
}

static const char *captured(uint64_t abi, uint64_t mask, const uint64_t *values, uint64_t copied)
{
    struct event event = captured_event(mask);
    struct raw raw = begin_program(&event, 1);
    const uint64_t chain[] = {MARK(PERF_CONTEXT_KERNEL), 0xffffffff82000000};
    raw_sample(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, 0, chain[1], chain, 2);
    put64(&raw.file, abi);
    buffer_append(&raw.file.bytes, values, 8 * (size_t)__builtin_popcountll(mask));
    put_stack(&raw, 128, copied);
    struct profile *profile = raw_load(&raw, NULL);
    assert_int_equal(profile->sample_count, 1);
    const char *text = addresses_of(profile, 0);
    profile_free(profile);
    return text;
}

static void captured_stacks_follow_the_kernel_part(void **state)
{
    (void)state;
    const uint64_t values[] = {STACK + 8, STACK, TEXT + 0x10};
    assert_string_equal(captured(2, 7 << 6, values, 128),
                        "[truncated]+0x0;app+0x2f;app+0x1f;app+0x10;"
                        "[kernel.kallsyms]+0xffffffff82000000");
    assert_string_equal(captured(2, 7 << 6, values, 24), "[truncated]+0x0;app+0x1f;app+0x10;"
                                                         "[kernel.kallsyms]+0xffffffff82000000");
}

static void captures_that_cannot_be_unwound_keep_their_leaf(void **state)
{
    (void)state;
    static const char leaf[] = "[truncated]+0x0;[kernel.kallsyms]+0xffffffff82000000";
    uint64_t values[64];
    for (size_t i = 0; i < 64; i++)
        values[i] = UINT64_MAX - i;
    assert_string_equal(captured(1, 7 << 6, values, 128), leaf); /* 32-bit */
    assert_string_equal(captured(2, 1 << 8, values, 128), leaf); /* no SP */
    assert_string_equal(captured(2, 1 << 7, values, 128), leaf); /* no PC */
    assert_non_null(captured(2, UINT64_MAX, values, 128));
    assert_non_null(captured(UINT64_MAX, UINT64_MAX, values, 0));
}

static void a_frame_pointer_chain_goes_on_where_the_copy_ends(void **state)
{
    (void)state;
    struct event event = captured_event(7 << 6);
    struct raw raw = begin_program(&event, 1);
    const uint64_t chain[] = {MARK(PERF_CONTEXT_USER), TEXT + 0x10, TEXT + 0x20, TEXT + 0x30,
                              TEXT + 0x40};
    raw_sample(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, 0, chain[1], chain, 5);
    const uint64_t registers[] = {2, STACK + 8, STACK, TEXT + 0x10};
    buffer_append(&raw.file.bytes, registers, sizeof(registers));
    put_stack(&raw, 128, 24);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(addresses_of(profile, 0), "app+0x3f;app+0x2f;app+0x1f;app+0x10");
    profile_free(profile);
}

static void user_parts_that_come_later_are_joined(void **state)
{
    (void)state;
    struct raw raw = begin_program(&clock_event, 1);
    for (int i = 0; i < 2; i++)
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
                   0xffffffff82000000 + (unsigned)i, DEFERRED_MARK, 7);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, PID, PID, MARK(PERF_CONTEXT_KERNEL),
               0xffffffff83000000, DEFERRED_MARK, 8);
    const uint64_t ips[] = {MARK(PERF_CONTEXT_USER), TEXT + 0x10, TEXT + 0x20};
    raw_deferred(&raw, PID, PID + 1, 7, ips, 3); /* another thread's */
    raw_deferred(&raw, PID, PID, 7, ips, 3);
    struct profile *profile = raw_load(&raw, NULL);
    assert_int_equal(profile->sample_count, 3);
    assert_string_equal(addresses_of(profile, 0),
                        "app+0x1f;app+0x10;[kernel.kallsyms]+0xffffffff82000000");
    assert_string_equal(addresses_of(profile, 1),
                        "app+0x1f;app+0x10;[kernel.kallsyms]+0xffffffff82000001");
    assert_string_equal(addresses_of(profile, 2),
                        "[truncated]+0x0;[kernel.kallsyms]+0xffffffff83000000");
    profile_free(profile);
}

static void switches_become_time_off_the_cpu(void **state)
{
    (void)state;
    const struct event events[] = {
        {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES}, clock_event};
    struct raw raw = begin_program(events, 2);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 1, PID, PID, MARK(PERF_CONTEXT_USER), TEXT + 0x10);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 0, PID, PID, MARK(PERF_CONTEXT_USER), TEXT + 0x20);
    raw_switch(&raw, PID, PID, true);
    raw.time_ns += 5000;
    raw_switch(&raw, PID, PID, false);
    raw_switch(&raw, PID, PID, true); /* to the end, which is the next record's time */
    raw.time_ns += 9000;
    raw_comm(&raw, PID, PID, "app");
    struct profile *profile = raw_load(&raw, NULL);
    assert_int_equal(profile->sample_count, 4);
    const struct profile_sample off = sample_at(profile, 2);
    const struct profile_event *event = &profile->events[off.event];
    assert_true(event->is_off_cpu && event->unit == PROFILE_NANOSECONDS);
    assert_string_equal(profile_text(profile, event->name), "off-cpu");
    assert_int_equal(off.weight, 7000); /* from the sample that says where it stopped */
    assert_string_equal(addresses_of(profile, 2), "app+0x20;[waiting]+0x0");
    assert_int_equal(sample_at(profile, 3).weight, 10000);
    assert_string_equal(addresses_of(profile, 3), "[waiting]+0x0");
    assert_string_equal(profile_text(profile, profile_main_event(profile).name), "cpu-clock");
    profile_free(profile);
}

/* The last switch of a task comes when the kernel has taken its ids away: on a whole machine the time from the
 * last such switch to the end looked like somebody's. */
static void tasks_that_are_gone_spend_no_time_off_the_cpu(void **state)
{
    (void)state;
    const struct event events[] = {
        {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES}, clock_event};
    struct raw raw = begin_program(events, 2);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, 0, -1u, -1u, MARK(PERF_CONTEXT_KERNEL), TEXT);
    raw_switch(&raw, -1u, -1u, true);
    raw.time_ns += 9000;
    raw_comm(&raw, PID, PID, "app");
    struct profile *profile = raw_load(&raw, NULL);
    assert_int_equal(profile->sample_count, 1);
    assert_false(profile->events[sample_at(profile, 0).event].is_off_cpu);
    profile_free(profile);
}

/* Of the usual recording on hardware, with --switch-events, the flame graph is that of the cycles; of one of
 * switches alone it is that of the time off the CPU. */
static void time_off_the_cpu_is_the_main_event_of_switches_alone(void **state)
{
    (void)state;
    const struct event cycles = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES},
                       switches = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CONTEXT_SWITCHES};
    static const char *const mains[] = {"off-cpu", "cycles"};
    for (uint32_t with_cycles = 0; with_cycles < 2; with_cycles++) {
        const struct event events[] = {switches, cycles};
        struct raw raw = begin_program(events, 2);
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 0, PID, PID, MARK(PERF_CONTEXT_USER), TEXT + 0x20);
        raw_switch(&raw, PID, PID, true);
        raw.time_ns += 5000;
        raw_switch(&raw, PID, PID, false);
        if (with_cycles)
            RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 1, PID, PID, MARK(PERF_CONTEXT_USER), TEXT);
        struct profile *profile = raw_load(&raw, NULL);
        const char *name = profile_text(profile, profile_main_event(profile).name);
        assert_string_equal(name, mains[with_cycles]);
        profile_free(profile);
    }
}

static void a_file_without_wall_time_ended_when_it_was_written(void **state)
{
    (void)state;
    const uint64_t second_ns = 1000000000, before_ns = (uint64_t)time(NULL) * second_ns;
    struct raw raw = begin_program(&clock_event, 1);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, MARK(PERF_CONTEXT_USER), TEXT);
    struct profile *profile = raw_load(&raw, NULL);
    uint64_t end_ns = profile->start_wall_ns + (profile->end_ns - profile->start_ns);
    assert_true(profile->is_wall_time_of_file && profile->end_ns > profile->start_ns);
    assert_in_range(end_ns, before_ns - second_ns, before_ns + 60 * second_ns);
    profile_free(profile);
}

/* The record that names a thread may have been lost; an empty name is none that a viewer can show. */
static void threads_that_nobody_named_have_their_id_as_a_name(void **state)
{
    (void)state;
    struct raw raw = raw_begin(&clock_event, 1);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID, MARK(PERF_CONTEXT_USER), TEXT);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, CLOCK, PID, PID + 1, MARK(PERF_CONTEXT_USER), TEXT);
    RAW_SAMPLE(&raw, PERF_RECORD_MISC_KERNEL, CLOCK, -1u, -1u, MARK(PERF_CONTEXT_KERNEL), TEXT);
    struct profile *profile = raw_load(&raw, NULL);
    char name[32];
    assert_int_equal(profile->thread_count, 3);
    assert_string_equal(thread_name_of(profile, 2), ":-1");
    assert_int_equal(process_of(profile, 2)->pid, -1);
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), ":%u", (unsigned)(PID + i));
        assert_string_equal(profile_text(profile, profile->threads[i].name), name);
    }
    profile_free(profile);
}

/* Two events, two processes, two CPUs: eight samples. */
static size_t count_filtered(const struct filter *filter)
{
    const struct event events[] = {
        clock_event, {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}};
    struct raw raw = raw_begin(events, 2);
    raw_comm(&raw, 10, 10, "first");
    raw_comm(&raw, 20, 21, "second");
    raw.time_ns = UINT64_C(5000000000);
    for (uint32_t i = 0; i < 8; i++) {
        raw_sample(&raw, PERF_RECORD_MISC_USER, i & 1, i & 2 ? 20 : 10, i & 2 ? 21 : 10, i / 4,
                   TEXT, NULL, 0);
        raw_end_record(&raw);
        raw.time_ns = UINT64_C(5000000000) + (i + 1) * UINT64_C(1000000000);
    }
    const struct convert_options options = {.filter = *filter};
    struct profile *profile = raw_load(&raw, &options);
    size_t count = profile->sample_count;
    profile_free(profile);
    return count;
}

static size_t count_list(struct filter_list *list, struct filter *filter, const char *text)
{
    struct error error;
    assert_int_equal(filter_parse_list(list, text, "--pid", &error), 0);
    size_t count = count_filtered(filter);
    filter_free(filter);
    return count;
}

static size_t count_time(const char *text)
{
    struct error error;
    struct filter filter = {0};
    assert_int_equal(filter_parse_time(&filter, text, &error), 0);
    return count_filtered(&filter);
}

static void cuts_let_through_what_they_name(void **state)
{
    (void)state;
    struct filter filter = {0};
    assert_int_equal(count_filtered(&filter), 8);
    assert_int_equal(count_list(&filter.pids, &filter, "10"), 4);
    assert_int_equal(count_list(&filter.pids, &filter, "1,7-9"), 0);
    assert_int_equal(count_list(&filter.tids, &filter, "0-5,21"), 4);
    assert_int_equal(count_list(&filter.cpus, &filter, "1"), 4);
    filter.comms = "third,second";
    assert_int_equal(count_filtered(&filter), 4);
    filter.comms = "secon";
    assert_int_equal(count_filtered(&filter), 0);
    filter.comms = NULL;
    filter.event = "page-faults";
    assert_int_equal(count_filtered(&filter), 4);
    assert_int_equal(count_list(&filter.pids, &filter, "10"), 2);
}

static void times_are_of_the_file_or_shares_of_it(void **state)
{
    (void)state;
    assert_int_equal(count_time("6,8"), 3);
    assert_int_equal(count_time("6.000000001,"), 6);
    assert_int_equal(count_time(",5"), 1);
    assert_int_equal(count_time("0%-50%"), 4);
    assert_int_equal(count_time("50%-100%"), 4);
    assert_int_equal(count_time("0%-100%"), 8);
}

static void what_no_cut_can_mean_is_refused(void **state)
{
    (void)state;
    static const char *const lists[] = {"",   "a",  "1,",  "3-1",
                                        "1-", "-1", "1 2", "99999999999999999999"};
    static const char *const times[] = {
        "",    "1",      "2,1",     "x,",    "1,2,3",
        "10%", "10%-5%", "5%-200%", "1%,2%", "99999999999999999999,"};
    struct filter filter = {0};
    struct error error;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        assert_int_equal(filter_parse_list(&filter.pids, lists[i], "--pid", &error), -EINVAL);
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        assert_int_equal(filter_parse_time(&filter, times[i], &error), -EINVAL);
    filter_free(&filter);
    struct raw raw = begin_program(&clock_event, 1);
    const struct convert_options options = {.filter.event = "cycles"};
    assert_null(raw_try(&raw, &options, &error));
    assert_non_null(strstr(error.text, "no event cycles; recorded events: cpu-clock"));
    buffer_free(&raw.file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_context_has_its_label),
        cmocka_unit_test(the_recording_ends_with_its_last_record_of_any_kind),
        cmocka_unit_test(callers_in_recordings_of_simpleperf_are_taken_as_they_are),
        cmocka_unit_test(damaged_meta_info_is_no_simpleperf_s),
        cmocka_unit_test(a_loss_that_is_told_twice_is_counted_once),
        cmocka_unit_test(mappings_of_guests_hide_none_of_the_host),
        cmocka_unit_test(bpf_programs_have_the_names_that_the_file_gives_them),
        cmocka_unit_test(a_groups_counters_are_samples_of_its_events),
        cmocka_unit_test(inherited_counters_are_of_one_thread),
        cmocka_unit_test(an_exec_has_its_caller_until_it_returns),
        cmocka_unit_test(a_sample_without_a_chain_has_its_ip),
        cmocka_unit_test(processes_that_were_there_have_no_mapping_of_their_parents),
        cmocka_unit_test(samples_of_equal_chains_without_any_address_have_each_their_ip),
        cmocka_unit_test(branches_in_call_stack_mode_are_the_stack),
        cmocka_unit_test(captured_stacks_follow_the_kernel_part),
        cmocka_unit_test(captures_that_cannot_be_unwound_keep_their_leaf),
        cmocka_unit_test(a_frame_pointer_chain_goes_on_where_the_copy_ends),
        cmocka_unit_test(user_parts_that_come_later_are_joined),
        cmocka_unit_test(switches_become_time_off_the_cpu),
        cmocka_unit_test(tasks_that_are_gone_spend_no_time_off_the_cpu),
        cmocka_unit_test(a_file_without_wall_time_ended_when_it_was_written),
        cmocka_unit_test(threads_that_nobody_named_have_their_id_as_a_name),
        cmocka_unit_test(time_off_the_cpu_is_the_main_event_of_switches_alone),
        cmocka_unit_test(cuts_let_through_what_they_name),
        cmocka_unit_test(times_are_of_the_file_or_shares_of_it),
        cmocka_unit_test(what_no_cut_can_mean_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

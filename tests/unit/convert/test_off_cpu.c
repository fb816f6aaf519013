/* SPDX-License-Identifier: MIT */
/* Off-CPU time of other recorders' captures: reasons from switches and wake-ups, and the sums of
 * `perf record --off-cpu`. */
#include "raw.h"
#include "story.h"

#include "convert/load/off_cpu.h"

#define MARK(context) ((uint64_t)(int64_t)(context))

enum { PID = 10, OTHER = 11, SWITCH = 0, WAKING = 1, TEXT = 0x10000 };

/* As perf writes TRACING_DATA (feature 1): the fields that are read, 8 bytes each. */
static void put_formats(struct file *file)
{
    static const char preamble[] = "\x17\x08\x44tracing0.6";
    static const char *const formats[] = {
        "name: sched_switch\nID: 314\nformat:\n"
        "\tfield:long prev_state;\toffset:0;\tsize:8;\tsigned:1;\n"
        "\tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n",
        "name: sched_waking\nID: 313\nformat:\n"
        "\tfield:pid_t pid;\toffset:0;\tsize:4;\tsigned:1;\n"};
    struct buffer *out = &file->features[1];
    buffer_append(out, preamble, sizeof(preamble));
    buffer_u8(out, 0), buffer_u8(out, 8), put(out, false, 4096, 4);
    buffer_append(out, "header_page", 12), put(out, false, 0, 8);
    buffer_append(out, "header_event", 13), put(out, false, 0, 8);
    put(out, false, 0, 4);
    put(out, false, 1, 4), buffer_append(out, "sched", 6), put(out, false, 2, 4);
    for (size_t i = 0; i < 2; i++)
        put(out, false, strlen(formats[i]), 8), buffer_text(out, formats[i]);
}

/* EVENT_DESC (feature 12). */
static void put_names(struct file *file, const char *const *names, size_t count)
{
    struct buffer *out = &file->features[12];
    put(out, false, count, 4), put(out, false, 112, 4);
    for (size_t i = 0; i < count; i++) {
        buffer_zeros(out, 112);
        put(out, false, 1, 4), put(out, false, 32, 4);
        buffer_text(out, names[i]), buffer_zeros(out, 32 - strlen(names[i]));
        put(out, false, 100 + i, 8);
    }
}

static struct raw begin_switches(void)
{
    static const struct event events[] = {
        {.type = PERF_TYPE_TRACEPOINT, .config = 314, .sample_type = PERF_SAMPLE_RAW},
        {.type = PERF_TYPE_TRACEPOINT, .config = 313, .sample_type = PERF_SAMPLE_RAW}};
    static const char *const names[] = {"sched:sched_switch", "sched:sched_waking"};
    struct raw raw = raw_begin(events, 2);
    put_formats(&raw.file);
    put_names(&raw.file, names, 2);
    raw_comm(&raw, PID, PID, "app");
    raw_comm(&raw, PID, OTHER, "other");
    raw_mmap(&raw, PID, TEXT, 0x10000, "/nonexistent/app");
    return raw;
}

/* The raw data: two fields of 8 bytes, or as many as there are. */
static void put_tracepoint(struct raw *raw, size_t event, uint32_t tid, uint64_t first,
                           uint64_t second)
{
    const uint64_t chain[] = {MARK(PERF_CONTEXT_USER), TEXT + tid};
    raw_sample(raw, PERF_RECORD_MISC_USER, event, PID, tid, 0, 0, chain, 2);
    put32(&raw->file, 20);
    put64(&raw->file, first);
    put64(&raw->file, second);
    put32(&raw->file, 0);
    raw_end_record(raw);
}

static void switch_to(struct raw *raw, uint32_t from, uint64_t prev_state, uint32_t to)
{
    put_tracepoint(raw, SWITCH, from, prev_state, to);
}

/* The off-CPU samples of the main thread, in order: "weight:stack …". */
static const char *spell(const struct profile *profile)
{
    static char text[1024];
    struct profile_waits waits = profile_waits_of(profile, 0);
    struct profile_wait wait;
    size_t used = 0;
    text[0] = '\0';
    while (profile_waits_next(&waits, &wait)) {
        struct profile_wait_reason reason = wait_reason_of_call(profile, wait.call);
        bool has_stack = profile->calls[wait.call].parent != PROFILE_NONE;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u %s%s", used ? ", " : "",
                                 (unsigned)wait.length_ns, reason.text, has_stack ? "" : " alone");
    }
    return text;
}

static void the_previous_state_is_the_reason(void **state)
{
    (void)state;
    static const struct {
        uint64_t prev_state;
        const char *expected;
    } cases[] = {
        {0, "1000 runnable"}, {0x100, "1000 runnable"}, {1, "1000 unknown"}, {2, "1000 disk"},
        {0x82, "1000 disk"},  {4, "1000 stopped"},      {8, "1000 stopped"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct raw raw = begin_switches();
        switch_to(&raw, PID, cases[i].prev_state, OTHER);
        switch_to(&raw, OTHER, 1, PID);
        struct profile *profile = raw_load(&raw, NULL);
        assert_string_equal(spell(profile), cases[i].expected);
        profile_free(profile);
    }
}

static void a_woken_thread_is_runnable(void **state)
{
    (void)state;
    struct raw raw = begin_switches();
    switch_to(&raw, PID, 1, OTHER);
    raw.time_ns += 4000;
    put_tracepoint(&raw, WAKING, OTHER, PID, 0);
    put_tracepoint(&raw, WAKING, OTHER, PID, 0); /* the first counts */
    switch_to(&raw, OTHER, 1, PID);
    switch_to(&raw, PID, 0, OTHER); /* preempted: runnable from the start */
    put_tracepoint(&raw, WAKING, OTHER, PID, 0);
    switch_to(&raw, OTHER, 1, PID);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(spell(profile), "5000 unknown, 2000 runnable, 2000 runnable");
    profile_free(profile);
}

static void the_reasons_are_those_of_an_event_without_the_switches_selected(void **state)
{
    (void)state;
    struct raw raw = begin_switches();
    switch_to(&raw, PID, 1, OTHER);
    put_tracepoint(&raw, WAKING, OTHER, PID, 0);
    switch_to(&raw, OTHER, 1, PID);
    struct convert_options options = {.filter.event = "off-cpu"};
    struct profile *profile = raw_load(&raw, &options);
    assert_string_equal(spell(profile), "1000 unknown, 1000 runnable");
    assert_int_equal(profile->event_count, 1);
    profile_free(profile);
}

static void a_preempted_thread_is_runnable(void **state)
{
    (void)state;
    struct raw raw = begin_switches();
    switch_to(&raw, PID, 1, PID); /* for the thread to be known */
    raw_switch(&raw, PID, PID, false);
    raw_record(&raw, PERF_RECORD_SWITCH,
               PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    raw_trailer(&raw, PID, PID);
    raw_switch(&raw, PID, PID, false);
    struct profile *profile = raw_load(&raw, NULL);
    assert_string_equal(spell(profile), "1000 unknown, 1000 runnable alone");
    profile_free(profile);
}

/* PERF_COUNT_SW_BPF_OUTPUT; the samples' times are ends, of the sums at the end of the file there
 * is none. */
static void sums_of_perf_are_waits(void **state)
{
    (void)state;
    static const struct event event = {.type = PERF_TYPE_SOFTWARE,
                                       .config = PERF_COUNT_SW_BPF_OUTPUT};
    static const char *const names[] = {"offcpu-time"};
    static const uint64_t ends_ns[] = {9000, OFF_CPU_AT_THE_END};
    for (size_t i = 0; i < 2; i++) {
        struct raw raw = raw_begin(&event, 1);
        put_names(&raw.file, names, 1);
        raw_comm(&raw, PID, PID, "app");
        raw_mmap(&raw, PID, TEXT, 0x10000, "/nonexistent/app");
        uint64_t last_ns = raw.time_ns - 1000;
        raw.time_ns = ends_ns[i];
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 0, PID, PID, MARK(PERF_CONTEXT_USER), TEXT + 0x20);
        struct profile *profile = raw_load(&raw, NULL);
        struct profile_event main_event = profile_main_event(profile);
        assert_true(main_event.is_off_cpu && main_event.unit == PROFILE_NANOSECONDS);
        assert_string_equal(profile_text(profile, main_event.name), "off-cpu");
        assert_string_equal(spell(profile), "5 unknown");
        assert_int_equal(sample_at(profile, 0).time_ns, (i ? last_ns : 9000) - 5);
        assert_true(profile->end_ns <= 9000);
        profile_free(profile);
    }
}

static void both_names_of_perf_s_event_select_its_samples(void **state)
{
    (void)state;
    static const struct event event = {.type = PERF_TYPE_SOFTWARE,
                                       .config = PERF_COUNT_SW_BPF_OUTPUT};
    static const char *const names[] = {"offcpu-time"}, *const selected[] = {"offcpu-time",
                                                                             "off-cpu"};
    for (size_t i = 0; i < 2; i++) {
        struct raw raw = raw_begin(&event, 1);
        put_names(&raw.file, names, 1);
        raw_comm(&raw, PID, PID, "app");
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 0, PID, PID, MARK(PERF_CONTEXT_USER), TEXT);
        struct convert_options options = {.filter.event = selected[i]};
        struct profile *profile = raw_load(&raw, &options);
        assert_int_equal(profile->sample_count, 1);
        profile_free(profile);
    }
}

/* simpleperf record --trace-offcpu: a sample of sched_switch where the thread stops, tracing data
 * without a list of event names, and meta info. A SWITCH record ends the wait (since 2022), or the
 * next sample of the thread. */
static void threads_of_simpleperf_wait_from_a_switch_on(void **state)
{
    (void)state;
    static const char meta_info[] = "simpleperf_version\0"
                                    "1.build.7848450\0"
                                    "trace_offcpu\0"
                                    "true\0"
                                    "event_type_info\0"
                                    "cpu-clock,1,0\nsched:sched_switch,2,314";
    static const struct event events[] = {
        {.type = PERF_TYPE_TRACEPOINT, .config = 314, .sample_type = PERF_SAMPLE_RAW},
        {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}};
    for (int has_records = 0; has_records < 2; has_records++) {
        struct raw raw = raw_begin(events, 2);
        put_formats(&raw.file);
        buffer_append(&raw.file.features[129], meta_info, sizeof(meta_info));
        raw_comm(&raw, PID, PID, "app");
        raw_mmap(&raw, PID, TEXT, 0x10000, "/nonexistent/app");
        switch_to(&raw, PID, 1, 0);
        raw.time_ns += 4000;
        if (has_records)
            raw_switch(&raw, PID, PID, false);
        RAW_SAMPLE(&raw, PERF_RECORD_MISC_USER, 1, PID, PID, MARK(PERF_CONTEXT_USER), TEXT + 1);
        struct profile *profile = raw_load(&raw, NULL);
        assert_string_equal(spell(profile), "5000 unknown");
        profile_free(profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_previous_state_is_the_reason),
        cmocka_unit_test(a_woken_thread_is_runnable),
        cmocka_unit_test(the_reasons_are_those_of_an_event_without_the_switches_selected),
        cmocka_unit_test(a_preempted_thread_is_runnable),
        cmocka_unit_test(threads_of_simpleperf_wait_from_a_switch_on),
        cmocka_unit_test(sums_of_perf_are_waits),
        cmocka_unit_test(both_names_of_perf_s_event_select_its_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Attributes of events by name. Expected codes: linux/perf_event.h, and what `perf stat -vv` of Linux 6.1 prints. */
#include "record/events/event_parse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char directory[] = "/tmp/rec-test-events-XXXXXX";
static char devices[64], tracepoints[64];
static const struct event_roots roots = {.devices = devices, .tracepoints = tracepoints};

static void make_file(const char *root, const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "mkdir -p $(dirname %s/%s/%s)", root, folder, name);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* As an Intel processor shows its PMU. */
static int make(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(devices, sizeof(devices), "%s/devices", directory);
    snprintf(tracepoints, sizeof(tracepoints), "%s/events", directory);
    make_file(devices, "cpu", "type", "4\n");
    make_file(devices, "cpu", "format/event", "config:0-7\n");
    make_file(devices, "cpu", "format/umask", "config:8-15\n");
    make_file(devices, "cpu", "format/edge", "config:18\n");
    make_file(devices, "cpu", "format/offcore_rsp", "config1:0-63\n");
    make_file(devices, "cpu", "format/ldlat", "config2:0-15\n");
    make_file(devices, "cpu", "events/slots", "event=0x00,umask=0x4\n");
    make_file(devices, "amd", "type", "9\n");
    make_file(devices, "amd", "format/event", "config:0-7,32-35\n");
    make_file(tracepoints, "sched", "sched_switch/id", "317\n");
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command);
}

static struct event_request parsed(const char *text)
{
    struct event_request request;
    struct error error = {{0}};
    if (event_parse(&request, text, &roots, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(request.name, text);
    return request;
}

static void check(const char *text, uint32_t type, uint64_t config)
{
    struct event_request request = parsed(text);
    assert_int_equal(request.type, type);
    assert_int_equal(request.config, config);
}

static void generic_hardware_events(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"cycles", "cpu-cycles"},
                                           {"instructions", "instructions"},
                                           {"cache-references", "cache-references"},
                                           {"cache-misses", "cache-misses"},
                                           {"branches", "branch-instructions"},
                                           {"branch-misses", "branch-misses"},
                                           {"bus-cycles", "bus-cycles"},
                                           {"stalled-cycles-frontend", "idle-cycles-frontend"},
                                           {"stalled-cycles-backend", "idle-cycles-backend"},
                                           {"ref-cycles", "ref-cycles"}};
    for (uint64_t i = 0; i < 10; i++)
        for (int j = 0; j < 2; j++)
            check(names[i][j], 0, i);
}

static void software_events(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu-clock",        "task-clock",       "page-faults",
                                        "context-switches", "cpu-migrations",   "minor-faults",
                                        "major-faults",     "alignment-faults", "emulation-faults"};
    for (uint64_t i = 0; i < 9; i++)
        check(names[i], 1, i);
    check("faults", 1, 2);
    check("cs", 1, 3);
    check("migrations", 1, 4);
    assert_true(parsed("cpu-clock:u").is_clock);
    assert_true(parsed("context-switches").is_of_kernel);
    assert_false(parsed("page-faults").is_of_kernel);
}

/* perf stat -e LLC-load-misses -vv: type 3, config 0x10002. */
static void cache_events(void **state)
{
    (void)state;
    check("L1-dcache-loads", 3, 0);
    check("LLC-load-misses", 3, 0x10002);
    check("dTLB-store-misses", 3, 0x10103);
    check("L1-icache-prefetches", 3, 0x201);
    check("node-prefetch-misses", 3, 0x10206);
    check("branch-loads", 3, 5);
}

static void raw_codes_and_fields_of_a_pmu(void **state)
{
    (void)state;
    check("r1a8", 4, 0x1a8);
    check("cpu/event=0x3c,umask=0x1/", 4, 0x13c);
    check("cpu/event=60,edge/", 4, 0x4003c);
    check("cpu/config=0x1234/", 4, 0x1234);
    check("cpu/slots/", 4, 0x400);
    check("amd/event=0xfff/", 9, UINT64_C(0xf000000ff));
    struct event_request request =
        parsed("cpu/event=0xb7,umask=1,offcore_rsp=0x123456789a,ldlat=3/u");
    assert_int_equal(request.config, 0x1b7);
    assert_int_equal(request.config1, 0x123456789a);
    assert_int_equal(request.config2, 3);
    assert_true(request.exclude_kernel);
    assert_true(parsed("cpu/slots/:k").exclude_user);
}

static void tracepoints_have_the_id_of_their_file(void **state)
{
    (void)state;
    check("sched:sched_switch", 2, 317);
    assert_true(parsed("sched:sched_switch:k").exclude_user);
    assert_true(parsed("sched:sched_switch").is_of_kernel);
}

static void modifiers_exclude_modes(void **state)
{
    (void)state;
    struct event_request both = parsed("cycles"), user = parsed("cycles:u");
    struct event_request kernel = parsed("cycles:k"), all = parsed("cycles:uk");
    assert_false(both.exclude_user || both.exclude_kernel || both.kernel_stacks);
    assert_true(user.exclude_kernel && !user.exclude_user && !user.kernel_stacks);
    assert_true(kernel.exclude_user && !kernel.exclude_kernel && kernel.kernel_stacks);
    assert_true(all.kernel_stacks && !all.exclude_user && !all.exclude_kernel);
}

static void the_attributes_have_period_or_frequency(void **state)
{
    (void)state;
    struct perf_event_attr attr = {.type = 1, .config = 1, .sample_period = 7};
    struct event_request request = parsed("cache-misses:u");
    request.frequency = 999;
    event_request_apply(&request, &attr);
    assert_true(attr.type == 0 && attr.config == 3 && attr.freq && attr.sample_freq == 999);
    assert_true(attr.exclude_kernel && !attr.exclude_user);
    request.period = 100000;
    event_request_apply(&request, &attr);
    assert_true(!attr.freq && attr.sample_period == 100000);
    request = parsed("cpu-clock:k");
    attr = (struct perf_event_attr){.type = 1, .config = 1, .sample_period = 7};
    event_request_apply(&request, &attr);
    assert_true(attr.config == 1 && attr.sample_period == 7 && attr.exclude_user);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        ":",
                                        ":u",
                                        "r",
                                        "rxyz",
                                        "cycles:",
                                        "cycles:p",
                                        "cycles:ux",
                                        "LLC-",
                                        "LLC-loads-misses",
                                        "sched:",
                                        "sched:nope",
                                        ":sched_switch",
                                        "sched:../sched_switch",
                                        "../events/sched:sched_switch",
                                        "cpu/",
                                        "cpu//",
                                        "cpu/event/../../x/",
                                        "cpu/event=/",
                                        "cpu/event=1z/",
                                        "cpu/event=0x100/",
                                        "cpu/nope=1/",
                                        "gpu/event=1/",
                                        "../cpu/event=1/",
                                        "cpu/event=1,/",
                                        "cpu/edge=2/",
                                        "/"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct event_request request;
        struct error error = {{0}};
        if (event_parse(&request, texts[i], &roots, &error) == 0)
            fail_msg("accepted: '%s'", texts[i]);
        assert_string_not_equal(error.text, "");
    }
}

static void long_texts_are_refused(void **state)
{
    (void)state;
    char text[600];
    struct event_request request;
    struct error error = {{0}};
    for (size_t length = 90; length < sizeof(text); length += 7) {
        memset(text, 'r', length);
        text[length - 1] = '\0';
        assert_int_not_equal(event_parse(&request, text, &roots, &error), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generic_hardware_events),
        cmocka_unit_test(software_events),
        cmocka_unit_test(cache_events),
        cmocka_unit_test(raw_codes_and_fields_of_a_pmu),
        cmocka_unit_test(tracepoints_have_the_id_of_their_file),
        cmocka_unit_test(modifiers_exclude_modes),
        cmocka_unit_test(the_attributes_have_period_or_frequency),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(long_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}

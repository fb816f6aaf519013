/* SPDX-License-Identifier: MIT */
/*
 * A profile made by hand, in which every exporter meets all that is awkward: inlined calls, a
 * function with lines of two files, names that no format can hold as they are, addresses without a
 * name inside and outside of a lib, frames that are no code, a sample without a stack, weights that
 * are no multiple of the period, two processes with one pid, a thread without samples.
 *
 *     ms    thread      stack (root first)                                          weight ns
 *      1    app/app     main, outer > mid > inner           (> is an inlined call)   1 000 000
 *      2    app/app     main, outer > mid (demo.inc) > inner                         1 000 000
 *      3    app/app     main, WEIRD                                                    500 000
 *      3.5  app/worker  run, outer > mid > inner                                     1 000 000
 *      4    app/worker  run, libdemo 0x10abc, [kernel]                               2 500 000
 *      5    app/app     main, libdemo 0x10abc                                          300 000
 *      6    app/app     main, libdemo 0x10def                                          300 000
 *      7    app/worker  0x7f1234567890                                               1 000 000
 *      8    helper (1)  main, outer > mid > inner                                      700 000
 *      9    helper (2)  [exit]                                                         400 000
 *     10    app/app     nothing                                                        250 000
 *     11    app/app     main, outer > mid > inner                                    1 000 001
 *
 * What must come out of it is written down where it is checked, by hand, not computed from this.
 */
#pragma once

#include "base/containers/array.h"
#include "profile/profile.h"

#include <stdio.h>
#include <string.h>

#define DEMO_WEIRD "we;ird<\"q\\\"> \001\t</script>\xff\xe2\x82 \xc3\xa9 12"
#define DEMO_WORKER "work;er \"1\"\n"

enum { DEMO_START_NS = 1000000000, DEMO_PERIOD_NS = 1000000 };

struct demo {
    struct profile *profile;
    char source[4096], include[4096];
    uint32_t app, library, kernel, exit;
};

/* What an address is in: one of its frames, outermost first. */
struct demo_frame {
    const char *name, *system_name;
    uint32_t definition_line, line;
    bool in_include; /* the line is one of demo.inc */
};

static uint32_t demo_file(struct demo *demo, bool include)
{
    return profile_string(demo->profile, include ? demo->include : demo->source);
}

static uint32_t demo_address(struct demo *demo, uint32_t lib, uint64_t svma, uint32_t symbol,
                             enum profile_category category, const struct demo_frame *frames,
                             size_t count)
{
    struct profile *profile = demo->profile;
    uint32_t address = profile_address_id(profile, lib, svma);
    for (uint32_t i = 0; i < count; i++) {
        struct profile_func func = {
            .name = profile_string(profile, frames[i].name),
            .system_name = profile_string(profile, frames[i].system_name),
            .lib = lib,
            .file = frames[i].definition_line ? demo_file(demo, false) : PROFILE_NONE,
            .line = frames[i].definition_line,
        };
        uint32_t id = profile_add_frame(
            profile,
            &(struct profile_frame){
                .func = profile_func_id(profile, &func),
                .lib = lib,
                .svma = svma,
                .file = frames[i].line ? demo_file(demo, frames[i].in_include) : PROFILE_NONE,
                .line = frames[i].line,
                .column = frames[i].line ? 5 : 0,
                .symbol = symbol,
                .inline_depth = i,
                .category = category,
            });
        if (i == 0)
            profile->addresses[address].first_frame = id;
    }
    profile->addresses[address].frame_count = (uint32_t)count;
    return address;
}

/* An address of which only the number, or the bracketed name of its lib, is known. */
static uint32_t demo_bare(struct demo *demo, uint32_t lib, uint64_t svma,
                          enum profile_category category, const char *name)
{
    const struct demo_frame frame = {.name = name, .system_name = name};
    return demo_address(demo, lib, svma, PROFILE_NONE, category, &frame, 1);
}

static uint32_t demo_symbol(struct demo *demo, const char *name, uint64_t svma, uint64_t bytes)
{
    return profile_symbol_id(demo->profile, &(struct profile_symbol){
                                                .lib = demo->app,
                                                .name = profile_string(demo->profile, name),
                                                .svma = svma,
                                                .bytes = bytes,
                                            });
}

static void demo_process(struct profile *profile, int32_t pid, const char *name, uint64_t end_ns)
{
    struct profile_process *process =
        ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity);
    *process = (struct profile_process){
        .pid = pid,
        .name = profile_string(profile, name),
        .start_ns = DEMO_START_NS,
        .end_ns = end_ns,
    };
}

static void demo_thread(struct profile *profile, uint32_t process, int32_t tid, const char *name)
{
    struct profile_thread *thread =
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    *thread = (struct profile_thread){
        .process = process,
        .tid = tid,
        .name = profile_string(profile, name),
        .cgroup = PROFILE_NONE,
        .is_main = tid == profile->processes[process].pid,
        .start_ns = DEMO_START_NS,
        .end_ns = profile->processes[process].end_ns,
    };
}

/* addresses: root first, ended by PROFILE_NONE. */
static void demo_sample(struct profile *profile, uint64_t at_us, uint32_t thread,
                        const uint32_t *addresses, uint64_t weight_ns)
{
    uint32_t call = PROFILE_NONE;
    for (; *addresses != PROFILE_NONE; addresses++)
        call = profile_call_id(profile, call, *addresses);
    const struct profile_sample sample = {
        .time_ns = DEMO_START_NS + at_us * 1000,
        .weight = weight_ns,
        .thread = thread,
        .call = call,
        .cpu = PROFILE_NO_CPU,
    };
    profile_add_sample(profile, &sample);
}

static void demo_libs(struct demo *demo)
{
    static const uint8_t build_id[20] = {0x13, 0x5a, 0xfc, 0x8c, 0x6d, 0x1b, 0x9e,
                                         0x02, 0x35, 0x6c, 0xce, 0x21, 0x8b, 0xf0,
                                         0x10, 0x9c, 0x36, 0x87, 0xad, 0x9f};
    struct profile *profile = demo->profile;
    demo->library = profile_lib_id(profile, "/usr/lib/libdemo.so.1", NULL, 0);
    demo->app = profile_lib_id(profile, "/opt/demo/app", build_id, sizeof(build_id));
    demo->kernel = profile_lib_id(profile, "[kernel]", NULL, 0);
    demo->exit = profile_lib_id(profile, "[exit]", NULL, 0);

    struct profile_lib *library = &profile->libs[demo->library];
    library->base_svma = 0x10000;
    library->map_start_avma = 0x7f0000010000;
    library->map_end_avma = 0x7f0000020000;
    library->map_bias = 0x7f0000000000;

    struct profile_lib *app = &profile->libs[demo->app];
    app->map_start_avma = 0x555555555000;
    app->map_end_avma = 0x555555559000;
    app->map_file_offset = 0x1000;
    app->map_bias = 0x555555554000;
    app->has_functions = app->has_files = app->has_lines = app->has_inlines = true;
}

static void demo_people(struct profile *profile)
{
    demo_process(profile, 100, "app", 0);
    demo_process(profile, 200, "helper 2", DEMO_START_NS + 8500000);
    demo_process(profile, 200, "helper 2", DEMO_START_NS + 9500000);
    demo_thread(profile, 0, 100, "app");
    demo_thread(profile, 0, 101, DEMO_WORKER);
    demo_thread(profile, 1, 200, "helper 2");
    demo_thread(profile, 2, 200, "helper 2");
    demo_thread(profile, 0, 102, "no samples");
}

static void demo_samples(struct demo *demo)
{
    enum { APP, WORKER, HELPER_1, HELPER_2 };
    const struct demo_frame main_1 = {"main", "main", 27, 29, false};
    const struct demo_frame main_2 = {"main", "main", 27, 30, false};
    const struct demo_frame main_3 = {"main", "main", 27, 31, false};
    const struct demo_frame run_1 = {"run", "_Z3runPv", 20, 22, false};
    const struct demo_frame run_2 = {"run", "_Z3runPv", 20, 23, false};
    const struct demo_frame weird = {DEMO_WEIRD, "_Z5weirdv", 0, 0, false};
    const struct demo_frame outer_1[] = {{"outer", "_Z5outeri", 15, 17, false},
                                         {"mid", "_ZL3midi", 9, 11, false},
                                         {"inner", "_ZL5inneri", 3, 5, false}};
    const struct demo_frame outer_2[] = {{"outer", "_Z5outeri", 15, 17, false},
                                         {"mid", "_ZL3midi", 9, 2, true},
                                         {"inner", "_ZL5inneri", 3, 6, false}};
    uint32_t in_main = demo_symbol(demo, "main", 0x1000, 0x80);
    uint32_t in_outer = demo_symbol(demo, "_Z5outeri", 0x1100, 0x90);
    uint32_t in_weird = demo_symbol(demo, "_Z5weirdv", 0x1200, 0);
    uint32_t in_run = demo_symbol(demo, "_Z3runPv", 0x1300, 0x40);
    uint32_t a_main_1 = demo_address(demo, demo->app, 0x1010, in_main, PROFILE_USER, &main_1, 1);
    uint32_t a_main_2 = demo_address(demo, demo->app, 0x1020, in_main, PROFILE_USER, &main_2, 1);
    uint32_t a_main_3 = demo_address(demo, demo->app, 0x1030, in_main, PROFILE_USER, &main_3, 1);
    uint32_t a_run_1 = demo_address(demo, demo->app, 0x1310, in_run, PROFILE_USER, &run_1, 1);
    uint32_t a_run_2 = demo_address(demo, demo->app, 0x1320, in_run, PROFILE_USER, &run_2, 1);
    uint32_t a_outer_1 = demo_address(demo, demo->app, 0x1120, in_outer, PROFILE_USER, outer_1, 3);
    uint32_t a_outer_2 = demo_address(demo, demo->app, 0x1128, in_outer, PROFILE_USER, outer_2, 3);
    uint32_t a_weird = demo_address(demo, demo->app, 0x1200, in_weird, PROFILE_USER, &weird, 1);
    uint32_t a_abc = demo_bare(demo, demo->library, 0x10abc, PROFILE_LIBRARY, "0x10abc");
    uint32_t a_def = demo_bare(demo, demo->library, 0x10def, PROFILE_LIBRARY, "0x10def");
    uint32_t a_kernel = demo_bare(demo, demo->kernel, 0, PROFILE_KERNEL, "[kernel]");
    uint32_t a_exit = demo_bare(demo, demo->exit, 0, PROFILE_SYNTHETIC, "[exit]");
    uint32_t a_jit = demo_bare(demo, PROFILE_NONE, 0x7f1234567890, PROFILE_JIT, "0x7f1234567890");

#define STACK(...) ((const uint32_t[]){__VA_ARGS__, PROFILE_NONE})
    struct profile *p = demo->profile;
    demo_sample(p, 1000, APP, STACK(a_main_1, a_outer_1), 1000000);
    demo_sample(p, 2000, APP, STACK(a_main_1, a_outer_2), 1000000);
    demo_sample(p, 3000, APP, STACK(a_main_2, a_weird), 500000);
    demo_sample(p, 3500, WORKER, STACK(a_run_1, a_outer_1), 1000000);
    demo_sample(p, 4000, WORKER, STACK(a_run_2, a_abc, a_kernel), 2500000);
    demo_sample(p, 5000, APP, STACK(a_main_3, a_abc), 300000);
    demo_sample(p, 6000, APP, STACK(a_main_3, a_def), 300000);
    demo_sample(p, 7000, WORKER, STACK(a_jit), 1000000);
    demo_sample(p, 8000, HELPER_1, STACK(a_main_1, a_outer_1), 700000);
    demo_sample(p, 9000, HELPER_2, STACK(a_exit), 400000);
    demo_sample(p, 10000, APP, &(const uint32_t){PROFILE_NONE}, 250000);
    demo_sample(p, 11000, APP, STACK(a_main_1, a_outer_1), 1000001);
#undef STACK
}

static void demo_facts(struct profile *profile)
{
    profile_add_event(profile,
                      &(struct profile_event){.name = profile_string(profile, "cpu-clock:u"),
                                              .period = DEMO_PERIOD_NS});
    profile->start_ns = DEMO_START_NS;
    profile->end_ns = DEMO_START_NS + 12000000;
    profile->start_wall_ns = UINT64_C(1700000000123456789);
    profile->product = profile_string(profile, "app");
    profile->command_line = profile_string(profile, "./app --\"fast\"");
    profile->os = profile_string(profile, "Linux 6.1.0 x86_64");
    profile->cpu = profile_string(profile, "Demo CPU @ 3 GHz");
    profile->cpus_online = 8;
    profile_add_note(profile, "engine", "perf-trap");
    profile_add_note(profile, "samples", "12");
    profile_add_note(profile, "wall_ns", "12000000");
    profile_add_note(profile, "lost.ring-full", "3");
    profile_add_note(profile, "lost.busy", "0");
    profile_add_note(profile, "later_ns", "1500");
    profile_add_note(profile, "not_followed.0", "7 \"x\" setuid");
}

/* source_directory: holds demo.c and demo.inc. */
static struct profile *demo_profile(const char *source_directory)
{
    struct demo demo = {.profile = profile_new()};
    if (!demo.profile)
        return NULL;
    snprintf(demo.source, sizeof(demo.source), "%.4000s/demo.c", source_directory);
    snprintf(demo.include, sizeof(demo.include), "%.4000s/demo.inc", source_directory);
    demo_facts(demo.profile);
    demo_libs(&demo);
    demo_people(demo.profile);
    demo_samples(&demo);
    profile_link_stacks(demo.profile);
    return demo.profile;
}

/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/text/log.h"
#include "cli/commands/doctor_rules.h"
#include "cli/commands/doctor_sandbox.h"
#include "cli/tables/command_table.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/options/target_list.h"
#include "cli/snapshot/doctor_target.h"
#include "record/attach/target_probe.h"
#include "record/launch/probe.h"
#include "record/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_engine(const struct record_probe *probe)
{
    if (probe->perf_trap)
        printf("engine         perf-trap: a perf event per process, at any rate\n");
    else
        text_print(stdout, "engine         timer: exact weights, fewer samples; perf-trap: %s\n",
                   probe->perf_trap_reason);
}

static void print_outside(const struct record_probe *probe)
{
    if (probe->perf_ring)
        printf("from outside   perf-ring: running processes; static, Go and musl programs\n");
    else
        text_print(stdout, "from outside   not available: %s\n", probe->perf_ring_reason);
}

static void print_system(void)
{
    struct error error = {{0}};
    int err = target_probe_system(&error);
    text_print(stdout, "whole system   %s\n", err ? error.text : "perf-ring: rec -a");
}

static void print_rate(const struct record_probe *probe)
{
    if (probe->perf_trap && probe->rate_limit && probe->rate_limit < RECORD_FREQUENCY_MAX)
        printf(
            "rate           up to %u samples per CPU second (kernel.perf_event_max_sample_rate)\n",
            probe->rate_limit);
    else if (probe->perf_trap)
        printf("rate           up to %u samples per CPU second\n", RECORD_FREQUENCY_MAX);
    else if (probe->tick_hz)
        printf("rate           up to %u samples per CPU second, the kernel's tick\n",
               probe->tick_hz);
    else
        printf("rate           up to the kernel's tick (rate unknown)\n");
}

static void print_kernel(const struct record_probe *probe)
{
    if (probe->kernel_stacks)
        printf("kernel stacks  recorded with --kernel\n");
    else
        text_print(stdout, "kernel stacks  not available: %s\n", probe->kernel_reason.text);
}

static void print_debug_info(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    bool has_ids = access("/usr/lib/debug/.build-id", R_OK) == 0;
    printf("debug info     %s%s\n",
           has_ids ? "separate debug files in /usr/lib/debug"
                   : "no separate debug files: stripped libraries have exported names only",
           urls && *urls ? "; DEBUGINFOD_URLS is set, used with --debuginfod only" : "");
}

static void print_advice(const struct record_probe *probe)
{
    if (probe->perf_trap)
        printf("to improve     nothing: the best engine is available\n");
    else if (probe->perf_event_paranoid > 2)
        printf("to improve     sudo sysctl kernel.perf_event_paranoid=2 (is %d)\n",
               probe->perf_event_paranoid);
    else
        printf("to improve     allow perf_event_open(): Linux 5.18 or later, in a container a "
               "seccomp\n"
               "               profile with perf_event_open\n");
}

static void print_machine(void)
{
    struct record_probe probe = {0};
    record_probe(&probe);
    print_engine(&probe);
    print_outside(&probe);
    print_system();
    print_rate(&probe);
    print_kernel(&probe);
    doctor_rules_print();
    print_debug_info();
    doctor_sandbox_print();
    print_advice(&probe);
}

static int print_targets(const struct target_list *targets)
{
    int status = STATUS_OK;
    for (size_t i = 0; i < targets->count; i++) {
        struct error error = {{0}};
        if (doctor_target_print(targets->ids[i], &error) == 0)
            continue;
        log_error("%s", error.text);
        status = STATUS_FAILED;
    }
    return status;
}

int cmd_doctor(char *const *words)
{
    struct options options = options_of(words, doctor_command.options);
    struct error error = {{0}};
    struct target_list targets = {0};
    const char *value;
    int id, status = STATUS_OK;
    while ((id = options_next(&options, &value, &error)) == 'p')
        if (target_list_add(&targets, "-p", value, &error) != 0) {
            id = -EINVAL;
            break;
        }
    if (id == OPTIONS_HELP) {
        help_print_command(stdout, &doctor_command);
    } else if (id != 0) {
        log_error("%s", id < 0 ? error.text : "rec doctor takes no arguments but -p PID");
        status = STATUS_FAILED;
    } else if (targets.count) {
        status = print_targets(&targets);
    } else {
        print_machine();
    }
    target_list_free(&targets);
    return status;
}

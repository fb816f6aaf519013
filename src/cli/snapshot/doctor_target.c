/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/doctor_target.h"

#include "base/text/log.h"
#include "record/attach/target_probe.h"
#include "record/launch/exec_target.h"
#include "record/launch/probe.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void print_running(const struct target_facts *facts, pid_t pid)
{
    struct error ring = {{0}}, memory = {{0}};
    int ring_error = target_probe_ring(facts, pid, &ring);
    int memory_error = target_probe_memory(facts, pid, &memory);
    text_print(stdout, "rec -p         %s\n", ring_error ? ring.text : "engine perf-ring");
    text_print(stdout, "rec stacks     %s\n",
               memory_error ? memory.text : "permitted; also rec threads and rec images");
}

/* The engine of `rec -- PROGRAM`. */
static void print_started(const struct record_probe *probe, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (access(path, R_OK) != 0) {
        printf("rec -- ...     unknown: the program's file cannot be read\n");
        return;
    }
    struct exec_target target = exec_target_inspect(path, pid);
    const char *injected =
        probe->perf_trap ? "engine perf-trap, by the injected sampler"
                         : "engine timer, by the injected sampler; perf events are not available";
    if (!target.reason)
        printf("rec -- ...     %s\n", injected);
    else if (target.takes_ring && probe->perf_ring)
        text_print(stdout, "rec -- ...     engine perf-ring: %s\n", target.reason);
    else
        text_print(stdout, "rec -- ...     not recorded: %s\n", target.reason);
}

int doctor_target_print(pid_t pid, struct error *error)
{
    struct target_facts facts = target_facts_read(pid);
    struct record_probe probe = {0};
    if (facts.pid == 0)
        return error_set(error, -ESRCH, "no such process: %d", (int)pid);
    record_probe(&probe);
    text_print(stdout, "process %d (%s), %u %s, uid %u\n", (int)pid, facts.name, facts.threads,
               facts.threads == 1 ? "thread" : "threads", (unsigned)facts.uids.effective);
    print_running(&facts, pid);
    print_started(&probe, pid);
    text_print(stdout, "kernel stacks  %s\n",
               probe.kernel_stacks ? "recorded with --kernel" : probe.kernel_reason.text);
    return 0;
}

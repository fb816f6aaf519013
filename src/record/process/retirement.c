/* SPDX-License-Identifier: MIT */
#include "record/process/retirement.h"

#include "record/process/idle_wakeup.h"
#include "wire/atomic.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const reasons[RETIREMENT_DONE] = {
    [RETIREMENT_SIGNALFD] = "reads the sampler's signal from a signalfd; not sampled from then on",
    [RETIREMENT_CLOCK] =
        "disabled the time stamp counter (PR_SET_TSC, strict seccomp); not sampled from then on",
    [RETIREMENT_TRACED] = "is traced by its parent (PTRACE_TRACEME); not sampled from then on",
};

static void confirm(uint32_t *word)
{
    store_release(word, RETIREMENT_DONE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The event is closed first, and the process released: it waits with the reason at hand (a signalfd
 * to be read, a clock about to be disabled). */
static void retire(struct process_watch *watch, struct process *process, const char *reason)
{
    perf_event_close(&process->event);
    confirm(&process_slot(process)->retirement);
    /* Before the engine is reset: records in the rings may need a map. */
    drain_process(watch->drain, process);
    idle_wakeup_forget(process);
    process->retired_because = reason;
    process->engine = ENGINE_NONE;
    record_add_not_followed(watch->samples->summary, process->pid, process->name, reason);
}

void retirement_answer(struct process_watch *watch)
{
    for (size_t i = 0; i < watch->processes->live_count; i++) {
        struct process *process = process_table_at(watch->processes, i);
        uint32_t *word = &process_slot(process)->retirement;
        uint32_t cause = load_acquire(word);
        if (cause == RETIREMENT_NONE || cause >= RETIREMENT_DONE || process->has_ended)
            continue;
        if (process->engine != ENGINE_NONE)
            retire(watch, process, reasons[cause]);
        else
            confirm(word);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * From the constructor to "sampled" or "inert". Linked -z initfirst: nothing of the program has run
 * yet, not even the C library's own constructors, so the environment is the constructor's argument.
 *
 * Whatever goes wrong here leaves the program alone: the sampler stays inert.
 */
#include "sampler/process/start.h"

#include "sampler/arch/arch.h"
#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/attach.h"
#include "sampler/process/join_request.h"
#include "sampler/process/launcher.h"
#include "sampler/process/own_memory.h"
#include "sampler/process/rusage.h"
#include "sampler/signals/mask.h"
#include "sampler/signals/own_action.h"
#include "sampler/threads/threads.h"
#include "sampler/threads/timer.h"

#include <elf.h>

static bool avoids_sigprof;
static char executable[sizeof(((struct process_slot *)0)->executable)];

/* Behind the environment, as the kernel has put it there. */
static uint64_t find_vdso(char **environment)
{
    while (*environment)
        environment++;
    const Elf64_auxv_t *entry = (const void *)(environment + 1);
    while (entry->a_type != AT_NULL && entry->a_type != AT_SYSINFO_EHDR)
        entry++;
    return entry->a_type == AT_SYSINFO_EHDR ? entry->a_un.a_val : 0;
}

/* For processes without a known vDSO: reading this link takes 12 us. */
static void note_executable(void)
{
    if (process.vdso_avma)
        return;
    long length =
        own_syscall(READ_LINK, AT_FDCWD, "/proc/self/exe", executable, sizeof(executable) - 1);
    executable[raw_failed(length) ? 0 : length] = '\0';
}

/* The memory is new: all other fields are 0. */
static void fill_process(uint64_t start_cpu_ns, uint64_t start_ticks, uint32_t copy_of)
{
    struct process_slot *slot = process.slot;
    slot->pid = process.pid;
    slot->parent_pid = process.parent_pid;
    slot->start_ticks = start_ticks;
    slot->start_cpu_ns = start_cpu_ns;
    slot->copy_of = copy_of;
    slot->children_ns = rusage_of_children_ns();
    own_syscall(GET_NAME, PR_GET_NAME, slot->name);
    slot->vdso_avma = process.vdso_avma;
    slot->memory_avma = (uint64_t)(uintptr_t)process.memory;
    if (!process.vdso_avma)
        arch_copy(slot->executable, executable, sizeof(executable));
}

/* The process has this thread only, which gets a slot before the first signal can arrive. */
static bool bind_main_thread(uint64_t stack_start_avma)
{
    struct thread_state *thread = thread_claim();
    if (!thread)
        return false;
    thread->stack_start_avma = stack_start_avma;
    thread->stack_end_avma = process.main_stack_end_avma;
    thread->accounted_ns = 0;
    thread_bind(thread);
    return true;
}

static void give_up(void)
{
    process.engine = ENGINE_NONE;
    own_action_uninstall();
    if (thread_self) {
        struct thread_state *thread = thread_self;
        thread_self = NULL;
        thread_finish(thread);
    }
}

/* Gives up when the kernel refuses. */
static bool change_signal(int signal)
{
    own_action_uninstall();
    if (own_action_install(signal))
        return true;
    give_up();
    return false;
}

/* The handler must be in place before the launcher arms: SIGTRAP's until the verdict is known. */
static bool prepare(uint64_t stack_start_avma)
{
    bool has_handler = process.signal == SIGTRAP; /* the parent's */
    process.joins++;
    store_release(process_alive, 1);
    process.engine = ENGINE_PERF_TRAP;
    return bind_main_thread(stack_start_avma) && (has_handler || own_action_install(SIGTRAP));
}

static void take_verdict(void)
{
    bool is_answered = load_acquire(&process.slot->state) == PROCESS_ANSWERED;
    process.engine = is_answered ? (enum engine)process.verdict->engine : ENGINE_NONE;
    if (process.engine != ENGINE_NONE)
        process.number = 1 + process.verdict->index;
}

static void join(uint64_t start_cpu_ns, uint64_t start_ticks, uint64_t stack_start_avma)
{
    long memory_fd;
    uint64_t memory_inode;
    uint32_t copy_of = process.number;
    process.number = 0;
    process.pid = (uint32_t)own_syscall(GETPID);
    process.parent_pid = (uint32_t)own_syscall(GETPPID);
    if (launcher_is_stale()) {
        add_relaxed(&process.requests->lost_launcher_away, 1);
        return;
    }
    if (!own_memory_make(&memory_fd, &memory_inode)) {
        join_request_refuse(REQUEST_NO_MEMORY);
        return;
    }
    fill_process(start_cpu_ns, start_ticks, copy_of);
    if (prepare(stack_start_avma))
        join_request_make((uint32_t)memory_fd, memory_inode);
    own_syscall(CLOSE, memory_fd);
    take_verdict();
    if (process.engine == ENGINE_NONE) {
        give_up();
        own_memory_free();
        return;
    }
    if (process.engine == ENGINE_TIMER && !avoids_sigprof && !change_signal(SIGPROF))
        return;
    mask_hide(thread_self);
    timer_start(thread_self);
}

/* A pending signal of the timer arrives before the handler is removed. */
void process_leave_sigprof(void)
{
    struct thread_state *thread = thread_self;
    avoids_sigprof = true;
    if (!process_is_followed() || process.signal != SIGPROF || !thread)
        return;
    timer_stop(thread);
    mask_unhide(thread);
    if (!change_signal(SIGTRAP))
        return;
    mask_hide(thread);
    timer_start(thread);
}

/* The main thread's stack grows down to the limit; without a limit, farther than any program. */
static uint64_t main_stack_start(uint64_t end_avma)
{
    struct rlimit limit = {0};
    own_syscall(STACK_LIMIT, 0, RLIMIT_STACK, 0, &limit);
    uint64_t bytes = limit.rlim_cur;
    if (bytes > UINT64_C(4) << 30)
        bytes = UINT64_C(4) << 30;
    return end_avma > bytes ? end_avma - bytes : 4096;
}

static uint64_t main_stack_start_avma;

void process_join_after_fork(void)
{
    if (!process.tables || seccomp_forbids(CALLS_OF_JOIN))
        return;
    /* A child of a retired process may read the same descriptor, and find the sampler's signals
     * there, or has no clock. */
    bool joins = !process.tables->header.no_inherit && !process.is_retired;
    uint64_t start_ticks = joins ? arch_ticks() : 0;
    /* The child runs on the stack of the thread that forked. */
    struct thread_state *forker = thread_self;
    uint64_t stack_start_avma = forker ? forker->stack_start_avma : main_stack_start_avma;
    if (forker)
        process.main_stack_end_avma = forker->stack_end_avma;
    if (forker)
        mask_unhide(forker);
    main_stack_start_avma = stack_start_avma;
    thread_self = NULL;
    if (process.signal != SIGTRAP)
        own_action_uninstall();
    process.engine = ENGINE_NONE;
    own_memory_forget();
    if (joins)
        join(0, start_ticks, stack_start_avma); /* its clock began at the fork */
    if (process.engine == ENGINE_NONE)
        own_action_uninstall();
}

/* True when a read of the time stamp counter raises SIGSEGV, as in a program executed after
 * PR_SET_TSC. */
static bool clock_is_forbidden(void)
{
    int state = PR_TSC_ENABLE;
    own_syscall(GET_TSC, PR_GET_TSC, &state);
    return state == PR_TSC_SIGSEGV;
}

/* With --no-inherit, only the process of the command. A child may have the variables from an exec
 * that does not pass through the sampler. */
static bool is_recorded(void)
{
    const struct tables_header *header = &process.tables->header;
    return !header->no_inherit || (uint32_t)own_syscall(GETPPID) == header->launcher_pid;
}

__attribute__((constructor)) static void start(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    /* A program calls it where the dynamic linker must not be called. */
    next_symbol(NEXT_INDEX_close);
    process.vdso_avma = find_vdso(environment);
    if (!session_find(environment))
        return;
    uint64_t start_cpu_ns = clock_ns(PROCESS_CLOCK);
    if (clock_is_forbidden())
        return;
    uint64_t start_ticks = arch_ticks();
    if (!session_attach())
        return;
    note_executable();
    next_symbol_find_all();
    process.main_stack_end_avma = (uint64_t)(uintptr_t)environment;
    main_stack_start_avma = main_stack_start(process.main_stack_end_avma);
    pthread_atfork(NULL, NULL, process_join_after_fork);
    if (is_recorded())
        join(start_cpu_ns, start_ticks, main_stack_start_avma);
}

/* SPDX-License-Identifier: MIT */
/*
 * From the constructor to "sampled" or "inert". Linked -z initfirst: nothing of the program has run yet,
 * not even the C library's own constructors, so the environment is the constructor's argument.
 *
 * Whatever goes wrong here leaves the program alone: the sampler stays inert.
 */
#include "sampler/clock.h"
#include "sampler/exec.h"
#include "sampler/raw.h"
#include "sampler/real.h"
#include "sampler/sampler.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

struct process process;
static char executable[sizeof(((struct process_slot *)0)->executable)];
static uint32_t never_alive;
uint32_t *process_alive = &never_alive;

/* What the environment variable says. */
struct invitation {
    uint32_t tables_fd, rings_fd, launcher_pid;
    uint64_t token;
};

static const char *find_variable(char **environment, const char *name)
{
    for (; environment && *environment; environment++) {
        const char *entry = *environment;
        const char *wanted = name;
        while (*wanted && *entry == *wanted) {
            entry++;
            wanted++;
        }
        if (!*wanted && *entry == '=')
            return entry + 1;
    }
    return NULL;
}

/* Digits up to the separator; false when there are none, or something else. */
static bool parse_number(const char **text, unsigned base, char separator, uint64_t *number)
{
    const char *start = *text;
    *number = 0;
    for (;; (*text)++) {
        unsigned c = (unsigned char)**text;
        unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= base)
            break;
        *number = *number * base + digit;
    }
    if (*text == start || **text != separator)
        return false;
    if (separator)
        (*text)++;
    return true;
}

static bool parse_invitation(const char *text, struct invitation *invitation)
{
    uint64_t tables_fd, rings_fd, launcher_pid;
    if (!parse_number(&text, 10, ':', &tables_fd) || !parse_number(&text, 10, ':', &rings_fd) ||
        !parse_number(&text, 10, ':', &launcher_pid) ||
        !parse_number(&text, 16, '\0', &invitation->token))
        return false;
    invitation->tables_fd = (uint32_t)tables_fd;
    invitation->rings_fd = (uint32_t)rings_fd;
    invitation->launcher_pid = (uint32_t)launcher_pid;
    return true;
}

static void *map(long fd, size_t bytes, int protection, int flags)
{
    long result = raw_syscall(SYS_mmap, 0, bytes, protection, flags, fd, 0);
    if (raw_failed(result))
        return NULL;
    /* A sparse mapping would grow a core file by all of its size. */
    raw_syscall(SYS_madvise, result, bytes, MADV_DONTDUMP);
    return (void *)result;
}

static char *append_number(char *out, uint32_t number)
{
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        *out++ = digits[--count];
    return out;
}

static char *append_text(char *out, const char *text)
{
    while (*text)
        *out++ = *text++;
    return out;
}

/* The launcher's own descriptor, for processes that closed the inherited one. */
static long open_from_launcher(uint32_t pid, uint32_t fd, int mode)
{
    char path[48];
    char *end = append_number(append_text(path, "/proc/"), pid);
    end = append_number(append_text(end, "/fd/"), fd);
    *end = '\0';
    /* Another process may have the pid by now, with a pipe or a terminal there. */
    return raw_syscall(SYS_openat, AT_FDCWD, path, mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

/* Both shared mappings begin with magic, version, …, and hold the token. */
static bool is_tables(const struct tables *tables, uint64_t token)
{
    return tables->header.magic == SESSION_MAGIC && tables->header.version == SESSION_VERSION &&
           tables->header.token == token;
}

static bool is_rings(const struct rings *rings, uint64_t token)
{
    return rings->header.magic == SESSION_MAGIC && rings->header.version == SESSION_VERSION &&
           rings->header.token == token;
}

/* A descriptor may be anything by now, and somebody else's: only a file of our size is looked into, and
 * its position is left alone. */
static void *map_file(long fd, size_t bytes, int protection)
{
    struct stat status;
    if (raw_failed(fd) || raw_failed(raw_syscall(SYS_fstat, fd, &status)) ||
        !S_ISREG(status.st_mode) || status.st_size != (off_t)bytes)
        return NULL;
    return map(fd, bytes, protection, MAP_SHARED);
}

static bool attach_from(long tables_fd, long rings_fd, uint64_t token)
{
    struct tables *tables = map_file(tables_fd, sizeof(*tables), PROT_READ);
    struct rings *rings = map_file(rings_fd, sizeof(*rings), PROT_READ | PROT_WRITE);
    if (tables && rings && is_tables(tables, token) && is_rings(rings, token)) {
        process.tables = tables;
        process.rings = rings;
        return true;
    }
    if (tables)
        raw_syscall(SYS_munmap, tables, sizeof(*tables));
    if (rings)
        raw_syscall(SYS_munmap, rings, sizeof(*rings));
    return false;
}

static bool attach(const struct invitation *invitation)
{
    if (attach_from(invitation->tables_fd, invitation->rings_fd, invitation->token))
        return true;
    long tables_fd = open_from_launcher(invitation->launcher_pid, invitation->tables_fd, O_RDONLY);
    long rings_fd = open_from_launcher(invitation->launcher_pid, invitation->rings_fd, O_RDWR);
    bool attached = attach_from(tables_fd, rings_fd, invitation->token);
    if (!raw_failed(tables_fd))
        raw_syscall(SYS_close, tables_fd);
    if (!raw_failed(rings_fd))
        raw_syscall(SYS_close, rings_fd);
    return attached;
}

static bool make_private_memory(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t bytes = sizeof(struct thread_state) * SESSION_THREADS;
    process.threads = map(-1, bytes, PROT_READ | PROT_WRITE, flags);
    uint32_t *alive = map(-1, 4096, PROT_READ | PROT_WRITE, flags);
    if (!process.threads || !alive ||
        raw_failed(raw_syscall(SYS_madvise, alive, 4096, MADV_WIPEONFORK)))
        return false;
    process_alive = alive;
    return true;
}

uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    raw_syscall(SYS_clock_gettime, clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Gone, or one that somebody has waited for in vain since it last gave a sign of life. */
bool launcher_is_stale(void)
{
    uint64_t heartbeat_ticks = load_relaxed(&process.tables->header.heartbeat_ticks);
    return launcher_is_away(arch_ticks()) ||
           load_relaxed(&process.rings->header.deserted_ticks) == heartbeat_ticks;
}

bool process_is_another(void)
{
    return process.slot && process.slot->pid != (uint32_t)raw_syscall(SYS_getpid);
}

static bool claim_process(void)
{
    uint32_t pid = (uint32_t)raw_syscall(SYS_getpid);
    for (uint32_t index = 0; index < SESSION_PROCESSES; index++) {
        struct process_slot *slot = &process.rings->processes[index];
        if (load_relaxed(&slot->state) != PROCESS_FREE ||
            !swap_acq_rel(&slot->state, PROCESS_FREE, PROCESS_CLAIMED))
            continue;
        raise_to(&process.rings->header.processes_used, index + 1);
        slot->pid = pid;
        process.index = index;
        process.slot = slot;
        process.verdict = &process.tables->verdicts[index];
        return true;
    }
    add_relaxed(&process.rings->header.lost_no_slot, 1);
    return false;
}

static void note_executable(void)
{
    long length =
        raw_syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", executable, sizeof(executable) - 1);
    executable[raw_failed(length) ? 0 : length] = '\0';
}

static void fill_process(uint64_t start_cpu_ns, uint64_t start_ticks, uint32_t copy_of)
{
    struct process_slot *slot = process.slot;
    slot->copy_of = copy_of;
    slot->parent_pid = (uint32_t)raw_syscall(SYS_getppid);
    slot->unload_count = 0;
    slot->start_ticks = start_ticks;
    slot->start_cpu_ns = start_cpu_ns;
    slot->children_ns = bills_of_children_ns();
    slot->bill_ns = 0;
    slot->lost_no_thread = 0;
    slot->foreign_signals = 0;
    slot->unknown_count = 0;
    slot->unknown_wanted = 0;
    slot->unknown_seen = 0;
    raw_syscall(SYS_prctl, PR_GET_NAME, slot->name);
    arch_copy(slot->executable, executable, sizeof(executable));
}

/* Running, or waiting for a processor, as opposed to stopped, gone or not to be seen. */
static bool launcher_is_running(void)
{
    char path[48], text[512];
    char *end = append_number(append_text(path, "/proc/"), process.tables->header.launcher_pid);
    *append_text(end, "/stat") = '\0';
    long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (raw_failed(fd))
        return false;
    long length = raw_syscall(SYS_read, fd, text, sizeof(text));
    raw_syscall(SYS_close, fd);
    /* "PID (NAME) STATE …": the name may hold anything, also parentheses. */
    long i = raw_failed(length) ? 0 : length;
    while (i > 0 && text[i - 1] != ')')
        i--;
    char state = i > 0 && i + 1 < length ? text[i + 1] : '?';
    return state == 'R' || state == 'S' || state == 'D';
}

void ring_doorbell(void)
{
    add_release(&process.rings->header.doorbell, 1);
    raw_syscall(SYS_futex, &process.rings->header.doorbell, FUTEX_WAKE, 1);
}

/*
 * A launcher that runs is waited for: on a machine with three times as many busy threads as processors,
 * one start in twelve took longer than SESSION_WAIT_NS to be answered.
 */
bool launcher_await(uint32_t *word, uint32_t value)
{
    uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t deadline_ns = start_ns + SESSION_WAIT_NS;
    ring_doorbell();
    for (;;) {
        uint32_t now = load_acquire(word);
        if ((int32_t)(now - value) >= 0)
            return true;
        uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
        if (time_ns >= deadline_ns) {
            if (time_ns - start_ns >= SESSION_WAIT_BUSY_NS || !launcher_is_running())
                return false;
            deadline_ns = time_ns + SESSION_WAIT_NS;
        }
        struct timespec left = {.tv_nsec = (long)(deadline_ns - time_ns)};
        raw_syscall(SYS_futex, word, FUTEX_WAIT, now, &left);
    }
}

/* Takes the request back when the answer does not come. */
static enum engine ask_launcher(void)
{
    uint32_t *state = &process.slot->state;
    uint64_t heartbeat_ticks = load_relaxed(&process.tables->header.heartbeat_ticks);
    store_release(state, PROCESS_REQUESTED); /* publishes the slot */
    if (!launcher_await(state, PROCESS_ANSWERED) &&
        (swap_acq_rel(state, PROCESS_REQUESTED, PROCESS_WITHDRAWN) ||
         swap_acq_rel(state, PROCESS_TAKEN, PROCESS_WITHDRAWN))) {
        store_relaxed(&process.rings->header.deserted_ticks, heartbeat_ticks);
        return ENGINE_NONE;
    }
    return process.verdict->pid == process.slot->pid ? (enum engine)process.verdict->engine
                                                     : ENGINE_NONE;
}

/* The calling thread is the process' only one: it gets its slot before the first signal can come. */
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
    signals_uninstall();
    if (thread_self) {
        struct thread_state *thread = thread_self;
        thread_self = NULL;
        store_release(&thread->slot->state, THREAD_ENDED);
    }
}

/* The handler must be in place before the launcher arms; which engine it will be is not known yet, so it
 * is SIGTRAP's until the verdict says otherwise. */
static void join(uint64_t start_cpu_ns, uint64_t start_ticks, uint64_t stack_start_avma)
{
    if (launcher_is_stale()) {
        add_relaxed(&process.rings->header.lost_unasked, 1);
        return;
    }
    uint32_t copy_of = process.slot ? 1 + process.index : 0;
    if (!claim_process())
        return;
    fill_process(start_cpu_ns, start_ticks, copy_of);
    process.joins++;
    store_release(process_alive, 1);
    process.engine = ENGINE_PERF_TRAP;
    bool ready = bind_main_thread(stack_start_avma) && signals_install(SIGTRAP);
    enum engine engine = ENGINE_NONE;
    if (ready)
        engine = ask_launcher();
    else
        store_release(&process.slot->state, PROCESS_WITHDRAWN);
    if (engine == ENGINE_NONE) {
        swap_acq_rel(&process.slot->state, PROCESS_ANSWERED, PROCESS_DISMISSED);
        give_up();
        return;
    }
    if (engine == ENGINE_TIMER) {
        signals_uninstall();
        process.engine = ENGINE_TIMER;
        if (!signals_install(SIGPROF)) {
            give_up();
            return;
        }
    }
    masks_hide(thread_self);
    thread_start_timer(thread_self);
}

/* The main thread's stack grows down to its limit; with no limit, farther than anybody goes. */
static uint64_t main_stack_start(uint64_t end_avma)
{
    struct rlimit limit = {0};
    raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit);
    uint64_t bytes = limit.rlim_cur;
    if (bytes > UINT64_C(4) << 30)
        bytes = UINT64_C(4) << 30;
    return end_avma > bytes ? end_avma - bytes : 4096;
}

static uint64_t main_stack_start_avma;

void process_join_after_fork(void)
{
    if (!process.tables || clock_is_forbidden())
        return;
    uint64_t start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t start_ticks = arch_ticks();
    /* The child runs on the stack of the thread that forked. */
    struct thread_state *forker = thread_self;
    uint64_t stack_start_avma = forker ? forker->stack_start_avma : main_stack_start_avma;
    if (forker)
        process.main_stack_end_avma = forker->stack_end_avma;
    if (forker)
        masks_unhide(forker);
    main_stack_start_avma = stack_start_avma;
    thread_self = NULL;
    signals_uninstall();
    process.engine = ENGINE_NONE;
    if (!process.tables->header.no_inherit)
        join(start_cpu_ns, start_ticks, stack_start_avma);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **environment)
{
    uint64_t start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    (void)argc;
    (void)argv;
    if (clock_is_forbidden())
        return;
    uint64_t start_ticks = arch_ticks();
    const char *text = find_variable(environment, SESSION_VARIABLE);
    struct invitation invitation;
    if (!text || !parse_invitation(text, &invitation) || !attach(&invitation))
        return;
    if (!make_private_memory())
        return;
    note_executable();
    inject_remember(environment);
    if (process.tables->header.no_inherit)
        inject_undo(environment);
    real_find_all();
    process.main_stack_end_avma = (uint64_t)(uintptr_t)environment;
    main_stack_start_avma = main_stack_start(process.main_stack_end_avma);
    pthread_atfork(NULL, NULL, process_join_after_fork);
    join(start_cpu_ns, start_ticks, main_stack_start_avma);
    /* Who is not recorded keeps the variables, for children that are started past our functions. */
    if (process.engine != ENGINE_NONE && !process.tables->header.show_environment)
        inject_undo(environment);
}

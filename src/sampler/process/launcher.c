/* SPDX-License-Identifier: MIT */
/* The launcher as seen by the target: existence, and waiting. */
#include "sampler/process/launcher.h"

#include "sampler/arch/arch.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"

#include <sys/stat.h>

/* The launcher has ended, or a wait has failed since its last sign of life. */
bool launcher_is_stale(void)
{
    uint64_t heartbeat_ticks = load_relaxed(&process.tables->header.heartbeat_ticks);
    return launcher_is_away(arch_ticks()) ||
           load_relaxed(&process.requests->deserted_ticks) == heartbeat_ticks;
}

/* In another pid namespace, or without /proc, a live launcher looks like one that has ended. */
static bool launcher_is_hidden(void)
{
    struct stat namespace = {0};
    return raw_failed(own_syscall(STAT, AT_FDCWD, "/proc/self/ns/pid", &namespace, 0)) ||
           (uint32_t) namespace.st_ino != process.tables->header.launcher_namespace;
}

/* Running, or waiting for a processor, as opposed to stopped or gone. */
static bool launcher_is_running(void)
{
    char path[48], text[512];
    char *end = append_number(append_text(path, "/proc/"), process.tables->header.launcher_pid);
    *append_text(end, "/stat") = '\0';
    long fd = own_syscall(OPEN, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (raw_failed(fd))
        return launcher_is_hidden();
    long length = own_syscall(READ, fd, text, sizeof(text));
    own_syscall(CLOSE, fd);
    /* "PID (NAME) STATE …": the name may hold anything, also parentheses. */
    long i = raw_failed(length) ? 0 : length;
    while (i > 0 && text[i - 1] != ')')
        i--;
    char state = i > 0 && i + 1 < length ? text[i + 1] : '?';
    return state == 'R' || state == 'S' || state == 'D';
}

void ring_doorbell(void)
{
    add_release(&process.requests->doorbell, 1);
    own_syscall(FUTEX_WAKE, &process.requests->doorbell, FUTEX_WAKE, 1);
}

/*
 * Wait for a running launcher: on a machine with three times as many busy threads as processors,
 * the reply to one start in twelve took longer than SESSION_WAIT_NS.
 */
bool launcher_await(uint32_t *word, uint32_t value, uint64_t longest_ns)
{
    uint64_t start_ns = clock_ns(CLOCK);
    uint64_t deadline_ns = start_ns + SESSION_WAIT_NS;
    ring_doorbell();
    for (;;) {
        uint32_t now = load_acquire(word);
        if ((int32_t)(now - value) >= 0)
            return true;
        uint64_t time_ns = clock_ns(CLOCK);
        if (time_ns >= deadline_ns) {
            if (time_ns - start_ns >= longest_ns || load_relaxed(&process.tables->header.stop) ||
                !launcher_is_running())
                return false;
            deadline_ns = time_ns + SESSION_WAIT_NS;
        }
        struct timespec left = {.tv_nsec = (long)(deadline_ns - time_ns)};
        own_syscall(FUTEX_WAIT, word, FUTEX_WAIT, now, &left);
    }
}

/* SPDX-License-Identifier: MIT */
#include "record/attach/own_rights.h"

#include "base/files/io.h"
#include "record/launch/perf_event.h"
#include "record/procfs/status_text.h"
#include "record/procfs/sysctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

/* The default of the kernel (kernel/events/core.c). */
#define RING_KILOBYTES 516
/* Inodes of the first namespaces (include/uapi/linux/nsfs.h). */
#define FIRST_USER_NAMESPACE "user:[4026531837]"
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

void own_rights_parse(struct own_rights *own, const char *status)
{
    own->capabilities = status_number(status, "CapEff", 16);
    own->has_filter = status_number(status, "Seccomp", 10) > 0;
}

static int probe_events(void)
{
    int fd = perf_event_probe();
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

static int probe_memory(void)
{
    char from = 0, to;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -errno;
}

static bool is_other_namespace(const char *path, const char *first)
{
    char link[64];
    ssize_t size = readlink(path, link, sizeof(link) - 1);
    link[size < 0 ? 0 : size] = '\0';
    return size > 0 && strcmp(link, first) != 0;
}

static uint64_t locked_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

struct own_rights own_rights_read(void)
{
    struct own_rights own = {
        .pid = getpid(),
        .uid = geteuid(),
        .gid = getegid(),
        .is_in_namespace = is_other_namespace("/proc/self/ns/user", FIRST_USER_NAMESPACE),
        .is_in_pid_namespace = is_other_namespace("/proc/self/ns/pid", FIRST_PID_NAMESPACE),
        .paranoid = sysctl_kernel_read("perf_event_paranoid", 0),
        .ptrace_scope = sysctl_kernel_read("yama/ptrace_scope", 0),
        .events_error = probe_events(),
        .memory_error = probe_memory(),
        .locked_bytes = locked_limit(),
        .ring_kilobytes = sysctl_kernel_read("perf_event_mlock_kb", RING_KILOBYTES),
    };
    struct buffer text = {0};
    if (io_read_file("/proc/self/status", &text, 65536) == 0)
        buffer_u8(&text, 0);
    if (text.size && !text.failed)
        own_rights_parse(&own, (const char *)text.bytes);
    buffer_free(&text);
    return own;
}

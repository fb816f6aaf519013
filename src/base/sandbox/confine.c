/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t address_space_bytes(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm)
        return 0;
    if (fscanf(statm, "%lu", &pages) != 1)
        pages = 0;
    fclose(statm);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Never above the limit in force. */
static int lower(__rlimit_resource_t resource, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return -errno;
    limit.rlim_max = hard < limit.rlim_max ? hard : limit.rlim_max;
    limit.rlim_cur = soft < limit.rlim_cur ? soft : limit.rlim_cur;
    return setrlimit(resource, &limit) == 0 ? 0 : -errno;
}

static int confine_resources(const struct confine_limits *limits)
{
    uint64_t memory_bytes = address_space_bytes() + limits->memory_bytes;
    int err = lower(RLIMIT_CORE, 0, 0);
    if (err == 0)
        err = lower(RLIMIT_FSIZE, 0, 0);
    if (err == 0)
        err =
            lower(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + 1); /* SIGXCPU comes before SIGKILL */
    if (err == 0)
        err = lower(RLIMIT_AS, memory_bytes, memory_bytes);
    return err;
}

/* Called after the change of ids: changing ids clears the signal (prctl(2), PR_SET_PDEATHSIG). */
static int end_with(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return -errno;
    return getppid() == parent ? 0 : -ESRCH;
}

struct confine_support confine_support(void)
{
    return (struct confine_support){.rights_err = confine_rights_are_refused(),
                                    .seccomp_err = confine_calls_are_missing(),
                                    .landlock_abi = confine_files_abi()};
}

int confine_rules(const struct confine_limits *limits)
{
    int abi = confine_files_abi();
    return abi > 0 ? confine_files_rules(abi, limits) : abi;
}

/* The order is fixed. Limits read /proc, withheld by Landlock; a change of ids clears the signal of
 * end_with(); Landlock and seccomp need no_new_privs (landlock(7), seccomp(2)); the filter forbids
 * the calls of all other layers. */
int confine(const struct confine_limits *limits, int rules_fd, pid_t parent)
{
    struct confine_support support = confine_support();
    int err = confine_resources(limits);
    if (err == 0)
        err = confine_rights();
    if (err == 0)
        err = end_with(parent);
    if (err == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        err = -errno;
    if (err == 0 && support.landlock_abi > 0)
        rules_fd = rules_fd < 0 ? confine_rules(limits) : rules_fd;
    if (err == 0 && support.landlock_abi > 0)
        err = rules_fd < 0 ? rules_fd : confine_files(rules_fd);
    if (err == 0 && support.seccomp_err == 0)
        err = confine_calls();
    else if (err == 0 && geteuid() == 0)
        err = -EPERM;
    return err;
}

/* SPDX-License-Identifier: MIT */
/*
 * locks_memory: what mlockall() does to memory that is there and to memory that comes, with every flag, and what it
 * answers when the limit is too small. Without the capability to ignore it.
 */
#include "burn.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES (1u << 20)
#define PAGES (BYTES / 4096)

static void obey_limits(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0)
        exit(2);
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    data[0].permitted &= ~(1u << CAP_IPC_LOCK);
    if (syscall(SYS_capset, &header, data) != 0)
        exit(2);
}

static void set_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    limit.rlim_cur = bytes;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        exit(3); /* less is allowed here */
}

static unsigned locked_kib(void)
{
    char line[256];
    unsigned kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof(line), status))
        sscanf(line, "VmLck: %u", &kib);
    if (status)
        fclose(status);
    return kib;
}

static char *map_some(void)
{
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(2);
    return memory;
}

/* "all", "none" or "some" of it is in memory. */
static const char *resident(char *memory)
{
    unsigned char pages[PAGES];
    unsigned count = 0;
    if (mincore(memory, BYTES, pages) != 0)
        exit(2);
    for (unsigned i = 0; i < PAGES; i++)
        count += pages[i] & 1;
    return count == PAGES ? "all" : count ? "some" : "none";
}

static void lock(int flags, bool is_bare_call)
{
    char *before = map_some();
    errno = 0;
    int result = is_bare_call ? (int)syscall(SYS_mlockall, flags) : mlockall(flags);
    int err = errno;
    unsigned kib = locked_kib();
    char *after = map_some();
    printf("%d%s: %d %d, %s locked, %s before, %s after\n", flags, is_bare_call ? " bare" : "",
           result, err,
           kib == 0      ? "nothing"
           : kib < 16384 ? "little"
                         : "much",
           resident(before), resident(after));
    munlockall();
    printf("then %u KiB\n", locked_kib());
    munmap(before, BYTES);
    munmap(after, BYTES);
}

int main(void)
{
    static const int flags[] = {MCL_CURRENT,
                                MCL_FUTURE,
                                MCL_CURRENT | MCL_FUTURE,
                                MCL_CURRENT | MCL_ONFAULT,
                                MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT,
                                MCL_ONFAULT,
                                0,
                                8};
    obey_limits();
    set_limit(8u << 20);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        lock(flags[i], false);
        lock(flags[i], true);
    }
    set_limit(65536);
    lock(MCL_CURRENT, false);
    set_limit(0);
    lock(MCL_CURRENT, false);
    lock(MCL_CURRENT | MCL_FUTURE, false);
    return burn_until_ns(200000000) == 0;
}

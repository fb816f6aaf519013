/* SPDX-License-Identifier: MIT */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half of an argument: little-endian. */
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)

#define ALLOW_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), ALLOW

/* The call, unless one of these bits is set in the argument. */
#define ALLOW_CALL_WITHOUT(number, argument, bits)                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), LOAD_ARGUMENT(argument), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), REFUSE, ALLOW

#define ALLOW_CALL_ON(number, argument, value)                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), LOAD_ARGUMENT(argument), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), REFUSE, ALLOW

enum { WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };

static int filter_calls(int writable_fd)
{
    const struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        ALLOW_CALL(__NR_pread64),
        ALLOW_CALL(__NR_read),
        ALLOW_CALL_ON(__NR_write, 0, (uint32_t)writable_fd),
        ALLOW_CALL(__NR_brk),
        ALLOW_CALL_WITHOUT(__NR_mmap, 2, PROT_EXEC),
        ALLOW_CALL_WITHOUT(__NR_mprotect, 2, PROT_EXEC),
        ALLOW_CALL(__NR_mremap),
        ALLOW_CALL(__NR_munmap),
        ALLOW_CALL(__NR_madvise),
        ALLOW_CALL_WITHOUT(__NR_openat, 2, WRITING),
        ALLOW_CALL_WITHOUT(__NR_open, 1, WRITING),
        ALLOW_CALL(__NR_close),
        ALLOW_CALL_ON(__NR_fcntl, 1, F_DUPFD_CLOEXEC),
        ALLOW_CALL(__NR_lseek),
        ALLOW_CALL(__NR_fstat),
        ALLOW_CALL(__NR_stat),
        ALLOW_CALL(__NR_lstat),
        ALLOW_CALL(__NR_newfstatat),
        ALLOW_CALL(__NR_statx),
        ALLOW_CALL(__NR_readlink),
        ALLOW_CALL(__NR_readlinkat),
        ALLOW_CALL(__NR_access),
        ALLOW_CALL(__NR_faccessat),
        ALLOW_CALL(__NR_faccessat2),
        ALLOW_CALL(__NR_getdents64),
        ALLOW_CALL(__NR_getcwd),
        ALLOW_CALL(__NR_futex),
        ALLOW_CALL(__NR_sysinfo), /* qsort() asks how much memory there is */
        ALLOW_CALL(__NR_getrandom),
        ALLOW_CALL(__NR_clock_gettime),
        ALLOW_CALL(__NR_getpid),
        ALLOW_CALL(__NR_gettid),
        ALLOW_CALL(__NR_rt_sigprocmask),
        ALLOW_CALL(__NR_sigaltstack), /* the address sanitizer asks where it ends */
        ALLOW_CALL(__NR_rt_sigreturn),
        ALLOW_CALL(__NR_exit),
        ALLOW_CALL(__NR_exit_group),
        REFUSE,
    };
    const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]),
                                       .filter = (struct sock_filter *)filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return -errno;
    return 0;
}

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

/* Never above what the process may have already. */
static int lower(__rlimit_resource_t resource, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return -errno;
    limit.rlim_max = hard < limit.rlim_max ? hard : limit.rlim_max;
    limit.rlim_cur = soft < limit.rlim_cur ? soft : limit.rlim_cur;
    return setrlimit(resource, &limit) == 0 ? 0 : -errno;
}

int confine(const struct confine_limits *limits, int writable_fd)
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
    if (err == 0)
        err = filter_calls(writable_fd);
    return err == -EINVAL || err == -ENOSYS ? 0 : err;
}

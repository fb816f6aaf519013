/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_filter.h"
#include "base/sandbox/confine_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD_ARGUMENT CONFINE_LOAD_ARGUMENT
#define REFUSE CONFINE_REFUSE
#define ALLOW CONFINE_ALLOW

/* Allows the call unless the argument has one of these bits. */
#define ALLOW_CALL_WITHOUT(number, argument, bits)                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), LOAD_ARGUMENT(argument), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), REFUSE, ALLOW

#define ALLOW_CALL_ON(number, argument, value)                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), LOAD_ARGUMENT(argument), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), REFUSE, ALLOW

/* mmap() of private memory without PROT_EXEC. MAP_SHARED is a bit of MAP_SHARED_VALIDATE as
 * well. */
#define ALLOW_PRIVATE_MAPPING                                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 6), LOAD_ARGUMENT(2),      \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 2, 0), LOAD_ARGUMENT(3), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1), REFUSE, ALLOW

/* fcntl(F_DUPFD_CLOEXEC) to a descriptor above fd. The kernel reads the low half of the
 * argument. */
#define ALLOW_DUPLICATE_ABOVE(fd)                                                     \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fcntl, 0, 6), LOAD_ARGUMENT(1),          \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 0, 2), LOAD_ARGUMENT(2), \
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (fd), 1, 0), REFUSE, ALLOW

enum { WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };

static const struct sock_filter by_arguments[] = {
    ALLOW_CALL_ON(__NR_write, 0, CONFINE_ANSWER_FD), ALLOW_PRIVATE_MAPPING,
    ALLOW_CALL_WITHOUT(__NR_mprotect, 2, PROT_EXEC), ALLOW_CALL_WITHOUT(__NR_openat, 2, WRITING),
    ALLOW_CALL_WITHOUT(__NR_open, 1, WRITING),       ALLOW_DUPLICATE_ABOVE(CONFINE_ANSWER_FD),
};

int confine_calls(void)
{
    uint32_t allowed[] = {
        __NR_pread64,        __NR_read,          __NR_brk,        __NR_mremap,     __NR_munmap,
        __NR_madvise,        __NR_close,         __NR_lseek,      __NR_fstat,      __NR_fstatfs,
        __NR_stat,           __NR_lstat,         __NR_newfstatat, __NR_statx,      __NR_readlink,
        __NR_readlinkat,     __NR_access,        __NR_faccessat,  __NR_faccessat2, __NR_getcwd,
        __NR_futex,          __NR_sysinfo, /* qsort() reads the memory size */
        __NR_getrandom,      __NR_clock_gettime, __NR_getpid,     __NR_geteuid,    __NR_gettid,
        __NR_rt_sigprocmask, __NR_sigaltstack, /* AddressSanitizer reads the bounds */
        __NR_rt_sigreturn,   __NR_exit,          __NR_exit_group, __NR_setitimer, /* of its own */
    };
    struct confine_filter filter = confine_filter_start();
    confine_filter_add(&filter, by_arguments, sizeof(by_arguments) / sizeof(by_arguments[0]));
    return confine_filter_install(&filter, allowed, sizeof(allowed) / sizeof(allowed[0]),
                                  SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM);
}

/* EFAULT: the kernel supports filters and has tried to read the program. */
int confine_calls_are_missing(void)
{
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
    return errno == EFAULT ? 0 : -errno;
}

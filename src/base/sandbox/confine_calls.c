/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half of an argument: little-endian. */
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)

#define ALLOW_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), ALLOW

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

int confine_calls(void)
{
    const struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        ALLOW_CALL(__NR_pread64),
        ALLOW_CALL(__NR_read),
        ALLOW_CALL_ON(__NR_write, 0, CONFINE_ANSWER_FD),
        ALLOW_CALL(__NR_brk),
        ALLOW_PRIVATE_MAPPING,
        ALLOW_CALL_WITHOUT(__NR_mprotect, 2, PROT_EXEC),
        ALLOW_CALL(__NR_mremap),
        ALLOW_CALL(__NR_munmap),
        ALLOW_CALL(__NR_madvise),
        ALLOW_CALL_WITHOUT(__NR_openat, 2, WRITING),
        ALLOW_CALL_WITHOUT(__NR_open, 1, WRITING),
        ALLOW_CALL(__NR_close),
        ALLOW_DUPLICATE_ABOVE(CONFINE_ANSWER_FD),
        ALLOW_CALL(__NR_lseek),
        ALLOW_CALL(__NR_fstat),
        ALLOW_CALL(__NR_fstatfs),
        ALLOW_CALL(__NR_stat),
        ALLOW_CALL(__NR_lstat),
        ALLOW_CALL(__NR_newfstatat),
        ALLOW_CALL(__NR_statx),
        ALLOW_CALL(__NR_readlink),
        ALLOW_CALL(__NR_readlinkat),
        ALLOW_CALL(__NR_access),
        ALLOW_CALL(__NR_faccessat),
        ALLOW_CALL(__NR_faccessat2),
        ALLOW_CALL(__NR_getcwd),
        ALLOW_CALL(__NR_futex),
        ALLOW_CALL(__NR_sysinfo), /* qsort() reads the memory size */
        ALLOW_CALL(__NR_getrandom),
        ALLOW_CALL(__NR_clock_gettime),
        ALLOW_CALL(__NR_getpid),
        ALLOW_CALL(__NR_geteuid),
        ALLOW_CALL(__NR_gettid),
        ALLOW_CALL(__NR_rt_sigprocmask),
        ALLOW_CALL(__NR_sigaltstack), /* AddressSanitizer reads the bounds */
        ALLOW_CALL(__NR_rt_sigreturn),
        ALLOW_CALL(__NR_exit),
        ALLOW_CALL(__NR_exit_group),
        REFUSE,
    };
    const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]),
                                       .filter = (struct sock_filter *)filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : -errno;
}

/* EFAULT: the kernel supports filters and has tried to read the program. */
int confine_calls_are_missing(void)
{
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
    return errno == EFAULT ? 0 : -errno;
}

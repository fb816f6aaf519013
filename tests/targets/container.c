/* SPDX-License-Identifier: MIT */
/*
 * container [perf] PROGRAM ARGUMENT…: runs the program under the system calls that Docker's default profile of seccomp
 * leaves to a container on x86-64: those of the table, some by their arguments. All others end with EPERM; clone3()
 * with ENOSYS, so that the C library takes clone(). Capabilities, on which the profile depends, are the caller's matter:
 * this is the profile of one that has CAP_SYS_CHROOT and no other that it asks for; with `perf`, CAP_PERFMON, too.
 *
 * What is allowed: moby/profiles, seccomp/default.json, as of 2026-08.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned allowed[] = {
    SYS_accept, SYS_accept4, SYS_access, SYS_adjtimex, SYS_alarm, SYS_bind, SYS_brk, SYS_capget,
    SYS_capset, SYS_chdir, SYS_chmod, SYS_chown, SYS_clock_adjtime, SYS_clock_getres,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_close_range, SYS_connect,
    SYS_copy_file_range, SYS_creat, SYS_dup, SYS_dup2, SYS_dup3, SYS_epoll_create,
    SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_ctl_old, SYS_epoll_pwait, SYS_epoll_pwait2,
    SYS_epoll_wait, SYS_epoll_wait_old, SYS_eventfd, SYS_eventfd2, SYS_execve, SYS_execveat,
    SYS_exit, SYS_exit_group, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate,
    SYS_fanotify_mark, SYS_fchdir, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_fcntl,
    SYS_fdatasync, SYS_fgetxattr, SYS_flistxattr, SYS_flock, SYS_fork, SYS_fremovexattr,
    SYS_fsetxattr, SYS_fstat, SYS_fstatfs, SYS_fsync, SYS_ftruncate, SYS_futex, SYS_futex_waitv,
    SYS_futimesat, SYS_getcpu, SYS_getcwd, SYS_getdents, SYS_getdents64, SYS_getegid, SYS_geteuid,
    SYS_getgid, SYS_getgroups, SYS_getitimer, SYS_getpeername, SYS_getpgid, SYS_getpgrp, SYS_getpid,
    SYS_getppid, SYS_getpriority, SYS_getrandom, SYS_getresgid, SYS_getresuid, SYS_getrlimit,
    SYS_get_robust_list, SYS_getrusage, SYS_getsid, SYS_getsockname, SYS_getsockopt,
    SYS_get_thread_area, SYS_gettid, SYS_gettimeofday, SYS_getuid, SYS_getxattr,
    SYS_inotify_add_watch, SYS_inotify_init, SYS_inotify_init1, SYS_inotify_rm_watch, SYS_io_cancel,
    SYS_ioctl, SYS_io_destroy, SYS_io_getevents, SYS_io_pgetevents, SYS_ioprio_get, SYS_ioprio_set,
    SYS_io_setup, SYS_io_submit, SYS_kill, SYS_landlock_add_rule, SYS_landlock_create_ruleset,
    SYS_landlock_restrict_self, SYS_lchown, SYS_lgetxattr, SYS_link, SYS_linkat, SYS_listen,
    SYS_listxattr, SYS_llistxattr, SYS_lremovexattr, SYS_lseek, SYS_lsetxattr, SYS_lstat,
    SYS_madvise, SYS_membarrier, SYS_memfd_create, SYS_memfd_secret, SYS_mincore, SYS_mkdir,
    SYS_mkdirat, SYS_mknod, SYS_mknodat, SYS_mlock, SYS_mlock2, SYS_mlockall, SYS_mmap,
    SYS_mprotect, SYS_mq_getsetattr, SYS_mq_notify, SYS_mq_open, SYS_mq_timedreceive,
    SYS_mq_timedsend, SYS_mq_unlink, SYS_mremap, SYS_msgctl, SYS_msgget, SYS_msgrcv, SYS_msgsnd,
    SYS_msync, SYS_munlock, SYS_munlockall, SYS_munmap, SYS_name_to_handle_at, SYS_nanosleep,
    SYS_newfstatat, SYS_open, SYS_openat, SYS_openat2, SYS_pause, SYS_pidfd_open,
    SYS_pidfd_send_signal, SYS_pipe, SYS_pipe2, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect,
    SYS_poll, SYS_ppoll, SYS_prctl, SYS_pread64, SYS_preadv, SYS_preadv2, SYS_prlimit64,
    SYS_process_mrelease, SYS_pselect6, SYS_pwrite64, SYS_pwritev, SYS_pwritev2, SYS_read,
    SYS_readahead, SYS_readlink, SYS_readlinkat, SYS_readv, SYS_recvfrom, SYS_recvmmsg, SYS_recvmsg,
    SYS_remap_file_pages, SYS_removexattr, SYS_rename, SYS_renameat, SYS_renameat2,
    SYS_restart_syscall, SYS_rmdir, SYS_rseq, SYS_rt_sigaction, SYS_rt_sigpending,
    SYS_rt_sigprocmask, SYS_rt_sigqueueinfo, SYS_rt_sigreturn, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_rt_tgsigqueueinfo, SYS_sched_getaffinity, SYS_sched_getattr,
    SYS_sched_getparam, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
    SYS_sched_getscheduler, SYS_sched_rr_get_interval, SYS_sched_setaffinity, SYS_sched_setattr,
    SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_yield, SYS_seccomp, SYS_select,
    SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_sendfile, SYS_sendmmsg, SYS_sendmsg,
    SYS_sendto, SYS_setfsgid, SYS_setfsuid, SYS_setgid, SYS_setgroups, SYS_setitimer, SYS_setpgid,
    SYS_setpriority, SYS_setregid, SYS_setresgid, SYS_setresuid, SYS_setreuid, SYS_setrlimit,
    SYS_set_robust_list, SYS_setsid, SYS_setsockopt, SYS_set_thread_area, SYS_set_tid_address,
    SYS_setuid, SYS_setxattr, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_shmget, SYS_shutdown,
    SYS_sigaltstack, SYS_signalfd, SYS_signalfd4, SYS_socketpair, SYS_splice, SYS_stat, SYS_statfs,
    SYS_statx, SYS_symlink, SYS_symlinkat, SYS_sync, SYS_sync_file_range, SYS_syncfs, SYS_sysinfo,
    SYS_tee, SYS_tgkill, SYS_time, SYS_timer_create, SYS_timer_delete, SYS_timer_getoverrun,
    SYS_timer_gettime, SYS_timer_settime, SYS_timerfd_create, SYS_timerfd_gettime,
    SYS_timerfd_settime, SYS_times, SYS_tkill, SYS_truncate, SYS_umask, SYS_uname, SYS_unlink,
    SYS_unlinkat, SYS_utime, SYS_utimensat, SYS_utimes, SYS_vfork, SYS_vmsplice, SYS_wait4,
    SYS_waitid, SYS_write, SYS_writev, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_arch_prctl, SYS_modify_ldt, SYS_chroot,
    /* Newer than the headers of some: uretprobe, cachestat, fchmodat2, map_shadow_stack, futex_wake, futex_wait,
     * futex_requeue, statmount, listmount, mseal, setxattrat, getxattrat, listxattrat, removexattrat. */
    335, 451, 452, 453, 454, 455, 456, 457, 458, 462, 463, 464, 465, 466};
enum { ALLOWED = sizeof(allowed) / sizeof(allowed[0]), OTHER_CODE = 64 };

static const unsigned personalities[] = {0, 8, 0x20000, 0x20008, 0xffffffff};
enum { PERSONALITIES = sizeof(personalities) / sizeof(personalities[0]) };
#define CLONE_NAMESPACES 0x7e020000u

static const unsigned refuse = SECCOMP_RET_ERRNO | EPERM;
static struct sock_filter code[2 * ALLOWED + OTHER_CODE];
static unsigned short used;

static void add(unsigned short operation, unsigned value)
{
    code[used++] = (struct sock_filter)BPF_STMT(operation, value);
}

/* Ends with that action when the test holds for the word that was loaded. */
static void add_action(unsigned short test, unsigned value, unsigned action)
{
    code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | test, value, 0, 1);
    add(BPF_RET | BPF_K, action);
}

/* What is added up to end_call() is for that system call alone, whose first argument is loaded. */
static unsigned short begin_call(unsigned number)
{
    unsigned short start = used;
    code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | BPF_JEQ, number, 0, 0);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
    return start;
}

static void end_call(unsigned short start, unsigned action)
{
    add(BPF_RET | BPF_K, action);
    code[start].jf = (unsigned char)(used - start - 1);
}

static void make_filter(int has_perf)
{
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
    add(BPF_RET | BPF_K, refuse);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < ALLOWED; i++)
        add_action(BPF_JEQ, allowed[i], SECCOMP_RET_ALLOW);
    if (has_perf)
        add_action(BPF_JEQ, SYS_perf_event_open, SECCOMP_RET_ALLOW);
    add_action(BPF_JEQ, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    unsigned short start = begin_call(SYS_clone);
    add_action(BPF_JSET, CLONE_NAMESPACES, refuse);
    end_call(start, SECCOMP_RET_ALLOW);
    start = begin_call(SYS_socket);
    add_action(BPF_JEQ, AF_ALG, refuse);
    add_action(BPF_JEQ, AF_VSOCK, refuse);
    end_call(start, SECCOMP_RET_ALLOW);
    start = begin_call(SYS_personality);
    for (int i = 0; i < PERSONALITIES; i++)
        add_action(BPF_JEQ, personalities[i], SECCOMP_RET_ALLOW);
    end_call(start, refuse);
    add(BPF_RET | BPF_K, refuse);
}

int main(int argc, char **argv)
{
    int has_perf = argc > 1 && strcmp(argv[1], "perf") == 0;
    char **program = argv + 1 + has_perf;
    if (argc < 2 + has_perf)
        return 98;
    make_filter(has_perf);
    struct sock_fprog filter = {.len = used, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 97;
    execvp(program[0], program);
    return 127;
}

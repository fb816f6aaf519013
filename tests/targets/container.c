/* SPDX-License-Identifier: MIT */
/*
 * container PROGRAM ARGUMENT…: runs the program with what the usual profile of containers forbids to processes
 * without capabilities: EPERM for system calls of administrators, tracers, and perf; ENOSYS for those that are too
 * new for the profile, clone3() among them.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int forbidden[] = {
    SYS_acct,
    SYS_add_key,
    SYS_bpf,
    SYS_chroot,
    SYS_clock_adjtime,
    SYS_clock_settime,
    SYS_create_module,
    SYS_delete_module,
    SYS_finit_module,
    SYS_fanotify_init,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_get_kernel_syms,
    SYS_init_module,
    SYS_ioperm,
    SYS_iopl,
    SYS_kcmp,
    SYS_kexec_file_load,
    SYS_kexec_load,
    SYS_keyctl,
    SYS_lookup_dcookie,
    SYS_mbind,
    SYS_mount,
    SYS_move_mount,
    SYS_move_pages,
    SYS_nfsservctl,
    SYS_open_by_handle_at,
    SYS_open_tree,
    SYS_perf_event_open,
    SYS_personality,
    SYS_pivot_root,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_query_module,
    SYS_quotactl,
    SYS_reboot,
    SYS_request_key,
    SYS_set_mempolicy,
    SYS_get_mempolicy,
    SYS_setns,
    SYS_settimeofday,
    SYS_swapoff,
    SYS_swapon,
    SYS_sysfs,
    SYS__sysctl,
    SYS_umount2,
    SYS_unshare,
    SYS_uselib,
    SYS_userfaultfd,
    SYS_ustat,
    SYS_vhangup,
    SYS_syslog,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_pidfd_getfd,
    SYS_mount_setattr,
};
enum { COUNT = sizeof(forbidden) / sizeof(forbidden[0]) };

static struct sock_filter statement(unsigned code, unsigned value)
{
    return (struct sock_filter)BPF_STMT((unsigned short)code, value);
}

int main(int argc, char **argv)
{
    struct sock_filter code[2 * COUNT + 4];
    unsigned short used = 0;
    if (argc < 2)
        return 98;
    code[used++] = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++) {
        code[used++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden[i], 0, 1);
        code[used++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
    code[used++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    code[used++] = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = used, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 97;
    execvp(argv[1], argv + 1);
    return 127;
}

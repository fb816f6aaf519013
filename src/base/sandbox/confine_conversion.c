/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_conversion.h"

#include "base/files/sudo_user.h"
#include "base/sandbox/confine_filter.h"
#include "base/sandbox/confine_internal.h"

#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD_ARGUMENT CONFINE_LOAD_ARGUMENT
#define REFUSE CONFINE_REFUSE
#define ALLOW CONFINE_ALLOW

/* ioctl() that types into the terminal, for the shell to run (ioctl_tty(2)): newer kernels refuse
 * unless dev.tty.legacy_tiocsti is set; and that changes flags of a file, such as "immutable". */
#define REFUSE_IOCTL                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 7), LOAD_ARGUMENT(1),  \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 3, 0),                   \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 2, 0),                 \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)FS_IOC_SETFLAGS, 1, 0), \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)FS_IOC_FSSETXATTR, 0, 1), REFUSE, ALLOW

enum { X32_BIT = 0x40000000 }; /* __X32_SYSCALL_BIT, arch/x86/include/uapi/asm/unistd.h */

/* arch/x86/entry/syscalls/syscall_64.tbl, Linux 6.18; headers of older kernels lack them. */
enum {
    CALL_FCHMODAT2 = 452,
    CALL_SETXATTRAT = 463,
    CALL_REMOVEXATTRAT = 466,
    CALL_OPEN_TREE_ATTR = 467,
    CALL_FILE_SETATTR = 469,
};

#ifdef __SANITIZE_ADDRESS__ /* LeakSanitizer traces its own process at exit */
#define CALL_OF_TRACERS __NR_process_vm_writev
#else
#define CALL_OF_TRACERS __NR_ptrace
#endif

static const uint32_t refused[] = {
    /* Programs and other processes. */
    __NR_execve,
    __NR_execveat,
    CALL_OF_TRACERS,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_pidfd_getfd,
    /* Sockets; socketpair() connects workers. */
    __NR_socket,
    __NR_connect,
    __NR_bind,
    /* Changes of files outside of the reach of Landlock. */
    __NR_chmod,
    __NR_fchmod,
    __NR_fchmodat,
    CALL_FCHMODAT2,
    __NR_chown,
    __NR_lchown,
    __NR_fchownat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    CALL_SETXATTRAT,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    CALL_REMOVEXATTRAT,
    CALL_FILE_SETATTR,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
    __NR_utimensat,
    __NR_open_by_handle_at,
    /* The system. */
    __NR_mount,
    __NR_umount2,
    __NR_move_mount,
    __NR_open_tree,
    CALL_OPEN_TREE_ATTR,
    __NR_mount_setattr,
    __NR_fsopen,
    __NR_fspick,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_pivot_root,
    __NR_chroot,
    __NR_setns,
    __NR_unshare,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_kexec_load,
    __NR_kexec_file_load,
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_acct,
    __NR_quotactl,
    __NR_quotactl_fd,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_adjtimex,
    __NR_clock_adjtime,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_syslog,
    __NR_fanotify_init,
    __NR_iopl,
    __NR_ioperm,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_io_uring_setup,
    __NR_add_key,
    __NR_request_key,
    __NR_keyctl,
};

static const struct sock_filter by_arguments[] = {
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
    REFUSE,
    REFUSE_IOCTL,
};

/* Of files by descriptor: to the caller of sudo only, as new outputs are given. */
static void confine_changes_of_owner(struct confine_filter *filter)
{
    const struct sudo_user user = sudo_user_find();
    const struct sock_filter to_user[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fchown, 0, 6),
        LOAD_ARGUMENT(1),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, user.uid, 0, 2),
        LOAD_ARGUMENT(2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, user.gid, 1, 0),
        REFUSE,
        ALLOW,
    };
    const struct sock_filter to_none[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fchown, 0, 1),
        REFUSE,
    };
    if (user.is_known)
        confine_filter_add(filter, to_user, sizeof(to_user) / sizeof(to_user[0]));
    else
        confine_filter_add(filter, to_none, sizeof(to_none) / sizeof(to_none[0]));
}

static int confine_own_calls(void)
{
    uint32_t calls[sizeof(refused) / sizeof(refused[0])];
    memcpy(calls, refused, sizeof(refused));
    struct confine_filter filter = confine_filter_start();
    confine_filter_add(&filter, by_arguments, sizeof(by_arguments) / sizeof(by_arguments[0]));
    confine_changes_of_owner(&filter);
    return confine_filter_install(&filter, calls, sizeof(calls) / sizeof(calls[0]),
                                  SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
}

static int confine_own_files(const int *directories, size_t count)
{
    int abi = confine_files_abi();
    int rules_fd = abi > 0 ? confine_files_output_rules(abi, directories, count) : abi;
    if (abi <= 0)
        return 0; /* reported by confine_gap() */
    return rules_fd < 0 ? rules_fd : confine_files(rules_fd);
}

int confine_conversion(const int *directories, size_t count)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    int err = confine_own_files(directories, count);
    if (err || confine_calls_are_missing()) /* the latter is reported by confine_gap() */
        return err;
    return confine_own_calls();
}

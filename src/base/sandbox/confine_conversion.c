/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_conversion.h"

#include "base/files/sudo_user.h"
#include "base/sandbox/confine_internal.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), REFUSE

/* The low half: ids and requests have 32 bits. */
#define LOAD_ARGUMENT(number) LOAD(args[number])
/* ioctl() that types into the terminal, for the shell to run (ioctl_tty(2)): newer kernels refuse
 * unless dev.tty.legacy_tiocsti is set; and that changes flags of a file, such as "immutable". */
#define REFUSE_IOCTL                                                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 7), LOAD_ARGUMENT(1),            \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 3, 0),                             \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 2, 0),                           \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)FS_IOC_SETFLAGS, 1, 0),           \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)FS_IOC_FSSETXATTR, 0, 1), REFUSE, \
        RETURN(SECCOMP_RET_ALLOW)

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
#define REFUSE_PTRACE REFUSE_CALL(__NR_process_vm_writev)
#else
#define REFUSE_PTRACE REFUSE_CALL(__NR_ptrace)
#endif

static const struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
    REFUSE,
    REFUSE_IOCTL,
    /* Programs and other processes. */
    REFUSE_CALL(__NR_execve),
    REFUSE_CALL(__NR_execveat),
    REFUSE_PTRACE,
    REFUSE_CALL(__NR_process_vm_readv),
    REFUSE_CALL(__NR_process_vm_writev),
    REFUSE_CALL(__NR_pidfd_getfd),
    /* Sockets; socketpair() connects workers. */
    REFUSE_CALL(__NR_socket),
    REFUSE_CALL(__NR_connect),
    REFUSE_CALL(__NR_bind),
    /* Changes of files outside of the reach of Landlock. */
    REFUSE_CALL(__NR_chmod),
    REFUSE_CALL(__NR_fchmod),
    REFUSE_CALL(__NR_fchmodat),
    REFUSE_CALL(CALL_FCHMODAT2),
    REFUSE_CALL(__NR_chown),
    REFUSE_CALL(__NR_lchown),
    REFUSE_CALL(__NR_fchownat),
    REFUSE_CALL(__NR_setxattr),
    REFUSE_CALL(__NR_lsetxattr),
    REFUSE_CALL(__NR_fsetxattr),
    REFUSE_CALL(CALL_SETXATTRAT),
    REFUSE_CALL(__NR_removexattr),
    REFUSE_CALL(__NR_lremovexattr),
    REFUSE_CALL(__NR_fremovexattr),
    REFUSE_CALL(CALL_REMOVEXATTRAT),
    REFUSE_CALL(CALL_FILE_SETATTR),
    REFUSE_CALL(__NR_utime),
    REFUSE_CALL(__NR_utimes),
    REFUSE_CALL(__NR_futimesat),
    REFUSE_CALL(__NR_utimensat),
    REFUSE_CALL(__NR_open_by_handle_at),
    /* The system. */
    REFUSE_CALL(__NR_mount),
    REFUSE_CALL(__NR_umount2),
    REFUSE_CALL(__NR_move_mount),
    REFUSE_CALL(__NR_open_tree),
    REFUSE_CALL(CALL_OPEN_TREE_ATTR),
    REFUSE_CALL(__NR_mount_setattr),
    REFUSE_CALL(__NR_fsopen),
    REFUSE_CALL(__NR_fspick),
    REFUSE_CALL(__NR_fsconfig),
    REFUSE_CALL(__NR_fsmount),
    REFUSE_CALL(__NR_pivot_root),
    REFUSE_CALL(__NR_chroot),
    REFUSE_CALL(__NR_setns),
    REFUSE_CALL(__NR_unshare),
    REFUSE_CALL(__NR_init_module),
    REFUSE_CALL(__NR_finit_module),
    REFUSE_CALL(__NR_delete_module),
    REFUSE_CALL(__NR_kexec_load),
    REFUSE_CALL(__NR_kexec_file_load),
    REFUSE_CALL(__NR_reboot),
    REFUSE_CALL(__NR_swapon),
    REFUSE_CALL(__NR_swapoff),
    REFUSE_CALL(__NR_acct),
    REFUSE_CALL(__NR_quotactl),
    REFUSE_CALL(__NR_quotactl_fd),
    REFUSE_CALL(__NR_settimeofday),
    REFUSE_CALL(__NR_clock_settime),
    REFUSE_CALL(__NR_adjtimex),
    REFUSE_CALL(__NR_clock_adjtime),
    REFUSE_CALL(__NR_sethostname),
    REFUSE_CALL(__NR_setdomainname),
    REFUSE_CALL(__NR_syslog),
    REFUSE_CALL(__NR_fanotify_init),
    REFUSE_CALL(__NR_iopl),
    REFUSE_CALL(__NR_ioperm),
    REFUSE_CALL(__NR_bpf),
    REFUSE_CALL(__NR_perf_event_open),
    REFUSE_CALL(__NR_userfaultfd),
    REFUSE_CALL(__NR_io_uring_setup),
    REFUSE_CALL(__NR_add_key),
    REFUSE_CALL(__NR_request_key),
    REFUSE_CALL(__NR_keyctl),
    RETURN(SECCOMP_RET_ALLOW),
};

static int install(const struct sock_filter *instructions, size_t count)
{
    const struct sock_fprog program = {.len = (unsigned short)count,
                                       .filter = (struct sock_filter *)instructions};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : -errno;
}

/* Of files by descriptor: to the caller of sudo only, as new outputs are given. */
static int confine_changes_of_owner(void)
{
    const struct sudo_user user = sudo_user_find();
    const struct sock_filter to_user[] = {
        LOAD(nr),         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fchown, 0, 5),
        LOAD_ARGUMENT(1), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, user.uid, 0, 2),
        LOAD_ARGUMENT(2), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, user.gid, 1, 0),
        REFUSE,           RETURN(SECCOMP_RET_ALLOW),
    };
    const struct sock_filter to_none[] = {LOAD(nr), REFUSE_CALL(__NR_fchown),
                                          RETURN(SECCOMP_RET_ALLOW)};
    return user.is_known ? install(to_user, sizeof(to_user) / sizeof(to_user[0]))
                         : install(to_none, sizeof(to_none) / sizeof(to_none[0]));
}

static int confine_own_calls(void)
{
    int err = confine_changes_of_owner();
    return err ? err : install(filter, sizeof(filter) / sizeof(filter[0]));
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

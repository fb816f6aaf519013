/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_conversion.h"

#include "base/sandbox/confine_internal.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
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

/* ioctl() that types into the terminal, for the shell to run (ioctl_tty(2)). Newer kernels refuse
 * unless dev.tty.legacy_tiocsti is set. */
#define REFUSE_TYPING                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 5),                                         \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])), /* low half */ \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0),                                        \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 1), REFUSE, RETURN(SECCOMP_RET_ALLOW)

enum { X32_BIT = 0x40000000 }; /* __X32_SYSCALL_BIT, arch/x86/include/uapi/asm/unistd.h */

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
    REFUSE_TYPING,
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
    REFUSE_CALL(__NR_fchmodat),
    REFUSE_CALL(__NR_chown),
    REFUSE_CALL(__NR_lchown),
    REFUSE_CALL(__NR_fchownat),
    REFUSE_CALL(__NR_setxattr),
    REFUSE_CALL(__NR_lsetxattr),
    REFUSE_CALL(__NR_fsetxattr),
    REFUSE_CALL(__NR_utimensat),
    REFUSE_CALL(__NR_open_by_handle_at),
    /* The system. */
    REFUSE_CALL(__NR_mount),
    REFUSE_CALL(__NR_umount2),
    REFUSE_CALL(__NR_move_mount),
    REFUSE_CALL(__NR_open_tree),
    REFUSE_CALL(__NR_fsopen),
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

static int confine_own_calls(void)
{
    const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]),
                                       .filter = (struct sock_filter *)filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : -errno;
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

/* SPDX-License-Identifier: MIT */
/*
 * filtered_shell HOW: forbids itself getrusage(), which a shell does not call, and runs a shell by
 * system(), popen() or a bare system call. Exits with the shell's status, 7.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND "exit 7"

static int install_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_SECCOMP, 2, &filter, 0, 0);
}

static int run_bare(void)
{
    static const char *const words[] = {"sh", "-c", COMMAND, NULL};
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        /* Inline: the library's syscall() is interposed as well. */
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_execve), "D"("/bin/sh"), "S"(words), "d"(environ)
                         : "rcx", "r11", "memory");
        _exit(9);
    }
    waitpid(pid, &status, 0);
    return status;
}

static int run_shell(const char *how)
{
    if (strcmp(how, "system") == 0)
        return system(COMMAND);
    if (strcmp(how, "popen") == 0)
        return pclose(popen(COMMAND, "r"));
    return run_bare();
}

int main(int count, char **words)
{
    if (count != 2 || install_filter() != 0)
        return 2;
    int status = run_shell(words[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

/* SPDX-License-Identifier: MIT */
/* no_vdso PROGRAM ARGUMENT...: executes a program that is told of no vDSO, as under kernels that have none. */
#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t word_at(pid_t pid, uint64_t avma)
{
    return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, avma, NULL);
}

/* The words up to a zero, and that. */
static uint64_t past_list(pid_t pid, uint64_t avma)
{
    while (word_at(pid, avma))
        avma += 8;
    return avma + 8;
}

/* At the program's first instruction its stack holds its arguments, its environment and its auxiliary vector. */
static int hide_vdso(pid_t pid)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) != 0)
        return -1;
    uint64_t environment_avma = past_list(pid, registers.rsp + 8);
    uint64_t entry_avma = past_list(pid, environment_avma);
    for (uint64_t type; (type = word_at(pid, entry_avma)) != AT_NULL; entry_avma += 16)
        if (type == AT_SYSINFO_EHDR)
            return (int)ptrace(PTRACE_POKEDATA, pid, entry_avma, (long)AT_IGNORE);
    return -1;
}

#define CODE_OF_PERF 6 /* TRAP_PERF, of Linux 5.13 */

/* Stops for samples come before that for execve(), whose SIGTRAP is of no other kind. */
static bool wait_for_exec(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        siginfo_t info;
        int signal = WSTOPSIG(status);
        if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) != 0)
            return false;
        if (signal == SIGTRAP && info.si_code != CODE_OF_PERF)
            return true;
        if (ptrace(PTRACE_CONT, pid, NULL, (long)signal) != 0)
            return false;
    }
    return false;
}

int main(int argc, char **argv)
{
    int status = -1;
    pid_t pid = argc > 1 ? fork() : -1;
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || !wait_for_exec(pid) || hide_vdso(pid) != 0) {
        fprintf(stderr, "no vDSO was found\n");
        if (pid > 0)
            kill(pid, SIGKILL);
        return 1;
    }
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

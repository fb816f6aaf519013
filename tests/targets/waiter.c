/* SPDX-License-Identifier: MIT */
/*
 * waiter HOW COUNT: starts that many programs, one after the other, and waits for each. What they use is mostly
 * memory that the kernel has to take back at their end.
 *
 *     wait, waitpid, waitid, wait3, wait4    this call waits for the program
 *     system, pclose                         it waits for a process that runs the program by this call
 *     cancelled                              a thread that waits by waitid() is cancelled
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_BYTES (24u << 20)

static int use_memory(void)
{
    char *memory = malloc(MEMORY_BYTES);
    if (!memory)
        return 95;
    for (size_t i = 0; i < MEMORY_BYTES; i += 4096)
        *(volatile char *)(memory + i) = 1;
    return 0;
}

static int run(const char *how, const char *command)
{
    if (strcmp(how, "system") == 0)
        return system(command);
    if (strcmp(how, "pclose") == 0)
        return pclose(popen(command, "r"));
    return execl("/proc/self/exe", "waiter", (char *)NULL);
}

static pid_t wait_by_id(pid_t pid, int *status)
{
    siginfo_t info;
    int err = waitid(P_PID, (id_t)pid, &info, WEXITED);
    *status = info.si_status;
    return err ? -1 : info.si_pid;
}

static void *wait_for_ever(void *pid)
{
    int status;
    wait_by_id(*(pid_t *)pid, &status);
    return NULL;
}

static int cancel_a_wait(void)
{
    pthread_t thread;
    void *result = NULL;
    pid_t pid = fork();
    if (pid == 0)
        _exit(pause());
    if (pid < 0 || pthread_create(&thread, NULL, wait_for_ever, &pid) != 0)
        return 96;
    usleep(20000); /* it waits by then, most times */
    pthread_cancel(thread);
    pthread_join(thread, &result);
    kill(pid, SIGKILL);
    return result == PTHREAD_CANCELED && waitpid(pid, NULL, 0) == pid ? 0 : 95;
}

static pid_t wait_by(const char *how, pid_t pid, int *status)
{
    struct rusage usage;
    if (strcmp(how, "wait") == 0)
        return wait(status);
    if (strcmp(how, "waitid") == 0)
        return wait_by_id(pid, status);
    if (strcmp(how, "wait3") == 0)
        return wait3(status, 0, NULL);
    if (strcmp(how, "wait4") == 0)
        return wait4(pid, status, 0, &usage);
    return waitpid(pid, status, 0);
}

int main(int argc, char **argv)
{
    char command[4200];
    if (argc < 3)
        return use_memory();
    if (strcmp(argv[1], "cancelled") == 0)
        return cancel_a_wait();
    snprintf(command, sizeof(command), "exec '%s'", argv[0]);
    for (long count = strtol(argv[2], NULL, 10); count > 0; count--) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
            _exit(run(argv[1], command) != 0);
        if (pid < 0 || wait_by(argv[1], pid, &status) != pid || status != 0)
            return 97;
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* cancelled: a thread is cancelled while it waits in system(); then says what the environment is. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_for_shell(void *argument)
{
    return (void *)(long)system((const char *)argument);
}

int main(void)
{
    int ends[2];
    char command[64], byte;
    pthread_t thread;
    void *result;
    if (pipe(ends) != 0)
        return 1;
    snprintf(command, sizeof(command), "echo >&%d; exec sleep 100", ends[1]);
    if (pthread_create(&thread, NULL, wait_for_shell, command) != 0 || read(ends[0], &byte, 1) != 1)
        return 2;
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "went on");
    for (char **entry = environ; *entry; entry++)
        puts(*entry);
    return fflush(stdout) != 0 || system("env") != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * environment_beside HOW: changes the environment by that function while another thread waits in system(). Then says
 * what it is, and what a shell gets.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_START_US = 100000 };

extern char **environ;

static void *wait_for_shell(void *nothing)
{
    (void)!system("sleep 0.3");
    return nothing;
}

static int change(const char *how)
{
    static char entry[] = "PATH_TO=nowhere";
    if (strcmp(how, "setenv") == 0)
        return setenv("HOME", "/elsewhere", 1) | setenv("NEW", "1", 1);
    if (strcmp(how, "unsetenv") == 0)
        return unsetenv("HOME");
    if (strcmp(how, "putenv") == 0)
        return putenv(entry);
    return clearenv();
}

static void print_environment(void)
{
    for (char **entry = environ; entry && *entry; entry++)
        puts(*entry);
    fflush(stdout);
}

int main(int count, char **words)
{
    pthread_t waiting;
    if (count != 2 || pthread_create(&waiting, NULL, wait_for_shell, NULL) != 0)
        return 2;
    usleep(HEAD_START_US);
    int result = change(words[1]);
    print_environment();
    pthread_join(waiting, NULL);
    print_environment();
    return result | system("env");
}

/* SPDX-License-Identifier: MIT */
/* Creates 3 threads that wait, executes itself once, creates 3 again, and ends. */
#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *argument)
{
    pause();
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
            return 1;
    usleep(30000);
    if (argc == 1)
        execl(argv[0], argv[0], "again", (char *)NULL);
    return argc != 2;
}

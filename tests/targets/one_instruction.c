/* SPDX-License-Identifier: MIT */
/* one_instruction MILLISECONDS: a jump to itself is all that runs, until an alarm ends the program. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static void end(int signal)
{
    (void)signal;
    _exit(0);
}

__attribute__((noinline)) static void jump_to_itself(void)
{
    __asm__ volatile("1: jmp 1b");
}

int main(int argc, char **argv)
{
    long milliseconds = argc > 1 ? atol(argv[1]) : 500;
    struct itimerval when = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000}};
    signal(SIGALRM, end);
    setitimer(ITIMER_REAL, &when, NULL);
    jump_to_itself();
    return 1;
}

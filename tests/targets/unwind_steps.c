/* SPDX-License-Identifier: MIT */
/*
 * One function for each way in which compilers lay out frames, and calls into parts of the C
 * library that are laid out differently again. The unwinder's test runs it instruction by
 * instruction.
 */
#include <alloca.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf escape;

NOINLINE static int leaf(int a)
{
    return a * 3 + 1;
}

/* All callee-saved registers are pushed and popped. */
NOINLINE static int many_registers(int a, int b, int c, int d, int e)
{
    int x = leaf(a), y = leaf(b), z = leaf(c), v = leaf(d), w = leaf(e);
    return x + leaf(y + leaf(z)) + leaf(v + leaf(w)) + a * b * c * d * e;
}

/* SP moves by an amount known only now, so the frame is based on FP. */
NOINLINE static int dynamic_frame(size_t n)
{
    char *room = alloca(n);
    memset(room, 7, n);
    return leaf(room[n / 2]);
}

NOINLINE static int sum_of_line(const char *line)
{
    int sum = 0;
    for (int i = 0; i < 64; i++)
        sum += line[i];
    return leaf(sum);
}

/* The stack is realigned, and there are arguments on it: the way back to them and to the caller is
 * a pointer kept in the frame, and the CFA an expression. */
NOINLINE static int realigned_frame(int a, int b, int c, int d, int e, int f, size_t n, int g)
{
    _Alignas(64) char line[64];
    char *room = alloca(n);
    memset(room, g, n);
    memset(line, room[n / 2], sizeof(line));
    return sum_of_line(line) + a + b + c + d + e + f + (int)n + leaf(g);
}

NOINLINE static int large_frame(int a)
{
    volatile char room[300000];
    room[a] = 1;
    return leaf(room[a]);
}

NOINLINE static int recursive(int n)
{
    return n ? recursive(n - 1) + leaf(n) : leaf(0);
}

/* The call is a jump: the return address lies behind a call to another function. */
NOINLINE static int tail_call(int n)
{
    sink += n;
    return recursive(n + 3);
}

static int (*const volatile table[])(int) = {leaf, recursive, tail_call};

/* Calls through pointers; the large frame holds stale return addresses of earlier calls. */
NOINLINE static int through_pointers(int n)
{
    volatile char room[600];
    room[n] = (char)n;
    for (int i = 0; i < 3; i++)
        sink += table[i](room[n] + i);
    return n ? through_pointers(n - 1) : 0;
}

__attribute__((noreturn)) NOINLINE static void leave(int code)
{
    longjmp(escape, code);
}

/* The call is the last instruction: its return address is the next function's. */
NOINLINE static void calls_noreturn(int code)
{
    sink += leaf(code);
    leave(code);
}

static void on_signal(int number)
{
    sink += many_registers(number, 1, 2, 3, 4);
}

NOINLINE static void interrupted(void)
{
    raise(SIGUSR1);
    sink += dynamic_frame(100);
}

static int compare(const void *a, const void *b)
{
    return leaf(*(const int *)a) - leaf(*(const int *)b);
}

static void c_library(void)
{
    int numbers[40];
    char text[400], copy[400];
    for (int i = 0; i < 40; i++)
        numbers[i] = (i * 7919) % 101;
    qsort(numbers, 40, sizeof(numbers[0]), compare);
    snprintf(text, sizeof(text), "%d %s %.17g %5.2Lf %p", numbers[3], "word", 0.1, 1.5L,
             (void *)text);
    for (size_t n = 1; n < sizeof(copy); n += n)
        memcpy(copy, text, n);
    sink += (int)(strtod("1.7976931348623157e308", NULL) + strtod("0.3", NULL) > 1);
    regex_t regex;
    if (regcomp(&regex, "^(a|b)*[0-9]{2,3}x?$", REG_EXTENDED) == 0) {
        sink += regexec(&regex, "abab42x", 0, NULL, 0);
        regfree(&regex);
    }
    time_t when = 1000000000;
    struct tm parts;
    strftime(text, sizeof(text), "%a %d %b %Y", gmtime_r(&when, &parts));
    char *grown = realloc(strdup(text), 200000);
    free(grown);
    sink += (int)strlen(text) + (getenv("HOME") != NULL);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    sink += leaf(1) + many_registers(1, 2, 3, 4, 5);
    sink += dynamic_frame(50) + realigned_frame(1, 2, 3, 4, 5, 6, 90, 8) + large_frame(9000) +
            recursive(60) + tail_call(2) + through_pointers(4);
    if (setjmp(escape) == 0)
        calls_noreturn(3);
    interrupted();
    c_library();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * foreign_stack MILLISECONDS [copied|ended|computed|in-thread]: a program that goes on on a stack it
 * made itself, as Lisp systems do: four pages deep, in code with frame pointers and without CFI; copied: of
 * memory that no file holds; ended: the same, and the first function there, too, with a frame pointer of 0,
 * as in Erlang's processes; computed: the first function has CFI, and its CFA is in memory of the stack before;
 * in-thread: in another thread than the main one.
 */
#include "burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_BYTES = 65536, DEPTH = 190 }; /* frames of 96 bytes */

/* deep(frames, rounds): itself, frames deep, and a loop there. call_on(stack's end, function, its arguments) */
__asm__(".text\n"
        "deep:\n"
        "  push %rbp\n"
        "  mov %rsp, %rbp\n"
        "  sub $80, %rsp\n"
        "  dec %rdi\n"
        "  jz 1f\n"
        "  call deep\n"
        "  jmp 2f\n"
        "1: dec %rsi\n"
        "  jnz 1b\n"
        "2: leave\n"
        "  ret\n"
        "call_on:\n"
        "  push %rbp\n"
        "  mov %rsp, %rbp\n"
        "  mov %rdi, %rsp\n"
        "  mov %rsi, %rax\n"
        "  mov %rdx, %rdi\n"
        "  mov %rcx, %rsi\n"
        "  call *%rax\n"
        "  leave\n"
        "  ret\n"
        "call_ended:\n"
        "  push %rbp\n"
        "  push %rbx\n"
        "  mov %rsp, %rbx\n"
        "  mov %rdi, %rsp\n"
        "  mov %rsi, %rax\n"
        "  mov %rdx, %rdi\n"
        "  mov %rcx, %rsi\n"
        "  xor %ebp, %ebp\n"
        "  call *%rax\n"
        "  mov %rbx, %rsp\n"
        "  pop %rbx\n"
        "  pop %rbp\n"
        "  ret\n"
        "code_end:\n"
        "  ud2\n"
        "call_computed:\n"
        "  .cfi_startproc\n"
        "  push %rbp\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset %rbp, -16\n"
        "  mov %rsp, %rbp\n"
        "  lea 16(%rsp), %rax\n"
        "  push %rax\n"
        "  .cfi_escape 0x0f, 5, 0x76, 0x78, 0x06, 0x30, 0x22\n" /* CFA = *(FP - 8) + 0 */
        "  mov %rdi, %rsp\n"
        "  mov %rsi, %rax\n"
        "  mov %rdx, %rdi\n"
        "  mov %rcx, %rsi\n"
        "  call *%rax\n"
        "  leave\n"
        "  .cfi_def_cfa %rsp, 8\n"
        "  ret\n"
        "  .cfi_endproc\n");
extern const char deep[], code_end[];
typedef void caller(char *stack_end, const void *function, uint64_t frames, uint64_t rounds);
caller call_on, call_ended, call_computed;

static bool is_mode(int argc, char **argv, const char *mode)
{
    return argc > 2 && strcmp(argv[2], mode) == 0;
}

static const void *copy_of_deep(void)
{
    void *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code == MAP_FAILED ? NULL : memcpy(code, deep, (size_t)(code_end - deep));
}

static uint64_t end_ns;
static const void *function = deep;
static caller *call = call_on;

static void *work(void *stack)
{
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        call((char *)stack + STACK_BYTES, function, DEPTH, 1000000);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    bool is_ended = is_mode(argc, argv, "ended");
    function = is_ended || is_mode(argc, argv, "copied") ? copy_of_deep() : deep;
    call = is_mode(argc, argv, "computed") ? call_computed : call_on;
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!function || stack == MAP_FAILED)
        return 1;
    if (is_ended)
        call = (caller *)((uintptr_t)function + (uintptr_t)call_ended - (uintptr_t)deep);
    if (!is_mode(argc, argv, "in-thread"))
        work(stack);
    else if (pthread_create(&thread, NULL, work, stack) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    puts("done");
    return 0;
}

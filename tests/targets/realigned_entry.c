/* SPDX-License-Identifier: MIT */
/*
 * realigned_entry MILLISECONDS: code made at run time, entered by a tail call, sets up a frame of 16 KiB and aligns SP,
 * calls a C function that burns, and never returns, as the scheduler loop of Erlang does.
 */
#include "burn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CODE_BYTES = 4096 };

/* sub $0x4110, %rsp; and $-64, %rsp; call *%rsi; ud2 */
static const unsigned char entry[] = {0x48, 0x81, 0xec, 0x10, 0x41, 0,    0,   0x48,
                                      0x83, 0xe4, 0xc0, 0xff, 0xd6, 0x0f, 0x0b};

__asm__(".text\n"
        ".p2align 4\n"
        ".globl enter\n"
        ".type enter, @function\n"
        "enter:\n"
        "  .cfi_startproc\n"
        "  push %rbx\n"
        "  .cfi_def_cfa_offset 16\n"
        "  mov %rdx, %rbx\n"
        "  call prepare\n"
        "  mov %rbx, %rax\n"
        "  mov run@GOTPCREL(%rip), %rsi\n"
        "  pop %rbx\n"
        "  .cfi_def_cfa_offset 8\n"
        "  jmp *%rax\n"
        "  .cfi_endproc\n"
        ".size enter, . - enter\n");
void enter(uint64_t unused, uint64_t also_unused, void *code);
void prepare(void);
void run(void);

static uint64_t end_ns;

void prepare(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) static uint64_t compute(void)
{
    return burn_until_ns(end_ns) + 1;
}

void run(void)
{
    exit(compute() == 1);
}

__attribute__((noinline)) static void schedule(void *code)
{
    enter(0, 0, code);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, entry, sizeof(entry));
    schedule(code);
    return 2;
}

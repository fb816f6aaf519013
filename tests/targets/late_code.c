/* SPDX-License-Identifier: MIT */
/*
 * late_code MILLISECONDS: half of the time in code that was there from the start, then half of it in
 *
 *     main ─▶ code made by now ─▶ without_cfi ─▶ burn_half
 *
 * where only the frame pointer leads from without_cfi to its caller, and no sample ever hits that caller itself.
 */
#include "burn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls_its_argument[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static uint64_t half_ns;

__attribute__((noinline, used)) static void burn_half(void)
{
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + half_ns);
}

void without_cfi(void);
__asm__(".type without_cfi, @function\n"
        "without_cfi: push %rbp; mov %rsp, %rbp; call burn_half; pop %rbp; ret\n"
        ".size without_cfi, . - without_cfi");

int main(int argc, char **argv)
{
    half_ns = strtoul(argc > 1 ? argv[1] : "500", NULL, 10) * 500000;
    burn_half();
    unsigned char *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, calls_its_argument, sizeof(calls_its_argument));
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    ((void (*)(void (*)(void)))(uintptr_t)code)(without_cfi);
    return 0;
}

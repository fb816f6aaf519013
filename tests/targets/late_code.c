/* SPDX-License-Identifier: MIT */
/*
 * late_code MILLISECONDS [wait]: half of the time in code that was there from the start, then half of it in
 *
 *     main ─▶ code made by now ─▶ without_cfi ─▶ saves_fp ─▶ spend_half
 *
 * where only the frame pointer leads from without_cfi to its caller, and no sample ever hits that caller itself.
 */
#include "burn.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls_its_argument[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static uint64_t half_ns;
static bool waits;

__attribute__((noinline, used)) static void spend_half(void)
{
    if (waits)
        usleep((useconds_t)(half_ns / 1000));
    else
        burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + half_ns);
}

/* So FP of without_cfi is known, also to a look that begins with SP and PC alone. */
void saves_fp(void);
__asm__(".type saves_fp, @function\n"
        "saves_fp: .cfi_startproc; push %rbp; .cfi_def_cfa_offset 16; .cfi_offset 6, -16; call "
        "spend_half;"
        " pop %rbp; .cfi_def_cfa_offset 8; ret; .cfi_endproc\n"
        ".size saves_fp, . - saves_fp");

void without_cfi(void);
__asm__(".type without_cfi, @function\n"
        "without_cfi: push %rbp; mov %rsp, %rbp; call saves_fp; pop %rbp; ret\n"
        ".size without_cfi, . - without_cfi");

int main(int argc, char **argv)
{
    half_ns = strtoul(argc > 1 ? argv[1] : "500", NULL, 10) * 500000;
    waits = argc > 2;
    spend_half();
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

/* SPDX-License-Identifier: MIT */
/*
 * visitors PLUGIN.so...: loads one after the other, and works 10 ms in a callback of each. Between the
 * work and the plugin there is a frame whose size only RBX knows, which a handler does not follow that
 * far: main -> plugin_visit -> through_rbx -> work. It lives on for a while then: where the code of the last
 * plugin lay can be asked of a living process alone.
 */
#include "burn.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

void through_rbx(void (*work)(void));
__asm__(".text\n"
        ".globl through_rbx\n"
        ".type through_rbx, @function\n"
        "through_rbx:\n"
        "    .cfi_startproc\n"
        "    push %rbx\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbx, -16\n"
        "    mov %rsp, %rbx\n"
        "    .cfi_def_cfa_register %rbx\n"
        "    and $-64, %rsp\n"
        "    call *%rdi\n"
        "    mov %rbx, %rsp\n"
        "    .cfi_def_cfa_register %rsp\n"
        "    pop %rbx\n"
        "    .cfi_def_cfa_offset 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size through_rbx, . - through_rbx\n");

static void work(void)
{
    burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 10000000);
}

int main(int argc, char **argv)
{
    burn_until_ns(50000000);
    for (int i = 1; i < argc; i++) {
        void *handle = dlopen(argv[i], RTLD_NOW);
        void (*visit)(void (*)(void (*)(void)), void (*)(void)) = NULL;
        if (handle)
            *(void **)&visit = dlsym(handle, "plugin_visit");
        if (!visit)
            return 1;
        visit(through_rbx, work);
    }
    usleep(300000);
    return 0;
}

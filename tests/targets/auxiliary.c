/* SPDX-License-Identifier: MIT */
/* auxiliary: finds the kernel's auxiliary values behind the environment by hand, as some runtimes do. */
#include <elf.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(void)
{
    char **end = environ;
    while (*end)
        end++;
    const Elf64_auxv_t *value = (const Elf64_auxv_t *)(const void *)(end + 1);
    for (; value->a_type != AT_NULL; value++)
        if (value->a_type == AT_PAGESZ || value->a_type == AT_CLKTCK)
            printf("%d %d\n", (int)value->a_type, value->a_un.a_val == getauxval(value->a_type));
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* kernel_view: static, so that nothing is ever injected into it; says what it has inherited. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0 ||
            strncmp(line, "SigCgt", 6) == 0)
            fputs(line, stdout);
    return 0;
}

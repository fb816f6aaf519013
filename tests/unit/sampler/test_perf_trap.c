/* SPDX-License-Identifier: MIT */
/* The layout of the siginfo against the kernel's own header, which excludes the C library's. */
#include "sampler/sample/perf_trap.h"

#include <asm/siginfo.h>
#include <stdio.h>
#include <string.h>

#ifdef si_perf_data
_Static_assert(__builtin_offsetof(siginfo_t, si_perf_data) == PERF_TRAP_DATA_AT,
               "the kernel's place of si_perf_data");
#ifdef si_perf_flags /* Linux 6.0 */
_Static_assert(__builtin_offsetof(siginfo_t, si_perf_flags) == PERF_TRAP_FLAGS_AT,
               "the kernel's place of si_perf_flags");
#endif

int main(void)
{
    const uint64_t data = UINT64_C(0x0123456789abcdef);
    siginfo_t info;
    memset(&info, 0xff, sizeof(info));
    info.si_perf_data = data;
    if (perf_trap_data(&info) == data)
        return 0;
    fprintf(stderr, "si_perf_data is 0x%llx\n", (unsigned long long)perf_trap_data(&info));
    return 1;
}
#else
int main(void)
{
    fprintf(stderr, "the kernel's headers are older than 5.13\n");
    return 77;
}
#endif

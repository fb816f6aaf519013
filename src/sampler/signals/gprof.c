/* SPDX-License-Identifier: MIT */
/*
 * Programs built with -pg. The C library fills their gmon.out by SIGPROF, which it takes past sigaction(): what is
 * sampled by that signal, too, would not be sampled any more, and would be in gmon.out twice.
 */
#include "sampler/base/next_symbol.h"
#include "sampler/sampler.h"

#include <sys/gmon.h>

/* Their start files call it, when they have one thread. */
__attribute__((visibility("default"))) void __monstartup(unsigned long low, unsigned long high)
{
    process_leave_sigprof();
    NEXT(__monstartup)(low, high);
}

/* SPDX-License-Identifier: MIT */
/* Programs built with -pg. Hook: __monstartup(), called by their start files in the only thread.
 * The C library fills gmon.out by SIGPROF, and installs its handler without sigaction(). With
 * SIGPROF as the sampler's signal, too, the sampler would lose its handler, and its samples
 * would count in gmon.out. */
#pragma once

#include "sampler/base/hook.h"

HOOK void __monstartup(unsigned long low, unsigned long high);

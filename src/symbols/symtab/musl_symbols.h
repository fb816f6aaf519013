/* SPDX-License-Identifier: MIT */
/*
 * Two hidden functions of musl for x86-64, by their code: the start of every thread, and the system
 * call of every call that waits. Written in assembly, without a size or an FDE. .dynsym of libc.so
 * has a function without a size before them, so in the stripped library their code looks like a
 * part of this function.
 */
#pragma once

#include "symbols/files/elf_handle.h"

#include <stdint.h>

/* after_svma: start of the symbol before the code; 0: none. NULL: none of the functions is at the
 * address, or the symbol starts inside. */
const char *musl_symbols_find(const struct elf_handle *handle, uint64_t svma, uint64_t after_svma);

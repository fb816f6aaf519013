/* SPDX-License-Identifier: MIT */
/*
 * CFI of Go code, made from the function table of the program. Stripped programs have the table,
 * and .debug_frame does not state where stacks end: at the first function of a goroutine or thread,
 * and where the runtime changes to another stack.
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"

#include <stdbool.h>

/* Fills an empty buffer with the records of a .debug_frame section. False: not a Go program for
 * x86-64, or its table is unreadable; the buffer is empty. */
bool go_frames_make_cfi(struct buffer *debug_frame, const struct elf_file *elf);

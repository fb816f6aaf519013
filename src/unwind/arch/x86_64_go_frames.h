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

/* See make_go_cfi in machine.h. */
bool x86_64_go_frames_cfi(struct buffer *debug_frame, const struct elf_file *elf);

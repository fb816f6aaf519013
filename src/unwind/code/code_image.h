/* SPDX-License-Identifier: MIT */
/*
 * The machine code of an ELF file with the starts of its functions, for code without CFI. Starts
 * are symbols, targets of direct calls and tail calls, and addresses taken. Read only where CFI
 * ends, because files have megabytes of code. Only of machines with functions for their code.
 */
#pragma once

#include "elf/elf_file.h"
#include "unwind/code/code_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_image; /* opaque; constant once opened */

/* Whether the file may have an image: at most 16 MiB of code that can be read. */
bool code_image_is_possible(const struct elf_file *elf);

/* elf is used during the call only. 0; -ENOTSUP: no image is possible; -EFBIG: more calls and jumps
 * than compilers make; -ENOMEM; or the error of a read. */
int code_image_open(struct code_image **out, const struct elf_file *elf);
/* For files of more code, up to 256 MiB: the code is read where needed, in pieces, by a single
 * thread. Only starts of symbols and of .eh_frame_hdr are known, so a function without CFI and
 * without a symbol may have another start. elf is owned from now on, even on failure. */
int code_image_open_in_pieces(struct code_image **out, struct elf_file *elf);
void code_image_close(struct code_image *image);
/* Whether the starts of all functions without CFI are known. */
bool code_image_has_all_starts(const struct code_image *image);
/* Whether nearly all code of a file in pieces has neither CFI nor symbols, and a function with a
 * large frame enters code by a jump: a stripped Haskell program. */
bool code_image_is_entered(const struct code_image *image);
/* Whether the image has the start of the function without CFI around svma: all starts, or a symbol
 * with a size. */
bool code_image_knows_start(const struct code_image *image, uint64_t svma);
/* Narrows [*start_svma, *end_svma) to the first part in a function with a sized symbol.
 * False: none. */
bool code_image_sized_part(const struct code_image *image, uint64_t *start_svma,
                           uint64_t *end_svma);
/* Bytes allocated, or allocated at most. */
size_t code_image_memory(const struct code_image *image);

/* Never NULL. */
const struct machine_code *code_image_machine(const struct code_image *image);

/* Up to `size` bytes of code at svma, in place; the count goes to *available (0: no code). */
const uint8_t *code_image_bytes(const struct code_image *image, uint64_t svma, size_t size,
                                size_t *available);
/* The bytes of code before svma, at most `size`, ending there. */
const uint8_t *code_image_before(const struct code_image *image, uint64_t svma, size_t size);

struct code_function {
    uint64_t start_svma, end_svma; /* the end: at the latest */
    bool is_firm;                  /* a symbol, or the target of a call */
    bool is_label;                 /* the function may have started earlier */
};

/* The function around svma: from the last start at or below. False: no start there. */
bool code_image_function(const struct code_image *image, uint64_t svma,
                         struct code_function *function);

/* The frame of a function that sets it up and jumps through a register or memory, without a branch
 * before. False: another function. */
bool code_image_entry_frame(const struct code_image *image, uint64_t start_svma,
                            struct code_frame *frame);
/* Whether a function jumps through a register, with nothing on the stack and without another jump
 * before: a tail call of generated code. */
bool code_image_leaves_by_register(const struct code_image *image, uint64_t start_svma);

/* The entry point of the program or loader. */
uint64_t code_image_entry_svma(const struct code_image *image);

/* NULL: no relocation of this slot. */
const struct code_slot *code_image_slot(const struct code_image *image, uint64_t slot_svma);

size_t code_image_symbols(const struct code_image *image);

/* The function symbol of this name; 0: none. Looks at all symbols. */
uint64_t code_image_find(const struct code_image *image, const struct code_name *name);

/* Whether a function symbol of this name is defined at svma. */
bool code_image_defines(const struct code_image *image, const struct code_name *name,
                        uint64_t svma);

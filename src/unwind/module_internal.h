/* SPDX-License-Identifier: MIT */
/* A module out of bytes: what unwind_module_open() does once it has found the sections. */
#pragma once

#include "base/buffer.h"
#include "unwind/compile.h"
#include "unwind/module.h"
#include "unwind/on_demand.h"

struct module_bytes {
    struct buffer eh_frame;
    uint64_t eh_frame_svma;
    bool eh_frame_ends_at_terminator; /* see cfi.h */
    struct buffer eh_frame_hdr;       /* of a module for few addresses; else empty */
    uint64_t eh_frame_hdr_svma;
    struct buffer debug_frame;
    uint64_t text_svma; /* the executable segments lie in [text_svma, text_svma + text_bytes) */
    uint32_t text_bytes;
    uint64_t entry_svma;                  /* of a program; 0: none */
    const struct unwind_machine *machine; /* NULL: x86-64 */
};

/* Takes the buffers over, also when it fails. Results as unwind_module_open(). */
int unwind_module_from_bytes(struct unwind_module **out, struct module_bytes *bytes,
                             struct error *error);

struct unwind_module {
    struct module_bytes bytes;
    struct cfi_index index;
    struct on_demand *demand;
};

/* SPDX-License-Identifier: MIT */
/* A module from the bytes of its sections: the second half of unwind_module_open(). */
#pragma once

#include "base/containers/buffer.h"
#include "unwind/module.h"
#include "unwind/rows/compile.h"
#include "unwind/rows/full_rows.h"
#include "unwind/rows/lazy_index.h"
#include "unwind/rows/lazy_rules.h"

struct module_bytes {
    struct buffer eh_frame;
    uint64_t eh_frame_svma;
    bool eh_frame_ends_at_terminator; /* see cfi.h */
    struct buffer eh_frame_hdr;       /* of a module for few addresses, or for pieces; else empty */
    uint64_t eh_frame_hdr_svma;
    bool is_lazy;
    uint64_t room_bytes;   /* of sections that may still be read */
    struct row_room *room; /* of rules made on demand; NULL: no limit */
    struct buffer debug_frame;
    uint64_t text_svma; /* the executable segments lie in [text_svma, text_svma + text_bytes) */
    uint32_t text_bytes;
    uint64_t entry_svma;                  /* of a program; 0: none */
    const struct unwind_machine *machine; /* NULL: x86-64 */
};

/* Takes the buffers over, even on failure. Results as unwind_module_open(). */
int unwind_module_from_bytes(struct unwind_module **out, struct module_bytes *bytes,
                             struct error *error);

struct unwind_module {
    struct module_bytes bytes;
    struct cfi_index index; /* with pieces: sections and bounds only */
    struct lazy_rules *lazy;
    struct lazy_index *pieces; /* NULL: there is an index of all */
    struct full_rows *full_rows;
};

/* Where the rules are found of an address less the base, inside the bounds; NULL: memory is out. */
struct lazy_rules *unwind_module_rules(const struct unwind_module *module, uint32_t relative);

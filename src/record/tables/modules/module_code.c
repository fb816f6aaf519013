/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/module_code.h"

struct code_image *module_code_open(const struct known_module *module,
                                    struct open_file_cache *open_files)
{
    struct code_image *code = NULL;
    struct elf_file *elf = known_module_open_file(module, open_files);
    if (elf && !module->is_searched) {
        (void)code_image_open_in_pieces(&code, elf);
        return code;
    }
    if (elf)
        (void)code_image_open(&code, elf);
    elf_close(elf);
    return code;
}

/* Code of the compiler's crtbegin.o, linked behind _start, has neither CFI nor sizes: about 200
 * bytes in each program. */
static bool is_of_start_files(const struct known_module *module, uint64_t start_svma,
                              uint64_t bytes)
{
    enum { ENTRY_BYTES = 64, START_FILES_BYTES = 256 };
    const uint64_t behind = start_svma - elf_entry_svma(module->elf);
    return behind < ENTRY_BYTES && bytes <= START_FILES_BYTES;
}

bool module_code_is_needed(const struct known_module *module, const struct compiled_rows *rows,
                           uint64_t end)
{
    enum { PADDING_BYTES = 64 }; /* of hand-written functions, at most */
    bool has_gap = rows->count == 0;
    for (size_t i = 0; i < rows->count && !has_gap; i++) {
        const struct row *row = &rows->rows[i];
        uint64_t bytes = (i + 1 < rows->count ? row[1].start : end) - row->start;
        has_gap = row_kind(row->rule) == ROW_NONE && bytes > PADDING_BYTES &&
                  !is_of_start_files(module, module->base_svma + row->start, bytes);
    }
    return has_gap && !module->is_searched && !module->is_go && module->code_state != MODULE_READ;
}

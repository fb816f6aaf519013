/* SPDX-License-Identifier: MIT */
/* A whole file that anybody may have written, as an image in memory: opened, every section read,
 * its rows compiled, by all records and by .eh_frame_hdr. */
#include "elf/elf_file.h"
#include "unwind/module.h"
#include "unwind/rows/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compile(struct unwind_module *module)
{
    struct compiled_rows rows = {0};
    unwind_module_rule(module, unwind_module_text_bytes(module) / 2);
    unwind_module_compile(module, 0, COMPILE_END, &rows);
    compile_free(&rows);
    unwind_module_close(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_file *elf;
    if (elf_open_memory(&elf, data, size, NULL) != 0)
        return 0;
    uint8_t id[20];
    uint64_t bias;
    elf_build_id(elf, id);
    elf_interpreter(elf);
    elf_load_bias(elf, 0x400000, elf_entry_svma(elf), &bias);
    elf_read_svma(elf, elf_entry_svma(elf), id, sizeof(id));
    for (size_t i = 0; i < elf_section_count(elf); i++) {
        struct buffer content = {0};
        elf_read_section(elf, elf_section(elf, i), &content, NULL);
        buffer_free(&content);
    }
    struct unwind_module *module;
    if (unwind_module_open(&module, elf, NULL, NULL) == 0)
        compile(module);
    if (unwind_module_open_lazy(&module, elf, UINT64_MAX, NULL, NULL) == 0)
        compile(module);
    elf_close(elf);
    return 0;
}

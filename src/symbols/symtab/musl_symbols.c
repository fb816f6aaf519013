/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/musl_symbols.h"

#include "base/containers/cursor.h"

#include <gelf.h>
#include <string.h>

/* A linked program has a few dozen sections. */
enum { START_BYTES = 4, END_BYTES = 4, FUNCTION_BYTES_MAX = 96, SECTIONS_MAX = 256 };

/* First and last bytes: src/thread/x86_64/clone.s and syscall_cp.s of musl 1.2. */
static const struct function {
    const char *name;
    uint8_t start[START_BYTES], end[END_BYTES];
} functions[] = {
    /* xor %eax, %eax; mov $56, %al … syscall; hlt; ret */
    {"__clone", {0x31, 0xc0, 0xb0, 0x38}, {0x0f, 0x05, 0xf4, 0xc3}},
    /* mov (%rdi), %eax; test %eax, %eax … syscall; ret; jmp */
    {"__syscall_cp_asm", {0x8b, 0x07, 0x85, 0xc0}, {0x0f, 0x05, 0xc3, 0xe9}},
};

/* The machine code around an address. */
static struct cursor code_around(const struct elf_handle *handle, uint64_t svma,
                                 uint64_t *start_svma)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    for (int i = 0; i < SECTIONS_MAX && (section = elf_nextscn(handle->elf, section)); i++) {
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            svma < header.sh_addr || svma - header.sh_addr >= header.sh_size)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        *start_svma = header.sh_addr;
        return data && data->d_buf ? cursor_of(data->d_buf, data->d_size) : (struct cursor){0};
    }
    return (struct cursor){0};
}

static bool has_bytes(const uint8_t *code, size_t size, size_t at, const uint8_t bytes[4])
{
    return at < size && size - at >= 4 && memcmp(code + at, bytes, 4) == 0;
}

/* Whether the function goes from a start at or below `at` to an end above. */
static bool is_inside(const struct function *function, const uint8_t *code, size_t size, size_t at,
                      size_t first)
{
    size_t start = at;
    while (!has_bytes(code, size, start, function->start))
        if (start-- == first || at - start >= FUNCTION_BYTES_MAX)
            return false;
    for (size_t end = start; end < start + FUNCTION_BYTES_MAX; end++)
        if (has_bytes(code, size, end, function->end))
            return at < end + END_BYTES;
    return false;
}

const char *musl_symbols_find(const struct elf_handle *handle, uint64_t svma, uint64_t after_svma)
{
    uint64_t code_svma = 0;
    struct cursor code = code_around(handle, svma, &code_svma);
    if (code.size == 0 || svma - code_svma >= code.size || after_svma >= svma)
        return NULL;
    size_t first = after_svma < code_svma ? 0 : (size_t)(after_svma - code_svma) + 1;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (is_inside(&functions[i], code.bytes, code.size, (size_t)(svma - code_svma), first))
            return functions[i].name;
    return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "unwind/arch/aarch64_plt.h"

#include <string.h>

#define BTI_C UINT32_C(0xd503245f)
#define STP_X16_X30 UINT32_C(0xa9bf7bf0)
enum { FIRST_ENTRY_INSTRUCTIONS = 8 };

/* Length, id, version 3, no augmentation, code in units of 4 and data of -8, x30; def_cfa sp, 0. */
static const uint8_t cie[] = {12, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 4, 0x78, 30, 0x0c, 31, 0};

/* Number of instructions up to the push of x30 in the first entry; 0: no such entry. */
static uint8_t instructions_to_push(const struct buffer *code)
{
    uint32_t words[2] = {0};
    if (code->size >= sizeof(words))
        memcpy(words, code->bytes, sizeof(words));
    return words[0] == STP_X16_X30 ? 1 : words[0] == BTI_C && words[1] == STP_X16_X30 ? 2 : 0;
}

static void put_fde(struct buffer *out, uint32_t cie_at, const struct elf_section *plt,
                    uint8_t pushed)
{
    const uint8_t first_entry[] = {
        0x40 | pushed, /* advance to behind the push */
        0x0e,
        16,
        0x80 | 30,
        1,                                                     /* def_cfa_offset; x30 at CFA - 8 */
        (uint8_t)(0x40 | (FIRST_ENTRY_INSTRUCTIONS - pushed)), /* to the stubs */
        0xc0 | 30,
        0x0e,
        0, /* restore x30; def_cfa_offset */
    };
    size_t code_bytes = pushed ? sizeof(first_entry) : 0;
    buffer_u32(out, (uint32_t)(4 + 8 + 8 + code_bytes));
    buffer_u32(out, cie_at);
    buffer_u64(out, plt->svma);
    buffer_u64(out, plt->bytes);
    buffer_append(out, first_entry, code_bytes);
}

void aarch64_plt_add_cfi(struct buffer *debug_frame, const struct elf_file *elf)
{
    const struct elf_section *plt = elf_find_section(elf, ".plt");
    struct buffer code = {0};
    if (!plt || elf_read_section_part(elf, plt, 0, 8, &code) != 0)
        return;
    uint32_t cie_at = (uint32_t)debug_frame->size;
    buffer_append(debug_frame, cie, sizeof(cie));
    put_fde(debug_frame, cie_at, plt, instructions_to_push(&code));
    buffer_free(&code);
}

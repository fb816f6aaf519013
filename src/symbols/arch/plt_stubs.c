/* SPDX-License-Identifier: MIT */
#include "symbols/arch/plt_stubs.h"

#include "base/containers/cursor.h"

#include <elf.h>
#include <string.h>

/* [endbr64] [bnd] jmp *slot(%rip), maybe before the push and jump of lazy binding. */
static uint64_t slot_x86_64(const uint8_t *bytes, size_t size, uint64_t svma, size_t *stub_bytes)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    struct cursor c = cursor_of(bytes, size < *stub_bytes ? size : *stub_bytes);
    if (size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
        cursor_skip(&c, sizeof(endbr64));
    uint8_t opcode = cursor_u8(&c);
    if (opcode == 0xf2) /* bnd */
        opcode = cursor_u8(&c);
    uint8_t mode = cursor_u8(&c);
    uint32_t displacement = cursor_u32(&c);
    if (c.failed || opcode != 0xff || mode != 0x25) /* jmp *disp32(%rip) */
        return 0;
    return svma + c.at + (uint64_t)(int64_t)(int32_t)displacement;
}

/* The page offset in adrp: 21 bits in two parts. */
static uint64_t pages_of_adrp(uint32_t adrp)
{
    uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    return ((pages ^ 0x100000) - 0x100000) << 12;
}

/* [bti c] adrp x16, page; ldr x17, [x16, offset]; add x16, …; [autia1716] br x17 */
static uint64_t slot_aarch64(const uint8_t *bytes, size_t size, uint64_t svma, size_t *stub_bytes)
{
    const uint32_t bti = 0xd503245f, br = 0xd61f0220;
    struct cursor c = cursor_of(bytes, size);
    uint32_t adrp = cursor_u32(&c);
    if (adrp == bti) {
        adrp = cursor_u32(&c);
        svma += sizeof(bti);
    }
    uint32_t ldr = cursor_u32(&c);
    uint32_t last = cursor_u32(&c);
    for (int i = 0; i < 2 && last != br; i++)
        last = cursor_u32(&c);
    if (c.failed || last != br || (adrp & 0x9f00001f) != 0x90000010 ||
        (ldr & 0xffc003ff) != 0xf9400211)
        return 0;
    *stub_bytes = c.at;
    return (svma & ~UINT64_C(0xfff)) + pages_of_adrp(adrp) + (ldr >> 10 & 0xfff) * 8;
}

static const struct plt_stubs machines[] = {
    {EM_X86_64, 0, slot_x86_64},
    {EM_AARCH64, 4, slot_aarch64},
};

const struct plt_stubs *plt_stubs_of(uint16_t elf_machine)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].elf_machine == elf_machine)
            return &machines[i];
    return NULL;
}

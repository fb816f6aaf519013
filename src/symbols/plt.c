/* SPDX-License-Identifier: MIT */
#include "symbols/plt.h"

#include "base/array.h"
#include "base/cursor.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct slot { /* of the global offset table */
    uint64_t svma;
    const char *name;
};

struct slots {
    struct slot *slots;
    size_t count, capacity;
};

static const char *dynamic_symbol_name(Elf *elf, Elf_Scn *section, uint64_t index)
{
    GElf_Shdr header;
    GElf_Sym sym;
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || index > INT32_MAX || !gelf_getshdr(section, &header) ||
        !gelf_getsym(data, (int)index, &sym))
        return NULL;
    /* The names themselves are not looked at: programs have megabytes of them. */
    return sym.st_name ? elf_strptr(elf, header.sh_link, sym.st_name) : NULL;
}

/* How one kind of machine's stubs look. */
struct stubs {
    uint16_t elf_machine;
    uint32_t jump_slot, glob_dat; /* relocation types */
    size_t alignment;             /* 0: the section's entry size tells */
    /* The slot that the stub at svma jumps through, and its size; 0: there is none (the first entry of .plt, and all
     * its others when the real stubs are in .plt.sec). */
    uint64_t (*slot)(const uint8_t *bytes, size_t size, uint64_t svma, size_t *stub_bytes);
};

static int gather_relocations(struct slots *slots, const struct stubs *stubs, Elf *elf,
                              Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela))
            break;
        uint64_t type = GELF_R_TYPE(rela.r_info);
        if (type != stubs->jump_slot && type != stubs->glob_dat)
            continue;
        const char *name =
            dynamic_symbol_name(elf, elf_getscn(elf, header->sh_link), GELF_R_SYM(rela.r_info));
        if (!name)
            continue;
        struct slot *slot = ARRAY_PUSH(slots->slots, slots->count, slots->capacity);
        if (!slot)
            return -ENOMEM;
        *slot = (struct slot){.svma = rela.r_offset, .name = name};
    }
    return 0;
}

static int compare_slots(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;
    return (a->svma > b->svma) - (a->svma < b->svma);
}

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

/* What adrp adds to the page of its own address: 21 bits in two parts, in pages. */
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

static const struct stubs machines[] = {
    {EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, 0, slot_x86_64},
    {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, 4, slot_aarch64},
};

static const struct stubs *stubs_of(Elf *elf)
{
    GElf_Ehdr header;
    for (size_t i = 0; gelf_getehdr(elf, &header) && i < sizeof(machines) / sizeof(machines[0]);
         i++)
        if (machines[i].elf_machine == header.e_machine)
            return &machines[i];
    return NULL;
}

static int add_stubs(struct symtab *symtab, const struct stubs *stubs, Elf_Scn *section,
                     const GElf_Shdr *header, const struct slots *slots)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t entry_bytes = stubs->alignment ? stubs->alignment : header->sh_entsize == 8 ? 8 : 16;
    size_t size = data && data->d_buf ? data->d_size : 0;
    int err = 0;
    for (size_t at = 0, bytes; at + entry_bytes <= size && err == 0; at += bytes) {
        bytes = entry_bytes;
        uint64_t svma = header->sh_addr + at;
        const uint8_t *stub = (uint8_t *)data->d_buf + at;
        struct slot key = {.svma = stubs->slot(stub, size - at, svma, &bytes)};
        const struct slot *slot =
            bsearch(&key, slots->slots, slots->count, sizeof(key), compare_slots);
        if (slot)
            err = symtab_add_plt(symtab, svma, bytes, slot->name);
    }
    return err;
}

int plt_add_symbols(struct symtab *symtab, Elf *elf)
{
    const struct stubs *stubs = stubs_of(elf);
    size_t names;
    if (!stubs || elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    struct slots slots = {0};
    int err = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (err == 0 && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            err = gather_relocations(&slots, stubs, elf, section, &header);
    if (slots.count)
        qsort(slots.slots, slots.count, sizeof(*slots.slots), compare_slots);
    section = NULL;
    while (err == 0 && slots.count && (section = elf_nextscn(elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && header.sh_type == SHT_PROGBITS && strncmp(name, ".plt", 4) == 0)
            err = add_stubs(symtab, stubs, section, &header, &slots);
    }
    free(slots.slots);
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/plt.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct stub {
    uint64_t svma, bytes;
    uint64_t slot_svma; /* in the global offset table */
    const char *name;   /* NULL: no relocation */
};

struct stub_list {
    struct stub *stubs;
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

/* The stubs of a machine. */
struct stubs {
    uint16_t elf_machine;
    uint32_t jump_slot, glob_dat; /* relocation types */
    size_t alignment;             /* 0: the section's entry size */
    /* The slot of the stub at svma, and the stub's size; 0: not a stub (the first entry of .plt,
     * and all other entries if the real stubs are in .plt.sec). */
    uint64_t (*slot)(const uint8_t *bytes, size_t size, uint64_t svma, size_t *stub_bytes);
};

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

/* Only the stubs at needed addresses: most programs have thousands of relocations. */
static int gather_stubs(struct stub_list *list, const struct symtab *symtab,
                        const struct stubs *stubs, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t entry_bytes = stubs->alignment ? stubs->alignment : header->sh_entsize == 8 ? 8 : 16;
    size_t size = data && data->d_buf ? data->d_size : 0;
    for (size_t at = 0, bytes; at + entry_bytes <= size; at += bytes) {
        bytes = entry_bytes;
        uint64_t svma = header->sh_addr + at;
        uint64_t slot = stubs->slot((uint8_t *)data->d_buf + at, size - at, svma, &bytes);
        if (slot == 0 || !symtab_needs(symtab, svma, svma + bytes))
            continue;
        struct stub *stub = ARRAY_PUSH(list->stubs, list->count, list->capacity);
        if (!stub)
            return -ENOMEM;
        *stub = (struct stub){.svma = svma, .bytes = bytes, .slot_svma = slot};
    }
    return 0;
}

static int gather_all_stubs(struct stub_list *list, const struct symtab *symtab,
                            const struct stubs *stubs, Elf *elf)
{
    size_t names;
    int err = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    while (err == 0 && (section = elf_nextscn(elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && header.sh_type == SHT_PROGBITS && strncmp(name, ".plt", 4) == 0 &&
            symtab_needs(symtab, header.sh_addr, header.sh_addr + header.sh_size))
            err = gather_stubs(list, symtab, stubs, section, &header);
    }
    return err;
}

static int compare_slots(const void *left, const void *right)
{
    const struct stub *a = left, *b = right;
    return (a->slot_svma > b->slot_svma) - (a->slot_svma < b->slot_svma);
}

/* The stubs are sorted by slot. */
static void name_stubs(struct stub_list *list, const struct stubs *stubs, Elf *elf,
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
        for (size_t at = ARRAY_COUNT_BELOW(list->stubs, list->count, slot_svma, rela.r_offset);
             at < list->count && list->stubs[at].slot_svma == rela.r_offset; at++)
            if (!list->stubs[at].name)
                list->stubs[at].name = dynamic_symbol_name(elf, elf_getscn(elf, header->sh_link),
                                                           GELF_R_SYM(rela.r_info));
    }
}

int plt_add_symbols(struct symtab *symtab, Elf *elf)
{
    const struct stubs *stubs = stubs_of(elf);
    struct stub_list list = {0};
    int err = stubs ? gather_all_stubs(&list, symtab, stubs, elf) : 0;
    if (list.count)
        qsort(list.stubs, list.count, sizeof(*list.stubs), compare_slots);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (list.count && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            name_stubs(&list, stubs, elf, section, &header);
    for (size_t i = 0; i < list.count && err == 0; i++)
        if (list.stubs[i].name)
            err =
                symtab_add_plt(symtab, list.stubs[i].svma, list.stubs[i].bytes, list.stubs[i].name);
    free(list.stubs);
    return err;
}

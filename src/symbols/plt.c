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
    const char *name = elf_strptr(elf, header.sh_link, sym.st_name);
    return name && name[0] ? name : NULL;
}

static int gather_relocations(struct slots *slots, Elf *elf, Elf_Scn *section,
                              const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela))
            break;
        uint64_t type = GELF_R_TYPE(rela.r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
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

/* The slot that a stub jumps through, or 0 when this is no such stub (the first entry of .plt, and
 * all its others when the real stubs are in .plt.sec). */
static uint64_t slot_of_stub(const uint8_t *bytes, size_t size, uint64_t svma)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    struct cursor c = cursor_of(bytes, size);
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

static int add_stubs(struct symtab *symtab, Elf_Scn *section, const GElf_Shdr *header,
                     const struct slots *slots)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t stub_bytes = header->sh_entsize == 8 ? 8 : 16;
    size_t size = data && data->d_buf ? data->d_size : 0;
    int err = 0;
    for (size_t at = 0; at + stub_bytes <= size && err == 0; at += stub_bytes) {
        uint64_t svma = header->sh_addr + at;
        struct slot key = {.svma = slot_of_stub((uint8_t *)data->d_buf + at, stub_bytes, svma)};
        const struct slot *slot =
            bsearch(&key, slots->slots, slots->count, sizeof(key), compare_slots);
        if (slot)
            err = symtab_add_plt(symtab, svma, stub_bytes, slot->name);
    }
    return err;
}

int plt_add_symbols(struct symtab *symtab, Elf *elf)
{
    GElf_Ehdr elf_header;
    size_t names;
    if (!gelf_getehdr(elf, &elf_header) || elf_header.e_machine != EM_X86_64 ||
        elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    struct slots slots = {0};
    int err = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (err == 0 && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            err = gather_relocations(&slots, elf, section, &header);
    if (slots.count)
        qsort(slots.slots, slots.count, sizeof(*slots.slots), compare_slots);
    section = NULL;
    while (err == 0 && slots.count && (section = elf_nextscn(elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && header.sh_type == SHT_PROGBITS && strncmp(name, ".plt", 4) == 0)
            err = add_stubs(symtab, section, &header, &slots);
    }
    free(slots.slots);
    return err;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/plt.h"

#include "arch/machines.h"
#include "base/containers/array.h"
#include "symbols/arch/plt_stubs.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct stub {
    uint64_t svma, bytes;
    uint64_t slot_svma; /* in the global offset table */
    const char *name;   /* NULL: no relocation */
};

/* Sections of a damaged file overlap: all together have no more bytes than the file. */
struct stub_list {
    struct stub *stubs;
    size_t count, capacity;
    size_t code_bytes_left, relocation_bytes_left;
};

/* The unread bytes of a section; 0: none. */
static size_t take_bytes(const Elf_Data *data, size_t *left)
{
    const size_t size = data && data->d_buf && data->d_size <= *left ? data->d_size : 0;
    *left -= size;
    return size;
}

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

/* Only the stubs at needed addresses: most programs have thousands of relocations. */
static int gather_stubs(struct stub_list *list, const struct symtab *symtab,
                        const struct plt_stubs *stubs, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t entry_bytes = stubs->alignment ? stubs->alignment : header->sh_entsize == 8 ? 8 : 16;
    size_t size = take_bytes(data, &list->code_bytes_left);
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
                            const struct plt_stubs *stubs, Elf *elf)
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

/* The stubs are sorted by slot. Among stubs of a slot, the first gets the name. */
static void name_stubs(struct stub_list *list, const struct machine *machine, Elf *elf,
                       Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t bytes = take_bytes(data, &list->relocation_bytes_left);
    size_t count = header->sh_entsize ? bytes / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela))
            break;
        uint64_t type = GELF_R_TYPE(rela.r_info);
        if (type != machine->jump_slot && type != machine->glob_dat)
            continue;
        size_t at = ARRAY_COUNT_BELOW(list->stubs, list->count, slot_svma, rela.r_offset);
        struct stub *stub = at < list->count ? &list->stubs[at] : NULL;
        if (stub && stub->slot_svma == rela.r_offset && !stub->name)
            stub->name =
                dynamic_symbol_name(elf, elf_getscn(elf, header->sh_link), GELF_R_SYM(rela.r_info));
    }
}

static int add_stubs(struct symtab *symtab, struct stub_list *list)
{
    int err = 0;
    for (size_t i = 0; i < list->count && err == 0; i++) {
        struct stub *stub = &list->stubs[i];
        if (i > 0 && stub->slot_svma == stub[-1].slot_svma)
            stub->name = stub[-1].name;
        if (stub->name)
            err = symtab_add_plt(symtab, stub->svma, stub->bytes, stub->name);
    }
    return err;
}

/* A stub jumps through a slot, and the relocation of the slot has the name:
 *
 *     .plt: jmp *slot(%rip) ──▶ slot ◀── .rela.plt, .rela.dyn ──▶ .dynsym
 */
int plt_add_symbols(struct symtab *symtab, Elf *elf)
{
    GElf_Ehdr ehdr;
    const struct plt_stubs *stubs = gelf_getehdr(elf, &ehdr) ? plt_stubs_of(ehdr.e_machine) : NULL;
    struct stub_list list = {0};
    (void)elf_rawfile(elf, &list.code_bytes_left);
    list.relocation_bytes_left = list.code_bytes_left;
    int err = stubs ? gather_all_stubs(&list, symtab, stubs, elf) : 0;
    if (list.count)
        qsort(list.stubs, list.count, sizeof(*list.stubs), compare_slots);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (list.count && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            name_stubs(&list, machine_of_elf(ehdr.e_machine), elf, section, &header);
    if (err == 0)
        err = add_stubs(symtab, &list);
    free(list.stubs);
    return err;
}

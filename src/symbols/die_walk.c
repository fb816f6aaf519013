/* SPDX-License-Identifier: MIT */
#include "symbols/die_walk.h"

#include <dwarf.h>
#include <stddef.h>

struct die_walk die_walk_start(const Dwarf_Die *unit)
{
    return (struct die_walk){.die = *unit};
}

/* A list of children ends with a null entry. After it goes on the parent's list, which may end
 * there too; end is the address of the first null entry. */
static bool leave_lists(struct die_walk *walk, unsigned char *end)
{
    while (end && walk->depth > 1) {
        walk->depth--;
        end++;
        Dwarf_Die next;
        if (!dwarf_die_addr_die(dwarf_cu_getdwarf(walk->die.cu), end, &next) ||
            next.cu != walk->die.cu)
            return false;
        if (dwarf_tag(&next) != DW_TAG_invalid) {
            walk->die = next;
            return true;
        }
    }
    return false;
}

bool die_walk_next(struct die_walk *walk, bool descend)
{
    Dwarf_Die next = {0};
    if (descend && dwarf_child(&walk->die, &next) == 0) {
        walk->depth++;
        walk->die = next;
        return true;
    }
    if (walk->depth == 0)
        return false;
    next.addr = NULL;
    switch (dwarf_siblingof(&walk->die, &next)) {
    case 0:
        if ((unsigned char *)next.addr <= (unsigned char *)walk->die.addr)
            return false;
        walk->die = next;
        return true;
    case 1:
        return leave_lists(walk, next.addr);
    default:
        return false;
    }
}

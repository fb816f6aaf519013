/* SPDX-License-Identifier: MIT */
#include "symbols/functions.h"

#include "base/array.h"
#include "symbols/demangle.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_CHAIN = 16 }; /* of origins; real ones have one link, hostile ones are circles */

int functions_init(struct functions *functions)
{
    functions->keys = intern_new();
    return functions->keys ? 0 : -ENOMEM;
}

void functions_free(struct functions *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        free(functions->functions[i].owned);
    free(functions->functions);
    intern_free(functions->keys);
    *functions = (struct functions){0};
}

/* The DIE that all copies of a function have in common. */
static Dwarf_Die key_of(const Dwarf_Die *die)
{
    Dwarf_Die key = *die;
    for (int i = 0; i < LONGEST_CHAIN; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die origin;
        if (!dwarf_attr(&key, DW_AT_abstract_origin, &attribute) ||
            !dwarf_formref_die(&attribute, &origin))
            break;
        key = origin;
    }
    return key;
}

static struct function *find_or_add(struct functions *functions, const Dwarf_Die *key)
{
    uint32_t index = intern_add(functions->keys, &key->addr, sizeof(key->addr));
    if (index == INTERN_NONE || index > functions->count)
        return NULL;
    if (index < functions->count)
        return &functions->functions[index];
    return ARRAY_PUSH(functions->functions, functions->count, functions->capacity);
}

int functions_note_entry(struct functions *functions, Dwarf_Die *die, uint64_t entry_svma)
{
    Dwarf_Die key = key_of(die);
    struct function *function = find_or_add(functions, &key);
    if (!function)
        return -ENOMEM;
    if (function->entry_svma == 0)
        function->entry_svma = entry_svma;
    return 0;
}

static const char *string_attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *linkage_name(Dwarf_Die *die)
{
    const char *name = string_attribute(die, DW_AT_linkage_name);
    return name ? name : string_attribute(die, DW_AT_MIPS_linkage_name);
}

/*
 * gcc gives C++ functions with internal linkage (static, in unnamed namespaces, lambdas) no linkage name:
 * their DIE says "operator()" and nothing more. The symbol of the out-of-line instance knows better. What
 * follows a dot there says how the compiler cloned the function (".constprop.0"): not part of the name.
 */
static char *name_from_symbol(const struct function *function, const struct symtab *symtab)
{
    const struct symbol *symbol =
        function->entry_svma ? symtab_find(symtab, function->entry_svma) : NULL;
    if (!symbol || symbol->svma != function->entry_svma || strncmp(symbol->name, "_Z", 2) != 0)
        return NULL;
    char *linkage = strndup(symbol->name, strcspn(symbol->name, "."));
    char *name = linkage ? demangle(linkage) : NULL;
    free(linkage);
    return name;
}

static void name_function(struct function *function, Dwarf_Die *key, const struct symtab *symtab)
{
    function->is_named = true;
    function->definition_file = dwarf_decl_file(key);
    int line;
    if (dwarf_decl_line(key, &line) == 0 && line > 0)
        function->definition_line = (uint32_t)line;
    const char *plain = string_attribute(key, DW_AT_name);
    const char *linkage = linkage_name(key);
    function->owned = linkage ? demangle(linkage) : name_from_symbol(function, symtab);
    if (!linkage && function->owned)
        linkage = symtab_find(symtab, function->entry_svma)->name;
    if (!linkage)
        linkage = plain ? plain : "(unnamed)";
    function->name = function->owned ? function->owned : linkage;
    function->system_name = function->owned ? linkage : function->name;
}

const struct function *functions_get(struct functions *functions, Dwarf_Die *die,
                                     const struct symtab *symtab)
{
    Dwarf_Die key = key_of(die);
    struct function *function = find_or_add(functions, &key);
    if (function && !function->is_named)
        name_function(function, &key, symtab);
    return function;
}

/* SPDX-License-Identifier: MIT */
/*
 * How a function gets its name, best first (name_function()):
 *
 *     DW_AT_linkage_name               demangled; of C and assembly as it is
 *     symbol of an out-of-line copy    demangled, for functions with internal linkage
 *     DW_AT_name with its parents      space::outer(int)::<lambda>::operator()
 *     none                             (unnamed)
 *
 * Names are made at the first request. Parents are functions with names as well, so the table may
 * grow and move meanwhile: functions_get() works on a copy.
 */
#include "symbols/dwarf/functions.h"

#include "base/containers/array.h"
#include "base/containers/buffer.h"
#include "symbols/symtab/demangle.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_CHAIN = 16,      /* origin links; real chains have one, hostile chains are circles */
    DEEPEST_NAME = 8,        /* nested functions in a name */
    LONGEST_NAME = 16 << 10, /* of parents and function: a file may have one string for all names */
};

int functions_init(struct functions *functions, struct source_paths *paths, struct lines *lines,
                   struct symtab_files *files)
{
    *functions =
        (struct functions){.keys = intern_new(), .paths = paths, .lines = lines, .files = files};
    return functions->keys ? die_parents_init(&functions->parents) : -ENOMEM;
}

void functions_free(struct functions *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        free(functions->functions[i].owned);
    free(functions->functions);
    if (functions->keys)
        intern_free(functions->keys);
    die_parents_free(&functions->parents);
    symtab_free(&functions->symtab);
    *functions = (struct functions){0};
}

static Dwarf_Die follow(const Dwarf_Die *die, unsigned link)
{
    Dwarf_Die end = *die;
    for (int i = 0; i < LONGEST_CHAIN; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!dwarf_attr(&end, link, &attribute) || !dwarf_formref_die(&attribute, &next))
            break;
        end = next;
    }
    return end;
}

/* The common DIE of all copies of a function. */
static Dwarf_Die key_of(const Dwarf_Die *die)
{
    return follow(die, DW_AT_abstract_origin);
}

/* Keys are addresses of DIEs: libdw keeps the debug info in place. */
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

/* DW_AT_MIPS_linkage_name: compilers before DWARF 4. */
static const char *linkage_name(Dwarf_Die *die)
{
    const char *name = string_attribute(die, DW_AT_linkage_name);
    return name ? name : string_attribute(die, DW_AT_MIPS_linkage_name);
}

/* C++ or D. */
static bool is_mangled(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 ||
           (strncmp(name, "_D", 2) == 0 && name[2] >= '0' && name[2] <= '9');
}

/* C compilers and assemblers do not mangle: names of functions are names of symbols. (Assembly
 * generated from C++ has mangled names, also as symbols.) */
static bool may_be_mangled(const Dwarf_Die *die)
{
    Dwarf_Die unit;
    if (!dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        return true;
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

/* NULL: none begins there. 0 or -ENOMEM. */
static int symbol_at(struct functions *functions, uint64_t svma, const struct symbol **symbol)
{
    int err = functions->has_symtab ? 0 : symtab_load(&functions->symtab, functions->files);
    if (err != 0) {
        symtab_free(&functions->symtab);
        return err;
    }
    functions->has_symtab = true;
    const struct symbol *found = symtab_find(&functions->symtab, svma);
    *symbol = found && found->svma == svma ? found : NULL;
    return 0;
}

/*
 * gcc writes no linkage name for C++ functions with internal linkage (static, unnamed namespaces,
 * lambdas), and D functions that take such parameters: the DIE has "operator()" alone. The symbol
 * of the out-of-line instance has the full name, also when the name lies in a missing file. 0 or
 * -ENOMEM.
 */
static int name_of_instance(struct functions *functions, const struct function *function,
                            const Dwarf_Die *key, const char *plain, const char **name)
{
    const struct symbol *symbol = NULL;
    if (function->entry_svma == 0 || (plain && !is_mangled(plain) && !may_be_mangled(key)))
        return 0;
    int err = symbol_at(functions, function->entry_svma, &symbol);
    if (symbol && (!plain || is_mangled(symbol->name)))
        *name = symbol->name;
    return err;
}

/* The suffix behind a dot in a C++ symbol describes a compiler's clone (".constprop.0") and is no
 * part of the name. Rust's older mangling writes "::" as "..": such names stay whole. */
static char *demangle_function(const char *linkage)
{
    if (strstr(linkage, ".."))
        return demangle(linkage);
    char *bare = strndup(linkage, strcspn(linkage, "."));
    char *name = bare ? demangle(bare) : NULL;
    free(bare);
    return name;
}

/* Split units have a file table without rows, read by libdw. */
static const char *declared_file(const struct functions *functions, Dwarf_Attribute *attribute)
{
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    Dwarf_Word index;
    if (dwarf_formudata(attribute, &index) != 0 || index > INT32_MAX ||
        !dwarf_cu_die(attribute->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    struct line_table *lines = lines_of(functions->lines, &unit);
    if (lines)
        return line_table_file(lines, index);
    return dwarf_getsrcfiles(&unit, &files, &count) == 0 ? dwarf_filesrc(files, index, NULL, NULL)
                                                         : NULL;
}

static void locate_definition(struct functions *functions, struct function *function,
                              Dwarf_Die *key)
{
    Dwarf_Attribute attribute;
    int line;
    if (dwarf_decl_line(key, &line) == 0 && line > 0)
        function->definition_line = (uint32_t)line;
    if (dwarf_attr_integrate(key, DW_AT_decl_file, &attribute))
        function->definition_file =
            source_paths_full(functions->paths, attribute.cu, declared_file(functions, &attribute));
}

static const char *context_name(struct functions *functions, Dwarf_Die *die, const char *plain)
{
    if (dwarf_tag(die) == DW_TAG_subprogram) {
        const struct function *function = functions_get(functions, die);
        return function ? function->name : "(unnamed)";
    }
    const char *name = dwarf_diename(die);
    if (name)
        return name;
    if (dwarf_tag(die) == DW_TAG_namespace)
        return "(anonymous namespace)";
    /* gcc writes no name for the class of a lambda. */
    return strcmp(plain, "operator()") == 0 ? "<lambda>" : "(unnamed)";
}

/*
 * "space::outer(int)::<lambda>::operator()" for a function without linkage name and symbol; NULL:
 * the DIE has no parents. The name of a function starts with the names of its own parents.
 */
static char *qualify(struct functions *functions, const Dwarf_Die *key, const char *plain)
{
    Dwarf_Die declaration = follow(key, DW_AT_specification);
    const struct unit_parents *unit;
    uint32_t found = die_parents_find(&functions->parents, &declaration, &unit);
    if (found == DIE_PARENT_NONE || functions->nesting == DEEPEST_NAME)
        return NULL;
    uint32_t chain[DEEPEST_NAME];
    size_t count = 0;
    for (; found != DIE_PARENT_NONE && count < DEEPEST_NAME; found = unit->parents[found].parent) {
        chain[count++] = found;
        Dwarf_Die die = die_parent_at(unit, found);
        if (dwarf_tag(&die) == DW_TAG_subprogram)
            break;
    }
    struct buffer out = {0};
    functions->nesting++;
    while (count-- > 0 && out.size <= LONGEST_NAME) {
        /* A nested name may read another unit, and move the tables. */
        Dwarf_Die die = die_parent_at(unit, chain[count]);
        buffer_printf(&out, "%.*s::", LONGEST_NAME + 1, context_name(functions, &die, plain));
        (void)die_parents_find(&functions->parents, &declaration, &unit);
    }
    functions->nesting--;
    size_t plain_bytes = strnlen(plain, LONGEST_NAME + 1);
    buffer_append(&out, plain, plain_bytes);
    buffer_u8(&out, 0);
    if (out.failed || out.size > LONGEST_NAME)
        buffer_free(&out);
    return (char *)out.bytes;
}

/*
 * The readable name is the demangled linkage name. A linkage name without mangling is an assembler
 * alias ("__GI_getaddrinfo" for getaddrinfo in the C library): the name in the source is clearer
 * then. 0 or -ENOMEM.
 */
static int name_function(struct functions *functions, struct function *function, Dwarf_Die *key)
{
    const char *plain = string_attribute(key, DW_AT_name);
    const char *linkage = linkage_name(key);
    int err = linkage ? 0 : name_of_instance(functions, function, key, plain, &linkage);
    if (err != 0)
        return err;
    if (linkage)
        function->owned = demangle_function(linkage);
    else if (plain)
        function->owned = qualify(functions, key, plain);
    function->name = function->owned ? function->owned : plain ? plain : linkage;
    functions->has_unnamed |= !function->name;
    if (!function->name)
        function->name = "(unnamed)";
    bool is_same = !linkage || strcmp(linkage, function->name) == 0;
    function->system_name = is_same ? function->name : linkage;
    return 0;
}

const struct function *functions_get(struct functions *functions, Dwarf_Die *die)
{
    Dwarf_Die key = key_of(die);
    struct function *found = find_or_add(functions, &key);
    if (!found || found->name)
        return found;
    size_t index = (size_t)(found - functions->functions);
    struct function function = *found;
    if (name_function(functions, &function, &key) != 0)
        return NULL;
    locate_definition(functions, &function, &key);
    /* Naming may have added functions, and even this function: the table may have moved. */
    free(functions->functions[index].owned);
    functions->functions[index] = function;
    return &functions->functions[index];
}

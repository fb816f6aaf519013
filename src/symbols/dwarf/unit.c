/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/unit.h"

#include "base/containers/array.h"
#include "symbols/dwarf/die_walk.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

/* The open scopes at the current DIE of the pass. */
struct pass {
    struct unit *unit;
    struct functions *functions;
    struct reading_clock *clock;
    struct {
        unsigned depth; /* of the DIE */
        uint32_t scope; /* SPAN_NONE: a function without code */
    } open[UNIT_DEEPEST];
    uint32_t open_count;
    size_t visits; /* of DIEs */
};

void unit_free(struct unit *unit)
{
    free(unit->scopes);
    spans_free(&unit->spans);
    split_close(unit->split);
}

/* The code of a DIE while its ranges are added. */
struct code {
    struct pass *pass;
    uint32_t scope;
    uint64_t low; /* of the first range; 0: none yet */
};

/* Code dropped by the linker (a second template instance, say) keeps its debug info, with addresses
 * from 0. */
static int add_range(void *context, uint64_t start, uint64_t end)
{
    struct code *code = context;
    if (reading_clock_is_over(code->pass->clock))
        return -ETIME;
    if (start == 0 || end <= start)
        return 0;
    if (code->low == 0)
        code->low = start;
    return spans_add(&code->pass->unit->spans, start, end, code->pass->open_count, code->scope);
}

/* Adds the code ranges of a DIE; *low is the first. */
static int add_ranges(struct pass *pass, Dwarf_Die *die, uint32_t scope, uint64_t *low)
{
    struct code code = {.pass = pass, .scope = scope};
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    int err = 0;
    if (pass->unit->split)
        err = split_ranges(pass->unit->split, die, add_range, &code);
    else
        while (err == 0 && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
            err = add_range(&code, start, end);
    *low = code.low;
    return err;
}

static uint32_t open_scope(const struct pass *pass)
{
    return pass->open_count ? pass->open[pass->open_count - 1].scope : SPAN_NONE;
}

/* Makes a scope of a subprogram or inlined subroutine with code. Subprograms without code are
 * opened, too: gcc puts the code of a lambda below the abstract instance of the enclosing
 * function. */
static int add_scope(struct pass *pass, const struct die_walk *walk, bool *descend)
{
    struct unit *unit = pass->unit;
    Dwarf_Die die = walk->die;
    bool is_inlined = walk->tag == DW_TAG_inlined_subroutine;
    uint32_t parent = is_inlined ? open_scope(pass) : SPAN_NONE;
    *descend = false;
    if (pass->open_count == UNIT_DEEPEST || unit->scope_count >= SPAN_NONE ||
        (is_inlined && parent == SPAN_NONE))
        return 0;
    uint32_t index = (uint32_t)unit->scope_count;
    uint64_t low = 0;
    int err = walk->has_code ? add_ranges(pass, &die, index, &low) : 0;
    if (err != 0)
        return err;
    *descend = true;
    pass->open[pass->open_count].depth = walk->depth;
    pass->open[pass->open_count++].scope = low ? index : SPAN_NONE;
    if (low == 0)
        return 0;
    struct scope *scope = ARRAY_PUSH(unit->scopes, unit->scope_count, unit->scope_capacity);
    if (!scope)
        return -ENOMEM;
    scope->die = die;
    scope->parent = parent;
    return is_inlined ? 0 : functions_note_entry(pass->functions, &die, low);
}

/* Handles a DIE; *descend: the subtree may have code. */
static int visit(struct pass *pass, struct die_walk *walk, bool *descend)
{
    enum { LOOKS = 64 };
    while (pass->open_count && pass->open[pass->open_count - 1].depth >= walk->depth)
        pass->open_count--;
    *descend = false;
    if (++pass->visits % LOOKS == 0 && reading_clock_is_over(pass->clock))
        return -ETIME;
    switch (walk->tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
        return add_scope(pass, walk, descend);
    case DW_TAG_compile_unit:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        *descend = true;
        return 0;
    default:
        return 0;
    }
}

static void open_split(struct unit *unit, struct functions *functions, struct splits *splits,
                       struct reading_clock *clock)
{
    uint64_t before_bytes = splits->file_bytes;
    unit->split = split_open(splits, &unit->die);
    reading_clock_extend(clock, splits->file_bytes - before_bytes);
    if (unit->split)
        source_paths_share_directory(functions->paths, unit->split->die.cu, unit->die.cu);
}

/* A split unit has the functions, its skeleton the lines. */
int unit_read(struct unit *unit, struct functions *functions, struct splits *splits,
              struct reading_clock *clock)
{
    unit->is_read = true;
    if (split_is_skeleton(&unit->die))
        open_split(unit, functions, splits, clock);
    struct pass pass = {.unit = unit, .functions = functions, .clock = clock};
    struct die_walk walk = die_walk_start(unit->split ? &unit->split->die : &unit->die);
    bool descend;
    int err;
    do
        err = visit(&pass, &walk, &descend);
    while (err == 0 && die_walk_next(&walk, descend));
    unit->is_damaged = walk.is_damaged;
    die_walk_end(&walk);
    if (err == 0)
        err = spans_flatten(&unit->spans);
    unit->lines = lines_of(functions->lines, &unit->die);
    return err;
}

struct position unit_line(struct unit *unit, uint64_t svma, struct source_paths *paths)
{
    const struct line_row *row = unit->lines ? line_table_find(unit->lines, svma) : NULL;
    if (!row)
        return (struct position){0};
    const char *file = line_table_file(unit->lines, row->file);
    return (struct position){.file = source_paths_full(paths, unit->die.cu, file),
                             .line = row->line > INT32_MAX ? 0 : row->line,
                             .column = row->column > INT32_MAX ? 0 : row->column};
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
        value > INT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* DW_AT_call_*: DWARF 5, 3.3.8.2. */
struct position unit_call_site(struct unit *unit, uint32_t scope, struct source_paths *paths)
{
    Dwarf_Die *die = &unit->scopes[scope].die;
    struct position position = {.line = number_attribute(die, DW_AT_call_line),
                                .column = number_attribute(die, DW_AT_call_column)};
    if (unit->lines && dwarf_hasattr(die, DW_AT_call_file)) {
        uint32_t file = number_attribute(die, DW_AT_call_file);
        position.file = source_paths_full(paths, unit->die.cu, line_table_file(unit->lines, file));
    }
    return position;
}

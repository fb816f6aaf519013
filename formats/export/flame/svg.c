/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as a static picture, for pull requests and mail: no script, no style sheet, a
 * <title> for each box, shown by browsers as a tooltip. Roots at the top, children by decreasing
 * weight. The main event only.
 *
 * Text is monospaced, so its width is known without a font: names are cut to the boxes.
 */
#include "export/export.h"

#include "base/text/decimal.h"
#include "base/text/short_name.h"
#include "base/text/utf8.h"
#include "export/common.h"
#include "export/flame/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH_PX = 1200,
    MARGIN_PX = 10,
    ROW_PX = 17,
    HEADER_PX = 46,
    ROWS_MAX = 1000, /* deeper calls are left out, with a remark */
    TEXT_MIN_PX = 25,
    SHADES = 4,
};
#define BOX_MIN_PX 0.5
#define LETTER_PX 6.7 /* of monospaced fonts at 11 px: 0.60 to 0.61 em */

/* Kinds of code by hue, functions by shade; the paler half is for inlined functions. */
static const char *const colours[PROFILE_CATEGORIES][2 * SHADES] = {
    [PROFILE_USER] = {"#f9bd78", "#f7c584", "#f5cd8a", "#f8c07f", "#fbe3c0", "#fce7c9", "#fae0bd",
                      "#fbe6cc"},
    [PROFILE_KERNEL] = {"#ee9aa5", "#f0a5ae", "#eb929d", "#f2aeb6", "#f6cdd2", "#f7d3d8", "#f5c8ce",
                        "#f8d9dd"},
    [PROFILE_LIBRARY] = {"#97b3e6", "#9dc0e4", "#a6b4ea", "#8fbbe0", "#cddbf4", "#cfe1f3",
                         "#d5dbf6", "#c8dff0"},
    [PROFILE_JIT] = {"#95d4a0", "#a0d9aa", "#8bcf98", "#aaddb3", "#cdebd3", "#d3eed8", "#c8e8ce",
                     "#d9f0dd"},
    [PROFILE_SYNTHETIC] = {"#c5cad1", "#c9ced5", "#bfc5cd", "#cdd2d8", "#c5cad1", "#c9ced5",
                           "#bfc5cd", "#cdd2d8"},
};
static const char *const kind_names[PROFILE_CATEGORIES] = {
    [PROFILE_USER] = "program", [PROFILE_KERNEL] = "kernel",     [PROFILE_LIBRARY] = "library",
    [PROFILE_JIT] = "JIT code", [PROFILE_SYNTHETIC] = "no code",
};

struct svg {
    const struct profile *profile;
    struct buffer *out;
    struct call_tree tree;
    struct flame_node *nodes; /* by node of the tree */
    double scale;             /* pixels per weight */
    bool is_time;
    struct buffer name, label; /* scratch */
};

static void append_xml(struct buffer *out, const char *text, size_t size)
{
    const uint8_t *p = (const uint8_t *)text;
    for (size_t length; size > 0; p += length, size -= length) {
        length = utf8_printable_length(p, size);
        if (length == 0) {
            length = 1;
            buffer_text(out, "\xef\xbf\xbd");
        } else if (*p == '<' || *p == '>' || *p == '&' || *p == '"') {
            buffer_printf(out, "&#%u;", *p);
        } else {
            buffer_append(out, p, length);
        }
    }
}

static void append_text(struct buffer *out, const char *text)
{
    append_xml(out, text, strlen(text));
}

static void append_amount(const struct svg *svg, uint64_t weight)
{
    if (svg->is_time)
        buffer_printf(svg->out, "%.1f ms", (double)weight / 1e6);
    else
        decimal_append(svg->out, weight);
}

static double percent_of(const struct svg *svg, uint64_t weight)
{
    uint64_t all = svg->nodes[CALL_TREE_ROOT].total;
    return all ? (double)weight * 100 / (double)all : 0;
}

static void append_weight(const struct svg *svg, uint64_t weight)
{
    append_amount(svg, weight);
    buffer_printf(svg->out, " (%.1f %%)", percent_of(svg, weight));
}

static bool is_drawn(const struct svg *svg, uint32_t node)
{
    return (double)svg->nodes[node].total * svg->scale >= BOX_MIN_PX;
}

static uint32_t count_rows(const struct svg *svg)
{
    uint32_t rows = 1;
    for (uint32_t i = 0; i < svg->tree.node_count; i++)
        if (is_drawn(svg, i) && svg->nodes[i].depth >= rows)
            rows = svg->nodes[i].depth + 1;
    return rows;
}

static size_t count_letters(const struct buffer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->size; i++)
        count += (text->bytes[i] & 0xc0) != 0x80;
    return count;
}

/* The name in full, or short, or the start of the short name, for this number of letters. */
static void write_label(struct svg *svg, uint32_t func, size_t letters)
{
    const struct profile *profile = svg->profile;
    buffer_clear(&svg->label);
    buffer_append(&svg->label, svg->name.bytes, svg->name.size - 1);
    if (count_letters(&svg->label) > letters && !export_func_is_unknown(profile, func)) {
        buffer_clear(&svg->label);
        short_name_append(&svg->label, profile_text(profile, profile->funcs[func].name),
                          profile_text(profile, profile->funcs[func].system_name));
    }
    const uint8_t *text = svg->label.bytes;
    size_t size = svg->label.size, at = 0;
    size_t shown = count_letters(&svg->label) > letters ? letters - 1 : letters;
    for (size_t i = 0; i < shown && at < size; i++) {
        size_t length = utf8_length(text + at, size - at);
        at += length ? length : 1;
    }
    append_xml(svg->out, (const char *)text, at);
    if (at < size)
        buffer_text(svg->out, "\xe2\x80\xa6");
}

static void write_title(struct svg *svg, uint32_t node, const struct call_frame *frame)
{
    const struct profile *profile = svg->profile;
    const struct profile_func *func = &profile->funcs[frame->func];
    buffer_text(svg->out, "<title>");
    append_text(svg->out, (const char *)svg->name.bytes);
    buffer_printf(svg->out, "\n%s%s", kind_names[frame->category],
                  frame->is_inlined ? ", inlined" : "");
    if (func->lib != PROFILE_NONE) {
        buffer_text(svg->out, ", ");
        append_text(svg->out, profile_text(profile, profile->libs[func->lib].path));
    }
    if (func->file != PROFILE_NONE) {
        buffer_text(svg->out, "\n");
        append_text(svg->out, profile_text(profile, func->file));
        if (func->line)
            buffer_printf(svg->out, ":%u", func->line);
    }
    buffer_text(svg->out, "\ntotal ");
    append_weight(svg, svg->nodes[node].total);
    buffer_text(svg->out, ", self ");
    append_weight(svg, svg->nodes[node].self);
    buffer_text(svg->out, "</title>");
}

static void write_box(struct svg *svg, uint32_t index)
{
    const struct flame_node *node = &svg->nodes[index];
    const struct call_frame *frame = &svg->tree.frames[svg->tree.nodes[index].frame];
    double x = MARGIN_PX + (double)node->start * svg->scale;
    double width = (double)node->total * svg->scale;
    unsigned y = HEADER_PX + (node->depth - 1) * ROW_PX;
    unsigned shade = frame->func * 2654435761u >> 30;
    buffer_clear(&svg->name);
    export_func_name(svg->profile, frame->func, &svg->name);
    buffer_u8(&svg->name, 0);
    if (svg->name.failed)
        return;
    buffer_text(svg->out, "<g>");
    write_title(svg, index, frame);
    buffer_printf(svg->out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
                  x, y, width > 1.5 ? width - 0.5 : width, ROW_PX - 1,
                  colours[frame->category][shade + (frame->is_inlined ? SHADES : 0)]);
    if (width >= TEXT_MIN_PX) {
        buffer_printf(svg->out, "<text x=\"%.1f\" y=\"%u\"%s>", x + 3, y + 12,
                      frame->is_inlined ? " font-style=\"italic\"" : "");
        write_label(svg, frame->func, (size_t)((width - 6) / LETTER_PX));
        buffer_text(svg->out, "</text>");
    }
    buffer_text(svg->out, "</g>\n");
}

/* Program and sum; kinds of code with their share of self time. */
static void write_header(struct svg *svg, bool is_cut)
{
    const struct profile *profile = svg->profile;
    const struct profile_event event = profile_main_event(profile);
    uint64_t of_kind[PROFILE_CATEGORIES] = {0};
    for (uint32_t i = 1; i < svg->tree.node_count; i++)
        of_kind[svg->tree.frames[svg->tree.nodes[i].frame].category] += svg->nodes[i].self;
    buffer_printf(svg->out, "<text x=\"%d\" y=\"18\" font-size=\"14\" font-weight=\"bold\">",
                  MARGIN_PX);
    append_text(svg->out, profile_text(profile, profile->product));
    buffer_printf(svg->out, "</text>\n<text x=\"%d\" y=\"36\" fill=\"#5b6675\">", MARGIN_PX);
    append_amount(svg, svg->nodes[CALL_TREE_ROOT].total);
    buffer_text(svg->out, " ");
    append_text(svg->out, event.is_off_cpu ? "off CPU"
                          : svg->is_time   ? "CPU"
                                           : profile_text(profile, event.name));
    if (is_cut)
        buffer_printf(svg->out, ", without calls below level %d", ROWS_MAX);
    buffer_text(svg->out, "</text>\n");
    int x = WIDTH_PX - MARGIN_PX;
    for (int kind = PROFILE_CATEGORIES; kind-- > 0;) {
        if (of_kind[kind] == 0)
            continue;
        x -= 130;
        buffer_printf(svg->out,
                      "<rect x=\"%d\" y=\"26\" width=\"11\" height=\"11\" fill=\"%s\"/>"
                      "<text x=\"%d\" y=\"36\">%s %.1f %%</text>\n",
                      x, colours[kind][0], x + 16, kind_names[kind],
                      percent_of(svg, of_kind[kind]));
    }
}

static void write_all(struct svg *svg)
{
    uint64_t all = svg->nodes[CALL_TREE_ROOT].total;
    svg->scale = all ? (WIDTH_PX - 2.0 * MARGIN_PX) / (double)all : 0;
    uint32_t rows = count_rows(svg);
    bool is_cut = rows > ROWS_MAX;
    rows = is_cut ? ROWS_MAX : rows;
    unsigned height = HEADER_PX + rows * ROW_PX + MARGIN_PX;
    buffer_printf(svg->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                  "viewBox=\"0 0 %d %u\" font-size=\"11\" fill=\"#14181f\" "
                  "font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                  WIDTH_PX, height, WIDTH_PX, height);
    write_header(svg, is_cut);
    for (uint32_t i = 1; i < svg->tree.node_count; i++)
        if (is_drawn(svg, i) && svg->nodes[i].depth <= rows)
            write_box(svg, i);
    buffer_text(svg->out, "</svg>\n");
}

static int svg_open(struct svg *svg)
{
    int err = call_tree_build(&svg->tree, svg->profile);
    if (err)
        return err;
    svg->is_time = profile_main_event(svg->profile).unit == PROFILE_NANOSECONDS;
    svg->nodes = flame_layout(&svg->tree);
    return svg->nodes ? 0 : -ENOMEM;
}

static int svg_write(const struct profile *profile, const struct export_options *options,
                     struct buffer *out, struct error *error)
{
    (void)options;
    struct svg svg = {.profile = profile, .out = out};
    int err = svg_open(&svg);
    if (!err)
        write_all(&svg);
    if (out->failed || svg.name.failed || svg.label.failed)
        err = -ENOMEM;
    if (err)
        error_set(error, err, "not enough memory to write the picture");
    call_tree_free(&svg.tree);
    free(svg.nodes);
    buffer_free(&svg.name);
    buffer_free(&svg.label);
    return err;
}

static const char *const suffixes[] = {".svg", NULL};

const struct exporter export_svg = {
    .name = "svg",
    .description = "flame graph as a static picture with tooltips",
    .suffixes = suffixes,
    .gzip_level = 6,
    .has_one_event = true,
    .write = svg_write,
};

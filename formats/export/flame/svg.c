/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as a static picture, for pull requests and mail: no script, no style sheet, a
 * <title> for each box, shown by browsers as a tooltip. Roots at the top, children by decreasing
 * weight. The main event only.
 *
 * A difference has the shape of the new side: red grown, blue shrunk, yellow new, grey within
 * noise; removed functions are listed below.
 *
 * Text is monospaced, so its width is known without a font: names are cut to the boxes.
 */
#include "export/export.h"

#include "base/text/short_name.h"
#include "base/text/utf8.h"
#include "export/common.h"
#include "export/flame/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOX_MIN_PX 0.5
#define LETTER_PX 6.7 /* of monospaced fonts at 11 px: 0.60 to 0.61 em */

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
    svg_append_xml(svg->out, (const char *)text, at);
    if (at < size)
        buffer_text(svg->out, "\xe2\x80\xa6");
}

/* For each run: "self before 12.0 ms, +3.1 ms: grown". */
static void write_change(struct svg *svg, uint32_t node)
{
    const struct flame_difference *difference = &svg->difference;
    uint64_t before = flame_weight_of(difference, node, true);
    uint64_t after = flame_weight_of(difference, node, false);
    buffer_text(svg->out, difference->diff->of_total ? "\ntotal before " : "\nself before ");
    svg_append_amount(svg, before);
    buffer_text(svg->out, after < before ? ", -" : ", +");
    svg_append_amount(svg, after < before ? before - after : after - before);
    buffer_printf(svg->out, ": %s", flame_shift_names[flame_shift_of(difference, node)]);
}

static void write_title(struct svg *svg, uint32_t node, const struct call_frame *frame)
{
    const struct profile *profile = svg->profile;
    const struct profile_func *func = &profile->funcs[frame->func];
    buffer_text(svg->out, "<title>");
    svg_append_text(svg->out, (const char *)svg->name.bytes);
    buffer_printf(svg->out, "\n%s%s", colour_kind_names[frame->kind],
                  frame->is_inlined ? ", inlined" : "");
    if (func->lib != PROFILE_NONE) {
        buffer_text(svg->out, ", ");
        svg_append_text(svg->out, profile_text(profile, profile->libs[func->lib].path));
    }
    if (func->file != PROFILE_NONE) {
        buffer_text(svg->out, "\n");
        svg_append_text(svg->out, profile_text(profile, func->file));
        if (func->line)
            buffer_printf(svg->out, ":%u", func->line);
    }
    buffer_text(svg->out, "\ntotal ");
    svg_append_weight(svg, svg->nodes[node].total);
    buffer_text(svg->out, ", self ");
    svg_append_weight(svg, svg->nodes[node].self);
    if (svg->difference.diff)
        write_change(svg, node);
    buffer_text(svg->out, "</title>");
}

static const char *fill_of(const struct svg *svg, uint32_t node)
{
    const struct flame_difference *difference = &svg->difference;
    if (!difference->diff)
        return colour_of_frame(&svg->tree.frames[svg->tree.nodes[node].frame]);
    double before = (double)flame_weight_of(difference, node, true);
    double after = (double)flame_weight_of(difference, node, false);
    double larger = before > after ? before : after;
    double change = before > after ? before - after : after - before;
    return colour_of_shift(flame_shift_of(difference, node), larger > 0 ? change / larger : 0);
}

static void write_box(struct svg *svg, uint32_t index)
{
    const struct flame_node *node = &svg->nodes[index];
    const struct call_frame *frame = &svg->tree.frames[svg->tree.nodes[index].frame];
    double x = MARGIN_PX + (double)node->start * svg->scale;
    double width = (double)node->total * svg->scale;
    unsigned y = HEADER_PX + (node->depth - 1) * ROW_PX;
    buffer_clear(&svg->name);
    export_func_name(svg->profile, frame->func, &svg->name);
    buffer_u8(&svg->name, 0);
    if (svg->name.failed)
        return;
    buffer_text(svg->out, "<g>");
    write_title(svg, index, frame);
    buffer_printf(svg->out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
                  x, y, width > 1.5 ? width - 0.5 : width, ROW_PX - 1, fill_of(svg, index));
    if (width >= TEXT_MIN_PX) {
        buffer_printf(svg->out, "<text x=\"%.1f\" y=\"%u\"%s>", x + 3, y + 12,
                      frame->is_inlined ? " font-style=\"italic\"" : "");
        write_label(svg, frame->func, (size_t)((width - 6) / LETTER_PX));
        buffer_text(svg->out, "</text>");
    }
    buffer_text(svg->out, "</g>\n");
}

static void write_all(struct svg *svg)
{
    uint64_t all = svg->nodes[CALL_TREE_ROOT].total;
    svg->scale = all ? (WIDTH_PX - 2.0 * MARGIN_PX) / (double)all : 0;
    uint32_t rows = count_rows(svg);
    bool is_cut = rows > ROWS_MAX;
    rows = is_cut ? ROWS_MAX : rows;
    unsigned flame_end = HEADER_PX + rows * ROW_PX;
    unsigned height = flame_end + (unsigned)svg_count_removed(svg) * ROW_PX + MARGIN_PX;
    buffer_printf(svg->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                  "viewBox=\"0 0 %d %u\" font-size=\"11\" fill=\"#14181f\" "
                  "font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                  WIDTH_PX, height, WIDTH_PX, height);
    svg_write_header(svg, is_cut);
    for (uint32_t i = 1; i < svg->tree.node_count; i++)
        if (is_drawn(svg, i) && svg->nodes[i].depth <= rows)
            write_box(svg, i);
    svg_write_removed(svg, flame_end);
    buffer_text(svg->out, "</svg>\n");
}

static int svg_open(struct svg *svg, const struct export_diff *diff)
{
    int err = call_tree_build(&svg->tree, svg->profile);
    if (err)
        return err;
    svg->is_time = profile_main_event(svg->profile).unit == PROFILE_NANOSECONDS;
    err = flame_difference_open(&svg->difference, &svg->tree, diff);
    svg->nodes = svg->difference.nodes;
    return err;
}

static int svg_write(const struct profile *profile, const struct export_options *options,
                     struct buffer *out, struct error *error)
{
    struct svg svg = {.profile = profile, .out = out};
    int err = svg_open(&svg, options ? options->diff : NULL);
    if (!err)
        write_all(&svg);
    if (out->failed || svg.name.failed || svg.label.failed)
        err = -ENOMEM;
    if (err)
        error_set(error, err, "not enough memory to write the picture");
    call_tree_free(&svg.tree);
    flame_difference_close(&svg.difference);
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
    .has_diff = true,
    .write = svg_write,
};

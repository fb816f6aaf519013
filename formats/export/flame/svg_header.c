/* SPDX-License-Identifier: MIT */
#include "export/flame/svg.h"

#include "base/text/decimal.h"
#include "base/text/utf8.h"

#include <string.h>

void svg_append_xml(struct buffer *out, const char *text, size_t size)
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

void svg_append_text(struct buffer *out, const char *text)
{
    svg_append_xml(out, text, strlen(text));
}

void svg_append_amount(const struct svg *svg, uint64_t weight)
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

void svg_append_weight(const struct svg *svg, uint64_t weight)
{
    svg_append_amount(svg, weight);
    buffer_printf(svg->out, " (%.1f %%)", percent_of(svg, weight));
}

static void write_legend_entry(const struct svg *svg, int x, const char *colour, const char *name)
{
    buffer_printf(svg->out,
                  "<rect x=\"%d\" y=\"26\" width=\"11\" height=\"11\" fill=\"%s\"/>"
                  "<text x=\"%d\" y=\"36\">%s",
                  x, colour, x + 16, name);
}

/* Kinds of code with their share of self time. */
static void write_kinds(const struct svg *svg)
{
    uint64_t of_kind[CALL_KINDS] = {0};
    for (uint32_t i = 1; i < svg->tree.node_count; i++)
        of_kind[svg->tree.frames[svg->tree.nodes[i].frame].kind] += svg->nodes[i].self;
    int x = WIDTH_PX - MARGIN_PX;
    for (int kind = CALL_KINDS; kind-- > 0;) {
        if (of_kind[kind] == 0)
            continue;
        x -= LEGEND_PX;
        write_legend_entry(svg, x, colour_of_kind(kind), colour_kind_names[kind]);
        buffer_printf(svg->out, " %.1f %%</text>\n", percent_of(svg, of_kind[kind]));
    }
}

static void write_shifts(const struct svg *svg)
{
    int x = WIDTH_PX - MARGIN_PX;
    for (int shift = FLAME_SHIFTS; shift-- > 0;) {
        x -= LEGEND_PX;
        write_legend_entry(svg, x, colour_of_shift((enum flame_shift)shift, 1),
                           flame_shift_names[shift]);
        buffer_text(svg->out, "</text>\n");
    }
}

size_t svg_count_removed(const struct svg *svg)
{
    size_t count = svg->difference.diff ? svg->difference.diff->removed_count : 0;
    return count < REMOVED_MAX ? count : REMOVED_MAX;
}

void svg_write_removed(struct svg *svg, unsigned y)
{
    for (size_t i = 0; i < svg_count_removed(svg); i++) {
        const struct export_removed *removed = &svg->difference.diff->removed[i];
        y += ROW_PX;
        buffer_printf(svg->out, "<text x=\"%d\" y=\"%u\">removed: ", MARGIN_PX, y);
        svg_append_text(svg->out, removed->name);
        buffer_text(svg->out, removed->module[0] ? " of " : "");
        svg_append_text(svg->out, removed->module);
        buffer_text(svg->out, ", ");
        svg_append_amount(svg, (uint64_t)removed->weight);
        buffer_text(svg->out, "</text>\n");
    }
}

void svg_write_header(struct svg *svg, bool is_cut)
{
    const struct profile *profile = svg->profile;
    const struct profile_event event = profile_main_event(profile);
    buffer_printf(svg->out, "<text x=\"%d\" y=\"18\" font-size=\"14\" font-weight=\"bold\">",
                  MARGIN_PX);
    svg_append_text(svg->out, profile_text(profile, profile->product));
    buffer_printf(svg->out, "</text>\n<text x=\"%d\" y=\"36\" fill=\"#5b6675\">", MARGIN_PX);
    svg_append_amount(svg, svg->nodes[CALL_TREE_ROOT].total);
    buffer_text(svg->out, " ");
    svg_append_text(svg->out, event.is_off_cpu ? "off CPU"
                              : event.is_wall  ? "wall time"
                              : svg->is_time   ? "CPU"
                                               : profile_text(profile, event.name));
    if (svg->difference.diff) {
        buffer_text(svg->out, " for each run, before ");
        svg_append_amount(svg, svg->difference.base[CALL_TREE_ROOT].total);
    }
    if (is_cut)
        buffer_printf(svg->out, ", without calls below level %d", ROWS_MAX);
    buffer_text(svg->out, "</text>\n");
    if (svg->difference.diff)
        write_shifts(svg);
    else
        write_kinds(svg);
}

/* SPDX-License-Identifier: MIT */
/*
 * Private to the picture.
 *
 *     svg.c         boxes with their titles and labels
 *     svg_header.c  the lines above, with the legend, and the list below; amounts and text
 */
#pragma once

#include "export/flame/colours.h"

enum {
    WIDTH_PX = 1200,
    MARGIN_PX = 10,
    ROW_PX = 17,
    HEADER_PX = 46,
    ROWS_MAX = 1000, /* deeper calls are left out, with a remark */
    TEXT_MIN_PX = 25,
    LEGEND_PX = 130,
    REMOVED_MAX = 30, /* functions listed below a difference */
};
struct svg {
    const struct profile *profile;
    struct buffer *out;
    struct call_tree tree;
    struct flame_difference difference;
    const struct flame_node *nodes; /* by node of the tree */
    double scale;                   /* pixels per weight */
    bool is_time;
    struct buffer name, label; /* scratch */
};

/* Escaped for XML. */
void svg_append_xml(struct buffer *out, const char *text, size_t size);
void svg_append_text(struct buffer *out, const char *text);

/* "12.3 ms", or a count; svg_append_weight(): with the share of the whole. */
void svg_append_amount(const struct svg *svg, uint64_t weight);
void svg_append_weight(const struct svg *svg, uint64_t weight);

/* Program and sum, and the legend. */
void svg_write_header(struct svg *svg, bool is_cut);

/* The functions removed by a difference, from y on. */
size_t svg_count_removed(const struct svg *svg);
void svg_write_removed(struct svg *svg, unsigned y);

/* SPDX-License-Identifier: MIT */
#include "cli/report/report.h"

#include "base/text/log.h"
#include "cli/options/view_options.h"
#include "profile/synthetic.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/ellipsize.h"
#include "cli/terminal/format.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/weight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FUNCTIONS_SHOWN = 20,
    EVENTS_SHOWN = 6,
    TREE_LINES = 45, /* with the functions: a screen and a half */
    CHAIN_SHOWN = 6, /* longer chains of calls without a branch are shortened */
    INDENT_MAX = 40,
    MODULE_COLUMNS = 18,
    PLACE_COLUMNS = 24,
};

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

struct report_place report_place(const struct profile *profile, uint32_t func)
{
    struct report_place place = {{0}};
    const struct profile_func *f = &profile->funcs[func];
    if (f->file == PROFILE_NONE)
        return place;
    const char *file = last_component(profile_text(profile, f->file));
    if (f->line)
        snprintf(place.text, sizeof(place.text), "%.200s:%u", file, f->line);
    else
        snprintf(place.text, sizeof(place.text), "%.200s", file);
    return place;
}

static void print_heading(const char *text)
{
    const char *no_color = getenv("NO_COLOR");
    bool is_bold = pager_is_terminal() && !(no_color && *no_color);
    printf("\n%s%s%s\n", is_bold ? "\033[1m" : "", text, is_bold ? "\033[m" : "");
}

static uint64_t note_number(const struct profile *profile, const char *key)
{
    const char *value = profile_note(profile, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* From the summary in the capture, if present. */
static void print_completeness(const struct profile *profile)
{
    uint64_t samples = note_number(profile, "samples");
    const char *engine = profile_note(profile, "engine");
    if (engine && samples)
        text_print(stdout, ", %s complete stacks (%s)",
                   format_percent(note_number(profile, "complete"), samples).text, engine);
}

/* A command line may contain a whole script: print the beginning, on a single line. */
static void print_command(const struct profile *profile)
{
    bool is_known = profile->command_line != PROFILE_NONE;
    char line[200], clean[200];
    view_one_line(line, sizeof(line),
                  profile_text(profile, is_known ? profile->command_line : profile->product));
    bool is_cut = strlen(line) == sizeof(line) - 1;
    printf("%s%s\n", text_escape(clean, sizeof(clean), line), is_cut ? "…" : "");
}

/* A report covers a single event. */
static void print_other_events(const struct profile *profile)
{
    const char *separator = "Other events, for --event:";
    size_t left = profile->event_count ? profile->event_count - 1 : 0;
    for (uint32_t i = 0, shown = 0; i < profile->event_count && shown < EVENTS_SHOWN; i++) {
        if (i == profile->main_event)
            continue;
        text_print(stdout, "%s %s", separator, profile_text(profile, profile->events[i].name));
        separator = ",";
        shown++;
        left--;
    }
    if (left > 0)
        printf(", and %zu more: `rec info` has all", left);
    if (profile->event_count > 1)
        printf("\n");
}

static void print_header(const struct report *report, const struct inputs *inputs)
{
    const struct profile *profile = report->profile;
    char name[4096];
    printf("%s, %s: ", text_escape(name, sizeof(name), inputs_label(inputs).text),
           view_age(inputs_newest(inputs)).text);
    print_command(profile);
    text_print(stdout, "%s, %s %s in %s, %zu %s",
               format_samples(samples_count_measured(profile)).text,
               weight_format(profile, report->total).text, weight_noun(profile),
               format_duration(profile->recorded_ns).text, profile->thread_count,
               profile->thread_count == 1 ? "thread" : "threads");
    print_completeness(profile);
    printf("\n");
    print_other_events(profile);
    const char *damage = profile_note(profile, "damage");
    if (damage)
        text_print(stdout, "The file is damaged: %s\n", damage);
}

static void print_functions(const struct report *report, unsigned columns)
{
    const struct profile *profile = report->profile;
    print_heading("   self    total  module              place                     function");
    unsigned used = 18 + MODULE_COLUMNS + 2 + PLACE_COLUMNS + 2;
    for (size_t i = 0; i < report->function_count && i < FUNCTIONS_SHOWN; i++) {
        const struct report_function *function = &report->functions[i];
        if (function->self == 0)
            break;
        const struct profile_func *func = &profile->funcs[function->func];
        char name[2048];
        ellipsize_name(name, sizeof(name), report_name(profile, function->func),
                       columns > used + 20 ? columns - used : 20);
        printf("%7s  %7s  ", format_percent(function->self, report->total).text,
               format_percent(function->total, report->total).text);
        bool has_module = func->lib != PROFILE_NONE && !profile->libs[func->lib].is_synthetic;
        columns_print(has_module ? profile_text(profile, profile->libs[func->lib].name) : "",
                      MODULE_COLUMNS);
        columns_print(report_place(profile, function->func).text, PLACE_COLUMNS);
        printf("%s\n", name);
    }
}

struct tree {
    const struct report *report;
    uint64_t least; /* smaller calls are left out */
    unsigned columns;
    size_t lines;
    struct buffer text;
};

static const struct report_node *node_at(const struct tree *tree, uint32_t node)
{
    return &tree->report->nodes[node];
}

/* Children are sorted by total: below the limit, no later child is shown either. */
static uint32_t first_shown(const struct tree *tree, uint32_t node)
{
    uint32_t child = node_at(tree, node)->first_child;
    bool is_shown = child != PROFILE_NONE && node_at(tree, child)->total >= tree->least;
    return is_shown ? child : PROFILE_NONE;
}

static uint32_t next_shown(const struct tree *tree, uint32_t node)
{
    uint32_t next = node_at(tree, node)->next_sibling;
    bool is_shown = next != PROFILE_NONE && node_at(tree, next)->total >= tree->least;
    return is_shown ? next : PROFILE_NONE;
}

/* The single call out of this node, if less than 5 % of the time of the node is elsewhere. */
static uint32_t only_call(const struct tree *tree, uint32_t node)
{
    uint32_t child = first_shown(tree, node);
    if (child == PROFILE_NONE || next_shown(tree, child) != PROFILE_NONE)
        return PROFILE_NONE;
    uint64_t total = node_at(tree, node)->total;
    return node_at(tree, child)->total >= total - total / 20 ? child : PROFILE_NONE;
}

static void append_line(struct tree *tree, uint32_t node, unsigned indent)
{
    const struct profile *profile = tree->report->profile;
    unsigned room = tree->columns > 9 + indent + 20 ? tree->columns - 9 - indent : 20;
    char name[2048];
    uint32_t func = node_at(tree, node)->func;
    ellipsize_name(name, sizeof(name), report_name(profile, func), room);
    buffer_printf(&tree->text, "%7s  %*s%s\n",
                  format_percent(node_at(tree, node)->total, tree->report->total).text, (int)indent,
                  "", name);
    tree->lines++;
}

static unsigned deeper(unsigned indent)
{
    return indent < INDENT_MAX ? indent + 2 : indent;
}

/* A node and the calls below. Of a long chain of single calls, the first two and last two are
 * shown. Recurses only where calls branch: at most 100 / REPORT_TREE_PERCENT levels. */
static void append_calls(struct tree *tree, uint32_t node, unsigned indent)
{
    size_t length = 1;
    for (uint32_t at = node; (at = only_call(tree, at)) != PROFILE_NONE;)
        length++;
    for (size_t i = 0;; i++) {
        bool is_hidden = length > CHAIN_SHOWN && i >= 2 && i + 2 < length;
        if (is_hidden && i == 2) {
            buffer_printf(&tree->text, "%9s%*s… %zu calls …\n", "", (int)indent, "", length - 4);
            tree->lines++;
            indent = deeper(indent);
        } else if (!is_hidden) {
            append_line(tree, node, indent);
            indent = deeper(indent);
        }
        uint32_t next = only_call(tree, node);
        if (next == PROFILE_NONE)
            break;
        node = next;
    }
    for (uint32_t child = first_shown(tree, node); child != PROFILE_NONE;
         child = next_shown(tree, child))
        append_calls(tree, child, indent);
}

static void append_tree(struct tree *tree, unsigned percent)
{
    buffer_clear(&tree->text);
    tree->lines = 0;
    tree->least = tree->report->total / 100 * percent + 1;
    for (uint32_t child = first_shown(tree, 0); child != PROFILE_NONE;
         child = next_shown(tree, child))
        append_calls(tree, child, 0);
}

/* The limit is 2 %, or the first higher limit with at most TREE_LINES lines. */
static void print_tree(const struct report *report, unsigned columns)
{
    static const unsigned percents[] = {REPORT_TREE_PERCENT, 3, 5, 10, 20};
    struct tree tree = {.report = report, .columns = columns};
    unsigned used = 0;
    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        used = percents[i];
        append_tree(&tree, used);
        if (tree.lines <= TREE_LINES)
            break;
    }
    char heading[64];
    snprintf(heading, sizeof(heading), "  total  calls with at least %u %%", used);
    print_heading(heading);
    fwrite(tree.text.bytes, 1, tree.text.size, stdout);
    buffer_free(&tree.text);
}

void report_print(const struct report *report, const struct inputs *inputs, bool is_part,
                  unsigned columns)
{
    print_header(report, inputs);
    if (report->total == 0) {
        printf(is_part ? "No samples in the selected part.\n"
                       : "No samples: rec records CPU time, not waiting.\n");
        return;
    }
    print_functions(report, columns);
    print_tree(report, columns);
}

/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/images_print.h"

#include "base/text/log.h"
#include "cli/report/json_report.h"
#include "export/common.h"
#include "export/encoding/json.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

#define TEXT_BYTES 128

static void build_id_text(const struct image *image, char text[TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < image->build_id_bytes; i++)
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%02x", image->build_id[i]);
}

static void symbols_text(const struct image *image, char text[TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < IMAGE_SYMBOLS; i++)
        if (image->symbols >> i & 1)
            used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s", used ? "," : "",
                                     image_symbols_names[i]);
}

static void print_image(const struct image *image)
{
    char build_id[TEXT_BYTES], symbols[TEXT_BYTES];
    build_id_text(image, build_id);
    symbols_text(image, symbols);
    printf("%12" PRIx64 "  %8" PRIu64 " K  ", image->start_avma,
           (image->end_avma - image->start_avma) / 1024);
    if (image->has_header)
        printf("%12" PRIx64, image->bias);
    else
        printf("%12s", "?");
    text_print(stdout, "  %-40s  %-8s  %s%s%s%s\n", build_id[0] ? build_id : "-",
               image_state_name(image->state), image->path, symbols[0] ? "  (" : "", symbols,
               symbols[0] ? ")" : "");
}

void images_print(const struct image_list *list, pid_t pid)
{
    text_print(stdout, "Process %d%s (%s), %zu image%s\n", (int)pid,
               export_namespace_id("pid", list->inner_pid).text, list->name, list->count,
               list->count == 1 ? "" : "s");
    printf("\n%12s  %10s  %12s  %-40s  %-8s  file (symbols)\n", "address", "size", "load bias",
           "build-id", "state");
    for (size_t i = 0; i < list->count; i++)
        print_image(&list->images[i]);
    if (list->left_out)
        printf("and %zu more\n", list->left_out);
}

static void append_segment(const struct elf_segment *segment, struct buffer *out)
{
    const char flags[] = {segment->flags & PF_R ? 'r' : '-', segment->flags & PF_W ? 'w' : '-',
                          segment->flags & PF_X ? 'x' : '-', '\0'};
    json_open(out, '{');
    json_member_unsigned(out, "offset", segment->offset);
    json_member_unsigned(out, "svma", segment->svma);
    json_member_unsigned(out, "file_bytes", segment->file_bytes);
    json_member_unsigned(out, "memory_bytes", segment->memory_bytes);
    json_member_string(out, "flags", flags);
    json_close(out, '}');
}

static void append_header(const struct image *image, struct buffer *out)
{
    char build_id[TEXT_BYTES];
    build_id_text(image, build_id);
    json_member_unsigned(out, "load_bias", image->bias);
    if (build_id[0])
        json_member_string(out, "build_id", build_id);
    json_key(out, "segments");
    json_open(out, '[');
    for (uint32_t i = 0; i < image->segment_count; i++)
        append_segment(&image->segments[i], out);
    json_close(out, ']');
}

static void append_image(const struct image *image, struct buffer *out)
{
    json_open(out, '{');
    json_member_string(out, "path", image->path);
    json_member_string(out, "state", image_state_name(image->state));
    json_member_unsigned(out, "start", image->start_avma);
    json_member_unsigned(out, "end", image->end_avma);
    if (image->has_header)
        append_header(image, out);
    json_key(out, "symbols");
    json_open(out, '[');
    for (uint32_t i = 0; i < IMAGE_SYMBOLS; i++)
        if (image->symbols >> i & 1)
            json_string(out, image_symbols_names[i]);
    json_close(out, ']');
    json_close(out, '}');
}

void images_json(const struct image_list *list, pid_t pid, struct buffer *out)
{
    json_report_open(out, NULL);
    json_member_integer(out, "pid", pid);
    if (list->inner_pid)
        json_member_integer(out, "namespace_pid", list->inner_pid);
    json_member_string(out, "name", list->name);
    json_member_unsigned(out, "left_out", list->left_out);
    json_key(out, "images");
    json_open(out, '[');
    for (size_t i = 0; i < list->count; i++)
        append_image(&list->images[i], out);
    json_close(out, ']');
    json_report_close(out);
}

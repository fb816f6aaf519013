/* SPDX-License-Identifier: MIT */
#include "cli/report/json_report.h"

#include "export/encoding/json.h"

/* Rises with changes that existing readers would misunderstand. */
enum { VERSION = 1 };

void json_report_open(struct buffer *out, const char *file)
{
    json_open(out, '{');
    json_member_unsigned(out, "version", VERSION);
    if (file)
        json_member_string(out, "file", file);
}

void json_report_close(struct buffer *out)
{
    json_close(out, '}');
    buffer_text(out, "\n");
}

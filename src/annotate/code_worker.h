/* SPDX-License-Identifier: MIT */
/* The part of code.h in the confined process. */
#pragma once

#include "annotate/code_request.h"
#include "base/containers/buffer.h"
#include "convert/symbolize/debuginfod.h"

struct code_job {
    const struct code_request *request;
    const struct convert_options *options; /* the request's, completed */
    const struct debuginfod *debuginfod;
    const struct buffer *generated; /* code generated at run time; NULL: in the file */
    uint16_t machine;               /* of that code */
};

/*
 * Appends the answer:
 *
 *     u16 errno, text      the reason if errno is not 0, and nothing else
 *     u16 machine, u32 count, count × { u64 svma, u32 bytes, u32 line, text, file }
 */
void code_worker_run(const struct code_job *job, struct buffer *out);

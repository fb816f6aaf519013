/* SPDX-License-Identifier: MIT */
/* The output of `rec annotate`. */
#pragma once

#include "annotate/annotation.h"
#include "base/containers/buffer.h"

enum { ANNOTATE_SYMBOLS_PRINTED = 8 };

/* To standard output, for this width. */
void annotate_print(const struct annotation *annotation, unsigned columns);

/* A JSON object, "version": 1. */
void annotate_json(const struct annotation *annotation, struct buffer *out);

/* SPDX-License-Identifier: MIT */
/* The files of this folder, from the build. */
#pragma once

#include <stddef.h>

extern const unsigned char index_css[], index_js[];
extern const size_t index_css_bytes, index_js_bytes;

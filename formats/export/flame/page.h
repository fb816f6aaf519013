/* SPDX-License-Identifier: MIT */
/* The page of the HTML output, built from the folder page/ by cmake/embed_page.cmake: the text in
 * front of the profile's JSON and the text behind. */
#pragma once

#include <stddef.h>

extern const unsigned char page_head[], page_tail[];
extern const size_t page_head_bytes, page_tail_bytes;

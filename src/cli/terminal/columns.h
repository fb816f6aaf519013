/* SPDX-License-Identifier: MIT */
#pragma once

/* Prints text in a column of this width and a gap of two blanks: escaped, shortened as a name
 * (ellipsize.h), padded by displayed characters. */
void columns_print(const char *text, unsigned columns);

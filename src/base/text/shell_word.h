/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/containers/buffer.h"

/* Appends a word as a POSIX shell reads it back: in single quotes where the word needs any. */
void shell_word_append(struct buffer *out, const char *word);

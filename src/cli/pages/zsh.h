/* SPDX-License-Identifier: MIT */
/* A completion script for zsh. */
#pragma once

#include "base/containers/buffer.h"

void zsh_completion(struct buffer *out);

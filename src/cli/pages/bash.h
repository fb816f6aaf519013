/* SPDX-License-Identifier: MIT */
/* A completion script for bash. */
#pragma once

#include "base/containers/buffer.h"

void bash_completion(struct buffer *out);

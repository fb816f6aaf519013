/* SPDX-License-Identifier: MIT */
/* A completion script for fish. */
#pragma once

#include "base/containers/buffer.h"

void fish_completion(struct buffer *out);

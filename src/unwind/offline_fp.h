/* SPDX-License-Identifier: MIT */
/* An unknown frame pointer, from the return address that the caller search finds, or from the
 * second copy of the return address in a frame that realigns SP. */
#pragma once

#include "unwind/offline_map.h"

/* Sets frame->regs.fp; false: not found. map->code is required. */
bool offline_infer_fp(const struct offline_map *map, const struct stack_view *stack, uint32_t rule,
                      struct stack_frame *frame);

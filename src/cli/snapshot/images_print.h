/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/containers/buffer.h"
#include "record/attach/images/image_list.h"

void images_print(const struct image_list *list, pid_t pid);
void images_json(const struct image_list *list, pid_t pid, struct buffer *out);

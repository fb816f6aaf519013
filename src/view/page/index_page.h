/* SPDX-License-Identifier: MIT */
/* The page below the token: viewers and files. */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"
#include "view/server/viewers.h"

void index_page_write(const struct profile *profile, const char *capture,
                      const struct addresses_of_view *addresses, struct buffer *out);

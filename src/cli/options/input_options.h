/* SPDX-License-Identifier: MIT */
/* The options of filter_options.h and symbol_options.h. */
#pragma once

#include "base/text/error.h"
#include "convert/options.h"

/* Whether id is one of these options; if so, *err is 0, or -EINVAL with a message. */
bool input_option(struct convert_options *options, int id, const char *value, int *err,
                  struct error *error);

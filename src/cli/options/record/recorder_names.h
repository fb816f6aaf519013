/* SPDX-License-Identifier: MIT */
/* Names of recorders and sources on the command line: operands of `rec list`, "NAME,NAME" of
 * --record, --engine. */
#pragma once

#include "base/text/error.h"
#include "record/recorders/recorders.h"

#include <stdint.h>

/* NULL, with a message that names the nearest name or all names; remedy: the end of the latter. */
const struct recorder *recorder_names_find(const char *name, const char *remedy,
                                           struct error *error);

/* Adds the named recorders to the set, see recorder_bit(). 0 or -EINVAL. */
int recorder_names_add(uint32_t *set, const char *list, struct error *error);

/* The engine of a source. 0 or -EINVAL. */
int recorder_names_engine(enum record_engine *engine, const char *name, struct error *error);

/* SPDX-License-Identifier: MIT */
/*
 * perf.data -> profile model, unnamed, then named. The only door from a recording to the exporters.
 *
 * Names are stored with the capture under (path, build-id, svma). An svma is the file's own address, and
 * telling it from a runtime address takes the file's program headers; so these are stored too, and an
 * address has the same svma, and so the same names, on every machine. The other choice, to key on the
 * offset in the file, would need no headers, but exporters need real svmas, and those would then differ
 * between the machine that has the file and the one that has not.
 *
 * Weights are CPU time when the event is a clock, else counts. The main event is the first clock that
 * has samples, else off-CPU time, else the first event that has any.
 */
#pragma once

#include "base/text/error.h"
#include "convert/options.h"
#include "profile/profile.h"

/* Loads the file and orders its samples by time. Damage is not an error: what lies before it is
 * loaded, and a note "damage" says so. */
int convert_load(struct profile **out, const char *path, const struct convert_options *options,
                 struct error *error);

/* Names every address: from the names stored in the file (when it has them), else from the binaries,
 * which are read in processes of their own: only while this process has one thread.
 * A binary with another build-id than the recorded one gives no names; a note "no_names" says so. */
int convert_resolve(struct profile *profile, const char *path,
                    const struct convert_options *options, struct error *error);

/* Stores the names that convert_resolve() found in the file itself, so that a copy of it on another
 * machine converts to the same names. */
int convert_store_names(const struct profile *profile, const char *path, struct error *error);

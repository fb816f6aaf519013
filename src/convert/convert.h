/* SPDX-License-Identifier: MIT */
/*
 * perf.data -> unnamed profile model -> named profile. The only interface between a recording and
 * the exporters.
 *
 * Names are stored in the capture under (path, build-id, svma). Computing the svma from a runtime
 * address needs the file's program headers; these are stored, too, so an address has the same svma,
 * hence the same names, on every machine. Offsets in the file as keys would need no headers, but
 * exporters need real svmas, which would then differ between machines with and without the file.
 *
 * Weights are CPU time if the event is a clock, else counts. The main event is the first clock with
 * samples, else off-CPU time, else the first event with samples.
 */
#pragma once

#include "base/text/error.h"
#include "convert/options.h"
#include "profile/profile.h"

struct capture; /* convert/store/capture.h */

/* Loads the file and sorts its samples by time. Damage is not an error: records before the
 * damage are loaded, and a note "damage" describes the damage. */
int convert_load(struct profile **out, const char *path, const struct convert_options *options,
                 struct error *error);

/* The same for an opened capture; its records can be loaded once. */
int convert_load_from(struct profile **out, struct capture *capture,
                      const struct convert_options *options, struct error *error);

/* Names every address: from the names stored in the file, else from the binaries, which are read
 * in separate processes; so the caller must be single-threaded. A binary with a build-id other
 * than the recorded build-id gives no names, but a note "no_names". */
int convert_resolve(struct profile *profile, struct capture *capture,
                    const struct convert_options *options, struct error *error);

/* Stores the names found by convert_resolve() in the capture itself: a copy on another machine
 * converts to the same names. */
int convert_store_names(const struct profile *profile, const char *path, struct error *error);

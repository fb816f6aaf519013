/* SPDX-License-Identifier: MIT */
/* The sandbox of the commands that convert a capture (base/sandbox/confine_conversion.h). */
#pragma once

#include "cli/files/outputs.h"

/* Confines this process to writing in the directories of the outputs (NULL: none), before the
 * capture is parsed. use_debuginfod: starts the process of downloads first. A failure is printed,
 * and the conversion continues. */
void confine_to_outputs(const struct outputs *outputs, bool use_debuginfod);

/* The same for the conversion at the end of a recording, which also writes names into the capture,
 * below this directory. */
void confine_to_recording(const struct outputs *outputs, int capture_directory,
                          bool use_debuginfod);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/capture.h"
#include "profile/profile.h"

/* What the capture's header says about the recording as a whole: machine, command, times, summary. */
void facts_load(struct profile *profile, struct capture *capture);

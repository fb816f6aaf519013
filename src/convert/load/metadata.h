/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/store/capture.h"
#include "profile/profile.h"

/* What the capture's header says about the recording as a whole: machine, command, times, summary. */
void metadata_load(struct profile *profile, struct capture *capture);

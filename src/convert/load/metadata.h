/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/store/capture.h"
#include "profile/profile.h"

/* The capture's header features on the whole recording: machine, command, times, summary. */
void metadata_load(struct profile *profile, struct capture *capture);

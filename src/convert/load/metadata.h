/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/load/inner_ids.h"
#include "convert/store/capture.h"
#include "profile/profile.h"

/* The capture's header features on the whole recording: machine, command, times, summary. Ids of
 * pid namespaces go to inner_ids. */
void metadata_load(struct profile *profile, struct capture *capture, struct inner_ids *inner_ids);

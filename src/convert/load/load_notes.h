/* SPDX-License-Identifier: MIT */
/* The notes of a profile: losses, damage, and limits reached while loading. */
#pragma once

#include "convert/load/load_state.h"

void load_add_notes(struct loader *loader);

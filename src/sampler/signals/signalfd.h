/* SPDX-License-Identifier: MIT */
/* Descriptors for reading signals. Hook: signalfd(). */
#pragma once

#include "sampler/base/hook.h"

#include <signal.h>
#include <stddef.h>

HOOK int signalfd(int fd, const sigset_t *mask, int flags);

/* Before the system call: ends the sampling if the descriptor is to read the sampler's signal. */
void signalfd_prepare(const sigset_t *mask, size_t mask_bytes);

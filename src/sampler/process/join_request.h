/* SPDX-License-Identifier: MIT */
/* The request of a starting process: leads the launcher to the process' memory. */
#pragma once

#include "sampler/base/state.h"

/* Waits for the reply at most as long as session.h states; the state of the process slot is the
 * result. Not async-signal-safe. */
void join_request_make(uint32_t memory_fd, uint64_t memory_inode);
/* Waits until the launcher has given the memory its size. Not async-signal-safe. */
void join_request_size(uint32_t memory_fd, uint64_t memory_inode);
/* Names this process as not recorded in the summary. Not async-signal-safe. */
void join_request_refuse(enum request_reason reason);

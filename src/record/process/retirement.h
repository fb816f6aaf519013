/* SPDX-License-Identifier: MIT */
/*
 * Processes with samplers that end their own sampling: see sampler/process/retire.c. The request is
 * a word in the process' slot, and the process waits until its event is closed.
 */
#pragma once

#include "record/process/process_watch.h"

/* Answers all requests. */
void retirement_answer(struct process_watch *watch);

/* SPDX-License-Identifier: MIT */
/* The part of `rec doctor` about the rules of the kernel for running processes. */
#pragma once

/* A line for each rule: its state here, and what it permits to rec. */
void doctor_rules_print(void);

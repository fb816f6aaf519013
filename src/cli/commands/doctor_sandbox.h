/* SPDX-License-Identifier: MIT */
/* `rec doctor`: the layers of the sandbox for parsing binaries. */
#pragma once

/* Tests the layers in a sandboxed process; prints a line for each. */
void doctor_sandbox_print(void);

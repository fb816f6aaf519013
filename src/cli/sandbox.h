/* SPDX-License-Identifier: MIT */
/* What `rec doctor` shows of the sandbox that binaries are parsed in. */
#pragma once

/* Runs a sandboxed process that tries the layers, and prints a line for each. */
void sandbox_print(void);

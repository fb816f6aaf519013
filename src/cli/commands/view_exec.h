/* SPDX-License-Identifier: MIT */
/*
 * `rec view` is a program of its own, rec-view, beside rec: the HTTP library brings a TLS library,
 * and both together would triple the start of every other command (2 ms of 3).
 */
#pragma once

/* Replaces this process. Returns the exit status after a failure. */
int view_exec(char *const *words);

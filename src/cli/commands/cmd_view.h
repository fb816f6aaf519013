/* SPDX-License-Identifier: MIT */
#pragma once

/* In rec-view only. Takes the words after the command and returns the exit status. */
int cmd_view(char *const *words);

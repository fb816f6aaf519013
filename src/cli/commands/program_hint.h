/* SPDX-License-Identifier: MIT */
/*
 * A program with the name of a subcommand (ImageMagick's convert, texinfo's info) is recorded by
 * `rec -- convert …`. Without `--` the operands of the program become operands of the subcommand.
 * Such mistakes show as an input that is no capture.
 */
#pragma once

#include "base/text/error.h"

/* For an input that exists and is no capture, or does not exist: if the subcommand's name or the
 * input is a program, -EINVAL and a message with the command to record the program. Else 0: the
 * reader of the capture describes the failure. */
int program_hint_check(const char *subcommand, const char *input, struct error *error);

/* Appends the command to the message of a malformed command line, in the same cases. input: the
 * first operand; NULL: none.
 * The default capture never counts as a program. */
void program_hint_append(const char *subcommand, const char *input, struct error *error);

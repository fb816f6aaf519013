/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user; all output passes through here. External text (paths, symbols, thread
 * names, command lines) may contain terminal escape sequences or imitate messages of rec, so
 * control characters (newlines too), bidirectional controls and invalid UTF-8 are replaced
 * (utf8_printable_length()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* -q: only failures are printed from then on. */
void log_set_quiet(bool quiet);

/* "rec: " + text + newline on stderr; nothing when quiet. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, also when quiet: something failed. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints escaped text to a stream. A newline at the end of the format stays; every other newline
 * may come from an argument and is escaped. */
void text_print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies text into out (size bytes, always terminated) with every byte that could act on a terminal
 * replaced by '?'. Returns out. */
char *text_escape(char *out, size_t size, const char *text);

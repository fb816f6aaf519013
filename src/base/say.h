/* SPDX-License-Identifier: MIT */
/*
 * The one place that prints for users. Everything that comes from outside (paths, symbols, thread
 * names, command lines) may hold terminal escape sequences or lines that look like those of rec: control characters
 * (newlines too), bidirectional controls and invalid UTF-8 are replaced (utf8_printable_length()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* -q: only failures are printed from then on. */
void say_set_quiet(bool quiet);

/* "rec: " + text + newline on stderr; nothing when quiet. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, also when quiet: something failed. */
void say_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text to a stream, escaped. A newline at the end of the format stays; every other newline is escaped, since it
 * cannot be told from the newline of an argument. */
void text_print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies text into out (size bytes, always terminated) with every byte that could act on a terminal
 * replaced by '?'. Returns out. */
char *text_escape(char *out, size_t size, const char *text);

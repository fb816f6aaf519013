/* SPDX-License-Identifier: MIT */
/* A random path segment: 160 bits of getrandom(2) in 32 letters and digits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_CHARACTERS = 32 };

struct token {
    char text[TOKEN_CHARACTERS + 1];
};

/* 0 or a negative errno. */
int token_make(struct token *token);

/* Compares in a time that does not depend on the content. */
bool token_is(const struct token *token, const char *text, size_t length);

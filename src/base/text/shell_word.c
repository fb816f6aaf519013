/* SPDX-License-Identifier: MIT */
#include "base/text/shell_word.h"

#include <string.h>

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    return word[0] && word[strspn(word, plain)] == '\0';
}

void shell_word_append(struct buffer *out, const char *word)
{
    if (is_plain(word)) {
        buffer_text(out, word);
        return;
    }
    buffer_u8(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') /* ends the quotes, and begins them again */
            buffer_text(out, "'\\'");
        buffer_u8(out, (uint8_t)*word);
    }
    buffer_u8(out, '\'');
}

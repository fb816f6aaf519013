/* SPDX-License-Identifier: MIT */
#include "view/http/token.h"

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>

int token_make(struct token *token)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyz234567"; /* 5 bits each */
    uint8_t random[TOKEN_CHARACTERS];
    ssize_t got;
    do
        got = getrandom(random, sizeof(random), 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(random))
        return got < 0 ? -errno : -EIO;
    for (size_t i = 0; i < TOKEN_CHARACTERS; i++)
        token->text[i] = characters[random[i] & 31];
    token->text[TOKEN_CHARACTERS] = '\0';
    return 0;
}

bool token_is(const struct token *token, const char *text, size_t length)
{
    unsigned differs = 0;
    if (length != TOKEN_CHARACTERS || !token->text[0])
        return false;
    for (size_t i = 0; i < TOKEN_CHARACTERS; i++)
        differs |= (unsigned)(token->text[i] ^ text[i]);
    return differs == 0;
}

/* SPDX-License-Identifier: MIT */
#include "base/text/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct scan {
    const char *at;
    struct buffer *out;
    size_t start;    /* of the name in out; earlier bytes belong to the caller */
    unsigned braces; /* "{lambda(int)#1}" */
    unsigned kept;   /* angle brackets within the name: "<T as Trait>::f" */
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether a name or a component of a name begins here. */
static bool is_at_start(const struct scan *scan)
{
    size_t size = scan->out->size;
    if (size == scan->start || scan->out->failed)
        return true;
    uint8_t last = scan->out->bytes[size - 1];
    return last == ':' || last == ' ' || last == '<' || last == '&' || last == '*';
}

/* Position after the closing bracket, or the end of the text. "->" closes no bracket. */
static const char *behind_bracket(const char *at)
{
    size_t depth = 0;
    for (; *at; at++) {
        if (*at == '(' || *at == '<')
            depth++;
        else if (at[0] == '-' && at[1] == '>')
            at++;
        else if ((*at == ')' || *at == '>') && --depth == 0)
            return at + 1;
    }
    return at;
}

/* "operator<<" and others, brackets and all. */
static void copy_operator(struct scan *scan)
{
    static const char *const symbols[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
                                          ">>", "<=", ">=",  "->",  "<",   ">"};
    size_t length = strlen("operator");
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (starts_with(scan->at + length, symbols[i])) {
            length += strlen(symbols[i]);
            break;
        }
    /* "operator new", "operator bool": the blank is in the name. */
    while (isalpha((unsigned char)scan->at[length]) ||
           (scan->at[length] == ' ' && isalpha((unsigned char)scan->at[length + 1])))
        length++;
    buffer_append(scan->out, scan->at, length);
    scan->at += length;
    scan->at += starts_with(scan->at, " <"); /* so written, for "operator<< <char>" to be read */
    if (*scan->at == '<')
        scan->at = behind_bracket(scan->at);
}

/* False: the name ends here. */
static bool leave_out_parameters(struct scan *scan)
{
    scan->at = behind_bracket(scan->at);
    return scan->braces || scan->kept || starts_with(scan->at, "::") || *scan->at == '(';
}

static bool step(struct scan *scan)
{
    static const char unnamed[] = "(anonymous namespace)";
    if (starts_with(scan->at, unnamed)) {
        buffer_text(scan->out, unnamed);
        scan->at += strlen(unnamed);
        return true;
    }
    if (starts_with(scan->at, "operator") && is_at_start(scan) && !isalnum(scan->at[8]) &&
        scan->at[8] != '_') {
        copy_operator(scan);
        return true;
    }
    char c = *scan->at;
    if (c == '(')
        return leave_out_parameters(scan);
    if (c == '<' && !is_at_start(scan)) {
        scan->at = behind_bracket(scan->at);
        return true;
    }
    /* Text before a blank is a return type, or "non-virtual thunk to". */
    if (c == ' ' && scan->braces == 0 && scan->kept == 0)
        scan->out->size = scan->start;
    else
        buffer_u8(scan->out, (uint8_t)c);
    scan->braces += c == '{';
    scan->braces -= c == '}' && scan->braces;
    scan->kept += c == '<';
    scan->kept -= c == '>' && scan->kept;
    scan->at++;
    return true;
}

/* gcc gives internal functions of C++ no linkage name; runtimes put paths into names. */
static bool is_compound(const char *name, const char *linkage)
{
    bool is_mangled = linkage[0] == '_' && linkage[1] != '\0' && strchr("ZRD", linkage[1]);
    return is_mangled || (strstr(name, "::") && !strchr(name, '/'));
}

void short_name_append(struct buffer *out, const char *name, const char *linkage)
{
    struct scan scan = {.at = name, .out = out, .start = out->size};
    bool has_parts = is_compound(name, linkage);
    while (has_parts && *scan.at && step(&scan))
        ;
    if (out->size == scan.start)
        buffer_text(out, name);
}

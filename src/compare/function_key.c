/* SPDX-License-Identifier: MIT */
#include "compare/function_key.h"

#include "base/text/placeholder.h"
#include "export/common.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define CLONE " [clone "

/* The length of a compiler's suffix at the start of the text, with a number or without:
 * ".constprop.0". 0: none. */
static size_t suffix_length(const char *text, size_t length)
{
    static const char *const suffixes[] = {".constprop", ".isra", ".part",
                                           ".cold",      ".llvm", ".lto_priv"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t end = strlen(suffixes[i]);
        if (length < end || memcmp(text, suffixes[i], end) != 0)
            continue;
        if (end < length && text[end] == '.')
            for (end++; end < length && isdigit((unsigned char)text[end]); end++)
                ;
        return end;
    }
    return 0;
}

/* Whether the text is suffixes only. */
static bool is_suffixes(const char *text, size_t length)
{
    while (length) {
        size_t end = suffix_length(text, length);
        if (end == 0)
            return false;
        text += end;
        length -= end;
    }
    return true;
}

/* "work(int) [clone .cold]": the demangler's form of a suffix. Returns the length of the rest. */
static size_t without_clone(const char *name, size_t length)
{
    const size_t mark = sizeof(CLONE) - 1;
    if (length == 0 || name[length - 1] != ']')
        return length;
    for (size_t at = length; at-- > 0;)
        if (length - at > mark && memcmp(name + at, CLONE, mark) == 0)
            return is_suffixes(name + at + mark, length - 1 - at - mark) ? at : length;
    return length;
}

/* The start of the last component, with its dot; 0: none. */
static size_t last_component(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] != '.')
        at--;
    return at > 0 ? at - 1 : 0;
}

static bool is_number(const char *text, size_t length)
{
    while (length > 0 && isdigit((unsigned char)text[length - 1]))
        length--;
    return length == 0;
}

/* One suffix, from the end: each byte of a name of many suffixes is compared once. */
static size_t without_suffix(const char *name, size_t length)
{
    size_t at = last_component(name, length);
    if (at > 0 && is_number(name + at + 1, length - at - 1))
        at = last_component(name, at);
    return at > 0 && suffix_length(name + at, length - at) == length - at ? at : length;
}

/* "core::fmt::write::h0123456789abcdef": the hash of a build. */
static size_t without_hash(const char *name, size_t length)
{
    enum { HASH = 19 };
    const char *hash = name + length - HASH;
    bool is_hash = length > HASH && memcmp(hash, "::h", 3) == 0;
    for (size_t i = 3; is_hash && i < HASH; i++)
        is_hash = isxdigit((unsigned char)hash[i]) != 0;
    return is_hash ? length - HASH : length;
}

static size_t folded_length(const char *name)
{
    size_t length = strlen(name), before;
    do {
        before = length;
        length = without_suffix(name, without_clone(name, length));
    } while (length < before);
    return without_hash(name, length);
}

/* The length of "-1.2" at the end of a name without suffix; 0: none. */
static size_t version_length(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '.'))
        at--;
    bool is_version = at > 1 && at < length && name[at - 1] == '-';
    return is_version ? length - at + 1 : 0;
}

static void append_module(struct buffer *out, const struct profile_lib *lib, const char *name)
{
    static const char so[] = ".so";
    const char *end = strstr(name, so);
    while (end && end[sizeof(so) - 1] != '\0' && end[sizeof(so) - 1] != '.')
        end = strstr(end + 1, so);
    if (lib->category == PROFILE_JIT)
        buffer_text(out, "[jit]");
    else if (!end)
        buffer_text(out, name);
    else {
        size_t length = (size_t)(end - name);
        buffer_append(out, name, length - version_length(name, length));
        buffer_text(out, so);
    }
}

static const struct profile_lib *lib_of(const struct profile *profile, uint32_t func)
{
    uint32_t lib = profile->funcs[func].lib;
    return lib == PROFILE_NONE ? NULL : &profile->libs[lib];
}

void function_key_append_name(struct buffer *out, const struct profile *profile, uint32_t func)
{
    const char *name = profile_text(profile, profile->funcs[func].name);
    if (export_func_is_unknown(profile, func))
        export_func_name(profile, func, out);
    else
        buffer_append(out, name, folded_length(name));
}

void function_key_append_module(struct buffer *out, const struct profile *profile, uint32_t func)
{
    const struct profile_lib *lib = lib_of(profile, func);
    if (lib && !lib->is_synthetic)
        append_module(out, lib, profile_text(profile, lib->name));
}

void function_key_append(struct buffer *out, const struct profile *profile, uint32_t func,
                         const char *module)
{
    const struct profile_lib *lib = lib_of(profile, func);
    bool is_unnamed = export_func_is_unknown(profile, func) ||
                      name_is_placeholder(profile_text(profile, profile->funcs[func].name));
    if (module)
        buffer_text(out, module);
    else
        function_key_append_module(out, profile, func);
    buffer_u8(out, 0);
    function_key_append_name(out, profile, func);
    buffer_u8(out, 0);
    if (!lib || !is_unnamed || lib->category == PROFILE_JIT)
        return;
    if (lib->build_id_bytes)
        buffer_append(out, lib->build_id, lib->build_id_bytes);
    else
        buffer_text(out, profile_text(profile, lib->path));
}

/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox.h"

#include "profile/debug_id.h"

#include <string.h>

bool firefox_address(const struct firefox *firefox, uint32_t lib, uint64_t svma, uint32_t *address)
{
    *address = 0;
    if (lib == PROFILE_NONE || firefox->lib_rows[lib] == PROFILE_NONE)
        return false;
    uint64_t base_svma = firefox->profile->libs[lib].base_svma;
    if (svma < base_svma || svma - base_svma > UINT32_MAX)
        return false;
    *address = (uint32_t)(svma - base_svma);
    return true;
}

/* Libs with samples; synthetic libs (names in brackets, without code) are left out. */
void firefox_choose_libs(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    for (size_t i = 0; i < profile->lib_count; i++)
        firefox->lib_rows[i] = PROFILE_NONE;
    for (size_t i = 0; i < profile->frame_count; i++) {
        uint32_t lib = profile->frames[i].lib;
        if (lib != PROFILE_NONE && !profile->libs[lib].is_synthetic)
            firefox->lib_rows[lib] = 0;
    }
    uint32_t rows = 0;
    for (size_t i = 0; i < profile->lib_count; i++) {
        if (firefox->lib_rows[i] != PROFILE_NONE)
            firefox->lib_rows[i] = rows++;
    }
}

static void code_id(const struct profile_lib *lib, char out[2 * sizeof(lib->build_id) + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < lib->build_id_bytes; i++) {
        *out++ = digits[lib->build_id[i] >> 4];
        *out++ = digits[lib->build_id[i] & 15];
    }
    *out = '\0';
}

/* "x86_64" of "Linux 6.1.0 x86_64". */
static const char *architecture(const struct profile *profile)
{
    const char *space = strrchr(profile_text(profile, profile->os), ' ');
    return space ? space + 1 : "";
}

static void write_lib(struct firefox *firefox, const struct profile_lib *lib)
{
    struct buffer *out = firefox->out;
    const char *name = profile_text(firefox->profile, lib->name);
    const char *path = profile_text(firefox->profile, lib->path);
    const char *arch = architecture(firefox->profile);
    char id[2 * sizeof(lib->build_id) + 1];
    json_open(out, '{');
    json_member_string(out, "name", name);
    json_member_string(out, "path", path);
    json_member_string(out, "debugName", profile_text(firefox->profile, debug_name(lib)));
    json_member_string(out, "debugPath", path);
    debug_id_write(lib, id);
    json_member_string(out, "breakpadId", id);
    code_id(lib, id);
    if (lib->build_id_bytes)
        json_member_string(out, "codeId", id);
    else
        json_member_null(out, "codeId");
    if (arch[0])
        json_member_string(out, "arch", arch);
    else
        json_member_null(out, "arch");
    json_close(out, '}');
}

void firefox_write_libs(struct firefox *firefox)
{
    json_key(firefox->out, "libs");
    json_open(firefox->out, '[');
    for (size_t i = 0; i < firefox->profile->lib_count; i++) {
        if (firefox->lib_rows[i] != PROFILE_NONE)
            write_lib(firefox, &firefox->profile->libs[i]);
    }
    json_close(firefox->out, ']');
}

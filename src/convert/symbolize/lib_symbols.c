/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/lib_symbols.h"

#include "convert/files/symfs.h"
#include "convert/files/vdso.h"
#include "convert/frames.h"
#include "convert/store/symbol_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether only the time of writing can tell if a module's file is the recorded one. */
static bool is_judged_by_time(const struct profile *profile, uint32_t lib)
{
    return profile->libs[lib].build_id_bytes == 0 && profile->start_wall_ns != 0 &&
           !profile->is_wall_time_of_file;
}

/* Whether the file was written after the recording ended. */
static bool is_changed(const struct profile *profile, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    uint64_t end_ns = profile->start_wall_ns + (profile->end_ns - profile->start_ns);
    return (uint64_t)status.st_mtim.tv_sec > end_ns / 1000000000 + 1;
}

/* Copies below --symfs have the time of copying. */
bool lib_symbols_are_changed(const struct profile *profile, const struct convert_options *options,
                             uint32_t lib)
{
    const struct profile_lib *it = &profile->libs[lib];
    const char *path = profile_text(profile, it->path);
    if (strcmp(path, "[vdso]") == 0 || options->symfs || !is_judged_by_time(profile, lib))
        return false;
    return is_changed(profile, symfs_path_of(options, path, it->build_id, it->build_id_bytes).text);
}

void lib_symbols_set_directories(struct confine_limits *limits,
                                 const struct convert_options *options)
{
    limits->directories[0] = options->symfs;
    limits->directories[1] = options->debug_directory;
}

static const char *find_fetched(const void *context, const uint8_t *build_id, size_t build_id_bytes)
{
    return debuginfod_find(context, build_id, build_id_bytes);
}

static int open_symbols(struct lib_symbols *symbols, const uint64_t *wanted, size_t wanted_count)
{
    const struct convert_options *options = symbols->options;
    const struct profile_lib *lib = &symbols->profile->libs[symbols->lib];
    const char *path = profile_text(symbols->profile, lib->path);
    struct symfs_path here = symfs_path(options->symfs, path);
    struct symfs_path now = symfs_path_of(options, path, lib->build_id, lib->build_id_bytes);
    struct symbols_config config = {
        .debug_directory = options->debug_directory,
        .find_fetched = symbols->debuginfod ? find_fetched : NULL,
        .find_fetched_context = symbols->debuginfod,
        .path_now = now.text,
        .symbols_only = options->symbols_only || symbols->symbols_only,
        .reserve_taken_ns = symbols->reserve_taken_ns,
        .needed = wanted,
        .needed_count = wanted_count,
        .is_needed_later = symbols->is_needed_later,
    };
    bool is_vdso = strcmp(path, "[vdso]") == 0;
    if (lib_symbols_are_changed(symbols->profile, options, symbols->lib))
        return error_set(
            &symbols->error, -ESTALE,
            "%s was written after the recording, and has no build-id for a comparison: "
            "names are left out; restore the old file to get the names",
            path);
    if (!is_vdso)
        return symbols_open(&symbols->symbols, here.text, lib->build_id, lib->build_id_bytes,
                            &config, &symbols->error);
    size_t size;
    const void *bytes = vdso_of_build_id(lib->build_id, lib->build_id_bytes, &size);
    return bytes ? symbols_open_memory(&symbols->symbols, bytes, size, &symbols->error) : -ENOENT;
}

/* Names are returned in the format of captures, so a profile with only this lib is built. */
static void open_names(struct lib_symbols *symbols)
{
    const struct profile *profile = symbols->profile;
    const struct profile_lib *lib = &profile->libs[symbols->lib];
    struct profile *named = symbols->named = profile_new();
    if (!named) {
        symbols->err = -ENOMEM;
        return;
    }
    symbols->named_lib =
        profile_lib_id(named, profile_text(profile, lib->path), lib->build_id, lib->build_id_bytes);
    if (symbols->named_lib != PROFILE_NONE)
        named->libs[symbols->named_lib].category = PROFILE_LIBRARY;
}

/* Of a search for debug info alone, names of symbols do not count: the stored names remain. */
static bool has_names(const struct lib_symbols *symbols)
{
    return !symbols->only_debug_info || strcmp(symbols_source(symbols->symbols), "dwarf") == 0;
}

void lib_symbols_open(struct lib_symbols *symbols, const uint64_t *wanted, size_t wanted_count)
{
    symbols->err = open_symbols(symbols, wanted, wanted_count);
    if (symbols->err == 0 && has_names(symbols))
        open_names(symbols);
}

void lib_symbols_need(struct lib_symbols *symbols, const uint64_t *wanted, size_t wanted_count)
{
    if (symbols->named && symbols_need(symbols->symbols, wanted, wanted_count) != 0)
        symbols->named->failed = true;
}

void lib_symbols_add(struct lib_symbols *symbols, uint64_t svma)
{
    struct profile *named = symbols->named;
    struct symbol_result result;
    if (!named || named->failed)
        return;
    uint32_t address = profile_add_address(named, symbols->named_lib, svma);
    if (address == PROFILE_NONE || symbols_resolve(symbols->symbols, svma, &result) != 0)
        named->failed = true;
    else if (result.frame_count)
        frames_add(named, &named->addresses[address], &result);
    else
        named->addresses[address].is_nameless = true;
}

/* A file missing on this machine is not reported; a replaced file is. Files other than programs
 * (mapped by a Lisp or Java runtime) are not reported, either. */
static bool is_expected(int err, const struct profile_lib *lib)
{
    return err == -ENOENT || err == -ENOTDIR || err == -ENAMETOOLONG ||
           (err == -ENOEXEC && lib->build_id_bytes == 0);
}

static void note_unnamed(const struct symbols *symbols, const char *path, struct buffer *out)
{
    const char *missing = symbols_missing_file(symbols);
    if (missing) /* an equal text for all files referring to the supplement: the note is added
                  * once */
        buffer_printf(out,
                      "%s: not found: inlined functions without a name appear as (unnamed); "
                      "install the file, or use --debug-dir or --debuginfod",
                      missing);
    else
        buffer_printf(out, "%s: the debug info lacks names of inlined functions: (unnamed)", path);
}

void lib_symbols_write_note(struct lib_symbols *symbols, struct buffer *out)
{
    const struct profile *profile = symbols->profile;
    const struct profile_lib *lib = &profile->libs[symbols->lib];
    const char *path = profile_text(profile, lib->path);
    if (symbols->err != 0 && !is_expected(symbols->err, lib))
        buffer_text(out, symbols->error.text);
    if (symbols->err == -EACCES && getenv("SUDO_UID"))
        buffer_text(out, " (under sudo, binaries are read with the rights of the user)");
    /* Damage shows only at the first lookup. */
    if (symbols->symbols && symbols_is_cut(symbols->symbols))
        buffer_printf(out,
                      "%s: reading the debug info takes too much time: lines, inlined calls and "
                      "names may be missing",
                      path);
    else if (symbols->symbols && symbols_is_damaged(symbols->symbols))
        buffer_printf(out, "%s: damaged debug info: lines, inlined calls and names may be missing",
                      path);
    else if (symbols->symbols && symbols_has_unnamed(symbols->symbols))
        note_unnamed(symbols->symbols, path, out);
    buffer_u8(out, 0);
    symbols->reserve_taken_ns += symbols->symbols ? symbols_taken_ns(symbols->symbols) : 0;
}

void lib_symbols_close_file(struct lib_symbols *symbols)
{
    symbols_close(symbols->symbols);
    symbols->symbols = NULL;
}

void lib_symbols_write(struct lib_symbols *symbols, struct buffer *out)
{
    struct profile *named = symbols->named;
    if (named)
        profile_end_names(named);
    if (symbols->err == -ENOMEM ||
        (named && (named->failed || symbol_store_write_plain(named, out) != 0)))
        out->failed = true;
}

void lib_symbols_close(struct lib_symbols *symbols)
{
    lib_symbols_close_file(symbols);
    profile_free(symbols->named);
    symbols->named = NULL;
}

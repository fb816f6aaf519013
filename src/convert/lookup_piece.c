/* SPDX-License-Identifier: MIT */
#include "convert/lookup_piece.h"

#include "base/array.h"
#include "base/heap.h"
#include "convert/frames.h"
#include "convert/symfs.h"
#include "convert/vdso.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Without a build-id to tell: whether the file was written after the recording ended. */
static bool is_changed(const struct profile *profile, const char *path)
{
    struct stat status;
    if (profile->start_wall_ns == 0 || profile->is_wall_time_of_file || stat(path, &status) != 0)
        return false;
    uint64_t end_ns = profile->start_wall_ns + (profile->end_ns - profile->start_ns);
    return (uint64_t)status.st_mtim.tv_sec > end_ns / 1000000000 + 1;
}

static const char *find_fetched(const void *context, const uint8_t *build_id, size_t build_id_bytes)
{
    return fetch_find(context, build_id, build_id_bytes);
}

static int open_symbols(const struct lookup *lookup, const struct lookup_piece *piece,
                        const uint64_t *wanted, struct symbols **symbols, struct error *error)
{
    const struct profile_lib *lib = &lookup->profile->libs[piece->lib];
    const char *path = profile_text(lookup->profile, lib->path);
    struct symfs_path here = symfs_path(lookup->options->symfs, path);
    struct symfs_path now =
        symfs_path_of(lookup->options, path, lib->build_id, lib->build_id_bytes);
    struct symbols_config config = {
        .debug_directory = lookup->options->debug_directory,
        .find_fetched = find_fetched,
        .find_fetched_context = &lookup->fetch,
        .path_now = now.text,
        .symbols_only = lookup->options->symbols_only,
        .wanted = wanted,
        .wanted_count = piece->count,
    };
    bool is_vdso = strcmp(path, "[vdso]") == 0;
    /* Below --symfs lie copies, which have the time of copying. */
    if (!is_vdso && lib->build_id_bytes == 0 && !lookup->options->symfs &&
        is_changed(lookup->profile, now.text))
        return error_set(error, -ESTALE,
                         "%s was written after it was recorded, and has no build-id to tell by: "
                         "names are left out; put the old file back to get them",
                         path);
    if (!is_vdso)
        return symbols_open(symbols, here.text, lib->build_id, lib->build_id_bytes, &config, error);
    size_t size;
    const void *bytes = vdso_of_build_id(lib->build_id, lib->build_id_bytes, &size);
    return bytes ? symbols_open_memory(symbols, bytes, size, error) : -ENOENT;
}

static uint64_t svma_of(const struct lookup *lookup, const struct lookup_piece *piece, size_t i)
{
    return lookup->profile->addresses[lookup->order[piece->first + i]].svma;
}

/* Owned; NULL: out of memory. */
static uint64_t *addresses_of(const struct lookup *lookup, const struct lookup_piece *piece)
{
    uint64_t *svmas = calloc(piece->count, sizeof(*svmas));
    for (size_t i = 0; svmas && i < piece->count; i++)
        svmas[i] = svma_of(lookup, piece, i);
    return svmas;
}

/* Names go the way they are stored in captures: a profile of this one lib is made for them. */
static struct profile *resolve_piece(const struct lookup *lookup, const struct lookup_piece *piece,
                                     struct symbols *symbols)
{
    const struct profile_lib *lib = &lookup->profile->libs[piece->lib];
    struct profile *named = profile_new();
    if (!named)
        return NULL;
    uint32_t lib_id = profile_lib_id(named, profile_text(lookup->profile, lib->path), lib->build_id,
                                     lib->build_id_bytes);
    if (lib_id != PROFILE_NONE)
        named->libs[lib_id].category = PROFILE_LIBRARY;
    /* Growing leaves behind what was too small. */
    if (array_reserve((void **)&named->addresses, &named->address_capacity, piece->count,
                      sizeof(*named->addresses)) != 0 ||
        array_reserve((void **)&named->frames, &named->frame_capacity, piece->count,
                      sizeof(*named->frames)) != 0)
        named->failed = true;
    for (size_t i = 0; i < piece->count && !named->failed; i++) {
        uint64_t svma = svma_of(lookup, piece, i);
        uint32_t address = profile_add_address(named, lib_id, svma);
        struct symbol_result result;
        if (address == PROFILE_NONE || symbols_resolve(symbols, svma, &result) != 0)
            named->failed = true;
        else if (result.frame_count)
            frames_add(named, &named->addresses[address], &result);
    }
    profile_end_names(named);
    return named;
}

/* A file that is not on this machine is nothing to complain of; one that is no file any more is. Nor is one that
 * never was a program: what a Lisp maps, or a Java. */
static bool is_expected(int err, const struct profile_lib *lib)
{
    return err == -ENOENT || err == -ENOTDIR || err == -ENAMETOOLONG ||
           (err == -ENOEXEC && lib->build_id_bytes == 0);
}

/* What sections were compressed in, and what of them nobody needs. Of symbols alone there is too little for it to be worth
 * the faults that follow: 4 % of the time of a compiler's copied stacks. */
static void give_back(const struct lookup_piece *piece)
{
    if (piece->may_have_debug_info)
        heap_give_back();
}

/* Owned; NULL: nobody wants them, or no memory, which `out` says. */
static struct profile *names_of(const struct lookup *lookup, const struct lookup_piece *piece,
                                struct symbols *symbols, struct buffer *out)
{
    if (piece->only_debug_info && strcmp(symbols_source(symbols), "dwarf") != 0)
        return NULL;
    struct profile *named = resolve_piece(lookup, piece, symbols);
    if (!named)
        out->failed = true;
    return named;
}

/* What is damaged shows when it is asked for. */
static struct profile *read_names(const struct lookup *lookup, const struct lookup_piece *piece,
                                  struct symbols *symbols, struct buffer *out)
{
    const struct profile_lib *lib = &lookup->profile->libs[piece->lib];
    struct profile *named = names_of(lookup, piece, symbols, out);
    if (symbols_is_damaged(symbols))
        buffer_printf(out,
                      "%s: its debug info is damaged: lines, inlined calls, names may be missing",
                      profile_text(lookup->profile, lib->path));
    symbols_close(symbols);
    give_back(piece); /* before the names are there a second time */
    return named;
}

void lookup_piece_answer(const struct lookup *lookup, const struct lookup_piece *piece,
                         struct buffer *out)
{
    struct symbols *symbols = NULL;
    struct error error = {{0}};
    struct profile *named = NULL;
    uint64_t *wanted = addresses_of(lookup, piece);
    int err = wanted ? open_symbols(lookup, piece, wanted, &symbols, &error) : -ENOMEM;
    free(wanted);
    give_back(piece);
    if (err == 0)
        named = read_names(lookup, piece, symbols, out);
    else if (!is_expected(err, &lookup->profile->libs[piece->lib]))
        buffer_text(out, error.text);
    buffer_u8(out, 0);
    if (err == -ENOMEM || (named && (named->failed || names_write(named, NULL, out) != 0)))
        out->failed = true;
    profile_free(named);
    give_back(piece); /* before who receives the answer has it, too */
}

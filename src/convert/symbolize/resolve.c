/* SPDX-License-Identifier: MIT */
/*
 * The sources of a name, best first, for an address of a file (look_up()):
 *
 *     debug info read now     symbolizer, where the stored names have no lines
 *     the capture             names stored at an earlier conversion, or by rec itself
 *     symbols read now        symbolizer
 *     none                    the number
 *
 * Of the kernel: the capture, names recorded with it, /proc/kallsyms of the same boot. Generated
 * code was named while loading; synthetic marks are their own names.
 */
#include "convert/convert.h"

#include "convert/addresses.h"
#include "convert/files/debug_info.h"
#include "convert/files/symfs.h"
#include "convert/frames.h"
#include "convert/store/capture.h"
#include "convert/store/symbol_store.h"
#include "convert/symbolize/kallsyms.h"
#include "convert/symbolize/kernel_waits.h"
#include "convert/symbolize/symbolizer.h"

#include <errno.h>
#include <stdlib.h>

struct resolver {
    struct profile *profile;
    const struct symbol_store *store; /* NULL: none */
    const struct stored_lib *stored;  /* of the lib being resolved */
    uint32_t *order;                  /* addresses by lib, then svma */
    struct symbolizer symbolizer;
    const struct convert_options *options;
    bool has_other_places; /* sources of debug info beyond those present at the storing of names */
    const struct perfdata_facts *facts;
    struct kallsyms *kallsyms; /* NULL: not needed, or not to be had */
    bool is_kernel_needed;
};

/* The stored names of a lib; NULL: none. Names are of a path and a build-id: the file may have been
 * replaced. */
static const struct stored_lib *stored_names(const struct resolver *resolver, uint32_t lib_id)
{
    if (!resolver->store || lib_id == PROFILE_NONE)
        return NULL;
    const struct profile_lib *lib = &resolver->profile->libs[lib_id];
    return symbol_store_find_lib(resolver->store, profile_text(resolver->profile, lib->path),
                                 lib->build_id, lib->build_id_bytes);
}

/* An address stored without a name is complete, unless new sources of names exist. */
static bool has_all(const struct resolver *resolver, const struct stored_lib *stored, size_t first,
                    size_t end)
{
    struct symbol_result result;
    for (size_t i = first; i < end; i++)
        if (!symbol_store_find(resolver->store, stored,
                               resolver->profile->addresses[resolver->order[i]].svma, &result) ||
            (result.frame_count == 0 && resolver->has_other_places))
            return false;
    return true;
}

/* Debug info installed after names without lines were stored is worth a second search. */
static bool may_have_more(const struct resolver *resolver, uint32_t lib)
{
    const struct convert_options *options = resolver->options;
    return options->use_debuginfod || debug_info_bytes(resolver->profile, lib, options) > 0;
}

static enum symbolize_extent extent_of(const struct resolver *resolver, uint32_t lib)
{
    const struct convert_options *options = resolver->options;
    bool is_later = options->leaves_separate_debug_info &&
                    debug_info_is_separate(resolver->profile, lib, options);
    return is_later ? SYMBOLIZE_SYMBOLS : SYMBOLIZE_ALL;
}

/* With stored names, only an equal build-id proves the file at the path to be the recorded file. */
static int plan_lib(struct resolver *resolver, size_t first, size_t end)
{
    const struct profile *profile = resolver->profile;
    uint32_t lib = profile->addresses[resolver->order[first]].lib;
    const struct stored_lib *stored = stored_names(resolver, lib);
    if (addresses_are_of_kernel(profile, lib))
        resolver->is_kernel_needed |= !stored || !has_all(resolver, stored, first, end);
    if (!addresses_are_of_file(profile, lib) || (stored && profile->libs[lib].build_id_bytes == 0))
        return 0;
    bool has_no_lines = stored && !resolver->options->symbols_only &&
                        !symbol_store_has_lines(resolver->store, stored);
    if (has_no_lines ? !may_have_more(resolver, lib)
                     : stored && has_all(resolver, stored, first, end))
        return 0;
    return symbolizer_add(&resolver->symbolizer, first, end - first,
                          has_no_lines ? SYMBOLIZE_DEBUG_INFO : extent_of(resolver, lib));
}

/* A lib is a range of the order: its addresses are looked up together. */
static int plan(struct resolver *resolver)
{
    const struct profile *profile = resolver->profile;
    int err = 0;
    for (size_t first = 0, end; first < profile->address_count && err == 0; first = end) {
        uint32_t lib = profile->addresses[resolver->order[first]].lib;
        for (end = first + 1; end < profile->address_count; end++)
            if (profile->addresses[resolver->order[end]].lib != lib)
                break;
        err = plan_lib(resolver, first, end);
    }
    return err;
}

/* Fresh names from debug info precede stored names, stored names precede fresh symbols. */
static bool look_up(const struct resolver *resolver, size_t place, struct symbol_result *result)
{
    uint64_t svma = resolver->profile->addresses[resolver->order[place]].svma;
    if (symbolizer_has_debug_info(&resolver->symbolizer, place) &&
        symbolizer_find(&resolver->symbolizer, place, result))
        return true;
    if (resolver->stored && symbol_store_find(resolver->store, resolver->stored, svma, result) &&
        result->frame_count)
        return true;
    return symbolizer_find(&resolver->symbolizer, place, result);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* A name of the recording; NULL: none. */
static const char *recorded_kernel_name(const struct resolver *resolver, uint64_t avma,
                                        uint64_t *start_avma)
{
    const struct convert_options *options = resolver->options;
    return options->find_kernel
               ? options->find_kernel(options->find_kernel_context, avma, start_avma)
               : NULL;
}

/* Without recorded names; ascending, owned; NULL: out of memory. */
static uint64_t *kernel_addresses(const struct resolver *resolver, size_t *count)
{
    const struct profile *profile = resolver->profile;
    uint64_t *avmas = calloc(profile->address_count + 1, sizeof(*avmas)), start_avma;
    *count = 0;
    for (size_t i = 0; avmas && i < profile->address_count; i++)
        if (addresses_are_of_kernel(profile, profile->addresses[i].lib) &&
            !recorded_kernel_name(resolver, profile->addresses[i].svma, &start_avma))
            avmas[(*count)++] = profile->addresses[i].svma;
    if (*count)
        qsort(avmas, *count, sizeof(*avmas), by_number);
    return avmas;
}

/* Called while workers run: reading /proc/kallsyms takes up to 35 ms. */
static void open_kernel(struct resolver *resolver)
{
    size_t count = 0;
    uint64_t *avmas = resolver->is_kernel_needed ? kernel_addresses(resolver, &count) : NULL;
    bool is_hidden = count > 0 && kallsyms_open(&resolver->kallsyms, resolver->facts, avmas,
                                                count) == KALLSYMS_HIDDEN;
    free(avmas);
    if (is_hidden)
        profile_add_note(resolver->profile, "no_names",
                         "kernel addresses are hidden: names of kernel functions need "
                         "`sysctl kernel.kptr_restrict=0`, or root");
}

/* frame: room for a frame of the result. */
static bool look_up_kernel(struct resolver *resolver, uint64_t avma, struct symbol_result *result,
                           struct symbol_frame *frame)
{
    if (resolver->stored && symbol_store_find(resolver->store, resolver->stored, avma, result))
        return result->frame_count > 0;
    result->symbol_name = recorded_kernel_name(resolver, avma, &result->symbol_svma);
    if (!result->symbol_name)
        return resolver->kallsyms && kallsyms_find(resolver->kallsyms, avma, result);
    *frame = (struct symbol_frame){.name = result->symbol_name, .system_name = result->symbol_name};
    result->frames = frame;
    result->frame_count = 1;
    return true;
}

static void resolve_address(struct resolver *resolver, size_t place)
{
    struct profile *profile = resolver->profile;
    struct profile_address *address = &profile->addresses[resolver->order[place]];
    struct symbol_result result = {0};
    struct symbol_frame symbol;
    if (address->frame_count) /* code made at run time: named while loading */
        return;
    if (address->lib != PROFILE_NONE && profile->libs[address->lib].is_synthetic)
        frames_add_bare(profile, address, profile_text(profile, profile->libs[address->lib].name));
    else if (addresses_are_of_kernel(profile, address->lib)
                 ? look_up_kernel(resolver, address->svma, &result, &symbol)
                 : addresses_are_stored(profile, address->lib) &&
                       look_up(resolver, place, &result)) {
        if (resolver->options->symbols_only)
            frames_keep_symbol(&result, &symbol);
        frames_add(profile, address, &result);
    } else {
        frames_add_bare(profile, address, address_number(address->svma).text);
        address->is_nameless = symbolizer_is_answered(&resolver->symbolizer, place);
    }
}

static void resolve_all(struct resolver *resolver)
{
    struct profile *profile = resolver->profile;
    uint32_t lib = PROFILE_NONE;
    for (size_t i = 0; i < profile->address_count && !profile->failed; i++) {
        uint32_t next = profile->addresses[resolver->order[i]].lib;
        if (i == 0 || next != lib)
            resolver->stored = stored_names(resolver, next);
        lib = next;
        resolve_address(resolver, i);
    }
    kernel_waits_name(profile);
    profile_link_stacks(profile);
    profile_end_names(profile);
}

/* Workers read debug info while this process reads the kernel's symbols. */
static int resolve(struct resolver *resolver)
{
    struct profile *profile = resolver->profile;
    resolver->order = addresses_order(profile);
    resolver->symbolizer = (struct symbolizer){
        .profile = profile, .order = resolver->order, .options = resolver->options};
    int err = resolver->order ? plan(resolver) : -ENOMEM;
    if (err == 0) {
        symbolizer_start(&resolver->symbolizer);
        open_kernel(resolver);
        symbolizer_finish(&resolver->symbolizer);
        resolve_all(resolver);
    }
    kallsyms_close(resolver->kallsyms);
    symbolizer_free(&resolver->symbolizer);
    free(resolver->order);
    return profile->failed ? -ENOMEM : err;
}

int convert_resolve(struct profile *profile, struct capture *capture,
                    const struct convert_options *options, struct error *error)
{
    struct convert_options usual = options ? *options : (struct convert_options){0};
    bool has_other_places = usual.debug_directory || usual.symfs || usual.use_debuginfod;
    struct symfs_path debug = symfs_path(usual.symfs, CONVERT_DEBUG_DIRECTORY);
    if (!usual.debug_directory)
        usual.debug_directory = debug.text;
    struct resolver resolver = {.profile = profile,
                                .store = capture->store,
                                .options = &usual,
                                .has_other_places = has_other_places,
                                .facts = perfdata_facts(capture->reader)};
    int err = resolve(&resolver);
    return err ? error_set(error, err, "out of memory while finding names for %s", capture->name)
               : 0;
}

/* SPDX-License-Identifier: MIT */
#include "annotate/listed_sources.h"

#include <stdlib.h>
#include <string.h>

static const struct source_lines none;

/* Of the first files, which have the most time: each change of the file is a search. */
static const struct source_lines *text_of_function(const struct annotation *annotation,
                                                   const char *name)
{
    const struct profile *profile = annotation->request->profile;
    for (size_t i = 0; i < annotation->file_count && i < LISTED_SOURCES_MAX; i++) {
        const struct annotated_file *file = &annotation->files[i];
        if (file->file != PROFILE_NONE && strcmp(profile_text(profile, file->file), name) == 0)
            return &file->source;
    }
    return NULL;
}

static const struct source_lines *find(const struct listed_sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->items[i].name, name) == 0)
            return &sources->items[i].source;
    return NULL;
}

static void read_text(const struct listed_sources *sources, struct listed_source *item,
                      uint32_t lib)
{
    const struct annotation_request *request = sources->annotation->request;
    struct convert_options options = *request->options;
    struct error error;
    options.use_debuginfod = false;
    const struct source_request source = {.profile = request->profile,
                                          .options = &options,
                                          .dirs = request->dirs,
                                          .lib = lib,
                                          .file = item->name};
    if (source_text(&source, &item->source.text, &error) != 0 ||
        source_lines_find(&item->source) != 0)
        source_lines_free(&item->source);
}

const struct source_lines *listed_sources_text(struct listed_sources *sources, const char *name,
                                               uint32_t lib)
{
    const struct source_lines *known = text_of_function(sources->annotation, name);
    known = known ? known : find(sources, name);
    if (known || sources->count == LISTED_SOURCES_MAX || sources->bytes > LISTED_SOURCES_BYTES)
        return known ? known : &none;
    if (!sources->items)
        sources->items = calloc(LISTED_SOURCES_MAX, sizeof(*sources->items));
    if (!sources->items)
        return &none;
    struct listed_source *item = &sources->items[sources->count++];
    item->name = name;
    read_text(sources, item, lib);
    sources->bytes += item->source.text.size;
    return &item->source;
}

void listed_sources_free(struct listed_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        source_lines_free(&sources->items[i].source);
    free(sources->items);
    *sources = (struct listed_sources){0};
}

/* SPDX-License-Identifier: MIT */
#include "annotate/listed_sources.h"

#include <stdlib.h>
#include <string.h>

static const struct buffer none;

static const struct buffer *text_of_function(const struct annotation *annotation, const char *name)
{
    const struct profile *profile = annotation->request->profile;
    for (size_t i = 0; i < annotation->file_count; i++) {
        const struct annotated_file *file = &annotation->files[i];
        if (file->file != PROFILE_NONE && strcmp(profile_text(profile, file->file), name) == 0)
            return &file->text;
    }
    return NULL;
}

static const struct buffer *find(const struct listed_sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->items[i].name, name) == 0)
            return &sources->items[i].text;
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
    if (source_text(&source, &item->text, &error) != 0)
        buffer_free(&item->text);
}

const struct buffer *listed_sources_text(struct listed_sources *sources, const char *name,
                                         uint32_t lib)
{
    const struct buffer *known = text_of_function(sources->annotation, name);
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
    sources->bytes += item->text.size;
    return &item->text;
}

void listed_sources_free(struct listed_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        buffer_free(&sources->items[i].text);
    free(sources->items);
    *sources = (struct listed_sources){0};
}

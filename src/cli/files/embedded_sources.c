/* SPDX-License-Identifier: MIT */
#include "cli/files/embedded_sources.h"

#include "base/containers/intern.h"
#include "base/text/log.h"

#include <errno.h>

static void note(void *context, const char *path, int result)
{
    struct embedded_sources *embedded = context;
    struct intern *list = result == 0         ? embedded->paths
                          : result == -ESTALE ? embedded->newer
                                              : NULL;
    pthread_mutex_lock(&embedded->lock);
    if (list && intern_text(list, path) == INTERN_NONE)
        embedded->failed = true;
    pthread_mutex_unlock(&embedded->lock);
}

void embedded_sources_open(struct embedded_sources *embedded, struct export_options *options)
{
    *embedded = (struct embedded_sources){0};
    pthread_mutex_init(&embedded->lock, NULL);
    if (!options->embed_source)
        return;
    embedded->paths = intern_new();
    embedded->newer = intern_new();
    embedded->failed = !embedded->paths || !embedded->newer;
    if (embedded->failed) {
        options->embed_source = false;
        return;
    }
    options->note_source = note;
    options->note_source_context = embedded;
}

static void print_each(const struct intern *list, const char *what)
{
    for (uint32_t i = 0; i < intern_count(list); i++)
        log_info("%s %s", what, intern_string(list, i));
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

void embedded_sources_print(struct embedded_sources *embedded, bool is_verbose)
{
    if (embedded->failed)
        log_info("the list of embedded source files is not complete: out of memory");
    if (!embedded->paths || !embedded->newer)
        return;
    uint32_t count = intern_count(embedded->paths), newer = intern_count(embedded->newer);
    log_info("embedded the text of %u source file%s%s", count, plural(count),
             count && !is_verbose ? " (-v lists the names)" : "");
    if (is_verbose)
        print_each(embedded->paths, "embedded");
    if (newer)
        log_info("left out %u source file%s, changed since the program was built or recorded",
                 newer, plural(newer));
    if (is_verbose)
        print_each(embedded->newer, "left out");
}

void embedded_sources_close(struct embedded_sources *embedded)
{
    intern_free(embedded->paths);
    intern_free(embedded->newer);
    pthread_mutex_destroy(&embedded->lock);
}

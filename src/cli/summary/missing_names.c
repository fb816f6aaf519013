/* SPDX-License-Identifier: MIT */
#include "cli/summary/missing_names.h"

#include "base/files/foreign_file.h"
#include "base/files/io.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/debug_package.h"
#include "cli/summary/runtimes.h"
#include "cli/terminal/format.h"
#include "convert/files/symfs.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void advise_below(const char *symfs, const char *path, char *advice, size_t size)
{
    bool is_there = access(symfs_path(symfs, path).text, F_OK) == 0;
    snprintf(advice, size,
             is_there ? "stripped, and no debug file below %.80s" : "file not found below %.80s",
             symfs);
}

/* True also for a missing file. */
static bool may_be_elf(const char *path)
{
    uint8_t magic[SELFMAG];
    int fd = foreign_file_open(path, rights_reader(), NULL);
    bool is_other = fd >= 0 && io_pread(fd, magic, sizeof(magic), 0) == 0 &&
                    memcmp(magic, ELFMAG, SELFMAG) != 0;
    if (fd >= 0)
        close(fd);
    return !is_other;
}

static void advise(const char *path, char *advice, size_t size)
{
    char package[128];
    if (!may_be_elf(path)) {
        snprintf(advice, size, "not an ELF file: only the runtime of this code has names");
        return;
    }
    debug_package_find(path, package, sizeof(package));
    if (package[0])
        snprintf(advice, size, "install the debug symbols (Debian: %s)", package);
    else if (access(path, F_OK) != 0)
        snprintf(advice, size, "file not found");
    else
        snprintf(advice, size, "build with -g, do not strip");
}

static void add_unnamed(struct diagnostic_list *list, const struct profile *profile,
                        const struct unnamed_lib *unnamed, uint64_t total)
{
    const struct profile_lib *lib = &profile->libs[unnamed->lib];
    struct formatted share = format_percent(unnamed->weight, total);
    double percent = diagnostic_percent(unnamed->weight, total);
    char through[64] = "";
    if (diagnostic_percent(unnamed->through - unnamed->weight, total) >= DIAGNOSTIC_PERCENT_MIN)
        snprintf(through, sizeof(through), ", %s pass through",
                 format_percent(unnamed->through, total).text);
    char advice[256];
    if (lib->category == PROFILE_JIT) {
        runtimes_explain_names(profile, advice, sizeof(advice));
        diagnostic_add(list, percent, "no names for JIT code, %s (%s of samples%s): %s",
                       profile_text(profile, lib->name), share.text, through,
                       advice[0] ? advice
                                 : "the runtime writes no jitdump and no /tmp/perf-PID.map");
        return;
    }
    const char *path = profile_text(profile, lib->path);
    if (list->symfs)
        advise_below(list->symfs, path, advice, sizeof(advice));
    else
        advise(path, advice, sizeof(advice));
    diagnostic_add(list, percent, "no names for %s (%s of samples%s): %s",
                   profile_text(profile, lib->name), share.text, through, advice);
}

/* A note of the conversion, which begins with the path, already has the reason. */
static bool is_explained(const struct profile *profile, uint32_t lib)
{
    const char *path = profile_text(profile, profile->libs[lib].path);
    for (size_t i = 0; i < profile->note_count; i++)
        if (strcmp(profile_text(profile, profile->notes[i].key), "no_names") == 0 &&
            strncmp(profile_text(profile, profile->notes[i].value), path, strlen(path)) == 0)
            return true;
    return false;
}

enum { UNNAMED_SHOWN = 3, UNNAMED_COUNTED = 64 };

void missing_names_find(struct diagnostic_list *list, const struct profile *profile)
{
    struct unnamed_lib libs[UNNAMED_COUNTED];
    uint64_t total = profile_total(profile), others = 0;
    size_t count = unnamed_libs(profile, libs, UNNAMED_COUNTED), shown = 0, other_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_explained(profile, libs[i].lib))
            continue;
        if (shown < UNNAMED_SHOWN &&
            diagnostic_percent(libs[i].weight, total) >= DIAGNOSTIC_PERCENT_MIN) {
            add_unnamed(list, profile, &libs[i], total);
            shown++;
        } else {
            others += libs[i].weight;
            other_count++;
        }
    }
    if (diagnostic_percent(others, total) >= DIAGNOSTIC_PERCENT_MIN)
        diagnostic_add(list, diagnostic_percent(others, total),
                       "no names for %zu other module%s (%s of samples)", other_count,
                       other_count == 1 ? "" : "s", format_percent(others, total).text);
}

/* SPDX-License-Identifier: MIT */
/*
 * One pass over the symbols, with the addresses of samples (names[]) in memory. A symbol goes to
 * the first address behind the symbol; a nearer symbol replaces the former:
 *
 *     ── a ── b ── x0 ── c ── x1 ── x2 ── d ──▶      x0: b   x1: c   x2: none of its own
 *
 * `source` of x2 is then x1: all symbols between are the same.
 */
#include "convert/symbolize/kallsyms.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "base/containers/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* Symbols have no size: the last symbol before a gap, or before the end, is limited. */
#define LARGEST_SYMBOL (UINT64_C(1) << 20)
enum { READ_BYTES = 1 << 16 };

struct kernel_name {
    uint64_t avma; /* wanted */
    uint64_t
        symbol_avma;    /* the last symbol up to avma, behind the wanted address before; 0: none */
    struct buffer name; /* of the symbol; terminated */
    size_t source;      /* index of the name with the last symbol up to avma */
};

struct kallsyms {
    struct kernel_name *names; /* by avma */
    size_t count;
    bool has_symbols, failed;
    struct symbol_frame frame;
};

void kallsyms_close(struct kallsyms *kallsyms)
{
    if (!kallsyms)
        return;
    for (size_t i = 0; i < kallsyms->count; i++)
        buffer_free(&kallsyms->names[i].name);
    free(kallsyms->names);
    free(kallsyms);
}

/* The later of two symbols with equal addresses. */
static void take_symbol(struct kallsyms *kallsyms, uint64_t avma, const char *name, size_t bytes)
{
    size_t at = ARRAY_COUNT_BELOW(kallsyms->names, kallsyms->count, avma, avma);
    struct kernel_name *wanted = &kallsyms->names[at];
    kallsyms->has_symbols = true;
    if (at == kallsyms->count || avma < wanted->symbol_avma)
        return;
    wanted->symbol_avma = avma;
    buffer_clear(&wanted->name);
    buffer_append(&wanted->name, name, bytes);
    buffer_u8(&wanted->name, 0);
    kallsyms->failed |= wanted->name.failed;
}

/* Whether all wanted names lie before this symbol. The kernel's own symbols come first, in
 * ascending order (scripts/kallsyms.c, sort_symbols(), Linux 6.18), those of a module in any. */
static bool is_behind_wanted(const struct kallsyms *kallsyms, uint64_t avma, bool is_of_module)
{
    return !is_of_module && kallsyms->count > 0 && kallsyms->names[0].symbol_avma &&
           avma > kallsyms->names[kallsyms->count - 1].avma;
}

/* "ffffffff81000000 T _stext", "ffffffffc0000000 t ext4_fill_super\t[ext4]". False: no line behind
 * it is needed. */
static bool take_line(struct kallsyms *kallsyms, const char *line)
{
    char *end;
    uint64_t avma = strtoull(line, &end, 16);
    if (avma == 0 || end[0] != ' ' || end[1] == '\0' || !strchr("tTwW", end[1]) || end[2] != ' ')
        return true;
    size_t bytes = strcspn(end + 3, "\t\n");
    if (bytes)
        take_symbol(kallsyms, avma, end + 3, bytes);
    return !is_behind_wanted(kallsyms, avma, end[3 + bytes] == '\t');
}

static struct kallsyms *new_kallsyms(const uint64_t *avmas, size_t count)
{
    struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
    struct kernel_name *names = calloc(count + 1, sizeof(*names));
    if (!kallsyms || !names) {
        free(kallsyms);
        free(names);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        names[i].avma = avmas[i];
    *kallsyms = (struct kallsyms){.names = names, .count = count};
    return kallsyms;
}

struct kallsyms *kallsyms_read(FILE *file, const uint64_t *avmas, size_t count)
{
    struct kallsyms *kallsyms = new_kallsyms(avmas, count);
    char *line = NULL;
    size_t capacity = 0, source = 0;
    while (kallsyms && getline(&line, &capacity, file) > 0 && take_line(kallsyms, line))
        continue;
    free(line);
    if (!kallsyms || !kallsyms->has_symbols || kallsyms->failed) {
        kallsyms_close(kallsyms);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        source = kallsyms->names[i].symbol_avma ? i : source;
        kallsyms->names[i].source = source;
    }
    return kallsyms;
}

/* Whether the capture was made on this machine since its boot. */
static bool is_of_this_boot(const struct perfdata_facts *facts)
{
    struct utsname system;
    if (uname(&system) != 0 || !facts->host || strcmp(facts->host, system.nodename) != 0 ||
        !facts->os_release || strcmp(facts->os_release, system.release) != 0)
        return false;
    if (facts->wall_ns)
        return facts->wall_ns > clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
    /* Without a wall clock: the samples' clock counts from the boot, and cannot be ahead of us. */
    return facts->last_sample_ns <= clock_ns(CLOCK_BOOTTIME);
}

enum kallsyms_state kallsyms_open(struct kallsyms **out, const struct perfdata_facts *facts,
                                  const uint64_t *avmas, size_t count)
{
    *out = NULL;
    if (!is_of_this_boot(facts))
        return KALLSYMS_ELSEWHERE;
    FILE *file = fopen("/proc/kallsyms", "re");
    if (!file)
        return KALLSYMS_HIDDEN;
    setvbuf(file, NULL, _IOFBF, READ_BYTES);
    *out = kallsyms_read(file, avmas, count);
    fclose(file);
    return *out ? KALLSYMS_READ : KALLSYMS_HIDDEN;
}

bool kallsyms_find(struct kallsyms *kallsyms, uint64_t avma, struct symbol_result *result)
{
    size_t low = ARRAY_COUNT_UP_TO(kallsyms->names, kallsyms->count, avma, avma);
    if (low == 0 || kallsyms->names[low - 1].avma != avma)
        return false;
    const struct kernel_name *found = &kallsyms->names[kallsyms->names[low - 1].source];
    if (!found->symbol_avma || avma - found->symbol_avma >= LARGEST_SYMBOL)
        return false;
    const char *name = (const char *)found->name.bytes;
    kallsyms->frame = (struct symbol_frame){.name = name, .system_name = name};
    *result = (struct symbol_result){.frames = &kallsyms->frame,
                                     .frame_count = 1,
                                     .symbol_name = name,
                                     .symbol_svma = found->symbol_avma};
    return true;
}

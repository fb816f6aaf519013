/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/kallsyms.h"

#include "base/containers/array.h"
#include "base/files/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { FILE_BYTES_MAX = 256 << 20 };
/* Symbols have no size: the last symbol before a gap, or before the end, is limited. */
#define LARGEST_SYMBOL (UINT64_C(1) << 20)

struct kernel_symbol {
    uint64_t avma;
    const char *name;
};

struct kallsyms {
    char *text; /* with the terminated names */
    struct kernel_symbol *symbols;
    size_t count, capacity;
    struct symbol_frame frame;
};

void kallsyms_close(struct kallsyms *kallsyms)
{
    if (!kallsyms)
        return;
    free(kallsyms->text);
    free(kallsyms->symbols);
    free(kallsyms);
}

static int by_address(const void *left, const void *right)
{
    const struct kernel_symbol *a = left, *b = right;
    return (a->avma > b->avma) - (a->avma < b->avma);
}

/* "ffffffff81000000 T _stext", "ffffffffc0000000 t ext4_fill_super\t[ext4]"; terminates the
 * name. */
static bool add_line(struct kallsyms *kallsyms, char *line)
{
    char *end;
    uint64_t avma = strtoull(line, &end, 16);
    if (avma == 0 || end[0] != ' ' || end[1] == '\0' || !strchr("tTwW", end[1]) || end[2] != ' ' ||
        end[3] == '\0')
        return true;
    struct kernel_symbol *symbol =
        ARRAY_PUSH(kallsyms->symbols, kallsyms->count, kallsyms->capacity);
    if (!symbol)
        return false;
    end[3 + strcspn(end + 3, "\t")] = '\0';
    *symbol = (struct kernel_symbol){.avma = avma, .name = end + 3};
    return true;
}

/* text: terminated, owned by the result, or freed. */
static struct kallsyms *parse(char *text)
{
    struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
    if (!kallsyms) {
        free(text);
        return NULL;
    }
    kallsyms->text = text;
    bool is_good = text != NULL;
    char *rest = text;
    for (char *line; is_good && (line = strsep(&rest, "\n"));)
        is_good = add_line(kallsyms, line);
    if (!is_good || kallsyms->count == 0) {
        kallsyms_close(kallsyms);
        return NULL;
    }
    qsort(kallsyms->symbols, kallsyms->count, sizeof(*kallsyms->symbols), by_address);
    return kallsyms;
}

struct kallsyms *kallsyms_parse(const void *bytes, size_t size)
{
    return parse(strndup(bytes ? bytes : "", size));
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether the capture was made on this machine since its boot. */
static bool is_of_this_boot(const struct perfdata_facts *facts)
{
    struct utsname system;
    if (uname(&system) != 0 || !facts->host || strcmp(facts->host, system.nodename) != 0 ||
        !facts->os_release || strcmp(facts->os_release, system.release) != 0)
        return false;
    if (facts->wall_ns)
        return facts->wall_ns > now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
    /* Without a wall clock: the samples' clock counts from the boot, and cannot be ahead of us. */
    return facts->last_sample_ns <= now_ns(CLOCK_BOOTTIME);
}

enum kallsyms_state kallsyms_open(struct kallsyms **out, const struct perfdata_facts *facts)
{
    *out = NULL;
    if (!is_of_this_boot(facts))
        return KALLSYMS_ELSEWHERE;
    struct buffer text = {0};
    int err = io_read_file("/proc/kallsyms", &text, FILE_BYTES_MAX);
    buffer_u8(&text, 0);
    if (err == 0 && !text.failed)
        *out = parse((char *)text.bytes);
    else
        buffer_free(&text);
    return *out ? KALLSYMS_READ : KALLSYMS_HIDDEN;
}

bool kallsyms_find(struct kallsyms *kallsyms, uint64_t avma, struct symbol_result *result)
{
    size_t low = ARRAY_COUNT_UP_TO(kallsyms->symbols, kallsyms->count, avma, avma);
    if (low == 0 || avma - kallsyms->symbols[low - 1].avma >= LARGEST_SYMBOL)
        return false;
    const struct kernel_symbol *symbol = &kallsyms->symbols[low - 1];
    kallsyms->frame = (struct symbol_frame){.name = symbol->name, .system_name = symbol->name};
    *result = (struct symbol_result){.frames = &kallsyms->frame,
                                     .frame_count = 1,
                                     .symbol_name = symbol->name,
                                     .symbol_svma = symbol->avma};
    return true;
}

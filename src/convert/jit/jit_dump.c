/* SPDX-License-Identifier: MIT */
#include "convert/jit/jit_code.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/containers/intern.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers and layouts of the kernel's jitdump specification (jit_code.h). */
enum { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO, RECORD_CLOSE };

#define MAGIC 0x4a695444u
#define MAGIC_SWAPPED 0x4454694au
#define FLAG_ARCH_TIMESTAMP 1u /* times are values of the processor's counter */
#define LARGEST_CODE (UINT64_C(1) << 30)
enum { LINES_MAX = 1 << 16 /* of a piece */, ELF_HEADER_BYTES = 64 };

struct dump {
    const uint8_t *bytes;
    struct jit_codes *codes;
    const struct jit_counter *counter; /* NULL: times are times */
    struct intern *starts; /* address -> index in latest: the last piece with this start */
    uint32_t *latest;
    size_t latest_count, latest_capacity;
    /* The last DEBUG_INFO; it precedes its LOAD: */
    uint64_t lines_avma;
    size_t first_line, line_count;
};

struct head {
    uint32_t kind;
    uint64_t time;
};

static int add_code(struct dump *dump, const struct jit_code *code)
{
    uint64_t end;
    if (code->bytes == 0 || code->bytes > LARGEST_CODE ||
        __builtin_add_overflow(code->avma, code->bytes, &end))
        return 0;
    struct jit_code *added = jit_codes_add(dump->codes);
    uint32_t start = intern_add(dump->starts, &code->avma, sizeof(code->avma));
    if (!added || start == INTERN_NONE)
        return -ENOSPC;
    *added = *code;
    if (start == dump->latest_count &&
        !ARRAY_PUSH(dump->latest, dump->latest_count, dump->latest_capacity))
        return -ENOSPC;
    dump->latest[start] = (uint32_t)dump->codes->count - 1;
    return 0;
}

/* V8 and LLVM give addresses of lines as in the ELF file built by `perf inject` for each piece,
 * with a 64-byte header before the code. Other runtimes give addresses in the code. */
static void undo_header(struct dump *dump, const struct jit_code *code)
{
    struct jit_line *lines = dump->codes->lines + code->first_line;
    for (size_t i = 0; i < code->line_count; i++)
        if (lines[i].avma < code->avma + ELF_HEADER_BYTES)
            return;
    for (size_t i = 0; i < code->line_count; i++)
        lines[i].avma -= ELF_HEADER_BYTES;
}

static int read_load(struct dump *dump, struct cursor *c, uint64_t time_ns)
{
    cursor_skip(c, 8); /* pid, tid */
    uint64_t vma = cursor_u64(c), code_addr = cursor_u64(c);
    /* perf inject maps code_addr (tools/perf/util/jitdump.c); Julia leaves vma 0. */
    struct jit_code code = {.since_ns = time_ns, .avma = code_addr ? code_addr : vma};
    code.bytes = cursor_u64(c);
    cursor_skip(c, 8); /* index */
    const char *name = cursor_string(c);
    if (!name)
        return 0;
    code.name = jit_codes_text(dump->codes, name, strlen(name));
    if (cursor_left(c) >= code.bytes)
        code.code_at = (size_t)(c->bytes + c->at - dump->bytes);
    if (dump->line_count && (dump->lines_avma == code_addr || dump->lines_avma == vma)) {
        code.first_line = dump->first_line;
        code.line_count = dump->line_count;
        undo_header(dump, &code);
    }
    dump->line_count = 0;
    return code.name ? add_code(dump, &code) : -ENOSPC;
}

/* The latest piece with this start. */
static const struct jit_code *find_start(const struct dump *dump, uint64_t avma)
{
    uint32_t start = intern_find(dump->starts, &avma, sizeof(avma));
    if (start == INTERN_NONE)
        return NULL;
    const struct jit_code *code = &dump->codes->codes[dump->latest[start]];
    return code->is_gone ? NULL : code;
}

/* The old place is marked as gone from then on: without code, not with the code of before. */
static int read_move(struct dump *dump, struct cursor *c, uint64_t time_ns)
{
    cursor_skip(c, 16); /* pid, tid, vma */
    uint64_t from = cursor_u64(c), to = cursor_u64(c), bytes = cursor_u64(c);
    const struct jit_code *code = c->failed ? NULL : find_start(dump, from);
    if (!code)
        return 0;
    struct jit_code moved = *code;
    moved.since_ns = time_ns;
    moved.avma = to;
    moved.bytes = bytes;
    moved.line_count = 0; /* lines have the old addresses */
    struct jit_code gone = {.since_ns = time_ns, .avma = from, .bytes = bytes, .is_gone = true};
    int err = add_code(dump, &gone);
    return err ? err : add_code(dump, &moved);
}

/* node 18 to 24 write freed memory in place of some names. */
static bool is_path(const char *name)
{
    size_t length = strlen(name);
    size_t step = 0;
    for (size_t at = 0; at < length; at += step) {
        step = utf8_length((const uint8_t *)name + at, length - at);
        if (step == 0 || (unsigned char)name[at] < ' ')
            return false;
    }
    return length > 0;
}

static int read_lines(struct dump *dump, struct cursor *c)
{
    struct jit_codes *codes = dump->codes;
    dump->lines_avma = cursor_u64(c);
    dump->first_line = codes->line_count;
    uint64_t count = cursor_u64(c);
    size_t file = 0;
    for (uint64_t i = 0; i < count && i < LINES_MAX; i++) {
        uint64_t avma = cursor_u64(c);
        uint32_t number = cursor_u32(c);
        cursor_skip(c, 4); /* discriminator */
        const char *name = cursor_string(c);
        if (!name)
            break;
        if (strcmp(name, "\xff") != 0) /* "the same as before" */
            file = is_path(name) ? jit_codes_text(codes, name, strlen(name)) : 0;
        struct jit_line *line = ARRAY_PUSH(codes->lines, codes->line_count, codes->line_capacity);
        if (!line)
            return -ENOSPC;
        *line = (struct jit_line){.avma = avma, .file = file, .line = number};
    }
    dump->line_count = codes->line_count - dump->first_line;
    return 0;
}

static uint64_t counter_ns(const struct jit_counter *counter, uint64_t ticks)
{
    unsigned __int128 scaled = (unsigned __int128)ticks * counter->multiplier;
    return counter->zero_ns + (counter->shift < 128 ? (uint64_t)(scaled >> counter->shift) : 0);
}

static int read_record(struct dump *dump, const struct head *head, struct cursor *body)
{
    uint64_t time_ns = dump->counter ? counter_ns(dump->counter, head->time) : head->time;
    switch (head->kind) {
    case RECORD_LOAD:
        return read_load(dump, body, time_ns);
    case RECORD_MOVE:
        return read_move(dump, body, time_ns);
    case RECORD_DEBUG_INFO:
        return read_lines(dump, body);
    default:
        return 0;
    }
}

int jit_dump_parse(struct jit_codes *codes, const struct jit_counter *counter, const void *bytes,
                   size_t size)
{
    struct cursor c = cursor_of(bytes, size);
    uint32_t magic = cursor_u32(&c);
    c.swapped = magic == MAGIC_SWAPPED;
    if (magic != MAGIC && magic != MAGIC_SWAPPED)
        return -EBADMSG;
    cursor_skip(&c, 4); /* version */
    uint32_t header_bytes = cursor_u32(&c);
    cursor_skip(&c, 20); /* machine, padding, pid, time */
    bool counts = cursor_u64(&c) & FLAG_ARCH_TIMESTAMP;
    if (counts && counter->multiplier == 0)
        return -ENOTSUP;
    struct dump dump = {
        .bytes = bytes, .codes = codes, .counter = counts ? counter : NULL, .starts = intern_new()};
    cursor_seek(&c, header_bytes);
    int err = dump.starts ? 0 : -ENOMEM;
    while (err == 0 && !c.failed && cursor_left(&c) > 0) {
        struct head head = {.kind = cursor_u32(&c)};
        uint32_t record_bytes = cursor_u32(&c);
        head.time = cursor_u64(&c);
        struct cursor body = cursor_sub(&c, record_bytes < 16 ? UINT64_MAX : record_bytes - 16);
        if (head.kind == RECORD_CLOSE || c.failed)
            break;
        err = read_record(&dump, &head, &body);
    }
    free(dump.latest);
    if (dump.starts)
        intern_free(dump.starts);
    return err == -ENOSPC ? 0 : err; /* -ENOSPC: a limit; keep the pieces so far */
}

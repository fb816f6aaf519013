/* SPDX-License-Identifier: MIT */
#include "convert/jit/jits.h"

#include "base/containers/array.h"
#include "convert/frames.h"
#include "convert/jit/jit_file.h"
#include "convert/store/symbol_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIB_NAME "[JIT] tid "

void jits_free(struct jits *jits)
{
    for (size_t i = 0; i < jits->count; i++)
        free(jits->processes[i].dump_path);
    free(jits->processes);
    jit_sources_free(&jits->sources);
    *jits = (struct jits){0};
}

struct lib_name {
    int32_t pid;
    uint32_t number, generation;
};

/* "[JIT] tid 4711"; for the second process with the pid and a later generation, "[JIT] tid
 * 4711.1 #2". */
static bool parse_lib(const char *path, struct lib_name *name)
{
    int end = 0, more = 0;
    *name = (struct lib_name){.generation = 1};
    if (sscanf(path, LIB_NAME "%" SCNd32 "%n", &name->pid, &end) != 1 || end == 0)
        return false;
    if (sscanf(path + end, ".%" SCNu32 "%n", &name->number, &more) == 1)
        end += more;
    return path[end] == '\0' || sscanf(path + end, " #%" SCNu32, &name->generation) == 1;
}

bool jits_is_lib(const char *path)
{
    struct lib_name name;
    return parse_lib(path, &name);
}

bool jits_process_of_lib(const char *path, int32_t *pid, uint32_t *number)
{
    struct lib_name name;
    bool is_lib = parse_lib(path, &name);
    *pid = name.pid;
    *number = name.number;
    return is_lib;
}

static struct jit_process *process_of(struct jits *jits, uint32_t process)
{
    while (jits->count <= process)
        if (!ARRAY_PUSH(jits->processes, jits->count, jits->capacity))
            return NULL;
    return &jits->processes[process];
}

/* ".../jit-4711.dump": runtimes map the file as a mark for profilers. */
static bool is_dump(const char *path)
{
    const char *slash = strrchr(path, '/');
    uint32_t pid;
    int end = 0;
    return slash && sscanf(slash, "/jit-%" SCNu32 ".dump%n", &pid, &end) == 1 && end > 0 &&
           slash[end] == '\0';
}

int jits_note_file(struct jits *jits, uint32_t process, const char *path)
{
    if (!is_dump(path))
        return 0;
    struct jit_process *jit = process_of(jits, process);
    char *copy = jit ? strdup(path) : NULL;
    if (!copy)
        return -ENOMEM;
    /* An unmapped address may also be a stack word from before the code: a stack without frame
     * pointers. */
    if (!jit->dump_path)
        jit->codes = NULL;
    free(jit->dump_path);
    jit->dump_path = copy;
    jits->profile->processes[process].jit_dump = profile_string(jits->profile, path);
    return 0;
}

/* The pieces of code with stored names; the names are looked up later, like names of files.
 * False: nothing is stored. */
static bool add_stored(const struct jits *jits, const struct profile_process *of,
                       struct jit_codes *codes)
{
    bool is_stored = false;
    for (size_t i = 0; jits->store && i < jits->store->lib_count; i++) {
        const struct stored_lib *lib = &jits->store->libs[i];
        struct lib_name name;
        if (!parse_lib(lib->path, &name) || name.pid != of->pid || name.number != of->number)
            continue;
        is_stored = true;
        for (size_t j = 0; j < lib->segments.segment_count; j++) {
            const struct elf_segment *segment = &lib->segments.segments[j];
            struct jit_code *code = jit_codes_add(codes);
            uint64_t end;
            if (!code)
                break;
            if (!__builtin_add_overflow(segment->svma, segment->file_bytes, &end))
                *code = (struct jit_code){.since_ns = segment->offset,
                                          .avma = segment->svma,
                                          .bytes = segment->file_bytes,
                                          .generation = name.generation};
        }
    }
    return is_stored;
}

static void note_counter(struct profile *profile, const char *path)
{
    struct buffer text = {0};
    buffer_printf(
        &text,
        "%s: ignored: times are values of the processor's counter, and the capture has no "
        "conversion; run the program without JITDUMP_USE_ARCH_TIMESTAMP",
        path);
    buffer_u8(&text, 0);
    if (!text.failed)
        profile_add_note(profile, "no_names", (char *)text.bytes);
    buffer_free(&text);
}

/* A time of the samples as the wall's; 0: unknown. */
static uint64_t wall_ns(const struct jits *jits, uint64_t time_ns)
{
    if (jits->wall_ns && time_ns > jits->clock_ns)
        return jits->wall_ns + (time_ns - jits->clock_ns);
    return jits->wall_ns;
}

/* As jit_file_read_map(). */
static int read_dump(struct jits *jits, const struct jit_file_place *place, const char *path,
                     struct jit_source **source)
{
    struct buffer bytes = {0};
    int err = jit_file_read_dump(place, path, &bytes, source);
    if (err == 0)
        err = jit_dump_parse(&(*source)->codes, &jits->counter, bytes.bytes, bytes.size);
    if (err == -ENOTSUP)
        note_counter(jits->profile, path);
    buffer_free(&bytes);
    return err;
}

static int read_map(struct jits *jits, const struct jit_file_place *place,
                    struct jit_source **source)
{
    struct buffer bytes = {0};
    int err = jit_file_read_map(place, &bytes, source);
    if (err == 0)
        err = perf_map_parse(&(*source)->codes, bytes.bytes, bytes.size);
    else if (err == -EPERM)
        profile_add_note(jits->profile, "perf_map",
                         "ignored a perf map of another user: the owner must be the process' user");
    buffer_free(&bytes);
    return err;
}

/* 0 or -ENOMEM: the source has the files' content. 1: *source is another source now. */
static int read_files(struct jits *jits, uint32_t process, const char *dump_path,
                      struct jit_source **source)
{
    const struct profile_process *of = &jits->profile->processes[process];
    struct jit_file_place place = {.pid = of->pid,
                                   .owner = jits->owner,
                                   .sources = &jits->sources,
                                   .since_wall_ns = wall_ns(jits, of->start_ns)};
    int err = dump_path ? read_dump(jits, &place, dump_path, source) : -ENOENT;
    if (err < 0 && err != -ENOMEM)
        err = read_map(jits, &place, source);
    return err == -ENOMEM || err > 0 ? err : 0;
}

/* Of most processes. */
static struct jit_codes no_codes;

/* Stored names first: the capture may be from another machine, or another process has the pid now.
 * Else the jitdump, else the perf map. Processes with the same file share a source. */
static int read_codes(struct jits *jits, uint32_t process, struct jit_process *jit)
{
    struct jit_source *source = jit_sources_add(&jits->sources);
    int err = 0;
    if (!source)
        return -ENOMEM;
    if (!add_stored(jits, &jits->profile->processes[process], &source->codes))
        err = read_files(jits, process, jit->dump_path, &source);
    bool is_empty = err == 0 && source->file.st_ino == 0 && source->codes.count == 0;
    jit->codes = is_empty ? &no_codes : &source->codes;
    if (err > 0 || is_empty)
        jit_sources_drop(&jits->sources);
    else
        jit_sources_finish(&jits->sources, err);
    return 0;
}

/* Code of another generation is another lib of the same name: one address would otherwise have two
 * functions. */
static uint32_t lib_of(struct jits *jits, const struct lib_name *of)
{
    char name[64], path[96];
    snprintf(name, sizeof(name), of->number ? LIB_NAME "%d.%u" : LIB_NAME "%d", of->pid,
             of->number);
    snprintf(path, sizeof(path), of->generation > 1 ? "%s #%u" : "%s", name, of->generation);
    uint32_t id = profile_lib_id(jits->profile, path, NULL, 0);
    if (id == PROFILE_NONE)
        return id;
    struct profile_lib *lib = &jits->profile->libs[id];
    lib->category = PROFILE_JIT;
    lib->is_synthetic = false;
    lib->name = profile_string(jits->profile, name);
    return id;
}

/* "[anon 0x7f5c00000000]", "[memfd:doublemapper 0x7f5c00000000]" */
static void name_by_mapping(struct profile *profile, uint32_t address,
                            const struct jit_place *place)
{
    const char *path = place->mapping_path;
    char name[160];
    if (strcmp(path, "//anon") == 0)
        path = "anon";
    path += path[0] == '/' || path[0] == '[';
    snprintf(name, sizeof(name), "[%.*s 0x%" PRIx64 "]", (int)strnlen(path, strcspn(path, "] (")),
             path, place->mapping_start_avma);
    frames_add_bare(profile, &profile->addresses[address], name);
}

static void name_by_code(struct jits *jits, uint32_t address, const struct jit_codes *codes,
                         const struct jit_code *code)
{
    struct profile *profile = jits->profile;
    struct profile_address *of = &profile->addresses[address];
    const char *texts = (const char *)codes->texts.bytes;
    const struct jit_line *line = jit_codes_line(codes, code, of->svma);
    struct symbol_frame frame = {.name = texts + code->name, .system_name = texts + code->name};
    if (line && line->file && !jits->symbols_only) {
        frame.file = frame.definition_file = texts + line->file;
        frame.line = line->line;
    }
    struct symbol_result result = {.frames = &frame,
                                   .frame_count = 1,
                                   .symbol_name = frame.name,
                                   .symbol_svma = code->avma,
                                   .symbol_bytes = code->bytes};
    frames_add(profile, of, &result);
    uint32_t symbol = profile->frames[of->first_frame].symbol;
    if (symbol != PROFILE_NONE)
        profile->symbols[symbol].since_ns = code->since_ns;
}

/* The code at the time of the sample, since runtimes reuse addresses. Without code the mapping
 * names the address; without a mapping, the address stays a number. */
uint32_t jits_address(struct jits *jits, const struct jit_place *place, uint64_t avma)
{
    struct profile *profile = jits->profile;
    struct jit_process *jit = process_of(jits, place->process);
    if (!jit || (!jit->codes && read_codes(jits, place->process, jit) != 0)) {
        profile->failed = true;
        return PROFILE_NONE;
    }
    const struct jit_code *code = jit_codes_find(jit->codes, avma, place->time_ns);
    if (!code && !place->mapping_path)
        return profile_address_id(profile, PROFILE_NONE, avma);
    struct lib_name name = {.pid = profile->processes[place->process].pid,
                            .number = profile->processes[place->process].number,
                            .generation = code ? code->generation : 1};
    uint32_t lib = lib_of(jits, &name);
    uint32_t address = lib == PROFILE_NONE ? lib : profile_address_id(profile, lib, avma);
    if (address == PROFILE_NONE || profile->addresses[address].frame_count)
        return address;
    if (code && code->name)
        name_by_code(jits, address, jit->codes, code);
    else if (!code)
        name_by_mapping(profile, address, place);
    return address;
}

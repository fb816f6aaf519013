/* SPDX-License-Identifier: MIT */
#include "convert/jit/jit_bytes.h"

#include "base/containers/cursor.h"
#include "convert/jit/jit_file.h"
#include "convert/jit/jits.h"

#include <errno.h>
#include <string.h>

enum { MACHINE_OFFSET = 12 }; /* in the header of a jitdump: magic, version, size */

/* NULL: the process mapped no jitdump. */
static const struct profile_process *process_of(const struct jit_bytes_request *request)
{
    const struct profile *profile = request->profile;
    int32_t pid;
    uint32_t number;
    if (!jits_process_of_lib(profile_text(profile, profile->libs[request->symbol->lib].path), &pid,
                             &number))
        return NULL;
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (process->pid == pid && process->number == number)
            return process->jit_dump == PROFILE_NONE ? NULL : process;
    }
    return NULL;
}

/* The piece with the place, name and time of the symbol, else the last piece with the place and
 * name: names stored in the capture have no time. */
static const struct jit_code *find(const struct jit_bytes_request *request,
                                   const struct jit_codes *codes)
{
    const struct profile_symbol *symbol = request->symbol;
    const char *name = profile_text(request->profile, symbol->name);
    const struct jit_code *found = NULL;
    for (size_t i = 0; i < codes->count; i++) {
        const struct jit_code *code = &codes->codes[i];
        if (code->avma != symbol->svma || code->bytes != symbol->bytes || !code->code_at ||
            strcmp((const char *)codes->texts.bytes + code->name, name) != 0)
            continue;
        found = code;
        if (code->since_ns == symbol->since_ns)
            break;
    }
    return found;
}

static int copy(const struct jit_code *code, const struct buffer *dump, struct buffer *out)
{
    if (!code || code->code_at > dump->size || code->bytes > dump->size - code->code_at)
        return -ENOENT;
    buffer_append(out, dump->bytes + code->code_at, (size_t)code->bytes);
    return out->failed ? -ENOMEM : 0;
}

static int read_dump(const struct jit_file_place *place, const char *path, struct buffer *dump)
{
    struct jit_source *known = NULL;
    struct jit_counter counter = {0};
    struct jit_source *source = jit_sources_add(place->sources);
    int err = source ? jit_file_read_dump(place, path, dump, &known) : -ENOMEM;
    if (err == 0)
        err = jit_dump_parse(&source->codes, &counter, dump->bytes, dump->size);
    return err;
}

int jit_bytes_read(const struct jit_bytes_request *request, uint16_t *machine, struct buffer *out,
                   struct error *error)
{
    const struct profile *profile = request->profile;
    const struct profile_process *process = process_of(request);
    if (!process)
        return error_set(error, -ENOENT,
                         "generated code is only in jitdumps, and the process has none");
    struct jit_sources sources = {0};
    const struct jit_file_place place = {
        .pid = process->pid,
        .owner = request->owner,
        .sources = &sources,
        .since_wall_ns = profile->is_wall_time_of_file ? 0 : profile->start_wall_ns};
    struct buffer dump = {0};
    const char *path = profile_text(profile, process->jit_dump);
    int err = read_dump(&place, path, &dump);
    if (err == 0)
        err = copy(find(request, &sources.items[0]->codes), &dump, out);
    if (err == 0) {
        struct cursor c = cursor_of(dump.bytes, dump.size);
        cursor_skip(&c, MACHINE_OFFSET);
        *machine = (uint16_t)cursor_u32(&c);
    }
    jit_sources_free(&sources);
    buffer_free(&dump);
    return err ? error_set(error, err, "%s: cannot read the generated code: %s", path,
                           strerror(-err))
               : 0;
}

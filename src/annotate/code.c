/* SPDX-License-Identifier: MIT */
#include "annotate/code.h"

#include "annotate/code_worker.h"
#include "annotate/disassembler.h"
#include "arch/machines.h"
#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/sandbox/workers.h"
#include "convert/addresses.h"
#include "convert/files/symfs.h"
#include "convert/jit/jit_bytes.h"
#include "convert/jit/jits.h"
#include "convert/symbolize/lib_symbols.h"
#include "elf/decompress.h"
#include "elf/elf_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The largest functions of generated parsers have 300 KB. */
enum { FUNCTION_BYTES_MAX = 4 << 20, ANSWER_BYTES_MAX = 256 << 20, SECONDS = 20 };

void code_free(struct code *code)
{
    free(code->lines);
    buffer_free(&code->answer);
    *code = (struct code){0};
}

static int parse_line(struct code *code, struct cursor *c)
{
    struct code_line *line = ARRAY_PUSH(code->lines, code->count, code->capacity);
    if (!line)
        return -ENOMEM;
    line->svma = cursor_u64(c);
    line->bytes = cursor_u32(c);
    line->line = cursor_u32(c);
    line->text = cursor_string(c);
    line->file = cursor_string(c);
    return c->failed ? -EBADMSG : 0;
}

/* The worker has read a foreign file: its answer is foreign, too. */
static int parse(struct code *code, struct error *error)
{
    struct cursor c = cursor_of(code->answer.bytes, code->answer.size);
    int err = -(int)cursor_u16(&c);
    if (err) {
        const char *reason = cursor_string(&c);
        return error_set(error, err, "%s", reason ? reason : "the worker returned malformed data");
    }
    code->machine = machine_of_elf(cursor_u16(&c))->name;
    uint32_t count = cursor_u32(&c);
    for (uint32_t i = 0; i < count && err == 0; i++)
        err = parse_line(code, &c);
    if (c.failed)
        err = error_set(error, -EBADMSG, "the worker returned malformed data");
    return err == -ENOMEM ? error_set(error, err, "out of memory") : err;
}

struct running {
    const struct code_job *job;
    struct code *code;
    struct error *error;
    int err;
};

static void run(void *context, size_t number, struct buffer *out)
{
    (void)number;
    code_worker_run(((struct running *)context)->job, out);
}

static void done(void *context, size_t number, const struct buffer *answer)
{
    struct running *running = context;
    (void)number;
    buffer_append(&running->code->answer, answer->bytes, answer->size);
    running->err = running->code->answer.failed
                       ? error_set(running->error, -ENOMEM, "out of memory")
                       : parse(running->code, running->error);
}

static void failed(void *context, size_t number, const char *why)
{
    struct running *running = context;
    (void)number;
    running->err = error_set(running->error, -EIO, "the worker for machine code %s", why);
}

static int run_job(struct code *code, const struct code_job *job, struct error *error)
{
    struct running running = {.job = job, .code = code, .error = error, .err = -EIO};
    struct workers workers = {
        .job_count = 1, .run = run, .done = done, .failed = failed, .context = &running};
    struct error gap;
    bool is_refused = false;
    if (confine_gap(&gap, &is_refused) && is_refused)
        return error_set(error, -EPERM, "%s", gap.text);
    workers_set_limits(&workers);
    workers.limits.cpu_s = workers.wall_s = SECONDS;
    workers.answer_limit_bytes = ANSWER_BYTES_MAX;
    lib_symbols_set_directories(&workers.limits, job->options);
    disassembler_prepare();
    elf_stream_prepare();
    decompress_prepare();
    workers_run(&workers);
    return running.err;
}

static int run_file(struct code *code, struct code_job *job, struct error *error)
{
    const struct code_request *request = job->request;
    struct debuginfod debuginfod = {.profile = request->profile, .options = job->options};
    if (request->wants_lines && job->options->use_debuginfod &&
        debuginfod_add(&debuginfod, request->lib) == 0) {
        (void)debuginfod_run(&debuginfod); /* failures were reported with the names */
        job->debuginfod = &debuginfod;
    }
    int err = run_job(code, job, error);
    debuginfod_free(&debuginfod);
    return err;
}

static int run_generated(struct code *code, struct code_job *job, struct error *error)
{
    const struct code_request *request = job->request;
    const struct jit_bytes_request wanted = {.profile = request->profile,
                                             .owner = request->owner,
                                             .symbol = &request->profile->symbols[request->symbol]};
    struct buffer bytes = {0};
    int err = jit_bytes_read(&wanted, &job->machine, &bytes, error);
    job->generated = &bytes;
    if (err == 0)
        err = run_job(code, job, error);
    buffer_free(&bytes);
    return err;
}

static int check(const struct code_request *request, const char *path, struct error *error)
{
    if (addresses_are_of_kernel(request->profile, request->lib))
        return error_set(error, -ENOTSUP, "code of the kernel is not read");
    if (!jits_is_lib(path) && !addresses_are_of_file(request->profile, request->lib))
        return error_set(error, -ENOENT, "%s has no code", path);
    if (request->bytes > FUNCTION_BYTES_MAX || request->svma + request->bytes < request->svma)
        return error_set(error, -EFBIG, "the function is larger than 4 MiB");
    return 0;
}

int code_read(struct code *code, const struct code_request *request, struct error *error)
{
    struct convert_options options = *request->options;
    struct symfs_path debug = symfs_path(options.symfs, CONVERT_DEBUG_DIRECTORY);
    struct code_job job = {.request = request, .options = &options};
    const char *path = profile_text(request->profile, request->profile->libs[request->lib].path);
    *code = (struct code){0};
    int err = check(request, path, error);
    if (err)
        return err;
    if (!options.debug_directory)
        options.debug_directory = debug.text;
    options.symbols_only |= !request->wants_lines;
    err = jits_is_lib(path) ? run_generated(code, &job, error) : run_file(code, &job, error);
    if (err)
        code_free(code);
    return err;
}

/* SPDX-License-Identifier: MIT */
/*
 * From addresses to jobs of workers, and back:
 *
 *     order      │ lib A ───────────────── │ lib B ── │ lib C │ …       addresses by lib, then svma
 *     ranges     │ range │ range │ range   │ range    │ range │ …       of one lib each
 *     jobs       { range } { range } { range } { B, C, … }              small libs share a worker
 *     answers    size, note, names of each range; the time taken of the reserve
 *
 * A large lib with debug info becomes several ranges, so several workers read it at once. A job
 * with several ranges that fails is repeated with one range a job (`again`): the file that crashes
 * a worker is found, and costs only its own names.
 */
#include "convert/symbolize/symbolizer.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/heap.h"
#include "base/sandbox/confine.h"
#include "base/sandbox/workers.h"
#include "convert/files/debug_info.h"
#include "convert/symbolize/early/early_names.h"
#include "convert/symbolize/symbolize_notes.h"
#include "elf/decompress.h"
#include "elf/elf_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each worker parses the units of its addresses: small ranges would parse most units twice, and
 * each worker inflates compressed sections. */
enum { PIECE_ADDRESSES = 1000, MOST_PIECES = 4, LITTLE_DEBUG_INFO_BYTES = 2 << 20 };
/* Of libs without debug info: half of so many take less time than another process. */
enum { SMALL_ADDRESSES = 8000, PIECES_OF_JOB = 8, MOST_SMALL_JOBS = 64 };

static bool may_have_debug_info(const struct symbolizer *symbolizer, uint32_t lib)
{
    const struct convert_options *options = symbolizer->options;
    return options->use_debuginfod ||
           (!options->symbols_only && debug_info_bytes(symbolizer->profile, lib, options) > 0);
}

/* With little debug info, opening the file is most of the work, repeated for each range: node
 * has 1 MB of debug info, and 10 MB of symbols. */
static size_t range_count(const struct symbolizer *symbolizer, uint32_t lib, size_t address_count)
{
    size_t count = address_count / PIECE_ADDRESSES;
    if (count < 2 || symbolizer->options->symbols_only ||
        debug_info_bytes(symbolizer->profile, lib, symbolizer->options) < LITTLE_DEBUG_INFO_BYTES)
        return 1;
    size_t most = workers_at_once() < MOST_PIECES ? workers_at_once() : MOST_PIECES;
    return count < most ? count : most;
}

static struct symbolize_range *add_range(struct symbolizer *symbolizer, size_t first, size_t count,
                                         enum symbolize_extent extent)
{
    struct symbolize_range *range =
        ARRAY_PUSH(symbolizer->ranges, symbolizer->count, symbolizer->capacity);
    if (range)
        *range = (struct symbolize_range){
            .lib = symbolizer->profile->addresses[symbolizer->order[first]].lib,
            .first = first,
            .count = count,
            .only_debug_info = extent == SYMBOLIZE_DEBUG_INFO,
            .symbols_only = extent == SYMBOLIZE_SYMBOLS,
        };
    return range;
}

/* Ranges of a lib have equal shares, so the workers end at about the same time. */
int symbolizer_add(struct symbolizer *symbolizer, size_t first, size_t count,
                   enum symbolize_extent extent)
{
    uint32_t lib = symbolizer->profile->addresses[symbolizer->order[first]].lib;
    size_t ranges = range_count(symbolizer, lib, count);
    bool has_more = extent == SYMBOLIZE_DEBUG_INFO ||
                    (extent == SYMBOLIZE_ALL && may_have_debug_info(symbolizer, lib));
    for (size_t i = 0; i < ranges; i++) {
        size_t start = count * i / ranges, end = count * (i + 1) / ranges;
        struct symbolize_range *range = add_range(symbolizer, first + start, end - start, extent);
        if (!range)
            return -ENOMEM;
        range->may_have_debug_info = has_more;
        range->is_small = !has_more && count <= SMALL_ADDRESSES;
    }
    symbolize_time_add(&symbolizer->time, symbolizer->profile, symbolizer->options, lib);
    symbolizer->reads_debug_info |= has_more;
    return 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
    workers_reap(&symbolizer->pool);
    for (size_t i = 0; i < symbolizer->count; i++) {
        symbol_store_free(symbolizer->ranges[i].store);
        free(symbolizer->ranges[i].note);
    }
    free(symbolizer->ranges);
    free(symbolizer->turn);
    free(symbolizer->jobs.items);
    free(symbolizer->again.items);
    symbolize_time_free(&symbolizer->time);
    debuginfod_free(&symbolizer->debuginfod);
    *symbolizer = (struct symbolizer){0};
}

static struct symbolize_range *range_in_job(const struct symbolizer *symbolizer,
                                            const struct symbolize_job *job, size_t i)
{
    return &symbolizer->ranges[symbolizer->turn[job->first + i * job->stride]];
}

/* Jobs that run at once get equal parts of what is left of the reserve. Returns the rest. */
static uint64_t taken_by_others(const struct symbolizer *symbolizer)
{
    size_t at_once = workers_at_once();
    if (symbolizer->jobs.count < at_once)
        at_once = symbolizer->jobs.count;
    return SYMBOLS_RESERVE_NS - (SYMBOLS_RESERVE_NS - symbolizer->reserve_taken_ns) / at_once;
}

static void take_reserve(struct symbolizer *symbolizer, uint64_t ns)
{
    uint64_t left_ns = SYMBOLS_RESERVE_NS - symbolizer->reserve_taken_ns;
    symbolizer->reserve_taken_ns += ns < left_ns ? ns : left_ns;
}

static void answer_range(const struct symbolizer *symbolizer, const struct symbolize_range *range,
                         uint64_t *reserve_taken_ns, struct buffer *out)
{
    struct lib_symbols symbols = {
        .profile = symbolizer->profile,
        .options = symbolizer->options,
        .debuginfod = &symbolizer->debuginfod,
        .lib = range->lib,
        .only_debug_info = range->only_debug_info,
        .symbols_only = range->symbols_only,
        .reserve_taken_ns = *reserve_taken_ns,
    };
    symbolize_range_run(&symbols, range, symbolizer->order + range->first, out);
    *reserve_taken_ns = symbols.reserve_taken_ns;
}

/* In the worker. The result: for each range, its size, then its bytes; at last the time taken of
 * the reserve. */
static void run_job(void *context, size_t number, struct buffer *out)
{
    const struct symbolizer *symbolizer = context;
    const struct symbolize_job *job = &symbolizer->jobs.items[number];
    const uint64_t others_ns = taken_by_others(symbolizer);
    uint64_t taken_ns = others_ns;
    for (size_t i = 0; i < job->count; i++) {
        buffer_u32(out, 0); /* the size's place */
        size_t start = out->size;
        answer_range(symbolizer, range_in_job(symbolizer, job, i), &taken_ns, out);
        if (!out->failed)
            buffer_set_u32(out, start - sizeof(uint32_t), (uint32_t)(out->size - start));
    }
    buffer_u64(out, taken_ns - others_ns);
}

static void report_progress(struct symbolizer *symbolizer)
{
    const struct convert_options *options = symbolizer->options;
    symbolizer->ended_count++;
    if (options->progress)
        options->progress(options->progress_context, "finding names", symbolizer->ended_count,
                          symbolizer->count);
}

static void keep_note(struct symbolize_range *range, char *note)
{
    free(range->note);
    range->note = note;
}

static void note_failure(struct symbolizer *symbolizer, struct symbolize_range *range,
                         const char *why)
{
    struct buffer text = {0};
    const struct profile_lib *lib = &symbolizer->profile->libs[range->lib];
    buffer_printf(&text, "%s: symbol worker %s", profile_text(symbolizer->profile, lib->path), why);
    buffer_u8(&text, 0);
    if (text.failed)
        buffer_free(&text);
    else
        keep_note(range, (char *)text.bytes);
}

static void add_job(struct symbolize_jobs *jobs, struct symbolize_job added)
{
    struct symbolize_job *job = ARRAY_PUSH(jobs->items, jobs->count, jobs->capacity);
    if (job)
        *job = added;
}

/* The failing range of the job is unknown, and so is its time. */
static void job_failed(void *context, size_t number, const char *why)
{
    struct symbolizer *symbolizer = context;
    const struct symbolize_job *job = &symbolizer->jobs.items[number];
    take_reserve(symbolizer, SYMBOLS_RESERVE_NS);
    if (job->count == 1) {
        note_failure(symbolizer, range_in_job(symbolizer, job, 0), why);
        report_progress(symbolizer);
        return;
    }
    for (size_t i = 0; i < job->count; i++)
        add_job(&symbolizer->again, (struct symbolize_job){job->first + i * job->stride, 1, 1});
}

/* False: malformed; nothing of the result is kept. */
static bool take_answer(struct symbolize_range *range, struct cursor c)
{
    const char *note = cursor_string(&c);
    if (!note || (cursor_left(&c) &&
                  symbol_store_parse(&range->store, c.bytes + c.at, cursor_left(&c)) != 0))
        return false;
    if (range->store && range->store->lib_count != 1) {
        symbol_store_free(range->store);
        range->store = NULL;
        return false;
    }
    range->found = range->store ? &range->store->libs[0] : NULL;
    /* Notes on unused names are dropped. */
    if (note[0] && (range->store || !range->only_debug_info))
        keep_note(range, strdup(note));
    return true;
}

static void range_done(struct symbolizer *symbolizer, struct symbolize_range *range,
                       struct cursor c)
{
    if (!take_answer(range, c))
        note_failure(symbolizer, range, "returned malformed data");
    report_progress(symbolizer);
}

/* The sizes come from a worker with hostile input. */
static bool is_whole(const struct symbolize_job *job, const struct buffer *answer)
{
    struct cursor c = cursor_of(answer->bytes, answer->size);
    for (size_t i = 0; i < job->count; i++)
        cursor_skip(&c, cursor_u32(&c));
    (void)cursor_u64(&c);
    return !c.failed;
}

static void job_done(void *context, size_t number, const struct buffer *answer)
{
    struct symbolizer *symbolizer = context;
    const struct symbolize_job *job = &symbolizer->jobs.items[number];
    struct cursor c = cursor_of(answer->bytes, answer->size);
    if (!is_whole(job, answer)) {
        job_failed(context, number, "crashed");
        return;
    }
    for (size_t i = 0; i < job->count; i++) {
        uint32_t size = cursor_u32(&c);
        range_done(symbolizer, range_in_job(symbolizer, job, i), cursor_sub(&c, size));
    }
    take_reserve(symbolizer, cursor_u64(&c));
}

static void debuginfod_each(struct symbolizer *symbolizer,
                            int add(struct debuginfod *debuginfod, uint32_t lib))
{
    for (size_t i = 0; i < symbolizer->count; i++)
        if (i == 0 || symbolizer->ranges[i].lib != symbolizer->ranges[i - 1].lib)
            if (add(&symbolizer->debuginfod, symbolizer->ranges[i].lib) != 0)
                return;
    const char *why = debuginfod_run(&symbolizer->debuginfod);
    if (why)
        profile_add_note(symbolizer->profile, "no_names", why);
}

/* Fetches missing files, before the confined workers start. */
static void debuginfod_missing(struct symbolizer *symbolizer)
{
    symbolizer->debuginfod =
        (struct debuginfod){.profile = symbolizer->profile, .options = symbolizer->options};
    debuginfod_each(symbolizer, debuginfod_add);
    debuginfod_each(symbolizer, debuginfod_add_supplement);
}

/* Once for all files. False: nothing may be read. */
static bool note_gap(struct symbolizer *symbolizer)
{
    struct error message;
    bool is_refused = false;
    if (symbolizer->count && confine_gap(&message, &is_refused))
        profile_add_note(symbolizer->profile, "sandbox", message.text);
    return !is_refused;
}

static bool is_left_out(void *context, size_t number)
{
    struct symbolizer *symbolizer = context;
    return symbolize_time_is_over(&symbolizer->time, symbolizer->jobs.items[number].count);
}

static void start_jobs(struct symbolizer *symbolizer)
{
    struct workers *workers = &symbolizer->workers;
    *workers = (struct workers){
        .job_count = symbolizer->jobs.count,
        .run = run_job,
        .done = job_done,
        .failed = job_failed,
        .is_left_out = is_left_out,
        .context = symbolizer,
    };
    workers_set_limits(workers);
    lib_symbols_set_directories(&workers->limits, symbolizer->options);
    workers->fds.kept = symbolizer->options->gone_fds;
    workers->fds.kept_count = symbolizer->options->gone_fd_count;
    workers->limits.files = symbolizer->options->gone_fds;
    workers->limits.file_count = symbolizer->options->gone_fd_count;
    if (symbolizer->jobs.count && symbolizer->reads_debug_info) {
        elf_stream_prepare();
        decompress_prepare();
    }
    workers_start(&symbolizer->pool, workers);
}

/* Descending number of addresses, then the order of ranges: the result is reproducible. */
static int by_addresses(const void *left, const void *right, void *context)
{
    const struct symbolize_range *ranges = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (ranges[a].count != ranges[b].count)
        return ranges[a].count > ranges[b].count ? -1 : 1;
    return (a > b) - (a < b);
}

/* Appended to the first count. Returns how many there are then. */
static size_t add_turns(struct symbolizer *symbolizer, size_t count, bool are_small)
{
    for (size_t i = 0; i < symbolizer->count; i++)
        if (symbolizer->ranges[i].is_small == are_small && !symbolizer->ranges[i].is_answered)
            symbolizer->turn[count++] = i;
    return count;
}

/* The longest first. Small ranges are dealt out over the jobs, the largest first. */
static void make_jobs(struct symbolizer *symbolizer)
{
    symbolizer->turn = calloc(symbolizer->count + 1, sizeof(*symbolizer->turn));
    if (!symbolizer->turn)
        return;
    size_t large = add_turns(symbolizer, 0, false);
    size_t small = add_turns(symbolizer, large, true) - large;
    qsort_r(symbolizer->turn + large, small, sizeof(*symbolizer->turn), by_addresses,
            symbolizer->ranges);
    size_t jobs = (small + PIECES_OF_JOB - 1) / PIECES_OF_JOB;
    jobs = jobs < MOST_SMALL_JOBS ? jobs : MOST_SMALL_JOBS;
    for (size_t i = 0; i < large; i++)
        add_job(&symbolizer->jobs, (struct symbolize_job){i, 1, 1});
    for (size_t i = 0; i < jobs; i++)
        add_job(&symbolizer->jobs,
                (struct symbolize_job){large + i, (small - i + jobs - 1) / jobs, jobs});
}

/* With symbols only, a lib is a single range. The time of a worker that failed counts. */
static void take_early_names(struct symbolizer *symbolizer)
{
    struct early_names *early = symbolizer->options->early;
    struct cursor answer;
    if (early)
        early_names_finish(early);
    for (size_t i = 0; early && i < symbolizer->count; i++) {
        struct symbolize_range *range = &symbolizer->ranges[i];
        range->is_answered = early_names_find(early, symbolizer->profile, symbolizer->options,
                                              range->lib, &answer) &&
                             take_answer(range, answer);
        if (range->is_answered)
            report_progress(symbolizer);
    }
}

/* Downloads first: workers have no network. If the sandbox is required and missing, no file is
 * read. */
void symbolizer_start(struct symbolizer *symbolizer)
{
    symbolize_time_begin(&symbolizer->time);
    take_early_names(symbolizer);
    if (symbolizer->options->use_debuginfod)
        debuginfod_missing(symbolizer);
    if (note_gap(symbolizer))
        make_jobs(symbolizer);
    if (symbolizer->jobs.count)
        heap_give_back();
    start_jobs(symbolizer);
}

/* Jobs that failed with several ranges run again with a range each: a crash on one file costs the
 * names of this file alone. */
void symbolizer_finish(struct symbolizer *symbolizer)
{
    workers_finish(&symbolizer->pool);
    free(symbolizer->jobs.items);
    symbolizer->jobs = symbolizer->again;
    symbolizer->again = (struct symbolize_jobs){0};
    if (symbolizer->jobs.count) {
        workers_reap(&symbolizer->pool);
        start_jobs(symbolizer);
        workers_finish(&symbolizer->pool);
    }
    symbolize_notes_add(symbolizer->profile, symbolizer->ranges, symbolizer->count);
    symbolize_time_add_note(&symbolizer->time, symbolizer->profile);
}

/* Ranges ascend by `first` without overlaps. */
static const struct symbolize_range *range_of(const struct symbolizer *symbolizer, size_t place)
{
    size_t low = ARRAY_COUNT_UP_TO(symbolizer->ranges, symbolizer->count, first, place);
    const struct symbolize_range *range = low ? &symbolizer->ranges[low - 1] : NULL;
    return range && place - range->first < range->count ? range : NULL;
}

bool symbolizer_find(const struct symbolizer *symbolizer, size_t place,
                     struct symbol_result *result)
{
    const struct symbolize_range *range = range_of(symbolizer, place);
    if (!range || !range->found)
        return false;
    uint64_t svma = symbolizer->profile->addresses[symbolizer->order[place]].svma;
    return symbol_store_find_at(range->store, range->found, place - range->first, svma, result) &&
           result->frame_count > 0;
}

bool symbolizer_is_answered(const struct symbolizer *symbolizer, size_t place)
{
    const struct symbolize_range *range = range_of(symbolizer, place);
    return range && !range->only_debug_info && range->found;
}

bool symbolizer_has_debug_info(const struct symbolizer *symbolizer, size_t place)
{
    const struct symbolize_range *range = range_of(symbolizer, place);
    return range && range->only_debug_info && range->found;
}

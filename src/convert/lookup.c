/* SPDX-License-Identifier: MIT */
#include "convert/lookup.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "base/heap.h"
#include "base/sandbox/confine.h"
#include "base/sandbox/workers.h"
#include "convert/debug_info.h"
#include "convert/lookup_ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Units of debug info are read once a worker: small pieces would read most of them twice, and what is
 * compressed is inflated by each. */
enum { PIECE_ADDRESSES = 1000, MOST_PIECES = 4, LITTLE_DEBUG_INFO_BYTES = 2 << 20 };
/* Of libs without debug info: half of so many take less time than another process. */
enum { SMALL_ADDRESSES = 8000, PIECES_OF_JOB = 8, MOST_SMALL_JOBS = 64 };

static bool may_have_debug_info(const struct lookup *lookup, uint32_t lib)
{
    const struct convert_options *options = lookup->options;
    return options->use_debuginfod ||
           (!options->symbols_only && debug_info_bytes(lookup->profile, lib, options) > 0);
}

/* Where there is little debug info, opening the file is most of the work, and each piece does it: node has 1 MB, and
 * 10 MB of symbols. */
static size_t piece_count(const struct lookup *lookup, uint32_t lib, size_t address_count)
{
    size_t count = address_count / PIECE_ADDRESSES;
    if (count < 2 || lookup->options->symbols_only ||
        debug_info_bytes(lookup->profile, lib, lookup->options) < LITTLE_DEBUG_INFO_BYTES)
        return 1;
    size_t most = workers_at_once() < MOST_PIECES ? workers_at_once() : MOST_PIECES;
    return count < most ? count : most;
}

static struct lookup_piece *add_piece(struct lookup *lookup, size_t first, size_t count,
                                      bool only_debug_info)
{
    struct lookup_piece *piece = ARRAY_PUSH(lookup->pieces, lookup->count, lookup->capacity);
    if (piece)
        *piece = (struct lookup_piece){
            .lib = lookup->profile->addresses[lookup->order[first]].lib,
            .first = first,
            .count = count,
            .only_debug_info = only_debug_info,
        };
    return piece;
}

int lookup_add(struct lookup *lookup, size_t first, size_t count, bool only_debug_info)
{
    uint32_t lib = lookup->profile->addresses[lookup->order[first]].lib;
    size_t pieces = piece_count(lookup, lib, count);
    bool has_more = may_have_debug_info(lookup, lib);
    for (size_t i = 0; i < pieces; i++) {
        size_t start = count * i / pieces, end = count * (i + 1) / pieces;
        struct lookup_piece *piece = add_piece(lookup, first + start, end - start, only_debug_info);
        if (!piece)
            return -ENOMEM;
        piece->may_have_debug_info = has_more;
        piece->is_small = !has_more && count <= SMALL_ADDRESSES;
    }
    return 0;
}

void lookup_free(struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->count; i++) {
        names_free(lookup->pieces[i].names);
        free(lookup->pieces[i].note);
    }
    free(lookup->pieces);
    free(lookup->turn);
    free(lookup->jobs.items);
    free(lookup->again.items);
    fetch_free(&lookup->fetch);
    *lookup = (struct lookup){0};
}

static struct lookup_piece *piece_in_job(const struct lookup *lookup, const struct lookup_job *job,
                                         size_t i)
{
    return &lookup->pieces[lookup->turn[job->first + i * job->stride]];
}

static void answer_piece(const struct lookup *lookup, const struct lookup_piece *piece,
                         struct buffer *out)
{
    struct lookup_naming naming = {
        .profile = lookup->profile,
        .options = lookup->options,
        .fetch = &lookup->fetch,
        .lib = piece->lib,
        .only_debug_info = piece->only_debug_info,
    };
    lookup_piece_answer(&naming, piece, lookup->order + piece->first, out);
}

/* In the worker. The answer: of each piece its answer's size, then that. */
static void run_job(void *context, size_t number, struct buffer *out)
{
    const struct lookup *lookup = context;
    const struct lookup_job *job = &lookup->jobs.items[number];
    for (size_t i = 0; i < job->count; i++) {
        buffer_u32(out, 0); /* the size's place */
        size_t start = out->size;
        answer_piece(lookup, piece_in_job(lookup, job, i), out);
        if (!out->failed)
            buffer_set_u32(out, start - sizeof(uint32_t), (uint32_t)(out->size - start));
    }
}

static void report_progress(struct lookup *lookup)
{
    const struct convert_options *options = lookup->options;
    lookup->ended_count++;
    if (options->progress)
        options->progress(options->progress_context, "finding names", lookup->ended_count,
                          lookup->count);
}

/* In the order of pieces, whoever of them came first. Several pieces of a lib may have the same to say. */
static void add_notes(struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->count; i++)
        if (lookup->pieces[i].note)
            profile_add_note(lookup->profile, "no_names", lookup->pieces[i].note);
}

static void keep_note(struct lookup_piece *piece, char *note)
{
    free(piece->note);
    piece->note = note;
}

static void note_failure(struct lookup *lookup, struct lookup_piece *piece, const char *why)
{
    struct buffer text = {0};
    const struct profile_lib *lib = &lookup->profile->libs[piece->lib];
    buffer_printf(&text, "%s: reading its symbols %s", profile_text(lookup->profile, lib->path),
                  why);
    buffer_u8(&text, 0);
    if (text.failed)
        buffer_free(&text);
    else
        keep_note(piece, (char *)text.bytes);
}

static void add_job(struct lookup_jobs *jobs, struct lookup_job added)
{
    struct lookup_job *job = ARRAY_PUSH(jobs->items, jobs->count, jobs->capacity);
    if (job)
        *job = added;
}

/* Which of several it was is not known. */
static void job_failed(void *context, size_t number, const char *why)
{
    struct lookup *lookup = context;
    const struct lookup_job *job = &lookup->jobs.items[number];
    if (job->count == 1) {
        note_failure(lookup, piece_in_job(lookup, job, 0), why);
        report_progress(lookup);
        return;
    }
    for (size_t i = 0; i < job->count; i++)
        add_job(&lookup->again, (struct lookup_job){job->first + i * job->stride, 1, 1});
}

static bool forget_names(struct lookup_piece *piece)
{
    names_free(piece->names);
    piece->names = NULL;
    piece->found = NULL;
    return false;
}

/* False: it cannot be, and nothing of it is kept. */
static bool take_answer(struct lookup_piece *piece, struct cursor c)
{
    const char *note = cursor_string(&c);
    if (!note ||
        (cursor_left(&c) && names_parse(&piece->names, c.bytes + c.at, cursor_left(&c)) != 0))
        return false;
    if (piece->names && piece->names->lib_count != 1)
        return forget_names(piece);
    piece->found = piece->names ? &piece->names->libs[0] : NULL;
    if (note[0] && (piece->names || !piece->only_debug_info)) /* not of names that are not used */
        keep_note(piece, strdup(note));
    return true;
}

/* The same; what is not of all addresses is left to others. */
static bool take_answer_ahead(struct lookup_piece *piece, struct cursor c)
{
    if (!take_answer(piece, c))
        return false;
    return !piece->found || piece->found->address_count == piece->count || forget_names(piece);
}

static void piece_done(struct lookup *lookup, struct lookup_piece *piece, struct cursor c)
{
    if (!take_answer(piece, c))
        note_failure(lookup, piece, "gave an answer that cannot be");
    report_progress(lookup);
}

static void take_answers(struct lookup *lookup, struct lookup_ahead *ahead)
{
    struct cursor answer;
    lookup_ahead_finish(ahead);
    for (size_t i = 0; i < lookup->count; i++) {
        struct lookup_piece *piece = &lookup->pieces[i];
        if (lookup_ahead_find(ahead, lookup->profile, piece->lib, &answer))
            piece->is_answered = take_answer_ahead(piece, answer);
        if (piece->is_answered)
            report_progress(lookup);
    }
}

static bool is_whole(const struct lookup_job *job, const struct buffer *answer)
{
    struct cursor c = cursor_of(answer->bytes, answer->size);
    for (size_t i = 0; i < job->count; i++)
        cursor_skip(&c, cursor_u32(&c));
    return !c.failed;
}

static void job_done(void *context, size_t number, const struct buffer *answer)
{
    struct lookup *lookup = context;
    const struct lookup_job *job = &lookup->jobs.items[number];
    struct cursor c = cursor_of(answer->bytes, answer->size);
    if (!is_whole(job, answer)) {
        job_failed(context, number, "crashed");
        return;
    }
    for (size_t i = 0; i < job->count; i++) {
        uint32_t size = cursor_u32(&c);
        piece_done(lookup, piece_in_job(lookup, job, i), cursor_sub(&c, size));
    }
}

static void fetch_each(struct lookup *lookup, int add(struct fetch *fetch, uint32_t lib))
{
    for (size_t i = 0; i < lookup->count; i++)
        if (i == 0 || lookup->pieces[i].lib != lookup->pieces[i - 1].lib)
            if (add(&lookup->fetch, lookup->pieces[i].lib) != 0)
                return;
    const char *why = fetch_run(&lookup->fetch);
    if (why)
        profile_add_note(lookup->profile, "no_names", why);
}

/* Asks the servers for what is missing, before those who look names up are confined. */
static void fetch_missing(struct lookup *lookup)
{
    lookup->fetch = (struct fetch){.profile = lookup->profile, .options = lookup->options};
    fetch_each(lookup, fetch_add);
    fetch_each(lookup, fetch_add_supplement);
}

/* Once for all files. False: nothing may be read. */
static bool note_gap(struct lookup *lookup)
{
    struct error message;
    bool is_refused = false;
    if (lookup->count && confine_gap(&message, &is_refused))
        profile_add_note(lookup->profile, "sandbox", message.text);
    return !is_refused;
}

static void do_meanwhile(void *context)
{
    struct lookup *lookup = context;
    lookup->meanwhile(lookup->meanwhile_context);
}

static void run_jobs(struct lookup *lookup, void (*meanwhile)(void *context))
{
    struct workers workers = {
        .job_count = lookup->jobs.count,
        .run = run_job,
        .done = job_done,
        .failed = job_failed,
        .meanwhile = meanwhile,
        .context = lookup,
    };
    workers_set_limits(&workers);
    lookup_naming_set_directories(&workers.limits, lookup->options);
    workers.fds.kept = lookup->options->gone_fds;
    workers.fds.kept_count = lookup->options->gone_fd_count;
    workers_run(&workers);
}

static int by_addresses(const void *left, const void *right, void *context)
{
    const struct lookup_piece *pieces = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (pieces[a].count != pieces[b].count)
        return pieces[a].count > pieces[b].count ? -1 : 1;
    return (a > b) - (a < b);
}

/* Appended to the first count. Returns how many there are then. */
static size_t add_turns(struct lookup *lookup, size_t count, bool are_small)
{
    for (size_t i = 0; i < lookup->count; i++)
        if (!lookup->pieces[i].is_answered && lookup->pieces[i].is_small == are_small)
            lookup->turn[count++] = i;
    return count;
}

/* What takes longest first. Small ones are dealt out, the largest to one job each. */
static void make_jobs(struct lookup *lookup)
{
    lookup->turn = calloc(lookup->count + 1, sizeof(*lookup->turn));
    if (!lookup->turn)
        return;
    size_t large = add_turns(lookup, 0, false);
    size_t small = add_turns(lookup, large, true) - large;
    qsort_r(lookup->turn + large, small, sizeof(*lookup->turn), by_addresses, lookup->pieces);
    size_t jobs = (small + PIECES_OF_JOB - 1) / PIECES_OF_JOB;
    jobs = jobs < MOST_SMALL_JOBS ? jobs : MOST_SMALL_JOBS;
    for (size_t i = 0; i < large; i++)
        add_job(&lookup->jobs, (struct lookup_job){i, 1, 1});
    for (size_t i = 0; i < jobs; i++)
        add_job(&lookup->jobs, (struct lookup_job){large + i, (small - i + jobs - 1) / jobs, jobs});
}

void lookup_run(struct lookup *lookup)
{
    if (lookup->options->use_debuginfod)
        fetch_missing(lookup);
    if (lookup->options->ahead)
        take_answers(lookup, lookup->options->ahead);
    if (note_gap(lookup))
        make_jobs(lookup);
    if (lookup->options->symbols_only && lookup->jobs.count)
        heap_give_back();
    run_jobs(lookup, do_meanwhile);
    free(lookup->jobs.items);
    lookup->jobs = lookup->again;
    lookup->again = (struct lookup_jobs){0};
    if (lookup->jobs.count)
        run_jobs(lookup, NULL);
    add_notes(lookup);
}

static const struct lookup_piece *piece_of(const struct lookup *lookup, size_t place)
{
    size_t low = ARRAY_COUNT_UP_TO(lookup->pieces, lookup->count, first, place);
    const struct lookup_piece *piece = low ? &lookup->pieces[low - 1] : NULL;
    return piece && place - piece->first < piece->count ? piece : NULL;
}

bool lookup_find(const struct lookup *lookup, size_t place, struct symbol_result *result)
{
    const struct lookup_piece *piece = piece_of(lookup, place);
    if (!piece || !piece->found)
        return false;
    uint64_t svma = lookup->profile->addresses[lookup->order[place]].svma;
    return names_find_at(piece->names, piece->found, place - piece->first, svma, result) &&
           result->frame_count > 0;
}

bool lookup_is_answered(const struct lookup *lookup, size_t place)
{
    const struct lookup_piece *piece = piece_of(lookup, place);
    return piece && !piece->only_debug_info && piece->found;
}

bool lookup_has_debug_info(const struct lookup *lookup, size_t place)
{
    const struct lookup_piece *piece = piece_of(lookup, place);
    return piece && piece->only_debug_info && piece->found;
}

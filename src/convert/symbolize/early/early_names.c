/* SPDX-License-Identifier: MIT */
/*
 * A message: its size (u32), then for each address the number of its lib (u32), with a new number
 * the build-id (size as u32) and the path (terminated), the svma (u64).
 * The answer: for each lib its size (u32), then its names.
 */
#include "convert/symbolize/early/early_names.h"

#include "base/containers/array.h"
#include "convert/addresses.h"
#include "convert/symbolize/lib_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LEAST_BYTES = 2 << 20,  /* less is loaded before the worker is ready */
    LEAST_ADDRESSES = 100,  /* worth a pass over the symbols */
    PIPE_BYTES = 1 << 20,   /* the most without privileges */
    FILES = EARLY_LIBS * 3, /* the file, its debug file, and one in passing */
    OTHER_FILES = 16,
};

struct early_lib {
    struct lib_symbols symbols;
    uint64_t *svmas; /* not named so far */
    size_t count, capacity;
};

struct early_worker {
    struct profile *profile; /* only of libs */
    const struct convert_options *options;
    struct early_lib libs[EARLY_LIBS];
    size_t lib_count;
    bool failed;
};

static void take_lib(struct early_worker *worker, struct cursor *c)
{
    uint32_t build_id_bytes = cursor_u32(c);
    const uint8_t *build_id = cursor_bytes(c, build_id_bytes);
    const char *path = cursor_string(c);
    uint32_t id =
        path ? profile_lib_id(worker->profile, path, build_id, build_id_bytes) : PROFILE_NONE;
    worker->failed |= id == PROFILE_NONE;
    if (worker->failed)
        return;
    struct lib_symbols *symbols = &worker->libs[worker->lib_count++].symbols;
    *symbols = (struct lib_symbols){
        .profile = worker->profile, .options = worker->options, .lib = id, .is_needed_later = true};
    lib_symbols_open(symbols, NULL, 0);
}

static void take_address(struct early_worker *worker, struct cursor *c)
{
    uint32_t number = cursor_u32(c);
    if (number == worker->lib_count && number < EARLY_LIBS)
        take_lib(worker, c);
    struct early_lib *lib = number < worker->lib_count ? &worker->libs[number] : NULL;
    uint64_t *svma = lib ? ARRAY_PUSH(lib->svmas, lib->count, lib->capacity) : NULL;
    worker->failed |= !svma;
    if (svma)
        *svma = cursor_u64(c);
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void name_addresses(struct early_lib *lib, size_t least)
{
    if (lib->count < least)
        return;
    qsort(lib->svmas, lib->count, sizeof(*lib->svmas), by_number);
    lib_symbols_need(&lib->symbols, lib->svmas, lib->count);
    for (size_t i = 0; i < lib->count; i++)
        lib_symbols_add(&lib->symbols, lib->svmas[i]);
    lib->count = 0;
}

static void take_message(struct early_worker *worker, struct cursor c)
{
    while (cursor_left(&c) && !worker->failed)
        take_address(worker, &c);
    for (size_t i = 0; i < worker->lib_count && !worker->failed; i++)
        name_addresses(&worker->libs[i], LEAST_ADDRESSES);
}

static bool receive(int fd, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = read(fd, (char *)bytes + at, size - at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void answer_lib(struct early_lib *lib, struct buffer *out)
{
    name_addresses(lib, 1);
    buffer_u32(out, 0); /* the size's place */
    size_t start = out->size;
    lib_symbols_write_note(&lib->symbols, out);
    lib_symbols_write(&lib->symbols, out);
    if (!out->failed)
        buffer_set_u32(out, start - sizeof(uint32_t), (uint32_t)(out->size - start));
}

/* In the worker: nothing is freed at the end. */
static void run(void *context, size_t job, struct buffer *out)
{
    const struct early_names *early = context;
    struct early_worker worker = {.profile = profile_new(), .options = early->options};
    struct buffer message = {0};
    uint32_t size;
    (void)job;
    worker.failed = !worker.profile;
    while (!worker.failed && receive(early->worker_fd, &size, sizeof(size))) {
        buffer_clear(&message);
        uint8_t *room = buffer_room(&message, size);
        worker.failed = !room || !receive(early->worker_fd, room, size);
        if (!worker.failed)
            take_message(&worker, cursor_of(room, size));
    }
    for (size_t i = 0; i < worker.lib_count && !worker.failed; i++)
        answer_lib(&worker.libs[i], out);
    out->failed |= worker.failed;
}

static void done(void *context, size_t job, const struct buffer *answer)
{
    struct early_names *early = context;
    (void)job;
    buffer_append(&early->answer, answer->bytes, answer->size);
}

/* The symbolizer reads the files again, and reports their failures. */
static void failed(void *context, size_t job, const char *why)
{
    struct early_names *early = context;
    (void)job, (void)why;
    early->answer.failed = true;
}

/* All files stay open. Beyond the limit of open files, a lib would lack names. */
static bool is_useful(const struct convert_options *options, uint64_t file_bytes)
{
    struct error message;
    struct rlimit files;
    bool is_refused = false;
    return options->symbols_only && !options->use_debuginfod && !options->find_gone &&
           file_bytes >= LEAST_BYTES && workers_at_once() > 1 &&
           getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= FILES + OTHER_FILES &&
           (!confine_gap(&message, &is_refused) || !is_refused);
}

/* The loading never waits for the worker: a hostile file may have taken over the worker. */
static bool open_pipe(struct early_names *early)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    early->fd = ends[1];
    early->worker_fd = fcntl(ends[0], F_DUPFD_CLOEXEC, CONFINE_RULES_FD + 1);
    close(ends[0]);
    early->is_open = early->worker_fd >= 0 && fcntl(early->worker_fd, F_SETFL, 0) == 0;
    if (!early->is_open)
        close(early->fd);
    (void)fcntl(early->fd, F_SETPIPE_SZ, PIPE_BYTES);
    return early->is_open;
}

/* The worker's end was left open: a write after the worker's death would be a SIGPIPE otherwise. */
static void close_pipe(struct early_names *early)
{
    if (early->is_open) {
        close(early->fd);
        close(early->worker_fd);
    }
    early->is_open = false;
}

/* A worker that does not read may not end, either. */
static void abandon(struct early_names *early)
{
    early->answer.failed = true;
    close_pipe(early);
    if (early->pool.busy_count)
        kill(early->pool.places[0].pid, SIGKILL);
}

bool early_names_start(struct early_names *early, const struct convert_options *options,
                       uint64_t file_bytes)
{
    if (!is_useful(options, file_bytes) || !open_pipe(early))
        return false;
    early->options = options;
    early->next_bytes = file_bytes / 16 * 3;
    early->workers = (struct workers){
        .job_count = 1, .run = run, .done = done, .failed = failed, .context = early};
    workers_set_limits(&early->workers);
    lib_symbols_set_directories(&early->workers.limits, options);
    early->workers.fds.kept = &early->worker_fd;
    early->workers.fds.kept_count = 1;
    workers_start(&early->pool, &early->workers);
    early->options = NULL;
    early->is_started = true;
    return true;
}

/* lib_count: not sent. */
static size_t number_of(const struct early_names *early, uint32_t lib)
{
    size_t i = 0;
    while (i < early->lib_count && early->libs[i] != lib)
        i++;
    return i;
}

static void add_address(struct early_names *early, const struct profile *profile,
                        const struct profile_address *address, struct buffer *message)
{
    size_t number = number_of(early, address->lib);
    if (number == EARLY_LIBS || !addresses_are_of_file(profile, address->lib))
        return;
    buffer_u32(message, (uint32_t)number);
    if (number == early->lib_count) {
        const struct profile_lib *lib = &profile->libs[address->lib];
        early->libs[early->lib_count++] = address->lib;
        buffer_u32(message, (uint32_t)lib->build_id_bytes);
        buffer_append(message, lib->build_id, lib->build_id_bytes);
        buffer_text(message, profile_text(profile, lib->path));
        buffer_u8(message, 0);
    }
    buffer_u64(message, address->svma);
}

/* A message that does not fit into the pipe is the last: its rest is missing. */
static void send_message(struct early_names *early, const struct profile *profile)
{
    struct buffer message = {0};
    buffer_u32(&message, 0); /* the size's place */
    for (; early->sent_addresses < profile->address_count; early->sent_addresses++)
        add_address(early, profile, &profile->addresses[early->sent_addresses], &message);
    if (!message.failed)
        buffer_set_u32(&message, 0, (uint32_t)(message.size - sizeof(uint32_t)));
    if (message.failed || message.size > PIPE_BYTES ||
        write(early->fd, message.bytes, message.size) != (ssize_t)message.size)
        abandon(early);
    buffer_free(&message);
}

void early_names_send(struct early_names *early, const struct profile *profile,
                      uint64_t record_bytes)
{
    early->loaded_bytes += record_bytes;
    if (early->loaded_bytes < early->next_bytes || !early->is_open)
        return;
    early->next_bytes *= 2;
    send_message(early, profile);
}

void early_names_send_rest(struct early_names *early, const struct profile *profile)
{
    if (early->is_open)
        send_message(early, profile);
    close_pipe(early);
}

void early_names_finish(struct early_names *early)
{
    close_pipe(early);
    if (early->is_started)
        workers_finish(&early->pool);
}

/* The worker opens a file before the end of the recording is known. */
bool early_names_find(const struct early_names *early, const struct profile *profile,
                      const struct convert_options *options, uint32_t lib, struct cursor *answer)
{
    struct cursor c = cursor_of(early->answer.bytes, early->answer.size);
    size_t number = number_of(early, lib);
    if (number == early->lib_count || early->answer.failed ||
        early->sent_addresses != profile->address_count ||
        lib_symbols_are_changed(profile, options, lib))
        return false;
    while (number-- > 0)
        cursor_skip(&c, cursor_u32(&c));
    *answer = cursor_sub(&c, cursor_u32(&c));
    return cursor_left(answer) > 0;
}

void early_names_free(struct early_names *early)
{
    abandon(early);
    early_names_finish(early);
    if (early->is_started)
        workers_reap(&early->pool);
    buffer_free(&early->answer);
    *early = (struct early_names){0};
}

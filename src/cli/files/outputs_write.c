/* SPDX-License-Identifier: MIT */
/* Writes several files at a time, each in a thread of its own: the profile is constant here. */
#include "cli/files/outputs.h"

#include "base/files/out_file.h"
#include "base/sandbox/workers.h"
#include "base/text/log.h"
#include "cli/terminal/format.h"
#include "cli/terminal/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    THREADS_MAX = 8,
    /* Above, the exporters' tables in several threads would need too much memory. */
    SAMPLES_AT_ONCE = 1 << 20,
};

struct result {
    int err;
    struct error error;
};

struct writing {
    const struct outputs *outputs;
    const struct profile *profile;
    const struct export_options *options;
    const struct sudo_owner *owner;
    struct result *results; /* of each output */
    atomic_size_t next;
};

static int write_one(const struct output *output, const struct profile *profile,
                     const struct export_options *options, const struct sudo_owner *owner,
                     struct error *error)
{
    struct out_file file;
    int err = out_open(&file, output->path, sudo_owner_uid(owner), error);
    if (err)
        return err;
    struct error reason = {{0}};
    err = export_to_fd(output->exporter, profile, options, output->compress, file.fd, &reason);
    if (err) {
        out_discard(&file);
        return error_set(error, err, "%s: %s", output->path, reason.text);
    }
    if (!file.is_in_place)
        sudo_owner_give(owner, file.fd);
    return out_commit(&file, error);
}

static void print_thinned(const struct outputs *outputs, const struct profile *profile)
{
    uint64_t thinning = export_firefox_thinning(profile);
    for (size_t i = 0; i < outputs->count && thinning > 1; i++)
        if (outputs->items[i].exporter == &export_firefox)
            log_info(
                "%s: every %s samples of a thread were merged into a single sample of the same "
                "weight: browsers cannot open a larger file",
                outputs->items[i].path, format_count(thinning).text);
}

static void *write_some(void *argument)
{
    struct writing *writing = argument;
    for (size_t i; (i = atomic_fetch_add(&writing->next, 1)) < writing->outputs->count;) {
        struct result *result = &writing->results[i];
        result->err = write_one(&writing->outputs->items[i], writing->profile, writing->options,
                                writing->owner, &result->error);
    }
    return NULL;
}

/* Number of threads in addition to the calling thread. */
static size_t helpers_wanted(const struct writing *writing)
{
    size_t most = workers_at_once() < THREADS_MAX ? workers_at_once() : THREADS_MAX;
    size_t count = writing->outputs->count < most ? writing->outputs->count : most;
    return count && writing->profile->sample_count <= SAMPLES_AT_ONCE ? count - 1 : 0;
}

static void write_all(struct writing *writing)
{
    pthread_t helpers[THREADS_MAX];
    size_t wanted = helpers_wanted(writing), count = 0;
    while (count < wanted && pthread_create(&helpers[count], NULL, write_some, writing) == 0)
        count++;
    write_some(writing);
    while (count > 0)
        pthread_join(helpers[--count], NULL);
}

int outputs_write(const struct outputs *outputs, const struct profile *profile,
                  const struct export_options *options, const struct sudo_owner *owner,
                  struct error *error)
{
    struct writing writing = {outputs, profile, options, owner, NULL, 0};
    writing.results = calloc(outputs->count + 1, sizeof(*writing.results));
    if (!writing.results)
        return error_set(error, -ENOMEM, "out of memory");
    progress_start();
    progress_set("writing files", 0, 0);
    write_all(&writing);
    progress_end();
    size_t failed = 0;
    while (failed < outputs->count && !writing.results[failed].err)
        failed++;
    int err = writing.results[failed].err; /* 0 after the last result */
    if (err)
        error_set(error, err, "%s", writing.results[failed].error.text);
    else
        print_thinned(outputs, profile);
    free(writing.results);
    return err;
}

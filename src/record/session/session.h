/* SPDX-License-Identifier: MIT */
/* The launcher's side of the shared memory: creates, fills and describes the memory to targets. */
#pragma once

#include "base/text/error.h"
#include "wire/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session {
    int tables_fd, requests_fd;
    struct tables *tables; /* only the launcher maps the tables writable */
    struct requests *requests;
    dev_t memory_device; /* of all memfds */
    uid_t uid;           /* effective, of the launcher */
    int own_files;       /* /proc/self/fd; -1: /proc is not mounted */
    uint64_t token;
    const char *sampler_path; /* for LD_PRELOAD; borrowed */
};

struct session_config {
    uint64_t period_ns;
    uint64_t kernel_interval_ns;
    uint32_t event; /* see tables_header */
    uint64_t event_weight;
    uint32_t self_check_every;
    bool withhold_tables;
    bool no_inherit;
    bool takes_departures;                /* programs without a sampler can be recorded */
    bool takes_accounts;                  /* off-CPU time is recorded */
    struct session_linker command_linker; /* known to load the sampler; 0: none */
    bool is_quiet;                        /* until session_start_sampling() */
};

int session_open(struct session *session, const struct session_config *config, struct error *error);
void session_close(struct session *session);

/* ftruncate() up to the hard limit of file sizes. 0 or a negative errno. */
int session_set_size(int fd, size_t bytes);

/* Signs of life, to be called at least every second. */
void session_beat(struct session *session);

/* From now on handlers take samples. */
void session_start_sampling(struct session *session);
/* True if a program has locked its memory: mlockall() allocates all of the sparse tables. */
bool session_is_locked(const struct session *session);

/* Names the sampler (borrowed) and the session to the samplers: before session_environment(). */
void session_name_sampler(struct session *session, const char *sampler_path);

/* The environment of the command: the launcher's own with LD_PRELOAD (the sampler before an
 * existing value) and, last, SESSION_VARIABLE. */
struct session_environment {
    char **variables; /* NULL-terminated and owned; entries are borrowed, except the two below */
    char *preload, *invitation;
};
int session_environment(const struct session *session, struct session_environment *environment);
void session_environment_free(struct session_environment *environment);

/* The constant first part of SESSION_VARIABLE entries of this session. */
#define SESSION_NAME_BYTES 96
void session_name(const struct session *session, char name[SESSION_NAME_BYTES]);

/* Finds librec-sampler.so in the directory of the running executable, or in ../lib, ../lib64 or
 * ../lib/ARCH; with the hooks of recorders, in SESSION_RECORDERS_FOLDER below. */
int session_find_sampler(char path[4096], bool has_hooks, struct error *error);

/* SPDX-License-Identifier: MIT */
/* The launcher's side of the shared memory: makes it, describes it to children, keeps it alive. */
#pragma once

#include "base/error.h"
#include "wire/session.h"

#include <stdbool.h>
#include <stdint.h>

struct session {
    int tables_fd, rings_fd;
    struct tables *tables; /* writable here only */
    struct rings *rings;
    uint64_t token;
    const char *sampler_path; /* as programs are told; borrowed */
};

struct session_config {
    uint64_t period_ns;
    uint64_t kernel_interval_ns;
    uint32_t self_check_every;
    bool withhold_tables;
    bool no_inherit;
    bool show_environment;
    bool is_quiet; /* until session_start_sampling() */
};

int session_open(struct session *session, const struct session_config *config, struct error *error);
void session_close(struct session *session);
/* Whether so little of it is in use that it may stay for a while. */
bool session_is_small(const struct session *session);

/* "I am alive", to be called at least every second. */
void session_beat(struct session *session);

/* From now on handlers take samples. */
void session_start_sampling(struct session *session);

/* The environment of the command: the launcher's own with LD_PRELOAD (an existing one kept in its place,
 * behind ours) and, last, SESSION_VARIABLE. Owned by the caller: free() each entry of *added, then the array. */
struct session_environment {
    char **variables; /* NULL-terminated; entries are borrowed but for the two below */
    char *preload, *invitation;
};
int session_environment(const struct session *session, struct session_environment *environment);
void session_environment_free(struct session_environment *environment);

/* What every entry SESSION_VARIABLE of this session begins with. */
#define SESSION_NAME_BYTES 96
void session_name(const struct session *session, char name[SESSION_NAME_BYTES]);

/* librec-sampler.so beside the running executable, or in ../lib, ../lib64 or ../lib/ARCH of it. */
int session_find_sampler(char path[4096], struct error *error);

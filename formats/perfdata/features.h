/* SPDX-License-Identifier: MIT */
/* What the feature sections say: payloads as they are, facts, and the build-ids of files. */
#pragma once

#include "base/buffer.h"
#include "base/intern.h"
#include "perfdata/header.h"
#include "perfdata/types.h"

struct build_id {
    uint8_t bytes[BUILD_ID_BYTES];
    size_t size;
};

struct feature_set {
    const struct file_header *header; /* borrowed */
    int fd;                           /* borrowed */
    struct section sections[HEADER_FEATURE_BITS];
    uint8_t *payloads[HEADER_FEATURE_BITS]; /* owned; NULL until asked for */
    struct perfdata_facts facts;
    const char **argv;
    struct intern *build_id_paths; /* path -> index in build_ids */
    struct build_id *build_ids;
    size_t build_id_count, build_id_capacity;
};

/* header and fd are borrowed until close. -EBADMSG: the table is damaged; the set is then empty,
 * and usable. */
int feature_set_open(struct feature_set *set, const struct file_header *header, int fd);
/* Facts and build-ids, once all sections are known. 0 or -ENOMEM. */
int feature_set_read(struct feature_set *set);
void feature_set_close(struct feature_set *set);

/* A payload that lies nowhere in the file in one piece: takes the bytes. */
void feature_set_give(struct feature_set *set, unsigned feature, struct buffer *payload);

/* NULL when the file has none, or it cannot be read. */
const uint8_t *feature_payload(struct feature_set *set, unsigned feature, size_t *size);
void feature_forget(struct feature_set *set, unsigned feature);
/* The same as a cursor in the byte order of the file; empty and failed without one. */
struct cursor feature_cursor(struct feature_set *set, unsigned feature);

/* NULL when the BUILD_ID feature does not name the path. */
const struct build_id *feature_build_id(const struct feature_set *set, const char *path,
                                        size_t path_bytes);

/* SPDX-License-Identifier: MIT */
/* Feature sections: raw payloads, metadata, and the build-ids of files. */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/intern.h"
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
    uint8_t *payloads[HEADER_FEATURE_BITS]; /* owned; NULL: not loaded yet */
    struct perfdata_facts facts;
    const char **argv;
    struct intern *build_id_paths; /* path -> index in build_ids */
    struct build_id *build_ids;
    size_t build_id_count, build_id_capacity;
};

/* header and fd are borrowed until close. -EBADMSG: the table is damaged; the set is then empty,
 * and usable. */
int feature_set_open(struct feature_set *set, const struct file_header *header, int fd);
/* Parses metadata and build-ids; call when all sections are present. 0 or -ENOMEM. */
int feature_set_read(struct feature_set *set);
void feature_set_close(struct feature_set *set);

/* Sets a payload that is not contiguous in the file; takes ownership of the bytes. */
void feature_set_give(struct feature_set *set, unsigned feature, struct buffer *payload);

/* NULL: absent or unreadable. */
const uint8_t *feature_payload(struct feature_set *set, unsigned feature, size_t *size);
void feature_forget(struct feature_set *set, unsigned feature);
/* The payload as a cursor in the byte order of the file; empty and failed if absent. */
struct cursor feature_cursor(struct feature_set *set, unsigned feature);

/* The value of a key in simpleperf's meta info; NULL: none. */
const char *feature_meta_info(struct feature_set *set, const char *wanted);

/* NULL when the BUILD_ID feature does not name the path. */
const struct build_id *feature_build_id(const struct feature_set *set, const char *path,
                                        size_t path_bytes);

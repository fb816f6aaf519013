/* SPDX-License-Identifier: MIT */
/*
 * Raw records in sequence, from any storage:
 *
 *     file          the data section
 *     pipe form     the file behind its short header
 *     directory     "data" as above, then data.0, data.1, …: records only
 *     compressed    inside COMPRESSED records of any of these
 *
 * Damage ends its part: without trustworthy sizes, later records cannot be located.
 */
#pragma once

#include "base/containers/cursor.h"
#include "perfdata/header.h"
#include "perfdata/zstd/unpack.h"
#include "perfdata/read/window.h"

struct record {
    uint32_t type;
    uint16_t misc;
    struct cursor body;         /* without the header; valid until the next record, … */
    struct window_block *block; /* … or while this is held; NULL: there is none */
    uint64_t body_offset;       /* in the file; for compressed content, of the compressed record */
    struct section payload;     /* the trace of an AUXTRACE or TRACING_DATA record */
};

struct stream {
    struct window window;
    struct section first; /* the data of the file itself */
    uint64_t at, end;     /* file offsets: the next record, and behind the last */
    uint64_t record_at;   /* the current record, or its compressed record */
    bool swapped;
    bool keeps_compressed;     /* hands out compressed records as they are */
    int file, directory;       /* borrowed; -1: not a directory */
    int part_file;             /* owned; -1 while the file itself is read */
    unsigned next_part;        /* the number of the next data.N */
    struct unpacker *unpacker; /* NULL until something compressed was met */
    char damage[160];          /* empty: none so far */
};

/* directory: -1, or where data.N lie. Descriptors are borrowed. */
void stream_open(struct stream *stream, const struct file_header *header, int file, int directory);
void stream_close(struct stream *stream);

/* From the first record again. 0 or a negative errno. */
int stream_rewind(struct stream *stream);

/* 1 and a record, 0 at the end, negative errno when reading failed. */
int stream_next(struct stream *stream, struct record *record);

/* The current record is malformed: skips the rest of its part. */
void stream_stop(struct stream *stream, const char *what);

/* The first damage stays. */
void stream_note_damage(struct stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

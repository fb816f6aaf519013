/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/intern.h"
#include "perfdata/format.h"
#include "perfdata/writer.h"

struct private_feature {
    unsigned bit;
    struct buffer payload;
};

struct perfdata_writer {
    int fd;  /* borrowed */
    int err; /* sticky */
    bool finished;
    struct perfdata_config config;
    uint64_t at_data;                         /* offset of the first record */
    uint64_t main_id;                         /* of the first event: in records without event */
    bool has_ids;                             /* writer_has_ids() */
    struct buffer pending;                    /* whole records, not yet on disk */
    struct buffer packed;                     /* the same, compressed */
    uint64_t end;                             /* of the records on disk: the offset of pending */
    uint64_t first_sample_ns, last_sample_ns; /* UINT64_MAX, 0: no sample yet */
    uint64_t newest_ns;                       /* of all records */
    uint64_t last_round_ns;                   /* newest_ns at the last round mark */
    uint64_t promised_ns;                     /* nothing older is written any more */
    struct perfdata_task_observer observer;
    struct intern *build_ids; /* entries of the BUILD_ID feature, each once */
    struct private_feature *features;
    size_t feature_count, feature_capacity;
};

/* The id of a row's event in attrs, trailers and samples. */
static inline uint64_t writer_event_id(size_t row)
{
    return row + 1;
}

/* Whether samples and trailers have the id of their event: not in a file with one event. */
bool writer_has_ids(const struct perfdata_config *config);

/* Appends the file up to its first record; returns the offset of the data. The data's size is
 * data_bytes. */
uint64_t writer_put_header(struct buffer *out, const struct perfdata_config *config,
                           uint64_t data_bytes);
/* A perf_event_attr. */
void writer_put_attr(struct buffer *out, const struct perfdata_config *config, size_t row);
/* Names and units of dummy events: EVENT_UPDATE records. */
void writer_put_updates(struct buffer *out, const struct perfdata_config *config);

/* Appends the feature table, for file offset `at`, and all payloads; sets the feature bits. */
void writer_put_features(struct buffer *out, const struct perfdata_writer *writer, uint64_t at,
                         uint64_t bits[HEADER_FEATURE_BITS / 64]);

/* Whether a record can be written: 0 or a negative errno. */
int writer_check(const struct perfdata_writer *writer);
/* Returns the place of the record in pending, for writer_end_record(). */
size_t writer_begin_record(struct perfdata_writer *writer, enum record_type type, unsigned misc);
/* Sets the size of the record; writes a full batch. */
int writer_end_record(struct perfdata_writer *writer, size_t start);
/* The time of a record: times older than the guarantee of the last round are raised. */
uint64_t writer_date(struct perfdata_writer *writer, uint64_t time_ns);

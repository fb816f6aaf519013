/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data, whoever wrote it. Nothing in the file is trusted: a damaged file yields what lies
 * before the damage and says so. Borrowed pointers in events are valid until the next call of
 * perfdata_next().
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_reader; /* opaque */

/* fd is borrowed until close; it is read with pread. A seekable file in either form, or a directory
 * (perf record --threads). Both byte orders. Errors name what is wrong: not a perf.data file,
 * truncated header, compressed by means that are not there. */
int perfdata_reader_open(struct perfdata_reader **out, int fd, const char *path,
                         struct error *error);
void perfdata_reader_close(struct perfdata_reader *reader);

size_t perfdata_attr_count(const struct perfdata_reader *reader);
const struct perfdata_attr *perfdata_attr(const struct perfdata_reader *reader, size_t index);

/* 1 and an event, 0 at the end or at damage, negative errno when reading failed. File order. */
int perfdata_next(struct perfdata_reader *reader, struct perfdata_event *event);
/* Keeps the bytes of a record until perfdata_release(), beyond the next record; pre: every held
 * record is released before the reader is closed. False: the bytes cannot be held. */
bool perfdata_hold(const struct perfdata_record *record);
void perfdata_release(const struct perfdata_record *record);

/* Decodes a record once more, as perfdata_next() did. Pointers of the event are valid until the
 * next call of perfdata_decode() or perfdata_next(). */
void perfdata_decode(struct perfdata_reader *reader, const struct perfdata_record *record,
                     struct perfdata_event *event);

/* From the first record again. 0 or a negative errno. */
int perfdata_rewind(struct perfdata_reader *reader);

/* Damage found so far: a sentence, or NULL. */
const char *perfdata_damage(const struct perfdata_reader *reader);

/* Whether its recorder ended before it described the recording, which is the last that perf and rec do. */
bool perfdata_is_unfinished(const struct perfdata_reader *reader);

/* False when the event is no tracepoint, or the file does not describe it. */
bool perfdata_field(struct perfdata_reader *reader, size_t attr_index, const char *name,
                    struct perfdata_field *field);
/* The field's number in a sample; 0 when the sample does not hold it. */
uint64_t perfdata_field_value(const struct perfdata_reader *reader,
                              const struct perfdata_event *event, struct perfdata_field field);

/* The payload of a feature section; NULL when the file has none. Owned by the reader. */
const uint8_t *perfdata_feature(struct perfdata_reader *reader, unsigned bit, size_t *size);
/* Frees the payload, of which nothing may be in use any more. */
void perfdata_forget_feature(struct perfdata_reader *reader, unsigned bit);

/* Facts of the header features; owned by the reader. */
const struct perfdata_facts *perfdata_facts(struct perfdata_reader *reader);

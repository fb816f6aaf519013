/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data of any writer. The input is not trusted: of a damaged file, all records before
 * the damage are read, and the damage is reported. Borrowed pointers in events are valid until the
 * next call of perfdata_next() or perfdata_decode().
 */
#pragma once

#include "base/text/error.h"
#include "perfdata/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_reader; /* opaque */

/* fd is borrowed until close and read with pread. A seekable file in either form, or a directory
 * (perf record --threads). Both byte orders. Errors name the defect: not a perf.data file,
 * truncated header, unsupported compression. */
int perfdata_reader_open(struct perfdata_reader **out, int fd, const char *path,
                         struct error *error);
void perfdata_reader_close(struct perfdata_reader *reader);

size_t perfdata_attr_count(const struct perfdata_reader *reader);
const struct perfdata_attr *perfdata_attr(const struct perfdata_reader *reader, size_t index);

/* 1 and a record, 0 at the end or at damage, negative errno when reading failed. File order. */
int perfdata_next_record(struct perfdata_reader *reader, struct perfdata_record *record);
/* Keeps the bytes of a record until perfdata_release(), beyond the next record; pre: every held
 * record is released before the reader is closed. False: the bytes cannot be held. */
bool perfdata_hold(const struct perfdata_record *record);
void perfdata_release(const struct perfdata_record *record);

/* Pointers of the event are valid until the next call. False: malformed, noted as damage. */
bool perfdata_decode(struct perfdata_reader *reader, const struct perfdata_record *record,
                     struct perfdata_event *event);
/* Finds the callchain of a sample without decoding. False: there are other parts of the stack, or
 * no callchain. */
bool perfdata_find_stack(const struct perfdata_reader *reader, const struct perfdata_record *record,
                         struct perfdata_stack *stack);

/* No record will be read any more: ends the helper thread, and frees the memory for records. The
 * descriptions of the file stay. pre: as for close. */
void perfdata_end_records(struct perfdata_reader *reader);

/* The next record, decoded; leaves out malformed records. Returns as perfdata_next_record(). */
int perfdata_next(struct perfdata_reader *reader, struct perfdata_event *event);

/* From the first record again. 0 or a negative errno. */
int perfdata_rewind(struct perfdata_reader *reader);

/* Damage found so far: a sentence, or NULL. */
const char *perfdata_damage(const struct perfdata_reader *reader);

/* Whether the recorder ended before writing the features, the last step of both perf and rec. */
bool perfdata_is_unfinished(const struct perfdata_reader *reader);

/* False: not a tracepoint, or no format description in the file. */
bool perfdata_field(struct perfdata_reader *reader, size_t attr_index, const char *name,
                    struct perfdata_field *field);
/* The field's number in a sample; 0 if absent. */
uint64_t perfdata_field_value(const struct perfdata_reader *reader,
                              const struct perfdata_event *event, struct perfdata_field field);

/* The payload of a feature section; NULL when the file has none. Owned by the reader. */
const uint8_t *perfdata_feature(struct perfdata_reader *reader, unsigned bit, size_t *size);
/* Frees the payload; no pointer into it may remain. */
void perfdata_forget_feature(struct perfdata_reader *reader, unsigned bit);

/* Facts of the header features; owned by the reader. */
const struct perfdata_facts *perfdata_facts(struct perfdata_reader *reader);

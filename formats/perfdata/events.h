/* SPDX-License-Identifier: MIT */
/*
 * The events of a file: what each one's samples look like, what it is called, and which ids (one
 * per CPU or task it was opened on) stand for it in the records.
 */
#pragma once

#include "base/cursor.h"
#include "perfdata/header.h"
#include "perfdata/types.h"

struct event_attr {
    struct perfdata_attr shown; /* shown.name is `name` */
    char *name;                 /* owned */
    bool sample_id_all;
    uint64_t read_format;
    uint32_t head_bytes;            /* of its samples, see format.h */
    uint64_t registers_user;        /* a bit per register in REGS_USER */
    uint64_t registers_interrupted; /* the same in REGS_INTR */
};

struct event_id {
    uint64_t id;
    size_t attr_index;
};

struct event_table {
    struct event_attr *attrs;
    size_t count, capacity; /* at least one once read */
    struct event_id *ids;   /* sorted by id */
    size_t id_count, id_capacity;
};

/* The attr section and the id sections. */
int event_table_read(struct event_table *table, const struct file_header *header, int fd,
                     const char *path, struct error *error);
/* One more event, of the pipe form: its attr, and its ids, which event_table_describe() makes known. 0,
 * -ENOMEM, or -EBADMSG: too many. */
int event_table_add(struct event_table *table, struct cursor attr, struct cursor ids,
                    bool big_endian);
/* Names the event of an id. 0 or -ENOMEM. */
int event_table_rename(struct event_table *table, uint64_t id, const char *name);
/* Names and ids of an EVENT_DESC payload, which may be empty; what is damaged in it is left out. Then ids
 * can be found. 0 or -ENOMEM. */
int event_table_describe(struct event_table *table, struct cursor description);
void event_table_free(struct event_table *table);

/* The event of an id: SIZE_MAX when no event has it. */
size_t event_table_find(const struct event_table *table, uint64_t id);

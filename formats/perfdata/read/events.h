/* SPDX-License-Identifier: MIT */
/*
 * The events of a file: the layout of their samples, their names, and their ids in the records (one
 * id per CPU or task of the event).
 */
#pragma once

#include "base/containers/cursor.h"
#include "perfdata/header.h"
#include "perfdata/types.h"

struct event_attr {
    struct perfdata_attr shown; /* shown.name is `name` */
    char *name;                 /* owned */
    bool sample_id_all;
    uint64_t read_format;
    uint32_t head_bytes;             /* of its samples, see format.h */
    uint32_t id_at, pid_at, time_at; /* in the head; UINT32_MAX: absent */
    uint64_t registers_user;         /* a bit per register in REGS_USER */
    uint64_t registers_interrupted;  /* the same in REGS_INTR */
};

struct event_id {
    uint64_t id;
    size_t attr_index;
};

struct event_table {
    struct event_attr *attrs;
    size_t count, capacity; /* at least one after reading */
    struct event_id *ids;   /* sorted by id */
    size_t id_count, id_capacity;
    size_t looked_at_ids; /* by event_table_update() */
};

/* The attr section and the id sections. */
int event_table_read(struct event_table *table, const struct file_header *header, int fd,
                     const char *path, struct error *error);
/* Adds an event of the pipe form: attr and ids. Lookup by id works after event_table_describe().
 * 0, -ENOMEM, or -EBADMSG: too many events. */
int event_table_add(struct event_table *table, struct cursor attr, struct cursor ids,
                    bool big_endian);
/* Takes name or unit from the body of an EVENT_UPDATE, unless there are too many. 0 or -ENOMEM. */
int event_table_update(struct event_table *table, struct cursor update);
/* Reads names and ids from an EVENT_DESC payload, which may be empty, and skips damaged entries.
 * Required before event_table_find(). 0 or -ENOMEM. */
int event_table_describe(struct event_table *table, struct cursor description);
/* Takes names from simpleperf's "event_type_info", which stands in for EVENT_DESC: a line
 * "NAME,TYPE,CONFIG" for each event; other lines, and lines beyond 256, are ignored. 0 or
 * -ENOMEM. */
int event_table_name(struct event_table *table, const char *lines);
void event_table_free(struct event_table *table);

/* The event with this id; SIZE_MAX: none. */
size_t event_table_find(const struct event_table *table, uint64_t id);

/* SPDX-License-Identifier: MIT */
#include "perfdata/read/events.h"

#include "base/containers/array.h"
#include "base/files/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits for hostile headers. perf writes an id per event and CPU, or per event and task. */
enum {
    ATTR_SECTION_BYTES_MAX = 16 << 20,
    IDS_MAX = 1 << 20,
    ATTRS_MAX = 1 << 16,
    NAMES_MAX = 256,             /* simpleperf: each is compared with all events */
    LOOKED_AT_IDS_MAX = 1 << 26, /* by the updates of a pipe */
};

/* In files of big-endian hosts the first declared bit field is the highest bit. */
static uint64_t flag_word(uint64_t word, bool big_endian)
{
    if (!big_endian)
        return word;
    uint64_t reversed = 0;
    for (int bit = 0; bit < 64; bit++)
        reversed |= (word >> bit & 1) << (63 - bit);
    return reversed;
}

/* For files without EVENT_DESC. Order of enum perf_hw_id and enum perf_sw_ids in
 * linux/perf_event.h. */
static char *default_name(uint32_t type, uint64_t config)
{
    static const char *const hardware[] = {"cycles",       "instructions", "cache-references",
                                           "cache-misses", "branches",     "branch-misses",
                                           "bus-cycles"};
    static const char *const software[] = {"cpu-clock", "task-clock", "page-faults",
                                           "context-switches", "cpu-migrations"};
    if (type == ATTR_TYPE_HARDWARE && config < sizeof(hardware) / sizeof(*hardware))
        return strdup(hardware[config]);
    if (type == ATTR_TYPE_SOFTWARE && config < sizeof(software) / sizeof(*software))
        return strdup(software[config]);
    char *name = NULL;
    if (asprintf(&name, "event-%u:0x%llx", type, (unsigned long long)config) < 0)
        return NULL;
    return name;
}

/* Older files have shorter attrs; missing fields are 0. */
static uint64_t optional_u64(struct cursor *c)
{
    return cursor_left(c) >= 8 ? cursor_u64(c) : 0;
}

static uint32_t bytes_of(uint64_t fields)
{
    return 8 * (uint32_t)__builtin_popcountll(fields);
}

/* The heads of samples have the same fields at the same places. */
static void place_fields(struct event_attr *attr)
{
    const uint64_t type = attr->shown.sample_type, before_pid = SAMPLE_IDENTIFIER | SAMPLE_IP,
                   before_id = before_pid | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR;
    attr->id_at = type & SAMPLE_IDENTIFIER ? 0
                  : type & SAMPLE_ID       ? bytes_of(type & before_id)
                                           : UINT32_MAX;
    attr->head_bytes = bytes_of(type & SAMPLE_HEAD);
    attr->pid_at = type & SAMPLE_TID ? bytes_of(type & before_pid) : UINT32_MAX;
    attr->time_at = type & SAMPLE_TIME ? bytes_of(type & (before_pid | SAMPLE_TID)) : UINT32_MAX;
}

/* struct perf_event_attr of linux/perf_event.h. Fields behind config1 were added over time. */
static int parse_attr(struct event_attr *attr, struct cursor c, bool big_endian)
{
    attr->shown.type = cursor_u32(&c);
    cursor_skip(&c, 4); /* size of the entry: implied by its content */
    attr->shown.config = cursor_u64(&c);
    attr->shown.period_or_frequency = cursor_u64(&c);
    attr->shown.sample_type = cursor_u64(&c);
    attr->read_format = cursor_u64(&c);
    uint64_t flags = flag_word(cursor_u64(&c), big_endian);
    attr->shown.is_frequency = flags >> ATTR_FLAG_FREQUENCY & 1;
    attr->shown.is_inherited = flags >> ATTR_FLAG_INHERIT & 1;
    attr->shown.has_own_clock = flags >> ATTR_FLAG_USE_CLOCKID & 1;
    attr->shown.has_switches = flags >> ATTR_FLAG_CONTEXT_SWITCH & 1;
    attr->sample_id_all = flags >> ATTR_FLAG_SAMPLE_ID_ALL & 1;
    cursor_skip(&c, 16); /* wakeup, breakpoint type, config1 */
    optional_u64(&c);    /* config2 */
    attr->shown.branch_sample_type = optional_u64(&c);
    attr->registers_user = optional_u64(&c);
    optional_u64(&c); /* stack bytes, clock */
    attr->registers_interrupted = optional_u64(&c);
    place_fields(attr);
    attr->name = default_name(attr->shown.type, attr->shown.config);
    attr->shown.name = attr->name;
    return attr->name ? 0 : -ENOMEM;
}

static int add_id(struct event_table *table, uint64_t id, size_t attr_index)
{
    struct event_id *entry = ARRAY_PUSH(table->ids, table->id_count, table->id_capacity);
    if (!entry)
        return -ENOMEM;
    *entry = (struct event_id){id, attr_index};
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = ((const struct event_id *)a)->id, right = ((const struct event_id *)b)->id;
    return left < right ? -1 : left > right;
}

static void sort_ids(struct event_table *table)
{
    if (table->id_count)
        qsort(table->ids, table->id_count, sizeof(*table->ids), compare_ids);
}

/* ids[0 .. count) must be sorted. */
static size_t find_in(const struct event_table *table, size_t count, uint64_t id)
{
    struct event_id key = {.id = id};
    const struct event_id *found =
        count ? bsearch(&key, table->ids, count, sizeof(key), compare_ids) : NULL;
    return found ? found->attr_index : SIZE_MAX;
}

size_t event_table_find(const struct event_table *table, uint64_t id)
{
    return find_in(table, table->id_count, id);
}

static int take_ids(struct event_table *table, struct cursor ids, size_t attr_index)
{
    int err = cursor_left(&ids) / 8 > IDS_MAX - table->id_count ? -EBADMSG : 0;
    while (err == 0 && cursor_left(&ids) > 0)
        err = add_id(table, cursor_u64(&ids), attr_index);
    return err;
}

int event_table_add(struct event_table *table, struct cursor attr, struct cursor ids,
                    bool big_endian)
{
    struct event_attr *added =
        table->count < ATTRS_MAX ? ARRAY_PUSH(table->attrs, table->count, table->capacity) : NULL;
    if (!added)
        return table->count < ATTRS_MAX ? -ENOMEM : -EBADMSG;
    int err = parse_attr(added, attr, big_endian);
    return err ? err : take_ids(table, ids, table->count - 1);
}

static int read_ids(struct event_table *table, const struct file_header *header, int fd,
                    struct section section)
{
    if (!section_is_inside(section, header->file_bytes) || section.size / 8 > IDS_MAX)
        return -EBADMSG;
    size_t size = (size_t)(section.size / 8 * 8);
    uint8_t *bytes = malloc(size + 1);
    int err = bytes ? io_pread(fd, bytes, size, section.offset) : -ENOMEM;
    struct cursor ids = cursor_of(bytes, size);
    ids.swapped = header->swapped;
    if (err == 0)
        err = take_ids(table, ids, table->count - 1);
    free(bytes);
    return err;
}

/* An entry is an attr, then the section of its ids. The ids are sorted once, after the last
 * entry. */
static int read_entries(struct event_table *table, const struct file_header *header, int fd,
                        struct cursor entries)
{
    int err = 0;
    while (err == 0 && cursor_left(&entries) >= header->attr_entry_bytes) {
        struct cursor body = cursor_sub(&entries, header->attr_entry_bytes - SECTION_BYTES);
        struct section ids = cursor_section(&entries);
        err = event_table_add(table, body, (struct cursor){0}, header->big_endian);
        if (err == 0)
            err = read_ids(table, header, fd, ids);
    }
    sort_ids(table);
    return err;
}

int event_table_read(struct event_table *table, const struct file_header *header, int fd,
                     const char *path, struct error *error)
{
    *table = (struct event_table){0};
    if (header->attr_entry_bytes < ATTR_BYTES_MIN + SECTION_BYTES ||
        header->attr_entry_bytes > header->attrs.size ||
        header->attrs.size > ATTR_SECTION_BYTES_MAX)
        return error_set(error, -EBADMSG, "%s has no event descriptions: the header is damaged",
                         path);
    uint8_t *bytes = malloc((size_t)header->attrs.size);
    int err =
        bytes ? io_pread(fd, bytes, (size_t)header->attrs.size, header->attrs.offset) : -ENOMEM;
    struct cursor entries = cursor_of(bytes, (size_t)header->attrs.size);
    entries.swapped = header->swapped;
    if (err == 0)
        err = read_entries(table, header, fd, entries);
    free(bytes);
    if (err == -EBADMSG)
        return error_set(error, err, "%s: the event ids are damaged", path);
    return err ? error_set(error, err, "cannot read %s: %s", path, strerror(-err)) : 0;
}

static int rename_attr(struct event_attr *attr, const char *name, size_t size)
{
    size_t length = strnlen(name, size);
    if (length == 0 || (strlen(attr->name) == length && memcmp(attr->name, name, length) == 0))
        return 0;
    char *copy = strndup(name, size);
    if (!copy)
        return -ENOMEM;
    free(attr->name);
    attr->name = copy;
    attr->shown.name = copy;
    return 0;
}

/* Parses an event of EVENT_DESC. The event belongs to the attr with its first id, or, if the
 * attr section has no ids, to the attr with the same index. */
static int describe_one(struct event_table *table, struct cursor *c, size_t known_ids, size_t index)
{
    uint32_t id_count = cursor_u32(c);
    uint32_t name_bytes = cursor_u32(c);
    const char *name = (const char *)cursor_bytes(c, name_bytes);
    struct cursor ids = cursor_sub(c, (uint64_t)id_count * 8);
    if (c->failed || id_count > IDS_MAX - table->id_count)
        return 0;
    struct cursor first = ids;
    size_t found = id_count ? find_in(table, known_ids, cursor_u64(&first)) : SIZE_MAX;
    if (found == SIZE_MAX)
        found = index;
    if (found >= table->count)
        return 0;
    int err = rename_attr(&table->attrs[found], name, name_bytes);
    while (err == 0 && cursor_left(&ids) > 0)
        err = add_id(table, cursor_u64(&ids), found);
    return err;
}

/* Linear: the ids are unsorted while the metadata of a pipe is read. */
static struct event_attr *attr_of(struct event_table *table, uint64_t id)
{
    if (table->id_count > LOOKED_AT_IDS_MAX - table->looked_at_ids)
        return NULL;
    table->looked_at_ids += table->id_count;
    for (size_t i = 0; i < table->id_count; i++)
        if (table->ids[i].id == id)
            return &table->attrs[table->ids[i].attr_index];
    return NULL;
}

int event_table_update(struct event_table *table, struct cursor update)
{
    uint64_t kind = cursor_u64(&update);
    struct event_attr *attr = attr_of(table, cursor_u64(&update));
    const char *text =
        kind == EVENT_UPDATE_NAME || kind == EVENT_UPDATE_UNIT ? cursor_string(&update) : "";
    if (!attr || update.failed)
        return 0;
    if (kind == EVENT_UPDATE_UNIT)
        snprintf(attr->shown.unit, sizeof(attr->shown.unit), "%s", text);
    return kind == EVENT_UPDATE_NAME ? rename_attr(attr, text, strlen(text)) : 0;
}

int event_table_describe(struct event_table *table, struct cursor description)
{
    /* New ids go behind known_ids: searches see a sorted range. */
    size_t known_ids = table->id_count;
    uint32_t count = cursor_u32(&description);
    uint32_t attr_bytes = cursor_u32(&description);
    int err = 0;
    for (uint32_t i = 0; i < count && err == 0 && !description.failed; i++) {
        cursor_skip(&description, attr_bytes);
        err = describe_one(table, &description, known_ids, i);
    }
    sort_ids(table);
    return err;
}

static int name_attrs(struct event_table *table, uint32_t type, uint64_t config, const char *name,
                      size_t size)
{
    int err = 0;
    for (size_t i = 0; i < table->count && err == 0; i++)
        if (table->attrs[i].shown.type == type && table->attrs[i].shown.config == config)
            err = rename_attr(&table->attrs[i], name, size);
    return err;
}

int event_table_name(struct event_table *table, const char *lines)
{
    const char *line = lines;
    int err = 0;
    for (int i = 0; i < NAMES_MAX && *line && err == 0; i++, line += strspn(line, "\n")) {
        uint32_t type;
        uint64_t config;
        size_t size = strcspn(line, ",\n");
        if (sscanf(line + size, ",%" SCNu32 ",%" SCNu64, &type, &config) == 2)
            err = name_attrs(table, type, config, line, size);
        line += strcspn(line, "\n");
    }
    return err;
}

void event_table_free(struct event_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->attrs[i].name);
    free(table->attrs);
    free(table->ids);
    *table = (struct event_table){0};
}

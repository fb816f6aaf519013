/* SPDX-License-Identifier: MIT */
#include "perfdata/read/features.h"

#include "base/containers/array.h"
#include "base/files/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAYLOAD_BYTES_MAX = 256 << 20,
    ARGUMENTS_MAX = 1 << 20,
};

/* Read at first use. Offset 0 is the header, hence an absent section. */
const uint8_t *feature_payload(struct feature_set *set, unsigned feature, size_t *size)
{
    *size = 0;
    if (!file_header_has(set->header, feature))
        return NULL;
    struct section section = set->sections[feature];
    size_t bytes = (size_t)section.size;
    if (!set->payloads[feature]) {
        if (section.offset == 0 || section.size > PAYLOAD_BYTES_MAX)
            return NULL;
        uint8_t *payload = malloc(bytes + 1);
        if (!payload || io_pread(set->fd, payload, bytes, section.offset) != 0) {
            free(payload);
            return NULL;
        }
        set->payloads[feature] = payload;
    }
    *size = bytes;
    return set->payloads[feature];
}

void feature_forget(struct feature_set *set, unsigned feature)
{
    if (feature >= HEADER_FEATURE_BITS)
        return;
    free(set->payloads[feature]);
    set->payloads[feature] = NULL;
}

struct cursor feature_cursor(struct feature_set *set, unsigned feature)
{
    size_t size;
    const uint8_t *payload = feature_payload(set, feature, &size);
    struct cursor c = cursor_of(payload, size);
    c.failed = !payload;
    c.swapped = set->header->swapped;
    return c;
}

/* A length, then as many bytes with padding; "" when they hold no terminated string. */
static const char *read_string(struct cursor *c)
{
    struct cursor text = cursor_sub(c, cursor_u32(c));
    const char *string = cursor_string(&text);
    return string ? string : "";
}

static const char *fact_string(struct feature_set *set, unsigned feature)
{
    struct cursor c = feature_cursor(set, feature);
    return read_string(&c);
}

static int read_argv(struct feature_set *set)
{
    struct cursor c = feature_cursor(set, FEATURE_CMDLINE);
    size_t count = cursor_u32(&c), capacity = 0;
    /* An argument takes at least its length field: a bound for the allocation. */
    if (count > ARGUMENTS_MAX || count > cursor_left(&c) / 4)
        count = 0;
    if (array_reserve((void **)&set->argv, &capacity, count + 1, sizeof(*set->argv)) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        set->argv[i] = read_string(&c);
    set->argv[count] = NULL;
    set->facts.argv = set->argv;
    set->facts.argc = count;
    return 0;
}

const char *feature_meta_info(struct feature_set *set, const char *wanted)
{
    struct cursor c = feature_cursor(set, FEATURE_SIMPLEPERF_META_INFO);
    const char *key, *value;
    while ((key = cursor_string(&c)) && (value = cursor_string(&c)))
        if (strcmp(key, wanted) == 0)
            return value;
    return NULL;
}

/*
 * simpleperf moves return addresses in callchains back into the call instruction: since 2017-11 by
 * SampleRecord::AdjustCallChainGeneratedByKernel(), and in libunwindstack. Meta info is there since
 * 2017-05; the recordings of the months between cannot be recognised.
 */
static bool is_of_simpleperf(struct feature_set *set)
{
    return feature_meta_info(set, "simpleperf_version") != NULL;
}

static int read_facts(struct feature_set *set)
{
    struct perfdata_facts *facts = &set->facts;
    facts->host = fact_string(set, FEATURE_HOSTNAME);
    facts->os_release = fact_string(set, FEATURE_OSRELEASE);
    facts->version = fact_string(set, FEATURE_VERSION);
    facts->arch = fact_string(set, FEATURE_ARCH);
    facts->cpu = fact_string(set, FEATURE_CPUDESC);

    struct cursor cpus = feature_cursor(set, FEATURE_NRCPUS);
    cursor_skip(&cpus, 4); /* available */
    facts->cpus_online = cursor_u32(&cpus);

    struct cursor times = feature_cursor(set, FEATURE_SAMPLE_TIME);
    facts->first_sample_ns = cursor_u64(&times);
    facts->last_sample_ns = cursor_u64(&times);
    if (facts->first_sample_ns == UINT64_MAX) /* samples without times: perf record --per-thread */
        facts->first_sample_ns = facts->last_sample_ns = 0;

    struct cursor clock = feature_cursor(set, FEATURE_CLOCK_DATA);
    cursor_skip(&clock, 8); /* version, clock */
    facts->wall_ns = cursor_u64(&clock);
    facts->clock_ns = cursor_u64(&clock);
    facts->has_call_addresses = is_of_simpleperf(set);
    return read_argv(set);
}

/* Before MISC_BUILD_ID_SIZE the length was not stored: 20 bytes, fewer when they end in zero words
 * (MD5 and UUID build-ids have 16). */
static size_t build_id_size(const uint8_t *bytes, uint16_t misc)
{
    size_t size = BUILD_ID_BYTES;
    if (misc & MISC_BUILD_ID_SIZE)
        return bytes[BUILD_ID_BYTES] < size ? bytes[BUILD_ID_BYTES] : size;
    static const uint8_t zeros[4];
    while (size > 0 && memcmp(bytes + size - 4, zeros, 4) == 0)
        size -= 4;
    return size;
}

static int add_build_id(struct feature_set *set, const char *path, const uint8_t *bytes,
                        size_t size)
{
    uint32_t index = intern_text(set->build_id_paths, path);
    if (index == INTERN_NONE)
        return -ENOMEM;
    if (index == set->build_id_count &&
        !ARRAY_PUSH(set->build_ids, set->build_id_count, set->build_id_capacity))
        return -ENOMEM;
    set->build_ids[index].size = size;
    memcpy(set->build_ids[index].bytes, bytes, size);
    return 0;
}

/* Entries: a record header, i32 pid, 20 bytes of build-id with 4 of size and padding, the path. */
static int read_build_ids(struct feature_set *set)
{
    set->build_id_paths = intern_new();
    if (!set->build_id_paths)
        return -ENOMEM;
    struct cursor c = feature_cursor(set, FEATURE_BUILD_ID);
    int err = 0;
    while (err == 0 && !c.failed && cursor_left(&c) > 0) {
        cursor_skip(&c, 4);
        uint16_t misc = cursor_u16(&c);
        uint16_t bytes = cursor_u16(&c);
        struct cursor body = cursor_sub(
            &c, bytes < RECORD_HEADER_BYTES ? UINT64_MAX : (uint64_t)bytes - RECORD_HEADER_BYTES);
        cursor_skip(&body, 4); /* pid */
        const uint8_t *build_id = cursor_bytes(&body, BUILD_ID_BYTES + 4);
        const char *path = cursor_string(&body);
        if (path)
            err = add_build_id(set, path, build_id, build_id_size(build_id, misc));
    }
    return err;
}

int feature_set_open(struct feature_set *set, const struct file_header *header, int fd)
{
    memset(set, 0, sizeof(*set));
    set->header = header;
    set->fd = fd;
    int err = header->is_pipe ? 0 : feature_table_read(header, fd, set->sections);
    if (err == -EBADMSG)
        memset(set->sections, 0, sizeof(set->sections));
    return err;
}

int feature_set_read(struct feature_set *set)
{
    int err = read_facts(set);
    return err ? err : read_build_ids(set);
}

void feature_set_give(struct feature_set *set, unsigned feature, struct buffer *payload)
{
    set->payloads[feature] = payload->bytes;
    set->sections[feature].size = payload->size;
    *payload = (struct buffer){0};
}

void feature_set_close(struct feature_set *set)
{
    for (size_t i = 0; i < HEADER_FEATURE_BITS; i++)
        free(set->payloads[i]);
    free(set->argv);
    intern_free(set->build_id_paths);
    free(set->build_ids);
}

const struct build_id *feature_build_id(const struct feature_set *set, const char *path,
                                        size_t path_bytes)
{
    uint32_t index = intern_find(set->build_id_paths, path, path_bytes);
    return index == INTERN_NONE ? NULL : &set->build_ids[index];
}

/* SPDX-License-Identifier: MIT */
/*
 * Features at the end of the file: machine, clock and event.
 *
 *     table: {offset, size} per feature, ascending by bit    payloads, each at a multiple of 8
 */
#include "base/files/io.h"
#include "perfdata/header.h"
#include "perfdata/zstd/pack.h"
#include "perfdata/writer_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* perf_data_converter (lost samples) and hotspot (rounds) evaluate the perf version. */
static const char version_text[] = "6.1.0-rec";

/* Payloads are collected first: the table in front needs their sizes. */
struct feature_list {
    struct buffer payloads;
    struct section sections[HEADER_FEATURE_BITS]; /* offsets in payloads */
    uint64_t *bits;
};

/* The payload is the content after `start`. */
static void add_feature(struct feature_list *list, unsigned bit, size_t start)
{
    list->sections[bit] = (struct section){start, list->payloads.size - start};
    list->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    buffer_zeros(&list->payloads, -list->payloads.size & 7u);
}

/* perf pads strings to 64 bytes; readers go by the size. */
static void put_string(struct buffer *out, const char *text)
{
    size_t length = strlen(text), padded = length / 8 * 8 + 8;
    buffer_u32(out, (uint32_t)padded);
    buffer_append(out, text, length);
    buffer_zeros(out, padded - length);
}

static void add_string(struct feature_list *list, unsigned bit, const char *text)
{
    size_t start = list->payloads.size;
    put_string(&list->payloads, text);
    add_feature(list, bit, start);
}

static void add_words(struct feature_list *list, unsigned bit, const uint64_t *words, size_t count)
{
    size_t start = list->payloads.size;
    for (size_t i = 0; i < count; i++)
        buffer_u64(&list->payloads, words[i]);
    add_feature(list, bit, start);
}

static void add_build_ids(struct feature_list *list, const struct intern *build_ids)
{
    size_t start = list->payloads.size;
    for (uint32_t i = 0; i < intern_count(build_ids); i++) {
        size_t size;
        const void *entry = intern_bytes(build_ids, i, &size);
        buffer_append(&list->payloads, entry, size);
    }
    add_feature(list, FEATURE_BUILD_ID, start);
}

/* The value of the first line "KEY <blanks>: VALUE" of /proc/cpuinfo; "" when there is none. */
static void cpuinfo_value(const char *cpuinfo, const char *key, char *out, size_t size)
{
    size_t key_bytes = strlen(key);
    out[0] = '\0';
    for (const char *line = cpuinfo; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *colon = line + key_bytes;
        if (strncmp(line, key, key_bytes) != 0)
            continue;
        colon += strspn(colon, " \t");
        if (*colon != ':')
            continue;
        colon += 1 + strspn(colon + 1, " ");
        size_t length = strcspn(colon, "\n");
        length = length < size - 1 ? length : size - 1;
        memcpy(out, colon, length);
        out[length] = '\0';
        return;
    }
}

/* perf's CPUID on x86 is "vendor,family,model,stepping". */
static void add_cpu_id(struct feature_list *list, const char *cpuinfo)
{
    static const char *const keys[] = {"vendor_id", "cpu family", "model", "stepping"};
    char value[128];
    struct buffer id = {0};
    bool complete = true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        cpuinfo_value(cpuinfo, keys[i], value, sizeof(value));
        complete &= value[0] != '\0';
        buffer_printf(&id, "%s%s", i ? "," : "", value);
    }
    buffer_u8(&id, 0);
    if (complete && !id.failed)
        add_string(list, FEATURE_CPUID, (const char *)id.bytes);
    buffer_free(&id);
}

static void add_cpus(struct feature_list *list)
{
    enum { CPUINFO_BYTES_MAX = 16 << 20 };
    size_t start = list->payloads.size;
    buffer_u32(&list->payloads, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
    buffer_u32(&list->payloads, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    add_feature(list, FEATURE_NRCPUS, start);

    char model[128];
    struct buffer cpuinfo = {0};
    if (io_read_file("/proc/cpuinfo", &cpuinfo, CPUINFO_BYTES_MAX) == 0) {
        buffer_u8(&cpuinfo, 0);
        if (!cpuinfo.failed) {
            cpuinfo_value((const char *)cpuinfo.bytes, "model name", model, sizeof(model));
            if (model[0])
                add_string(list, FEATURE_CPUDESC, model);
            add_cpu_id(list, (const char *)cpuinfo.bytes);
        }
    }
    buffer_free(&cpuinfo);
}

static void add_machine(struct feature_list *list)
{
    struct utsname name;
    struct sysinfo memory;
    if (uname(&name) == 0) {
        add_string(list, FEATURE_HOSTNAME, name.nodename);
        add_string(list, FEATURE_OSRELEASE, name.release);
        add_string(list, FEATURE_ARCH, name.machine);
    }
    add_string(list, FEATURE_VERSION, version_text);
    add_cpus(list);
    if (sysinfo(&memory) == 0) {
        uint64_t kilobytes = (uint64_t)memory.totalram * memory.mem_unit / 1024;
        add_words(list, FEATURE_TOTAL_MEM, &kilobytes, 1);
    }
}

static void add_command_line(struct feature_list *list, const char *const *argv)
{
    size_t start = list->payloads.size;
    uint32_t count = 0;
    while (argv && argv[count])
        count++;
    if (count == 0)
        return;
    buffer_u32(&list->payloads, count);
    for (uint32_t i = 0; i < count; i++)
        put_string(&list->payloads, argv[i]);
    add_feature(list, FEATURE_CMDLINE, start);
}

/* Number of events, size of an attr; then attr, ids and name of each event. */
static void add_event_description(struct feature_list *list, const struct perfdata_config *config)
{
    struct buffer *out = &list->payloads;
    size_t start = out->size;
    uint32_t count = 0;
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++)
        count += config->events[i].name != NULL;
    buffer_u32(out, count);
    buffer_u32(out, ATTR_BYTES_WRITTEN);
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++) {
        if (!config->events[i].name)
            continue;
        writer_put_attr(out, config, i);
        buffer_u32(out, 1); /* ids */
        put_string(out, config->events[i].name);
        buffer_u64(out, writer_event_id(i));
    }
    add_feature(list, FEATURE_EVENT_DESC, start);
}

static void add_times(struct feature_list *list, const struct perfdata_writer *writer)
{
    bool has_samples = writer->first_sample_ns <= writer->last_sample_ns;
    uint64_t start_ns = writer->config.start_time_ns;
    uint64_t span[] = {has_samples ? writer->first_sample_ns : start_ns,
                       has_samples ? writer->last_sample_ns : start_ns};
    uint64_t resolution_ns = 1;
    add_words(list, FEATURE_SAMPLE_TIME, span, 2);
    add_words(list, FEATURE_CLOCKID, &resolution_ns, 1);

    size_t start = list->payloads.size;
    buffer_u32(&list->payloads, 1); /* version */
    buffer_u32(&list->payloads, CLOCK_MONOTONIC);
    buffer_u64(&list->payloads, writer->config.start_wall_ns);
    buffer_u64(&list->payloads, start_ns);
    add_feature(list, FEATURE_CLOCK_DATA, start);
}

/* Version 0, zstd; the ratio is informational. Readers reserve space for the content of a record
 * and the rest of the record before. */
static void add_compression(struct feature_list *list, int level)
{
    size_t start = list->payloads.size;
    if (level == 0)
        return;
    const uint32_t words[] = {0, 1, (uint32_t)level, 1, 2 * PACK_PIECE_BYTES};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        buffer_u32(&list->payloads, words[i]);
    add_feature(list, FEATURE_COMPRESSED, start);
}

/* An entry for each set bit, ascending. */
static void put_table_and_payloads(struct buffer *out, const struct feature_list *list, uint64_t at)
{
    uint64_t table_bytes = 0;
    for (size_t i = 0; i < HEADER_FEATURE_BITS / 64; i++)
        table_bytes += SECTION_BYTES * (unsigned)__builtin_popcountll(list->bits[i]);
    for (size_t bit = 0; bit < HEADER_FEATURE_BITS; bit++) {
        if (!(list->bits[bit / 64] >> bit % 64 & 1))
            continue;
        buffer_u64(out, at + table_bytes + list->sections[bit].offset);
        buffer_u64(out, list->sections[bit].size);
    }
    buffer_append(out, list->payloads.bytes, list->payloads.size);
    out->failed |= list->payloads.failed;
}

void writer_put_features(struct buffer *out, const struct perfdata_writer *writer, uint64_t at,
                         uint64_t bits[HEADER_FEATURE_BITS / 64])
{
    struct feature_list list = {.bits = bits};
    add_build_ids(&list, writer->build_ids);
    add_machine(&list);
    add_command_line(&list, writer->config.argv);
    add_event_description(&list, &writer->config);
    add_times(&list, writer);
    add_compression(&list, writer->config.compression_level);
    for (size_t i = 0; i < writer->feature_count; i++) {
        size_t start = list.payloads.size;
        const struct buffer *payload = &writer->features[i].payload;
        buffer_append(&list.payloads, payload->bytes, payload->size);
        add_feature(&list, writer->features[i].bit, start);
    }
    put_table_and_payloads(out, &list, at);
    buffer_free(&list.payloads);
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data file: every byte that an event points to, every fact, feature and
 * tracepoint field is read. */
#include "base/files/io.h"
#include "perfdata/reader.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile uint8_t sum;

static void touch(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum += ((const uint8_t *)bytes)[i];
}

static void touch_event(const struct perfdata_event *event)
{
    touch(event->callchain, event->callchain_count * sizeof(*event->callchain));
    touch(event->raw, event->raw_bytes);
    touch(event->branches, event->branch_count * sizeof(*event->branches));
    touch(event->user_registers, (size_t)__builtin_popcountll(event->user_registers_mask) * 8);
    touch(event->user_stack, event->user_stack_bytes);
    touch(event->namespaces, event->namespace_count * sizeof(*event->namespaces));
    touch(event->path, event->path ? strlen(event->path) : 0);
    touch(event->name, event->name ? strlen(event->name) : 0);
    touch(event->build_id, event->build_id_bytes);
}

static void touch_fields(struct perfdata_reader *reader, const struct perfdata_event *event)
{
    struct perfdata_field field;
    if (perfdata_field(reader, event->attr_index, "prev_state", &field))
        sum += (uint8_t)perfdata_field_value(reader, event, field);
}

static void read_all(struct perfdata_reader *reader)
{
    struct perfdata_event event;
    size_t samples = 0;
    while (perfdata_next(reader, &event) == 1) {
        touch_event(&event);
        if (event.kind != PERFDATA_SAMPLE)
            continue;
        if (!perfdata_attr(reader, event.attr_index))
            __builtin_trap();
        if (samples++ < 4)
            touch_fields(reader, &event);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct perfdata_reader *reader = NULL;
    struct error error;
    size_t feature_bytes;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || io_pwrite(fd, bytes, size, 0) != 0)
        __builtin_trap();
    if (perfdata_reader_open(&reader, fd, "fuzz", &error) == 0) {
        read_all(reader);
        for (unsigned bit = 0; bit < 256; bit++) {
            const void *feature = perfdata_feature(reader, bit, &feature_bytes);
            touch(feature, feature ? feature_bytes : 0);
        }
        if (perfdata_rewind(reader) == 0)
            read_all(reader);
    }
    perfdata_reader_close(reader);
    close(fd);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data file: every event, fact and private feature is read once. */
#include "base/io.h"
#include "perfdata/reader.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct perfdata_reader *reader = NULL;
    struct perfdata_event event;
    struct error error;
    size_t feature_bytes;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || io_pwrite(fd, bytes, size, 0) != 0)
        __builtin_trap();
    if (perfdata_reader_open(&reader, fd, "fuzz", &error) == 0) {
        while (perfdata_next(reader, &event) == 1)
            if (event.kind == PERFDATA_SAMPLE && !perfdata_attr(reader, event.attr_index))
                __builtin_trap();
        for (unsigned bit = 0; bit < 256; bit++)
            perfdata_feature(reader, bit, &feature_bytes);
    }
    perfdata_reader_close(reader);
    close(fd);
    return 0;
}

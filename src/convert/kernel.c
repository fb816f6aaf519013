/* SPDX-License-Identifier: MIT */
#include "convert/kernel.h"

#include "base/cursor.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { NOTES_BYTES_MAX = 1 << 16 };

static bool is_build_id(const struct buffer *notes, const uint8_t *id, size_t size)
{
    struct cursor c = cursor_of(notes->bytes, notes->size);
    while (cursor_left(&c) && !c.failed) {
        uint64_t name_bytes = cursor_u32(&c);
        uint64_t found_bytes = cursor_u32(&c);
        uint32_t type = cursor_u32(&c);
        const uint8_t *name = cursor_bytes(&c, (name_bytes + 3) & ~UINT64_C(3));
        const uint8_t *found = cursor_bytes(&c, (found_bytes + 3) & ~UINT64_C(3));
        if (!c.failed && type == NT_GNU_BUILD_ID && name_bytes == 4 &&
            memcmp(name, "GNU", 4) == 0 && found_bytes >= size)
            return memcmp(found, id, size) == 0;
    }
    return false;
}

/* Without a build-id, the release must be the same ("Linux 6.1.0-13-amd64 x86_64"). */
static bool is_running_release(const char *os)
{
    static const char system[] = "Linux ";
    struct buffer running = {0};
    if (strncmp(os, system, strlen(system)) != 0)
        return false;
    const char *release = os + strlen(system);
    size_t length = strcspn(release, " ");
    bool is = io_read_file("/proc/sys/kernel/osrelease", &running, NOTES_BYTES_MAX) == 0 &&
              running.size == length + 1 && memcmp(running.bytes, release, length) == 0;
    buffer_free(&running);
    return is;
}

static bool is_running(const struct profile *profile, const struct profile_lib *lib)
{
    if (lib->build_id_bytes == 0)
        return is_running_release(profile_text(profile, profile->os));
    struct buffer notes = {0};
    bool is = io_read_file("/sys/kernel/notes", &notes, NOTES_BYTES_MAX) == 0 &&
              is_build_id(&notes, lib->build_id, lib->build_id_bytes);
    buffer_free(&notes);
    return is;
}

bool kernel_is_image(const struct profile *profile, const struct profile_lib *lib)
{
    return strcmp(profile_text(profile, lib->path), "[kernel.kallsyms]") == 0;
}

/* The mapping of the kernel begins at its symbol _text, which lies elsewhere after each start of
 * the machine. */
int kernel_open_symbols(struct symbols **symbols, const struct profile *profile,
                        const struct profile_lib *lib, uint64_t *moved)
{
    if (lib->map_file_offset == 0 || !is_running(profile, lib))
        return -ENOENT;
    uint64_t text_avma;
    int err = symbols_open_kernel(symbols, &text_avma);
    if (err == 0)
        *moved = text_avma - lib->map_file_offset;
    return err;
}

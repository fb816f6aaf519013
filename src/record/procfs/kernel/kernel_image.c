/* SPDX-License-Identifier: MIT */
#include "record/procfs/kernel/kernel_image.h"

#include "base/files/io.h"
#include "elf/build_id_note.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOTES_BYTES_MAX 65536

/* Among the first lines of 5 MB: not read further. */
static uint64_t text_avma(FILE *symbols)
{
    char *line = NULL;
    size_t room = 0;
    uint64_t avma = 0;
    for (bool is_found = false; !is_found && getline(&line, &room, symbols) > 0;) {
        is_found = strstr(line, " T _text\n") != NULL;
        avma = is_found ? strtoull(line, NULL, 16) : 0;
    }
    free(line);
    return avma;
}

int kernel_image_parse(struct kernel_image *image, FILE *symbols, const void *notes,
                       size_t notes_bytes)
{
    *image = (struct kernel_image){.text_avma = text_avma(symbols)};
    image->build_id_bytes = build_id_note_find(notes, notes_bytes, image->build_id);
    return image->text_avma ? 0 : -EACCES;
}

int kernel_image_read(struct kernel_image *image)
{
    struct buffer notes = {0};
    FILE *symbols = fopen("/proc/kallsyms", "re");
    if (!symbols)
        return -errno;
    if (io_read_file("/sys/kernel/notes", &notes, NOTES_BYTES_MAX) != 0 || notes.failed)
        buffer_clear(&notes);
    int err = kernel_image_parse(image, symbols, notes.bytes, notes.size);
    buffer_free(&notes);
    fclose(symbols);
    return err;
}

/* As perf writes the mapping: the offset is the address of the symbol in the path. Modules lie
 * behind the image, and have names in /proc/kallsyms too. */
void kernel_image_write(struct perfdata_writer *file, uint64_t time_ns)
{
    struct kernel_image image;
    if (kernel_image_read(&image) != 0)
        return;
    struct perfdata_mapping mapping = {.pid = UINT32_MAX,
                                       .time_ns = time_ns,
                                       .start_avma = image.text_avma,
                                       .bytes = UINT64_MAX - image.text_avma,
                                       .file_offset = image.text_avma,
                                       .protection = PROT_READ | PROT_EXEC,
                                       .path = PERFDATA_KERNEL_PATH,
                                       .build_id_bytes = image.build_id_bytes,
                                       .is_kernel = true};
    memcpy(mapping.build_id, image.build_id, sizeof(mapping.build_id));
    perfdata_write_mapping(file, &mapping);
}

/* SPDX-License-Identifier: MIT */
#include "record/attach/images/image_file.h"

#include "base/files/io.h"
#include "record/procfs/proc.h"
#include "record/tables/files/mapped_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const image_symbols_names[IMAGE_SYMBOLS] = {"symtab",    "dynsym",    "debug_info",
                                                        "debugdata", "gopclntab", "debug file"};

const char *image_state_name(enum image_state state)
{
    static const char *const names[] = {"file", "deleted", "replaced", "memfd", "vdso"};
    return names[state];
}

static enum image_state state_of(const struct image_run *run, pid_t pid)
{
    if (strcmp(run->first.path, "[vdso]") == 0)
        return IMAGE_VDSO;
    if (strncmp(run->first.path, "/memfd:", 7) == 0)
        return IMAGE_MEMFD;
    if (!run->first.is_deleted)
        return IMAGE_OF_FILE;
    int fd = io_open_in_root_of(pid, run->first.path, O_PATH);
    if (fd < 0)
        return IMAGE_DELETED;
    close(fd);
    return IMAGE_REPLACED;
}

static uint32_t find_sections(const struct elf_file *elf)
{
    static const char *const sections[] = {".symtab", ".dynsym", ".debug_info", ".gnu_debugdata",
                                           ".gopclntab"};
    uint32_t found = 0;
    for (uint32_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct elf_section *section = elf_find_section(elf, sections[i]);
        if (section && section->type != SHT_NOBITS)
            found |= UINT32_C(1) << i;
    }
    return found;
}

/* The place of distributions, below the first byte of the build-id. */
static bool has_debug_file(const struct image *image)
{
    char path[128] = "/usr/lib/debug/.build-id/";
    size_t used = strlen(path);
    if (image->build_id_bytes < 2)
        return false;
    for (uint32_t i = 0; i < image->build_id_bytes; i++)
        used += (size_t)snprintf(path + used, sizeof(path) - used, i == 1 ? "/%02x" : "%02x",
                                 image->build_id[i]);
    snprintf(path + used, sizeof(path) - used, ".debug");
    return access(path, R_OK) == 0;
}

static void copy_header(struct image *image, const struct image_run *run,
                        const struct elf_file *elf)
{
    for (size_t i = 0; i < elf_segment_count(elf); i++)
        if (elf_segment(elf, i)->type == PT_LOAD && image->segment_count < IMAGE_SEGMENTS_MAX)
            image->segments[image->segment_count++] = *elf_segment(elf, i);
    image->build_id_bytes = (uint32_t)elf_build_id(elf, image->build_id);
    image->has_header = elf_load_bias(elf, run->code_avma, run->code_offset, &image->bias) == 0;
}

/* The mapped file itself, also when it is deleted. */
static void read_file(struct image *image, const struct image_run *run, pid_t pid)
{
    struct rights rights = proc_rights_of_owner(pid);
    const struct mapped_file mapped = {.pid = pid,
                                       .path = run->first.path,
                                       .device = run->first.device,
                                       .inode = run->first.inode,
                                       .start_avma = run->first.start_avma,
                                       .end_avma = run->first.end_avma,
                                       .rights = &rights};
    struct stat status;
    struct error error = {{0}};
    struct elf_file *elf = NULL;
    int fd = mapped_file_open(&mapped, &status);
    if (fd < 0)
        return;
    if (elf_open(&elf, fd, &error) == 0) {
        image->symbols = find_sections(elf);
        if (!image->has_header)
            copy_header(image, run, elf);
    }
    elf_close(elf);
    close(fd);
}

void image_file_inspect(struct image *image, const struct image_run *run, pid_t pid)
{
    image->state = state_of(run, pid);
    if (image->state == IMAGE_VDSO)
        image->symbols = IMAGE_DYNSYM; /* all that the kernel leaves in it */
    else
        read_file(image, run, pid);
    if (has_debug_file(image))
        image->symbols |= IMAGE_DEBUG_FILE;
}

/* SPDX-License-Identifier: MIT */
#include "elf/elf_file.h"

#include "elf/elf_internal.h"
#include "elf/elf_note.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define NOTES_BYTES_MAX (1u << 20) /* of all notes: sections may overlap */
#define INTERPRETER_BYTES_MAX 4096
/* The build-id of Go's linker, by the name "Go" (cmd/internal/buildid). */
#define NT_GO_BUILD_ID 4

static void take_note(struct elf_file *elf, uint32_t type, const struct cursor *name,
                      const struct cursor *description)
{
    if (name->size != 4)
        return;
    if (memcmp(name->bytes, "GNU", 4) == 0 && type == NT_GNU_BUILD_ID && !elf->build_id_bytes) {
        size_t size = description->size;
        elf->build_id_bytes = size < sizeof(elf->build_id) ? size : sizeof(elf->build_id);
        if (size)
            memcpy(elf->build_id, description->bytes, elf->build_id_bytes);
    }
    if (memcmp(name->bytes, "Go\0", 4) == 0 && type == NT_GO_BUILD_ID)
        elf->is_go = true;
}

static void take_notes(struct elf_file *elf, uint64_t offset, uint64_t size, uint64_t *left_bytes)
{
    struct buffer notes = {0};
    if (size > *left_bytes)
        return;
    *left_bytes -= size;
    if (elf_append_at(elf, offset, size, &notes) != 0) {
        buffer_free(&notes);
        return;
    }
    struct cursor c = cursor_of(notes.bytes, notes.size);
    struct elf_note note;
    while (elf_note_next(&c, &note))
        take_note(elf, note.type, &note.name, &note.description);
    buffer_free(&notes);
}

static void take_interpreter(struct elf_file *elf, const struct elf_segment *segment)
{
    if (elf->interpreter.size || segment->file_bytes > INTERPRETER_BYTES_MAX ||
        elf_append_at(elf, segment->offset, segment->file_bytes, &elf->interpreter) != 0)
        return;
    buffer_u8(&elf->interpreter, 0);
}

void elf_read_notes(struct elf_file *elf)
{
    uint64_t left_bytes = NOTES_BYTES_MAX;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (segment->type == PT_NOTE)
            take_notes(elf, segment->offset, segment->file_bytes, &left_bytes);
        else if (segment->type == PT_INTERP)
            take_interpreter(elf, segment);
    }
    /* Separate debug files keep the note section, but the note segment has no content. */
    for (size_t i = 0; i < elf->section_count && !elf->build_id_bytes; i++)
        if (elf->sections[i].type == SHT_NOTE)
            take_notes(elf, elf->sections[i].offset, elf->sections[i].bytes, &left_bytes);
    if (elf_find_section(elf, ".go.buildinfo") || elf_find_section(elf, ".note.go.buildid"))
        elf->is_go = true;
}

size_t elf_build_id(const struct elf_file *elf, uint8_t id[20])
{
    memcpy(id, elf->build_id, sizeof(elf->build_id));
    return elf->build_id_bytes;
}

const char *elf_interpreter(const struct elf_file *elf)
{
    return elf->interpreter.size ? (const char *)elf->interpreter.bytes : NULL;
}

bool elf_is_go(const struct elf_file *elf)
{
    return elf->is_go;
}

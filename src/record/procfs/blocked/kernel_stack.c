/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/kernel_stack.h"

#include "base/containers/array.h"
#include "record/procfs/kernel/kernel_image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Distinct return addresses; a kernel has some ten thousand in calls that block. */
enum { LINES_MAX = 16384 };

static const char prefix[] = "[<0>] ";

bool kernel_stacks_are_permitted(void)
{
    struct kernel_image image;
    char text[sizeof(prefix)];
    int fd = open("/proc/thread-self/stack", O_RDONLY | O_CLOEXEC);
    bool is_permitted = fd >= 0 && read(fd, text, sizeof(text)) > 0;
    if (fd >= 0)
        close(fd);
    return is_permitted && kernel_image_read(&image) == 0;
}

void kernel_stacks_open(struct kernel_stacks *stacks, const struct kernel_symbols *symbols)
{
    *stacks = (struct kernel_stacks){.symbols = *symbols, .lines = intern_new()};
    stacks->is_on = stacks->lines != NULL;
}

void kernel_stacks_close(struct kernel_stacks *stacks)
{
    kernel_symbols_close(&stacks->symbols);
    intern_free(stacks->lines);
    free(stacks->avmas);
    *stacks = (struct kernel_stacks){.is_on = false};
}

static bool is_entry(const struct kernel_function *function)
{
    static const char *const entries[] = {"do_syscall_64", "entry_SYSCALL_64_after_hwframe",
                                          "exc_page_fault", "asm_exc_page_fault"};
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (function->name_length == strlen(entries[i]) &&
            memcmp(function->name, entries[i], function->name_length) == 0)
            return true;
    return false;
}

/* "futex_do_wait+0x3f/0x70", "ext4_sync_file+0x91/0x3b0 [ext4]"; 0: unknown, or left out. */
static uint64_t resolve(struct kernel_stacks *stacks, const char *line)
{
    char *end;
    struct kernel_function function = {.name = line, .name_length = strcspn(line, "+\n")};
    if (line[function.name_length] != '+' || is_entry(&function))
        return 0;
    uint64_t offset = strtoull(line + function.name_length + 1, &end, 16);
    if (*end != '/')
        return 0;
    function.bytes = strtoull(end + 1, &end, 16);
    function.is_in_module = *end == ' ';
    uint64_t avma = kernel_symbols_find(&stacks->symbols, &function);
    return avma && offset <= function.bytes ? avma + offset : 0;
}

/* The address of a line; resolved when first seen. */
static uint64_t address_of(struct kernel_stacks *stacks, const char *line, size_t length)
{
    uint32_t id = intern_count(stacks->lines) < LINES_MAX
                      ? intern_add(stacks->lines, line, length)
                      : intern_find(stacks->lines, line, length);
    if (id == stacks->count) {
        uint64_t *added = ARRAY_PUSH(stacks->avmas, stacks->count, stacks->capacity);
        if (added)
            *added = resolve(stacks, line);
    }
    return id < stacks->count ? stacks->avmas[id] : 0;
}

size_t kernel_stacks_parse(struct kernel_stacks *stacks, const char *text,
                           uint64_t frames[KERNEL_STACK_FRAMES_MAX])
{
    size_t count = 0;
    while (count < KERNEL_STACK_FRAMES_MAX && strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
        const char *line = text + sizeof(prefix) - 1;
        size_t length = strcspn(line, "\n");
        uint64_t avma = address_of(stacks, line, length);
        if (avma)
            frames[count++] = avma;
        text = line + length + (line[length] == '\n');
    }
    return count;
}

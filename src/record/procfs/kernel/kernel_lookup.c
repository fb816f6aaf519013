/* SPDX-License-Identifier: MIT */
#include "record/procfs/kernel/kernel_lookup.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Longer names are templates of generated code. */
enum { NAME_BYTES = 128, TEXT_BYTES = 256, PAGE_BYTES = 4096 };

struct lookup_page {
    uint64_t avma;
    char name[NAME_BYTES]; /* with zeros behind it */
    char text[TEXT_BYTES];
};

/* Of bpf_snprintf(), as printk: "NAME+0xOFFSET/0xSIZE", or "... [MODULE]". */
struct lookup_format {
    char text[8];
};

static int call_bpf(int command, union bpf_attr *attr)
{
    long result = syscall(SYS_bpf, command, attr, sizeof(*attr));
    return result < 0 ? -errno : (int)result;
}

/* An array with one value. */
static int create_map(size_t bytes, uint32_t flags)
{
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
                           .key_size = sizeof(uint32_t),
                           .value_size = (uint32_t)bytes,
                           .max_entries = 1,
                           .map_flags = flags};
    return call_bpf(BPF_MAP_CREATE, &attr);
}

/* The verifier requires a constant. A descriptor, or a negative errno. */
static int create_format(void)
{
    const struct lookup_format format = {"%pS"};
    const uint32_t key = 0;
    int fd = create_map(sizeof(format), BPF_F_RDONLY_PROG);
    if (fd < 0)
        return fd;
    union bpf_attr update = {
        .map_fd = (uint32_t)fd, .key = (uintptr_t)&key, .value = (uintptr_t)&format};
    union bpf_attr freeze = {.map_fd = (uint32_t)fd};
    int err = call_bpf(BPF_MAP_UPDATE_ELEM, &update);
    if (err == 0)
        err = call_bpf(BPF_MAP_FREEZE, &freeze);
    if (err)
        close(fd);
    return err ? err : fd;
}

/* clang-format off */
#define SET(register, value) {BPF_ALU64 | BPF_MOV | BPF_K, register, 0, 0, value}
#define COPY(register, from) {BPF_ALU64 | BPF_MOV | BPF_X, register, from, 0, 0}
#define ADD(register, value) {BPF_ALU64 | BPF_ADD | BPF_K, register, 0, 0, value}
#define CALL(function) {BPF_JMP | BPF_CALL, 0, 0, 0, function}
#define VALUE_OF_MAP(register, fd) \
    {BPF_LD | BPF_DW | BPF_IMM, register, BPF_PSEUDO_MAP_VALUE, 0, fd}, {0, 0, 0, 0, 0}
/* clang-format on */

/* A descriptor, or a negative errno. */
static int load_program(int page_fd, int format_fd)
{
    const struct bpf_insn program[] = {
        VALUE_OF_MAP(BPF_REG_6, page_fd),
        COPY(BPF_REG_1, BPF_REG_6),
        ADD(BPF_REG_1, offsetof(struct lookup_page, name)),
        SET(BPF_REG_2, NAME_BYTES),
        SET(BPF_REG_3, 0), /* no flags */
        COPY(BPF_REG_4, BPF_REG_6),
        ADD(BPF_REG_4, offsetof(struct lookup_page, avma)),
        CALL(BPF_FUNC_kallsyms_lookup_name),
        COPY(BPF_REG_1, BPF_REG_6),
        ADD(BPF_REG_1, offsetof(struct lookup_page, text)),
        SET(BPF_REG_2, TEXT_BYTES),
        VALUE_OF_MAP(BPF_REG_3, format_fd),
        COPY(BPF_REG_4, BPF_REG_6),
        ADD(BPF_REG_4, offsetof(struct lookup_page, avma)),
        SET(BPF_REG_5, sizeof(uint64_t)),
        CALL(BPF_FUNC_snprintf),
        SET(BPF_REG_0, 0),
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SYSCALL,
                           .prog_flags = BPF_F_SLEEPABLE, /* the type requires the flag */
                           .insns = (uintptr_t)program,
                           .insn_cnt = sizeof(program) / sizeof(program[0]),
                           .license = (uintptr_t) "Dual MIT/GPL"}; /* the helpers require GPL */
    return call_bpf(BPF_PROG_LOAD, &attr);
}

static void close_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* The mapping and the program keep the maps. */
void kernel_lookup_open(struct kernel_lookup *lookup)
{
    int page_fd = create_map(sizeof(struct lookup_page), BPF_F_MMAPABLE);
    int format_fd = page_fd < 0 ? page_fd : create_format();
    int program_fd = format_fd < 0 ? format_fd : load_program(page_fd, format_fd);
    void *page = program_fd < 0
                     ? MAP_FAILED
                     : mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    *lookup = (struct kernel_lookup){.page = NULL};
    if (page != MAP_FAILED)
        *lookup = (struct kernel_lookup){page, program_fd};
    else
        close_open(program_fd);
    close_open(format_fd);
    close_open(page_fd);
}

void kernel_lookup_close(struct kernel_lookup *lookup)
{
    if (!lookup->page)
        return;
    munmap(lookup->page, PAGE_BYTES);
    close(lookup->program_fd);
    *lookup = (struct kernel_lookup){.page = NULL};
}

/* Of several functions with a name, the kernel finds the first. */
static bool is_text_of(const char *text, const struct kernel_function *function)
{
    char end[32];
    snprintf(end, sizeof(end), "+0x0/0x%llx", (unsigned long long)function->bytes);
    size_t end_length = strlen(end), length = function->name_length;
    return strncmp(text, function->name, length) == 0 &&
           strncmp(text + length, end, end_length) == 0 &&
           text[length + end_length] == (function->is_in_module ? ' ' : '\0');
}

uint64_t kernel_lookup_find(const struct kernel_lookup *lookup,
                            const struct kernel_function *function)
{
    struct lookup_page *page = lookup->page;
    if (!page || function->name_length >= NAME_BYTES)
        return 0;
    /* The helper takes the name with its size: zeros behind the name end it. */
    *page = (struct lookup_page){.avma = 0};
    memcpy(page->name, function->name, function->name_length);
    union bpf_attr attr = {.test.prog_fd = (uint32_t)lookup->program_fd};
    bool has_run = call_bpf(BPF_PROG_TEST_RUN, &attr) == 0;
    page->text[TEXT_BYTES - 1] = '\0';
    return has_run && page->avma && is_text_of(page->text, function) ? page->avma : 0;
}

/* SPDX-License-Identifier: MIT */
/* The notes of core files: made ones, and every prefix and damage of them. */
#include "record/attach/core/core_notes.h"

#include "base/containers/buffer.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include <cmocka.h>

static void put_note(struct buffer *out, uint32_t type, const void *description, size_t size)
{
    buffer_u32(out, 5);
    buffer_u32(out, (uint32_t)size);
    buffer_u32(out, type);
    buffer_append(out, "CORE\0\0\0", 8);
    buffer_append(out, description, size);
    buffer_zeros(out, -size & 3);
}

static void put_thread(struct buffer *out, pid_t tid, short signal, uint64_t pc)
{
    struct elf_prstatus status;
    struct user_regs_struct user = {.rip = pc, .rsp = 0x7ffc0000, .rbp = 0x7ffc0100};
    memset(&status, 0, sizeof(status));
    status.pr_pid = tid;
    status.pr_cursig = signal;
    memcpy(&status.pr_reg, &user, sizeof(user));
    put_note(out, NT_PRSTATUS, &status, sizeof(status));
}

static void put_files(struct buffer *out)
{
    struct buffer files = {0};
    const uint64_t words[] = {2, 4096, 0x400000, 0x401000, 0, 0x7f0000, 0x7f8000, 3};
    buffer_u64s(&files, words, sizeof(words) / sizeof(words[0]));
    buffer_append(&files, "/bin/app\0/lib/libx.so", sizeof("/bin/app\0/lib/libx.so"));
    put_note(out, NT_FILE, files.bytes, files.size);
    buffer_free(&files);
}

static struct buffer make_notes(void)
{
    struct buffer out = {0};
    struct elf_prpsinfo info;
    const uint64_t auxiliary[] = {AT_ENTRY, 0x400123, AT_SYSINFO_EHDR, 0x7ffd000, AT_NULL, 0};
    memset(&info, 0, sizeof(info));
    info.pr_pid = 42;
    memcpy(info.pr_fname, "app", 4);
    put_thread(&out, 43, 11, 0x400200);
    put_note(&out, NT_PRPSINFO, &info, sizeof(info));
    put_note(&out, NT_AUXV, auxiliary, sizeof(auxiliary));
    put_files(&out);
    put_thread(&out, 42, 11, 0x400300);
    assert_false(out.failed);
    return out;
}

static void threads_files_and_process_are_taken(void **state)
{
    (void)state;
    struct buffer bytes = make_notes();
    struct core_notes notes = {.pid = 0};
    assert_int_equal(core_notes_take(&notes, bytes.bytes, bytes.size), 0);
    assert_string_equal(notes.name, "app");
    assert_int_equal(notes.pid, 42);
    assert_int_equal(notes.thread_count, 2);
    assert_int_equal(notes.threads[0].tid, 43);
    assert_int_equal(notes.threads[0].signal, 11);
    assert_int_equal(notes.threads[0].regs.value[UNWIND_DWARF_PC], 0x400200);
    assert_int_equal(notes.threads[0].regs.value[UNWIND_DWARF_FP], 0x7ffc0100);
    assert_int_equal(notes.threads[1].signal, 0); /* the kernel repeats the signal */
    assert_int_equal(notes.mapping_count, 2);
    assert_string_equal(notes.mappings[1].path, "/lib/libx.so");
    assert_int_equal(notes.mappings[1].file_offset, 3 * 4096);
    assert_int_equal(notes.entry_avma, 0x400123);
    assert_int_equal(notes.vdso_avma, 0x7ffd000);
    core_notes_free(&notes);
    buffer_free(&bytes);
}

static void damage_loses_notes_at_most(void **state)
{
    (void)state;
    struct buffer bytes = make_notes();
    for (size_t size = 0; size < bytes.size; size++) {
        struct core_notes notes = {.pid = 0};
        assert_int_equal(core_notes_take(&notes, bytes.bytes, size), 0);
        assert_true(notes.thread_count <= 2);
        core_notes_free(&notes);
    }
    for (size_t i = 0; i < bytes.size; i++) {
        struct core_notes notes = {.pid = 0};
        bytes.bytes[i] ^= 0xff;
        assert_int_equal(core_notes_take(&notes, bytes.bytes, bytes.size), 0);
        bytes.bytes[i] ^= 0xff;
        core_notes_free(&notes);
    }
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_files_and_process_are_taken),
        cmocka_unit_test(damage_loses_notes_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Program files made up here, and the verdict about each. */
#include "sampler/exec/exec_target.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct process process;
static struct tables *tables;
static char directory[] = "/tmp/test_exec_target.XXXXXX";

struct program {
    Elf64_Ehdr elf;
    Elf64_Phdr headers[2];
    char linker[SCRIPT_LINE_MAX];
};

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

/* A 64-bit program of this architecture; `linker` NULL: static. */
static struct program make_program(const char *linker)
{
    struct program program = {.elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                                                  ELFDATA2LSB, EV_CURRENT},
                                      .e_type = ET_DYN,
                                      .e_machine = ARCH_ELF_MACHINE,
                                      .e_phoff = offsetof(struct program, headers),
                                      .e_phnum = 2}};
    program.headers[0].p_type = PT_LOAD;
    program.headers[1].p_type = linker ? PT_INTERP : PT_LOAD;
    program.headers[1].p_offset = offsetof(struct program, linker);
    if (linker) {
        program.headers[1].p_filesz = strlen(linker) + 1;
        memcpy(program.linker, linker, strlen(linker));
    }
    return program;
}

static bool takes_variables(const char *path)
{
    return exec_kind_takes_variables(exec_target_kind(path));
}

static bool takes(const struct program *program)
{
    write_file("program", program, sizeof(*program));
    return takes_variables(path_of("program"));
}

static bool takes_with_linker(const char *linker)
{
    struct program program = make_program(linker);
    return takes(&program);
}

static void know_linker(uint32_t index, const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    tables->header.linkers[index] = (struct session_linker){status.st_dev, status.st_ino};
}

static int set_up(void **state)
{
    (void)state;
    tables = calloc(1, sizeof(*tables));
    process.tables = tables;
    if (!tables || !mkdtemp(directory))
        return -1;
    know_linker(0, "/lib64/ld-linux-x86-64.so.2");
    return 0;
}

/* A dynamic linker that cannot load the sampler. */
static const char *other_linker(void)
{
    static char linker[256];
    write_text("ld-musl.so", "of another C library");
    snprintf(linker, sizeof(linker), "%s", path_of("ld-musl.so"));
    return linker;
}

static int tear_down(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof(command), "rm -r '%s'", directory);
    free(tables);
    return system(command);
}

static void a_static_program_takes_them_for_its_children(void **state)
{
    (void)state;
    assert_true(takes_with_linker(NULL));
}

static void the_kind_shows_which_programs_load_no_sampler(void **state)
{
    (void)state;
    struct program program = make_program(NULL);
    write_file("program", &program, sizeof(program));
    assert_int_equal(exec_target_kind(path_of("program")), EXEC_STATIC);
    program = make_program(other_linker());
    write_file("program", &program, sizeof(program));
    assert_int_equal(exec_target_kind(path_of("program")), EXEC_OTHER_LOADER);
    program.elf.e_machine = EM_S390;
    write_file("program", &program, sizeof(program));
    assert_int_equal(exec_target_kind(path_of("program")), EXEC_UNSUITABLE);
    assert_int_equal(exec_target_kind("/proc/self/exe"), EXEC_TAKES_SAMPLER);
}

static void a_program_of_this_c_library_takes_them(void **state)
{
    (void)state;
    assert_true(takes_variables("/proc/self/exe"));
}

static void another_architecture_or_class_does_not(void **state)
{
    (void)state;
    struct program other = make_program(NULL), narrow = make_program(NULL);
    other.elf.e_machine = EM_S390;
    narrow.elf.e_ident[EI_CLASS] = ELFCLASS32;
    assert_false(takes(&other));
    assert_false(takes(&narrow));
}

static void another_dynamic_linker_does_not(void **state)
{
    (void)state;
    assert_false(takes_with_linker(other_linker()));
}

static void the_linker_of_the_command_does(void **state)
{
    (void)state;
    know_linker(1, other_linker());
    assert_true(takes_with_linker(other_linker()));
    tables->header.linkers[1] = (struct session_linker){0};
    assert_false(takes_with_linker(other_linker()));
}

static void a_missing_linker_is_left_to_the_kernel(void **state)
{
    (void)state;
    assert_true(takes_with_linker("/nonexistent/ld-linux.so"));
}

static void a_script_is_as_its_interpreter(void **state)
{
    (void)state;
    char text[600];
    struct program program = make_program(other_linker());
    write_file("musl", &program, sizeof(program));
    snprintf(text, sizeof(text), "#! \t%s -x\nmore\n", path_of("musl"));
    write_text("script", text);
    assert_false(takes_variables(path_of("script")));
    snprintf(text, sizeof(text), "#!%s\n", path_of("script"));
    write_text("outer", text);
    assert_false(takes_variables(path_of("outer")));
}

static void scripts_in_a_circle_end(void **state)
{
    (void)state;
    char text[300];
    snprintf(text, sizeof(text), "#!%s\n", path_of("circle"));
    write_text("circle", text);
    assert_true(takes_variables(path_of("circle")));
}

static void a_line_longer_than_the_kernels_names_no_interpreter(void **state)
{
    (void)state;
    char text[2 * SCRIPT_LINE_MAX];
    memset(text, 'x', sizeof(text));
    memcpy(text, "#!/", 3);
    text[sizeof(text) - 1] = '\0';
    write_text("long", text);
    assert_true(takes_variables(path_of("long")));
}

static void a_file_cut_anywhere_is_left_to_the_kernel(void **state)
{
    (void)state;
    struct program program = make_program(other_linker());
    for (size_t bytes = 0; bytes < offsetof(struct program, headers[1]) + sizeof(Elf64_Phdr);
         bytes++) {
        write_file("cut", &program, bytes);
        assert_true(takes_variables(path_of("cut")));
    }
}

/* The first read ends within the headers, within the linker's name, or before both. */
static void program_headers_may_be_far_from_the_start(void **state)
{
    (void)state;
    enum { HEADERS_AT = 600, LINKER_AT = SCRIPT_LINE_MAX - 10 };
    static char bytes[2048];
    struct program program = make_program(other_linker());
    program.headers[1].p_offset = LINKER_AT;
    memcpy(bytes + LINKER_AT, program.linker, sizeof(program.linker));
    for (uint64_t at = sizeof(program.elf); at < HEADERS_AT; at++) {
        bool is_over_linker = at + sizeof(program.headers) > LINKER_AT &&
                              at < LINKER_AT + program.headers[1].p_filesz;
        program.elf.e_phoff = at;
        memcpy(bytes, &program.elf, sizeof(program.elf));
        memcpy(bytes + at, program.headers, sizeof(program.headers));
        write_file("far", bytes, sizeof(bytes));
        if (!is_over_linker)
            assert_int_equal(exec_target_kind(path_of("far")), EXEC_OTHER_LOADER);
        memset(bytes + sizeof(program.elf), 0, sizeof(bytes) - sizeof(program.elf));
        memcpy(bytes + LINKER_AT, program.linker, sizeof(program.linker));
    }
}

static void lengths_and_offsets_of_a_file_are_not_trusted(void **state)
{
    (void)state;
    struct program program = make_program(other_linker());
    program.headers[1].p_filesz = UINT64_MAX;
    assert_true(takes(&program));
    program.headers[1].p_filesz = 0;
    assert_true(takes(&program));
    program = make_program(other_linker());
    program.headers[1].p_offset = UINT64_MAX - 3;
    assert_true(takes(&program));
    program.elf.e_phoff = UINT64_MAX - 3;
    program.elf.e_phnum = UINT16_MAX;
    assert_true(takes(&program));
}

static void what_is_no_regular_file_is_left_to_the_kernel(void **state)
{
    (void)state;
    assert_true(takes_variables("/nonexistent"));
    assert_true(takes_variables("/"));
    assert_true(takes_variables(""));
    assert_true(takes_variables("/dev/null"));
}

static void a_program_with_the_rights_of_another_user_does_not(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    struct program program = make_program(NULL);
    write_file("rights", &program, sizeof(program));
    assert_int_equal(chmod(path_of("rights"), 04755), 0);
    assert_true(takes_variables(path_of("rights")));
    assert_int_equal(chown(path_of("rights"), 1, 0), 0);
    assert_int_equal(chmod(path_of("rights"), 04755), 0);
    assert_false(takes_variables(path_of("rights")));
    assert_int_equal(chown(path_of("rights"), 0, 1), 0);
    assert_int_equal(chmod(path_of("rights"), 02755), 0);
    assert_false(takes_variables(path_of("rights")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_program_takes_them_for_its_children),
        cmocka_unit_test(the_kind_shows_which_programs_load_no_sampler),
        cmocka_unit_test(a_program_of_this_c_library_takes_them),
        cmocka_unit_test(another_architecture_or_class_does_not),
        cmocka_unit_test(another_dynamic_linker_does_not),
        cmocka_unit_test(the_linker_of_the_command_does),
        cmocka_unit_test(a_missing_linker_is_left_to_the_kernel),
        cmocka_unit_test(a_script_is_as_its_interpreter),
        cmocka_unit_test(scripts_in_a_circle_end),
        cmocka_unit_test(a_line_longer_than_the_kernels_names_no_interpreter),
        cmocka_unit_test(a_file_cut_anywhere_is_left_to_the_kernel),
        cmocka_unit_test(program_headers_may_be_far_from_the_start),
        cmocka_unit_test(lengths_and_offsets_of_a_file_are_not_trusted),
        cmocka_unit_test(what_is_no_regular_file_is_left_to_the_kernel),
        cmocka_unit_test(a_program_with_the_rights_of_another_user_does_not),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: MIT */
/*
 * Holds names, files, lines and inline chains against llvm-symbolizer, an independent reader, at
 * every seventh byte of .text, for two compilers, two languages and DWARF 2 to 5. Linkage names are
 * compared, so that the demanglers' tastes do not matter.
 *
 * Known differences, each counted:
 *     clone      the oracle takes the outermost name from the symbol table, with ".isra.0" and the
 * like internal   gcc gives internal C++ functions no linkage name; we take that of the instance's
 * symbol, the oracle shows the bare name for inlined copies structor   gcc's debug info names
 * constructors and destructors by their unified linkage name (C4, D4) and of aliased ones any may
 * be chosen: the digit after C or D differs padding    between functions the line table still says
 * something; we say nothing file       for code without debug info the oracle names the file of the
 * STT_FILE symbol
 */
#include "toolbox.h"

#include "base/text/placeholder.h"

enum { FRAMES = 64 };

struct chain {
    size_t count;
    struct {
        char name[2048];
        char location[2048];
    } frames[FRAMES]; /* innermost first */
};

struct differences {
    unsigned addresses, clone, internal, structor, padding, file, other;
};

static const char *oracle;

/* Reads the oracle's next answer: pairs of lines up to an empty one. Its location ends in
 * ":column". */
static const char *parse_answer(const char *text, struct chain *chain)
{
    chain->count = 0;
    while (*text && *text != '\n') {
        const char *name_end = strchr(text, '\n');
        assert_non_null(name_end);
        const char *location = name_end + 1;
        const char *location_end = strchr(location, '\n');
        assert_non_null(location_end);
        assert_true(chain->count < FRAMES);
        int location_length = (int)(location_end - location);
        while (location_length > 0 && location[location_length] != ':')
            location_length--;
        snprintf(chain->frames[chain->count].name, sizeof(chain->frames[0].name), "%.*s",
                 (int)(name_end - text), text);
        snprintf(chain->frames[chain->count].location, sizeof(chain->frames[0].location), "%.*s",
                 location_length, location);
        chain->count++;
        text = location_end + 1;
    }
    return *text ? text + 1 : text;
}

/* Equal up to the suffix of a clone. */
static bool is_same_but_clone(const char *ours, const char *theirs)
{
    size_t length = strcspn(ours, ".");
    return length == strcspn(theirs, ".") && strncmp(ours, theirs, length) == 0;
}

/* Equal but for digits that follow a C, a D or (inheriting constructors) a CI. */
static bool is_same_structor(const char *ours, const char *theirs)
{
    for (size_t i = 0; ours[i] || theirs[i]; i++) {
        if (ours[i] == theirs[i])
            continue;
        if (i == 0 || !strchr("CDI", ours[i - 1]) || !strchr("012345", ours[i]) || !theirs[i] ||
            !strchr("012345", theirs[i]))
            return false;
    }
    return true;
}

static void compare_frame(const struct symbol_frame *ours, const char *name, const char *location,
                          struct differences *differences, bool *is_equal)
{
    char our_location[2048];
    snprintf(our_location, sizeof(our_location), "%s:%u", ours->file ? ours->file : "??",
             ours->line);
    if (strcmp(ours->system_name, name) != 0) {
        if (is_same_but_clone(ours->system_name, name))
            differences->clone++;
        else if (is_same_structor(ours->system_name, name))
            differences->structor++;
        else if (strncmp(name, "_Z", 2) != 0 && strstr(ours->name, name))
            differences->internal++;
        else
            *is_equal = false;
    }
    if (strcmp(our_location, location) != 0) {
        if (!ours->file && strstr(location, ":0"))
            differences->file++;
        else
            *is_equal = false;
    }
}

static void compare(const struct symbol_result *ours, const struct chain *theirs, uint64_t svma,
                    struct differences *differences)
{
    differences->addresses++;
    bool has_name = ours->frame_count > 0 && !name_is_placeholder(ours->frames[0].name);
    if (!has_name && theirs->count == 1 && strcmp(theirs->frames[0].name, "??") == 0) {
        differences->padding++;
        return;
    }
    bool is_equal = ours->frame_count == theirs->count;
    for (size_t i = 0; i < theirs->count && is_equal; i++)
        compare_frame(&ours->frames[ours->frame_count - 1 - i], theirs->frames[i].name,
                      theirs->frames[i].location, differences, &is_equal);
    if (is_equal)
        return;
    if (differences->other++ >= 5)
        return;
    print_message("0x%llx: %zu frames, the oracle has %zu\n", (unsigned long long)svma,
                  ours->frame_count, theirs->count);
    for (size_t i = 0; i < theirs->count || i < ours->frame_count; i++) {
        const struct symbol_frame *f =
            i < ours->frame_count ? &ours->frames[ours->frame_count - 1 - i] : NULL;
        print_message("  %s %s:%u  <>  %s %s\n", f ? f->system_name : "-",
                      f && f->file ? f->file : "-", f ? f->line : 0,
                      i < theirs->count ? theirs->frames[i].name : "-",
                      i < theirs->count ? theirs->frames[i].location : "-");
    }
}

/* Asks both about every seventh byte of .text of a file in the directory. */
static void hold_against_oracle(const char *file)
{
    char *section =
        output_of("readelf -SW %s/%s | sed -n 's/.* \\.text *PROGBITS *//p'", test_directory, file);
    unsigned long long start, offset, size;
    assert_int_equal(sscanf(section, "%llx %llx %llx", &start, &offset, &size), 3);
    free(section);
    FILE *list = fopen(in_directory("addresses"), "w");
    assert_non_null(list);
    for (uint64_t svma = start; svma < start + size; svma += 7)
        fprintf(list, "0x%llx\n", (unsigned long long)svma);
    fclose(list);
    char *answers = output_of("%s --inlines --no-demangle --obj=%s/%s < %s/addresses", oracle,
                              test_directory, file, test_directory);
    struct symbols *symbols = open_in(file, "/nonexistent");
    struct differences differences = {0};
    static struct chain chain;
    const char *at = answers;
    for (uint64_t svma = start; svma < start + size; svma += 7) {
        struct symbol_result result;
        assert_int_equal(symbols_resolve(symbols, svma, &result), 0);
        at = parse_answer(at, &chain);
        compare(&result, &chain, svma, &differences);
    }
    print_message("%s: %u addresses; clone %u, internal %u, structor %u, padding %u, file %u, "
                  "other %u\n",
                  file, differences.addresses, differences.clone, differences.internal,
                  differences.structor, differences.padding, differences.file, differences.other);
    assert_true(differences.addresses > 50);
    assert_true(differences.other * 1000 <= differences.addresses);
    symbols_close(symbols);
    free(answers);
}

static void hold_compiler(const char *c, const char *cxx)
{
    char name[64];
    for (int version = 2; version <= 5; version++) {
        snprintf(name, sizeof(name), "c%d", version);
        if (run("%s -O2 -gdwarf-%d $S/sym_c.c -c -o one.o && "
                "%s -O2 -gdwarf-%d -DSECOND_FILE $S/sym_c.c -c -o two.o && %s one.o two.o -o %s",
                c, version, c, version, c, name) != 0)
            skip();
        hold_against_oracle(name);
    }
    for (int version = 4; version <= 5; version++) {
        snprintf(name, sizeof(name), "cxx%d", version);
        assert_int_equal(run("%s -O2 -gdwarf-%d $S/sym_cxx.cc -o %s", cxx, version, name), 0);
        hold_against_oracle(name);
    }
}

static void gcc_programs_equal_the_oracle(void **state)
{
    (void)state;
    hold_compiler("gcc", "g++");
}

static void clang_programs_equal_the_oracle(void **state)
{
    (void)state;
    if (run("clang-14 --version >/dev/null") != 0)
        skip();
    hold_compiler("clang-14", "clang++-14");
}

static void link_time_optimised_programs_equal_the_oracle(void **state)
{
    (void)state;
    assert_int_equal(run("gcc -O2 -g -flto $S/sym_c.c -c -o one.o && "
                         "gcc -O2 -g -flto -DSECOND_FILE $S/sym_c.c -c -o two.o && "
                         "gcc -O2 -g -flto one.o two.o -o lto"),
                     0);
    hold_against_oracle("lto");
}

/* The oracle reads the units where they lie; then they are packed, for us alone. */
static void hold_split(const char *cxx, int version, const char *packer)
{
    char name[64];
    snprintf(name, sizeof(name), "split%d", version);
    assert_int_equal(run("rm -rf *.dwo %s.dwp; %s -O2 -gdwarf-%d -gsplit-dwarf $S/sym_cxx.cc -c -o "
                         "one.o && %s -O2 -gdwarf-%d -gsplit-dwarf -x c++ $S/burn.h -c -o two.o && "
                         "%s one.o two.o -o %s",
                         name, cxx, version, cxx, version, cxx, name),
                     0);
    hold_against_oracle(name);
    if (run("%s -e %s -o %s.dwp && test -s %s.dwp && rm *.dwo", packer, name, name, name) != 0)
        return;
    hold_against_oracle(name);
}

static void split_programs_equal_the_oracle(void **state)
{
    (void)state;
    for (int version = 4; version <= 5; version++) {
        hold_split("g++", version, version == 4 ? "dwp" : "llvm-dwp-14");
        if (run("clang-14 --version >/dev/null") == 0)
            hold_split("clang++-14", version, "llvm-dwp-14");
    }
}

static void unoptimised_programs_equal_the_oracle(void **state)
{
    (void)state;
    assert_int_equal(run("g++ -O0 -g $S/sym_cxx.cc -o slow"), 0);
    hold_against_oracle("slow");
}

static void symbol_tables_alone_equal_the_oracle(void **state)
{
    (void)state;
    assert_int_equal(run("g++ -O2 -g $S/sym_cxx.cc -o full && strip -g full -o symtab_only"), 0);
    hold_against_oracle("symtab_only");
}

int main(void)
{
    static const char *const names[] = {"llvm-symbolizer-14", "llvm-symbolizer"};
    for (size_t i = 0; i < 2 && !oracle; i++) {
        char command[64];
        snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", names[i]);
        if (system(command) == 0)
            oracle = names[i];
    }
    if (!oracle) {
        printf("skipped: llvm-symbolizer is not installed (Debian: llvm)\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_programs_equal_the_oracle),
        cmocka_unit_test(clang_programs_equal_the_oracle),
        cmocka_unit_test(link_time_optimised_programs_equal_the_oracle),
        cmocka_unit_test(split_programs_equal_the_oracle),
        cmocka_unit_test(unoptimised_programs_equal_the_oracle),
        cmocka_unit_test(symbol_tables_alone_equal_the_oracle),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

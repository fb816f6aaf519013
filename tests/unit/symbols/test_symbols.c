/* SPDX-License-Identifier: MIT */
/* Where names come from, file by file: debug info, separate debug files, symbol tables, stubs. */
#include "toolbox.h"

#include "base/files/io.h"
#include "base/text/placeholder.h"

#include <errno.h>
#include <malloc.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The line of a source file that holds this text. */
static uint32_t line_of(const char *source, const char *text)
{
    char *number =
        output_of("grep -n '%s' %s/tests/targets/%s | cut -d: -f1", text, SOURCE_DIR, source);
    uint32_t line = (uint32_t)strtoul(number, NULL, 10);
    free(number);
    assert_int_not_equal(line, 0);
    return line;
}

static struct symbol_result resolve(struct symbols *symbols, uint64_t svma)
{
    struct symbol_result result;
    assert_int_equal(symbols_resolve(symbols, svma, &result), 0);
    return result;
}

/* The name of the only frame, or "" for none. */
static const char *only_name(struct symbols *symbols, uint64_t svma)
{
    struct symbol_result result = resolve(symbols, svma);
    assert_true(result.frame_count <= 1);
    return result.frame_count ? result.frames[0].name : "";
}

static void an_inline_chain_has_every_caller_with_its_line(void **state)
{
    (void)state;
    assert_int_equal(run("gcc -O2 -g $S/sym_c.c -o chain"), 0);
    struct symbols *symbols = open_in("chain", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "dwarf");
    static const char *const names[] = {"same_name", "outermost", "middle", "innermost"};
    static const char *const lines[] = {"line: same_name", "line: outermost", "line: middle",
                                        "line: innermost"};
    uint64_t start = address_of("chain", "same_name");
    bool is_found = false;
    for (uint64_t svma = start; svma < start + 64 && !is_found; svma++) {
        struct symbol_result result = resolve(symbols, svma);
        is_found = result.frame_count == 4;
        for (size_t i = 0; is_found && i < 4; i++) {
            const struct symbol_frame *frame = &result.frames[i];
            assert_string_equal(frame->name, names[i]);
            assert_ptr_equal(frame->system_name, frame->name);
            assert_string_equal(frame->file, SOURCE_DIR "/tests/targets/sym_c.c");
            assert_string_equal(frame->definition_file, SOURCE_DIR "/tests/targets/sym_c.c");
            assert_int_equal(frame->line, line_of("sym_c.c", lines[i]));
            assert_true(frame->definition_line < frame->line);
            assert_true(frame->definition_line + 8 > frame->line);
        }
    }
    assert_true(is_found);
    symbols_close(symbols);
}

static void symbols_alone_are_one_frame_without_lines(void **state)
{
    (void)state;
    assert_int_equal(
        run("gcc -O2 -g $S/sym_c.c -o chain && objcopy --only-keep-debug chain chain.debug && "
            "objcopy --strip-all --add-gnu-debuglink=chain.debug chain chain.stripped"),
        0);
    static const char *const files[] = {"chain", "chain.stripped"};
    struct symbols_config config = {.debug_directory = "/nonexistent", .symbols_only = true};
    for (size_t i = 0; i < 2; i++) {
        struct symbols *symbols;
        struct error error;
        assert_int_equal(symbols_open(&symbols, in_directory(files[i]), NULL, 0, &config, &error),
                         0);
        assert_string_equal(symbols_source(symbols), "symtab");
        uint64_t start = address_of("chain", "same_name");
        for (uint64_t svma = start; svma < start + 64; svma += 4) {
            struct symbol_result result = resolve(symbols, svma);
            assert_int_equal(result.frame_count, 1);
            assert_string_equal(result.frames[0].name, "same_name");
            assert_null(result.frames[0].file);
            assert_null(result.frames[0].definition_file);
            assert_int_equal(result.frames[0].line, 0);
        }
        symbols_close(symbols);
    }
}

static void paths_that_the_compiler_was_given_relative_are_full(void **state)
{
    (void)state;
    for (int version = 4; version <= 5; version++) {
        assert_int_equal(run("mkdir -p source build && echo 'int helper(int x) { return x; }' > "
                             "source/helper.h && echo '#include \"../source/helper.h\"\nint main() "
                             "{ return helper(0); }' > source/main.c && cd build && "
                             "gcc -gdwarf-%d ../source/main.c -o ../relative",
                             version),
                         0);
        struct symbols *symbols = open_in("relative", "/nonexistent");
        char expected[256];
        snprintf(expected, sizeof(expected), "%s/build/../source/../source/helper.h",
                 test_directory);
        struct symbol_result result = resolve(symbols, address_of("relative", "helper"));
        assert_string_equal(result.frames[0].file, expected);
        assert_string_equal(result.frames[0].definition_file, expected);
        symbols_close(symbols);
    }
}

/* gcc's debug info calls it "operator()"; the symbol says whose. */
static void functions_with_internal_linkage_get_their_whole_name(void **state)
{
    (void)state;
    assert_int_equal(run("g++ -O0 -g $S/sym_cxx.cc -o internal"), 0);
    struct symbols *symbols = open_in("internal", "/nonexistent");
    assert_string_equal(
        only_name(symbols, address_of("internal", "_ZN4shop12_GLOBAL__N_16hiddenEi")),
        "shop::(anonymous namespace)::hidden(int)");
    assert_string_equal(
        only_name(symbols, address_of("internal", "_ZZN4shop3runERSt6vectorIiSaIiEEENKUliE_clEi")),
        "shop::run(std::vector<int, std::allocator<int> >&)::{lambda(int)#1}::operator()(int) "
        "const");
    symbols_close(symbols);
}

/* An assembler's debug info has the symbols' own names. */
static void assembled_functions_of_cxx_are_demangled(void **state)
{
    (void)state;
    assert_int_equal(run("for f in main _ZN4shop4findEv; do "
                         "echo \".globl $f; .type $f, @function; $f: ret; .size $f, . - $f\"; "
                         "done > assembled.s && gcc -g assembled.s -o assembled"),
                     0);
    struct symbols *symbols = open_in("assembled", "/nonexistent");
    assert_string_equal(only_name(symbols, address_of("assembled", "_ZN4shop4findEv")),
                        "shop::find()");
    symbols_close(symbols);
}

/* Inlined everywhere, it has no symbol either: the name is put together from what it lies in. */
static void inlined_lambdas_say_whose_they_are(void **state)
{
    (void)state;
    assert_int_equal(run("g++ -O2 -g $S/sym_cxx.cc -o lambdas"), 0);
    struct symbols *symbols = open_in("lambdas", "/nonexistent");
    static const char *const names[] = {
        "shop::run(std::vector<int, std::allocator<int> >&)::<lambda>::operator()",
        "shop::(anonymous namespace)::hidden", "shop::(anonymous namespace)::account::add"};
    unsigned found = 0;
    uint64_t start = address_of("lambdas", "main") & ~UINT64_C(0xfff);
    for (uint64_t svma = start; svma < start + 0x2000; svma++) {
        struct symbol_result result = resolve(symbols, svma);
        for (size_t i = 0; i < result.frame_count; i++) {
            assert_string_not_equal(result.frames[i].name, "operator()");
            for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
                if (strcmp(result.frames[i].name, names[j]) == 0)
                    found |= 1u << j;
        }
    }
    assert_int_equal(found, 7);
    symbols_close(symbols);
}

/* A file has such a name once, and functions refer to it. */
static void parents_with_a_name_beyond_all_code_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(
        run("long=$(head -c 20000 /dev/zero | tr '\\0' a) && "
            "echo \"namespace $long { namespace { __attribute__((always_inline)) inline "
            "int hidden(int n) { return n * n + 7; } } } int main(int n, char **) { "
            "return $long::hidden(n); }\" > long.cc && g++ -O2 -g long.cc -o long"),
        0);
    struct symbols *symbols = open_in("long", "/nonexistent");
    uint64_t main_svma = address_of("long", "main");
    bool is_found = false;
    for (uint64_t svma = main_svma; svma < main_svma + 8; svma++) {
        struct symbol_result result = resolve(symbols, svma);
        for (size_t i = 0; i < result.frame_count; i++)
            is_found |= strcmp(result.frames[i].name, "hidden") == 0;
    }
    assert_true(is_found);
    symbols_close(symbols);
}

/* Makes a stripped file and its debug file; both answer as the whole file did. */
static void expect_same_as_whole(const char *file, const char *debug_directory)
{
    struct symbols *whole = open_in("whole", "/nonexistent");
    struct symbols *stripped = open_in(file, debug_directory);
    assert_string_equal(symbols_source(stripped), "dwarf");
    uint64_t main_svma = address_of("whole", "main");
    for (uint64_t svma = main_svma; svma < main_svma + 0x400; svma++) {
        struct symbol_result a = resolve(whole, svma), b = resolve(stripped, svma);
        assert_int_equal(a.frame_count, b.frame_count);
        for (size_t i = 0; i < a.frame_count; i++) {
            assert_string_equal(a.frames[i].name, b.frames[i].name);
            assert_int_equal(a.frames[i].line, b.frames[i].line);
        }
        assert_int_equal(a.symbol_svma, b.symbol_svma);
    }
    symbols_close(stripped);
    symbols_close(whole);
}

static int make_stripped(void)
{
    return run("gcc -O2 -g -Wl,--build-id=0x0123456789abcdef $S/sym_c.c -o whole && "
               "objcopy --only-keep-debug whole whole.debug && strip -s whole -o bare && "
               "objcopy --add-gnu-debuglink=whole.debug bare linked");
}

static void the_debug_file_of_a_debuglink_is_used(void **state)
{
    (void)state;
    assert_int_equal(make_stripped(), 0);
    expect_same_as_whole("linked", "/nonexistent");
    assert_int_equal(run("mkdir -p .debug && mv whole.debug .debug/"), 0);
    expect_same_as_whole("linked", "/nonexistent");
    assert_int_equal(run("mkdir -p debug$PWD && mv .debug/whole.debug debug$PWD/"), 0);
    expect_same_as_whole("linked", in_directory("debug"));
}

static void a_debug_file_with_another_checksum_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(make_stripped(), 0);
    assert_int_equal(run("rm -rf debug .debug && printf x >> whole.debug"), 0);
    struct symbols *symbols = open_in("linked", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "dynsym");
    symbols_close(symbols);
}

static void the_debug_file_of_a_build_id_is_used(void **state)
{
    (void)state;
    assert_int_equal(make_stripped(), 0);
    assert_int_equal(run("mkdir -p ids/.build-id/01 && "
                         "mv whole.debug ids/.build-id/01/23456789abcdef.debug"),
                     0);
    expect_same_as_whole("bare", in_directory("ids"));
}

static void a_debug_file_with_another_build_id_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(make_stripped(), 0);
    assert_int_equal(run("gcc -g -Wl,--build-id=0x01ff $S/sym_c.c -o other && "
                         "mkdir -p wrong/.build-id/01 && "
                         "mv other wrong/.build-id/01/23456789abcdef.debug"),
                     0);
    struct symbols *symbols = open_in("bare", in_directory("wrong"));
    assert_string_equal(symbols_source(symbols), "dynsym");
    symbols_close(symbols);
}

/* Debug info that dwz moved to a third file is read from there. */
static void names_moved_to_a_supplementary_file_are_found(void **state)
{
    (void)state;
    if (run("dwz --version >/dev/null") != 0)
        skip();
    assert_int_equal(run("g++ -O2 -gdwarf-4 $S/sym_cxx.cc -o whole && cp whole first && "
                         "cp whole second && dwz -m common -r first second"),
                     0);
    expect_same_as_whole("first", "/nonexistent");
    if (run("objcopy --compress-debug-sections=zstd common") == 0)
        expect_same_as_whole("first", "/nonexistent");
}

/* The link names a directory of another machine. */
static void a_supplementary_file_that_was_moved_is_found(void **state)
{
    (void)state;
    if (run("dwz --version >/dev/null") != 0)
        skip();
    assert_int_equal(run("g++ -O2 -gdwarf-4 $S/sym_cxx.cc -o whole && cp whole first && "
                         "cp whole second && dwz -m common -M /nonexistent/x/common first second"),
                     0);
    expect_same_as_whole("first", "/nonexistent");
    assert_int_equal(run("id=$(readelf -n common | sed -n 's/ *Build ID: //p') && "
                         "dir=moved_ids/.build-id/$(echo $id | cut -c-2) && mkdir -p $dir && "
                         "mv common $dir/$(echo $id | cut -c3-).debug"),
                     0);
    expect_same_as_whole("first", in_directory("moved_ids"));
}

static void another_build_id_than_asked_for_is_refused(void **state)
{
    (void)state;
    assert_int_equal(make_stripped(), 0);
    static const uint8_t right[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    static const uint8_t wrong[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xee};
    struct symbols_config config = {.debug_directory = "/nonexistent"};
    struct symbols *symbols;
    struct error error;
    const char *path = in_directory("whole");
    assert_int_equal(symbols_open(&symbols, path, right, sizeof(right), &config, &error), 0);
    symbols_close(symbols);
    assert_int_equal(symbols_open(&symbols, path, wrong, sizeof(wrong), &config, &error), -ESTALE);
    assert_null(symbols);
    assert_non_null(strstr(error.text, path));
}

static void what_is_no_elf_file_is_refused(void **state)
{
    (void)state;
    struct symbols_config config = {.debug_directory = "/nonexistent"};
    struct symbols *symbols;
    struct error error;
    assert_int_equal(run("echo text > text; rm -f fifo; mkfifo fifo"), 0);
    assert_int_equal(symbols_open(&symbols, in_directory("text"), NULL, 0, &config, &error),
                     -ENOEXEC);
    assert_int_equal(symbols_open(&symbols, in_directory("fifo"), NULL, 0, &config, &error),
                     -ENOEXEC);
    assert_int_equal(symbols_open(&symbols, in_directory("missing"), NULL, 0, &config, &error),
                     -ENOENT);
    assert_int_equal(symbols_open_memory(&symbols, "abc", 3, &error), -ENOEXEC);
}

static void symbols_hold_their_size_and_no_more(void **state)
{
    (void)state;
    assert_int_equal(run("gcc -O2 $S/sym_c.c -o plain"), 0);
    struct symbols *symbols = open_in("plain", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "symtab");
    uint64_t start = address_of("plain", "alias_global");
    struct symbol_result result = resolve(symbols, start + 1);
    /* Of alias_global, _alias_global, alias_weak and a_local. */
    assert_string_equal(result.frames[0].name, "alias_global");
    assert_string_equal(result.symbol_name, "alias_global");
    assert_int_equal(result.symbol_svma, start);
    assert_int_equal(result.symbol_bytes, 2);
    assert_string_equal(only_name(symbols, start + 2), "");
    symbols_close(symbols);
}

static void assembly_without_a_size_reaches_to_the_next_symbol(void **state)
{
    (void)state;
    assert_int_equal(run("gcc -O2 $S/sym_c.c -o plain"), 0);
    struct symbols *symbols = open_in("plain", "/nonexistent");
    uint64_t start = address_of("plain", "without_size");
    assert_string_equal(only_name(symbols, start), "without_size");
    assert_string_equal(only_name(symbols, start + 3), "without_size");
    assert_string_equal(only_name(symbols, start + 4), "after_it");
    symbols_close(symbols);
}

/* The picture is in the source. */
static void of_overlapping_symbols_the_one_that_starts_later_holds_an_address(void **state)
{
    (void)state;
    static const struct {
        unsigned offset;
        const char *name;
    } places[] = {
        {0, "outer"},    {3, "outer"},  {4, "inner"},  {7, "inner"},   {8, "inner_C1"},
        {9, "inner_C1"}, {10, "outer"}, {11, "outer"}, {12, "across"}, {19, "across"},
        {20, "loose"},   {23, "loose"}, {24, "last"},  {25, "last"},
    };
    assert_int_equal(run("gcc -no-pie $S/sym_overlap.s -o overlap"), 0);
    uint64_t start = address_of("overlap", "outer");
    /* Each by its own, and in both directions: what was asked before must not matter. */
    for (int round = 0; round < 2; round++) {
        struct symbols *symbols = open_in("overlap", "/nonexistent");
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            size_t at = round ? sizeof(places) / sizeof(places[0]) - 1 - i : i;
            assert_string_equal(only_name(symbols, start + places[at].offset), places[at].name);
        }
        symbols_close(symbols);
    }
}

static void a_stripped_library_still_has_its_exported_names(void **state)
{
    (void)state;
    assert_int_equal(
        run("gcc -O2 -shared -fPIC $S/sym_c.c -o lib.so && strip -s lib.so -o bare.so"), 0);
    struct symbols *symbols = open_in("bare.so", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "dynsym");
    assert_string_equal(only_name(symbols, address_of("lib.so", "first_file")), "first_file");
    assert_true(name_is_placeholder(only_name(symbols, address_of("lib.so", "same_name"))));
    symbols_close(symbols);
}

/* By the unwind tables, which stripping leaves. */
static void functions_without_a_name_are_told_apart(void **state)
{
    (void)state;
    static const char *const linkers[] = {"bfd", "gold", "lld"};
    for (size_t i = 0; i < sizeof(linkers) / sizeof(linkers[0]); i++) {
        if (run("gcc -O2 -fuse-ld=%s $S/sym_c.c -o plain && strip -s plain -o nameless",
                linkers[i]))
            continue;
        uint64_t start = address_of("plain", "same_name");
        char expected[64];
        snprintf(expected, sizeof(expected), "nameless+0x%llx", (unsigned long long)start);
        struct symbols *symbols = open_in("nameless", "/nonexistent");
        const char *first = only_name(symbols, start);
        assert_string_equal(first, expected);
        assert_true(name_is_placeholder(first));
        assert_ptr_equal(only_name(symbols, start + 8), first);
        assert_string_not_equal(only_name(symbols, address_of("plain", "main")), expected);
        assert_string_equal(only_name(symbols, 0x10), "");
        symbols_close(symbols);
    }
}

/* As glibc has __restore_rt: a local symbol, so none in a stripped library. */
static void the_caller_of_signal_handlers_has_its_name_without_symbols(void **state)
{
    (void)state;
    assert_int_equal(
        run("for mark in '' .cfi_signal_frame; do "
            "echo function$mark: .cfi_startproc; echo $mark; echo .skip 16, 0x90; "
            "echo .cfi_endproc; done >restorer.s && "
            "gcc -shared restorer.s -o marked.so && strip -s marked.so -o restorer.so"),
        0);
    struct symbols *symbols = open_in("restorer.so", "/nonexistent");
    const uint64_t plain = address_of("marked.so", "function");
    const uint64_t marked = address_of("marked.so", "function.cfi_signal_frame");
    assert_true(name_is_placeholder(only_name(symbols, plain + 15)));
    assert_string_equal(only_name(symbols, marked), "__restore_rt");
    assert_string_equal(only_name(symbols, marked + 15), "__restore_rt");
    assert_string_equal(only_name(symbols, marked + 16), "");
    symbols_close(symbols);
}

/* As musl's libc.so has them: the symbol before has no size, and would reach to the next one. */
static void hidden_functions_of_musl_have_their_names(void **state)
{
    (void)state;
    assert_int_equal(
        run("cat >musl.s <<'END' && gcc -shared -nostdlib musl.s -o named.so && "
            "strip -s named.so -o musl.so\n"
            ".text\n"
            ".globl before\n.type before, @function\n"
            "before: ret\n.skip 90, 0x90\n"
            "clone: xor %%eax, %%eax; mov $56, %%al; mov %%rdi, %%r11; syscall\n"
            "test %%eax, %%eax; jnz 1f; pop %%rdi; call *%%r9\n"
            "clone_return: mov %%eax, %%edi; xor %%eax, %%eax; mov $60, %%al; syscall; hlt\n"
            "1: ret\n"
            "wait: mov (%%rdi), %%eax; test %%eax, %%eax; jne 1f; syscall\n"
            "wait_return: ret\n1: jmp before\n"
            "after: nop; nop\n"
            "END"),
        0);
    struct symbols *symbols = open_in("musl.so", "/nonexistent");
    assert_string_equal(only_name(symbols, address_of("named.so", "before")), "before");
    assert_string_equal(only_name(symbols, address_of("named.so", "clone") - 1), "before");
    assert_string_equal(only_name(symbols, address_of("named.so", "clone")), "__clone");
    assert_string_equal(only_name(symbols, address_of("named.so", "clone_return") - 1), "__clone");
    assert_string_equal(only_name(symbols, address_of("named.so", "wait")), "__syscall_cp_asm");
    assert_string_equal(only_name(symbols, address_of("named.so", "wait_return")),
                        "__syscall_cp_asm");
    assert_string_equal(only_name(symbols, address_of("named.so", "after")), "before");
    symbols_close(symbols);
    symbols = open_in("named.so", "/nonexistent");
    assert_string_equal(only_name(symbols, address_of("named.so", "clone_return")), "clone_return");
    symbols_close(symbols);
}

static void expect_split_source(const char *debug_directory, const char *expected)
{
    struct symbols *symbols = open_in("splitted", debug_directory);
    struct symbol_result result = resolve(symbols, address_of("splitted", "first_file"));
    const char *file = result.frames[result.frame_count - 1].definition_file;
    assert_string_equal(file ? strrchr(file, '/') + 1 : "none", expected);
    symbols_close(symbols);
}

static void split_units_are_found_where_files_were_moved(void **state)
{
    (void)state;
    for (int version = 4; version <= 5; version++) {
        assert_int_equal(run("rm -rf *.dwo moved; gcc -O2 -gdwarf-%d -gsplit-dwarf $S/sym_c.c "
                             "-fdebug-prefix-map=$PWD=. -c -o sym.o && gcc sym.o -o splitted",
                             version),
                         0);
        expect_split_source("/nonexistent", "sym_c.c"); /* relative to the program */
        assert_int_equal(run("mkdir -p moved && mv sym.dwo moved/"), 0);
        expect_split_source(in_directory("moved"), "sym_c.c"); /* below the debug directory */
        expect_split_source("/nonexistent", "none");
    }
}

/* The name in the debug info is absolute, or leads into a directory that was not copied. */
static void split_units_are_found_beside_a_program_that_was_moved(void **state)
{
    (void)state;
    static const char *const objects[] = {"$PWD/built/sym.o", "built/sym.o"};
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        assert_int_equal(run("rm -rf splitted *.dwo built; mkdir built && gcc -O2 -g -gsplit-dwarf "
                             "$S/sym_c.c -c -o %s && gcc built/sym.o -o splitted && "
                             "mv built/sym.dwo . && rm -r built",
                             objects[i]),
                         0);
        expect_split_source("/nonexistent", "sym_c.c");
    }
}

/* The place that the debug info names holds the unit of another build. */
static void a_split_unit_is_found_behind_one_of_another_build(void **state)
{
    (void)state;
    assert_int_equal(run("rm -rf splitted *.dwo built; mkdir built && gcc -O2 -g -gsplit-dwarf "
                         "$S/sym_c.c -c -o built/sym.o && gcc built/sym.o -o splitted && "
                         "mv built/sym.dwo . && gcc -O1 -g -gsplit-dwarf -DSECOND_FILE $S/sym_c.c "
                         "-c -o built/sym.o"),
                     0);
    expect_split_source("/nonexistent", "sym_c.c");
}

/* The packages of a stripped program: beside its debug file, and in the debug directory. */
static void a_package_is_found_by_the_name_of_the_program(void **state)
{
    (void)state;
    assert_int_equal(run("rm -rf splitted *.dwo *.dwp packed_units; mkdir packed_units && "
                         "gcc -O2 -g -gsplit-dwarf -gdwarf-4 $S/sym_c.c -c -o sym.o && "
                         "gcc -Wl,--build-id=0x77665544 sym.o -o splitted && "
                         "dwp -e splitted -o packed_units/splitted.dwp && rm sym.dwo"),
                     0);
    expect_split_source(in_directory("packed_units"), "sym_c.c");
    assert_int_equal(run("cd packed_units && mkdir -p .build-id/77 && "
                         "objcopy --only-keep-debug ../splitted .build-id/77/665544.debug && "
                         "strip -g ../splitted && mv splitted.dwp .build-id/77/"),
                     0);
    expect_split_source(in_directory("packed_units"), "sym_c.c");
}

/* Whatever lies there, the names of the symbol table remain. */
static void wrong_split_units_are_not_used(void **state)
{
    (void)state;
    static const char *const spoil[] = {
        "rm sym.dwo && mkfifo sym.dwo",
        "gcc -O1 -g -gsplit-dwarf $S/sym_c.c -DSECOND_FILE -c -o other.o && mv other.dwo sym.dwo",
        "head -c 3000 sym.dwo > cut && mv cut sym.dwo",
        "head -c 100000 /dev/urandom > splitted.dwp && rm sym.dwo",
    };
    for (size_t i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
        assert_int_equal(
            run("rm -f *.dwo *.dwp; gcc -O2 -g -gsplit-dwarf $S/sym_c.c -c -o sym.o && "
                "gcc sym.o -o splitted"),
            0);
        assert_int_equal(run("%s", spoil[i]), 0);
        expect_split_source("/nonexistent", "none");
    }
}

/* Resolves all code until a function has no name, which is noticed, and not before. */
static void expect_unnamed(struct symbols *symbols, const char *name)
{
    uint64_t start = address_of(name, "_start"), end = address_of(name, "_fini");
    bool is_unnamed = false;
    for (uint64_t svma = start; svma < end && !is_unnamed; svma++) {
        assert_false(symbols_has_unnamed(symbols));
        struct symbol_result result = resolve(symbols, svma);
        assert_true(result.frame_count > 0 || !result.symbol_name);
        for (size_t i = 0; i < result.frame_count; i++)
            is_unnamed |= strcmp(result.frames[i].name, "(unnamed)") == 0;
    }
    assert_true(is_unnamed);
    assert_true(symbols_has_unnamed(symbols));
}

static void a_supplementary_file_that_is_gone_costs_names_only(void **state)
{
    (void)state;
    if (run("dwz --version >/dev/null") != 0)
        skip();
    assert_int_equal(run("g++ -O2 -gdwarf-4 $S/sym_cxx.cc -o whole && cp whole first && "
                         "cp whole second && dwz -m common -r first second && rm common && "
                         "mkfifo common"),
                     0);
    struct symbols *symbols = open_in("first", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "dwarf");
    expect_unnamed(symbols, "first");
    assert_string_equal(symbols_missing_file(symbols), "common");
    symbols_close(symbols);
}

/* libdw alone would open the linked path again, whatever is there by then. */
static void a_supplementary_file_without_debug_info_is_opened_once(void **state)
{
    (void)state;
    if (run("dwz --version >/dev/null") != 0)
        skip();
    assert_int_equal(run("rm -f common && g++ -O2 -gdwarf-4 $S/sym_cxx.cc -o whole && "
                         "cp whole first && cp whole second && dwz -m common -r first second && "
                         "objcopy -g common"),
                     0);
    struct symbols *symbols = open_in("first", "/nonexistent");
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(inotify_add_watch(watch, in_directory("common"), IN_OPEN) >= 0);
    expect_unnamed(symbols, "first");
    struct inotify_event opened[8];
    assert_true(read(watch, opened, sizeof(opened)) < 0);
    assert_string_equal(symbols_missing_file(symbols), "common");
    symbols_close(symbols);
    close(watch);
}

/* What Fedora and others do to the files that they strip. */
static void names_in_gnu_debugdata_are_found(void **state)
{
    (void)state;
    if (run("xz --version > /dev/null") != 0)
        skip();
    assert_int_equal(
        run("gcc -O2 -g -shared -fPIC $S/sym_c.c -o mini && "
            "nm -D mini --format=posix --defined-only | awk '{print $1}' | sort > dynamic && "
            "nm mini --format=posix --defined-only | awk '$2 ~ /[TtD]/ {print $1}' | sort > all && "
            "comm -13 dynamic all > keep && objcopy --only-keep-debug mini mini.debug && "
            "objcopy -S --remove-section .comment --keep-symbols=keep mini.debug mini.small && "
            "strip -s mini -o bare_mini && rm -f mini.small.xz && xz mini.small && "
            "objcopy --add-section .gnu_debugdata=mini.small.xz bare_mini"),
        0);
    struct symbols *symbols = open_in("bare_mini", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "debugdata");
    assert_string_equal(only_name(symbols, address_of("mini", "first_file")), "first_file");
    assert_string_equal(only_name(symbols, address_of("mini", "same_name")), "same_name");
    symbols_close(symbols);
    assert_int_equal(run("head -c 400 mini.small.xz > cut.xz && strip -s mini -o cut_mini && "
                         "objcopy --add-section .gnu_debugdata=cut.xz cut_mini"),
                     0);
    symbols = open_in("cut_mini", "/nonexistent");
    assert_string_equal(symbols_source(symbols), "dynsym");
    symbols_close(symbols);
}

static void compressed_debug_info_is_read(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "objcopy --compress-debug-sections=zlib whole packed",
        "objcopy --compress-debug-sections=zlib-gnu whole packed",
        "objcopy --compress-debug-sections=zstd whole packed",
        "llvm-objcopy-14 --compress-debug-sections=zlib whole packed",
        ("objcopy --compress-debug-sections=zstd --only-keep-debug whole zstd.debug && "
         "strip -s whole -o packed && objcopy --add-gnu-debuglink=zstd.debug packed"),
    };
    assert_int_equal(run("g++ -O2 -g $S/sym_cxx.cc -o whole"), 0);
    unsigned tried = 0;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (run("%s", ways[i]) == 0) {
            expect_same_as_whole("packed", "/nonexistent");
            tried++;
        }
    assert_true(tried >= 2);
}

/* Of the stubs, only one is asked for. */
static void expect_stub_alone(uint64_t svma, const char *name)
{
    const uint64_t needed[] = {svma + 5};
    const struct symbols_config config = {.debug_directory = "/nonexistent",
                                          .symbols_only = true,
                                          .needed = needed,
                                          .needed_count = 1};
    struct symbols *symbols;
    struct error error;
    assert_int_equal(symbols_open(&symbols, in_directory("bare_stubs"), NULL, 0, &config, &error),
                     0);
    assert_string_equal(only_name(symbols, needed[0]), name);
    symbols_close(symbols);
}

/* The oracle is a disassembler, which prints "0000000000001030 <abort@plt>:". */
static void expect_stubs(const char *disassembler)
{
    char *list = output_of("%s -d %s/stubs | grep '@plt>:$'", disassembler, test_directory);
    struct symbols *symbols = open_in("bare_stubs", "/nonexistent");
    unsigned count = 0;
    for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n")) {
        char name[128];
        unsigned long long svma;
        assert_int_equal(sscanf(line, "%llx <%127[^>]>:", &svma, name), 2);
        assert_string_equal(only_name(symbols, svma), name);
        assert_string_equal(only_name(symbols, svma + 5), name);
        expect_stub_alone(svma, name);
        count++;
    }
    assert_true(count >= 1);
    symbols_close(symbols);
    free(list);
}

static void stubs_are_named_after_what_they_call(void **state)
{
    (void)state;
    static const char *const flags[] = {"",
                                        "-fcf-protection=full -Wl,-z,ibtplt",
                                        "-Wl,-z,now",
                                        "-fno-plt",
                                        "-fno-pie -no-pie",
                                        "-fuse-ld=gold",
                                        "-fuse-ld=lld -Wl,-z,now -fcf-protection=full"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (run("gcc -O2 %s $S/sym_c.c -o stubs && strip -s stubs -o bare_stubs", flags[i]) != 0)
            continue; /* without that linker */
        expect_stubs("objdump");
    }
}

/* For whoever reads a recording of another machine. */
static void so_are_those_of_aarch64(void **state)
{
    (void)state;
    static const char *const flags[] = {
        "", "-mbranch-protection=standard -Wl,-z,force-bti -Wl,-z,pac-plt", "-Wl,-z,now"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (run("echo 'int far(int), away(void); int near(int a) { return far(a) + away(); }' "
                ">call.c && "
                "clang-14 --target=aarch64-linux-gnu -fuse-ld=lld -nostdlib -shared -fPIC -O2 %s "
                "call.c -o stubs && "
                "llvm-objcopy-14 -S stubs bare_stubs",
                flags[i]) != 0)
            skip();
        expect_stubs("llvm-objdump-14");
    }
}

static void an_image_in_memory_answers_as_its_file_does(void **state)
{
    (void)state;
    assert_int_equal(run("gcc -O2 -g $S/sym_c.c -o chain"), 0);
    struct buffer bytes = {0};
    struct symbols *symbols;
    struct error error;
    assert_int_equal(io_read_file(in_directory("chain"), &bytes, 1 << 20), 0);
    assert_int_equal(symbols_open_memory(&symbols, bytes.bytes, bytes.size, &error), 0);
    buffer_free(&bytes);
    assert_string_equal(only_name(symbols, address_of("chain", "first_file")), "first_file");
    symbols_close(symbols);
}

/* The address space that there is, and a megabyte. */
static void leave_little_memory(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fgets(text, sizeof(text), file))
        fclose(file);
    rlim_t bytes = strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + (1 << 20);
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

static int resolve_with_little_memory(const char *name, uint64_t svma)
{
    struct symbol_result result;
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* what was large and is free is gone */
    struct symbols *symbols = open_in(name, "/nonexistent");
    leave_little_memory();
    return symbols_resolve(symbols, svma, &result);
}

static void a_symbol_table_that_there_is_no_memory_for_is_an_error(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* the sanitizer's heap has reserved its address space */
#endif
    int status;
    assert_int_equal(
        run("printf '.macro one\nl\\@: .byte 0\n.endm\n"
            ".rept 300000\none\n.endr' > many.s; "
            "echo '__attribute__((noinline)) static int hidden(int x) "
            "{ return x * x + 1; } int main(int argc, char **) { return hidden(argc); }' "
            "> hidden.cc; g++ -g -O1 -fno-ipa-cp -fno-inline hidden.cc many.s -o many"),
        0);
    uint64_t svma = address_of("many", "_ZL6hiddeni");
    struct symbols *symbols = open_in("many", "/nonexistent");
    assert_string_equal(only_name(symbols, svma), "hidden(int)");
    symbols_close(symbols);
    pid_t child = fork();
    if (child == 0)
        _exit(resolve_with_little_memory("many", svma) == -ENOMEM ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A function of "chain" has its name and line, whatever lies behind. */
static void resolve_chain(const char *name, bool is_damaged)
{
    struct symbols *symbols = open_in(name, "/nonexistent");
    assert_string_equal(symbols_source(symbols), "dwarf");
    assert_false(symbols_is_damaged(symbols));
    struct symbol_result result = resolve(symbols, address_of("chain", "first_file"));
    assert_int_equal(result.frame_count, 1);
    assert_string_equal(result.frames[0].name, "first_file");
    assert_true(result.frames[0].line > 0);
    assert_int_equal(symbols_is_damaged(symbols), is_damaged);
    symbols_close(symbols);
}

static void damage_behind_what_is_used_is_told(void **state)
{
    (void)state;
    assert_int_equal(
        run("gcc -O2 -g $S/sym_c.c -o chain && "
            "objcopy --dump-section .debug_line=line --dump-section .debug_info=info chain"),
        0);
    resolve_chain("chain", false);
    /* The length of the last instruction: more than there is. */
    assert_int_equal(run("python3 -c 'b = bytearray(open(\"line\", \"rb\").read())\n"
                         "assert b[-3:] == b\"\\0\\1\\1\"; b[-2] = 77\n"
                         "open(\"line\", \"wb\").write(b)' && "
                         "objcopy --update-section .debug_line=line chain no_lines"),
                     0);
    resolve_chain("no_lines", true);
    /* The code of the last entry: none that there is. */
    assert_int_equal(run("python3 -c 'b = bytearray(open(\"info\", \"rb\").read())\n"
                         "b[-8:] = 8 * b\"\\xff\"\n"
                         "open(\"info\", \"wb\").write(b)' && "
                         "objcopy --update-section .debug_info=info chain no_end"),
                     0);
    resolve_chain("no_end", true);
}

/* Nothing in a damaged file may crash or hang: 200 files with random bytes changed, or cut short.
 */
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    assert_int_equal(run("g++ -O2 -g $S/sym_cxx.cc -o victim"), 0);
    struct buffer whole = {0};
    assert_int_equal(io_read_file(in_directory("victim"), &whole, 1 << 24), 0);
    uint64_t start = address_of("victim", "main") & ~UINT64_C(0xfff);
    uint8_t *copy = malloc(whole.size);
    assert_non_null(copy);
    srandom(1);
    for (int round = 0; round < 200; round++) {
        memcpy(copy, whole.bytes, whole.size);
        for (long changes = random() % 60; changes >= 0; changes--)
            copy[(size_t)random() % whole.size] = (uint8_t)random();
        size_t size = round % 10 ? whole.size : (size_t)random() % whole.size;
        struct symbols *symbols;
        struct error error;
        if (symbols_open_memory(&symbols, copy, size, &error) != 0)
            continue;
        for (uint64_t svma = start; svma < start + 0x1000; svma += 13) {
            struct symbol_result result;
            if (symbols_resolve(symbols, svma, &result) == 0)
                for (size_t i = 0; i < result.frame_count; i++)
                    assert_non_null(result.frames[i].name);
        }
        symbols_close(symbols);
    }
    free(copy);
    buffer_free(&whole);
}

int main(void)
{
    if (system("gcc --version >/dev/null 2>&1 && objcopy --version >/dev/null 2>&1") != 0) {
        printf("skipped: gcc or binutils is not installed\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_inline_chain_has_every_caller_with_its_line),
        cmocka_unit_test(symbols_alone_are_one_frame_without_lines),
        cmocka_unit_test(paths_that_the_compiler_was_given_relative_are_full),
        cmocka_unit_test(functions_with_internal_linkage_get_their_whole_name),
        cmocka_unit_test(assembled_functions_of_cxx_are_demangled),
        cmocka_unit_test(inlined_lambdas_say_whose_they_are),
        cmocka_unit_test(parents_with_a_name_beyond_all_code_are_left_out),
        cmocka_unit_test(the_debug_file_of_a_debuglink_is_used),
        cmocka_unit_test(a_debug_file_with_another_checksum_is_not_used),
        cmocka_unit_test(the_debug_file_of_a_build_id_is_used),
        cmocka_unit_test(a_debug_file_with_another_build_id_is_not_used),
        cmocka_unit_test(names_moved_to_a_supplementary_file_are_found),
        cmocka_unit_test(a_supplementary_file_that_was_moved_is_found),
        cmocka_unit_test(another_build_id_than_asked_for_is_refused),
        cmocka_unit_test(what_is_no_elf_file_is_refused),
        cmocka_unit_test(symbols_hold_their_size_and_no_more),
        cmocka_unit_test(assembly_without_a_size_reaches_to_the_next_symbol),
        cmocka_unit_test(of_overlapping_symbols_the_one_that_starts_later_holds_an_address),
        cmocka_unit_test(a_stripped_library_still_has_its_exported_names),
        cmocka_unit_test(split_units_are_found_where_files_were_moved),
        cmocka_unit_test(split_units_are_found_beside_a_program_that_was_moved),
        cmocka_unit_test(a_split_unit_is_found_behind_one_of_another_build),
        cmocka_unit_test(a_package_is_found_by_the_name_of_the_program),
        cmocka_unit_test(wrong_split_units_are_not_used),
        cmocka_unit_test(a_supplementary_file_that_is_gone_costs_names_only),
        cmocka_unit_test(a_supplementary_file_without_debug_info_is_opened_once),
        cmocka_unit_test(names_in_gnu_debugdata_are_found),
        cmocka_unit_test(compressed_debug_info_is_read),
        cmocka_unit_test(functions_without_a_name_are_told_apart),
        cmocka_unit_test(the_caller_of_signal_handlers_has_its_name_without_symbols),
        cmocka_unit_test(hidden_functions_of_musl_have_their_names),
        cmocka_unit_test(stubs_are_named_after_what_they_call),
        cmocka_unit_test(so_are_those_of_aarch64),
        cmocka_unit_test(an_image_in_memory_answers_as_its_file_does),
        cmocka_unit_test(a_symbol_table_that_there_is_no_memory_for_is_an_error),
        cmocka_unit_test(damage_behind_what_is_used_is_told),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

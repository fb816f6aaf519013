/* SPDX-License-Identifier: MIT */
#include "export/export.h"
#include "export/encoding/gzip.h"

#include "build.h"
#include "export/common.h"
#include "../profile/sample_at.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <cmocka.h>

static void expect_path(const char *path, const struct exporter *exporter, bool compress)
{
    bool actual = !compress;
    assert_ptr_equal(exporter_by_path(path, &actual), exporter);
    assert_int_equal(actual, compress);
}

static void the_longest_suffix_decides_format_and_compression(void **state)
{
    (void)state;
    expect_path("rec.pb.gz", &export_pprof, true);
    expect_path("a.b/rec.pb", &export_pprof, false);
    expect_path("rec.pprof", &export_pprof, false);
    expect_path("rec.json.gz", &export_firefox, true);
    expect_path("rec.json", &export_firefox, false);
    expect_path("rec.speedscope.json", &export_speedscope, false);
    expect_path("rec.speedscope.json.gz", &export_speedscope, true);
    expect_path("rec.folded", &export_collapsed, false);
    expect_path("rec.collapsed", &export_collapsed, false);
    expect_path("rec.txt", &export_collapsed, false);
    expect_path("rec.data", NULL, false);
    expect_path("rec.gz", NULL, false);
    expect_path("json", NULL, false);
    expect_path("", NULL, false);
}

static void every_exporter_is_found_by_its_name_and_its_usual_suffix(void **state)
{
    (void)state;
    for (size_t i = 0; exporters[i]; i++) {
        bool compress;
        assert_ptr_equal(exporter_by_name(exporters[i]->name), exporters[i]);
        assert_ptr_equal(exporter_by_path(exporters[i]->suffixes[0], &compress), exporters[i]);
        assert_true(strlen(exporters[i]->description) > 0);
    }
    assert_ptr_equal(exporter_by_name("firefox"), &export_firefox);
    assert_null(exporter_by_name("Firefox"));
}

static struct profile *profile_of_samples(unsigned count)
{
    struct profile *profile = profile_new();
    profile_add_event(profile, &(struct profile_event){.name = PROFILE_NONE, .period = 1000});
    build_process(profile, 1, "app");
    build_thread(profile, 0, 1, true, 0);
    for (unsigned i = 0; i < count; i++) {
        char stack[64];
        snprintf(stack, sizeof(stack), "main;f%u;g%u", i * 7919 % 1009, i * 104729 % 997);
        build_sample(profile, 0, stack, 1000);
    }
    profile_link_stacks(profile);
    return profile;
}

/* One gzip member: what reads no others, as browsers do, must get all of it. */
static void expect_inflated(const struct buffer *packed, const uint8_t *plain, size_t size)
{
    uint8_t *unpacked = malloc(size + 1);
    z_stream stream = {.next_in = packed->bytes,
                       .avail_in = (uInt)packed->size,
                       .next_out = unpacked,
                       .avail_out = (uInt)size + 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, size);
    assert_memory_equal(unpacked, plain, size);
    inflateEnd(&stream);
    free(unpacked);
}

/* More output than the compressor takes and gives in one piece. */
static void compressed_output_is_the_plain_output(void **state)
{
    (void)state;
    struct profile *profile = profile_of_samples(20000);
    for (size_t i = 0; exporters[i]; i++) {
        struct buffer plain = {0}, packed = {0};
        struct error error;
        if (!exporters[i]->compressed_suffix)
            continue;
        assert_int_equal(export_to_buffer(exporters[i], profile, NULL, false, &plain, &error), 0);
        assert_int_equal(export_to_buffer(exporters[i], profile, NULL, true, &packed, &error), 0);
        assert_true(plain.size > 1 << 17);
        assert_true(packed.size < plain.size);

        expect_inflated(&packed, plain.bytes, plain.size);
        buffer_free(&plain);
        buffer_free(&packed);
    }
    profile_free(profile);
}

static int keep(void *context, const void *bytes, size_t size)
{
    buffer_append(context, bytes, size);
    return 0;
}

/* Held back until the end, and more than that. */
static void any_amount_is_one_member(void **state)
{
    (void)state;
    enum { WHOLE = 8 << 20, MOST = WHOLE + 1, PIECE = 100000 };
    static const size_t sizes[] = {0, 1, WHOLE, MOST};
    uint8_t *plain = malloc(MOST);
    for (size_t i = 0; i < MOST; i++)
        plain[i] = (uint8_t)(i >> 10 ^ i % 61);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct buffer packed = {0};
        struct gzip *gzip;
        assert_int_equal(gzip_open(&gzip, 1, keep, &packed), 0);
        for (size_t at = 0; at < sizes[i]; at += PIECE) {
            size_t left = sizes[i] - at;
            assert_int_equal(gzip_write(gzip, plain + at, left < PIECE ? left : PIECE), 0);
        }
        assert_int_equal(gzip_finish(gzip), 0);
        gzip_free(gzip);
        expect_inflated(&packed, plain, sizes[i]);
        buffer_free(&packed);
    }
    free(plain);
}

static void an_empty_profile_can_be_written_in_every_format(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    profile_link_stacks(profile);
    for (size_t i = 0; exporters[i]; i++) {
        struct buffer out = {0};
        struct error error;
        assert_int_equal(export_to_buffer(exporters[i], profile, NULL, true, &out, &error), 0);
        assert_true(out.size > 0);
        buffer_free(&out);
    }
    profile_free(profile);
}

static void an_incomplete_profile_is_refused(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    profile->failed = true;
    struct buffer out = {0};
    struct error error = {{0}};
    assert_int_equal(export_to_buffer(&export_pprof, profile, NULL, false, &out, &error), -ENOMEM);
    assert_int_equal(out.size, 0);
    assert_true(strlen(error.text) > 0);
    profile_free(profile);
}

/* Every row's weight, of a file as this exporter writes it. */
static double sum_of_weights(const char *json, size_t *rows)
{
    double sum = 0;
    *rows = 0;
    for (const char *at = json; (at = strstr(at, "\"weight\":[")); at++) {
        char *next = strchr(at, '[');
        while (*next != ']') {
            sum += strtod(next + 1, &next);
            ++*rows;
        }
    }
    return sum;
}

/* Nine million samples, as far as the exporter can tell from their number. */
static void a_firefox_file_for_no_browser_is_thinned(void **state)
{
    (void)state;
    enum { SAMPLES = 9000000 };
    struct profile *profile = profile_of_samples(2);
    assert_int_equal(export_firefox_thinning(profile), 1);
    struct profile_sample samples[] = {sample_at(profile, 0), sample_at(profile, 1)};
    samples[1].weight = 3000;
    for (size_t i = 2; i < SAMPLES; i++) {
        samples[i % 2].time_ns = i * 1000;
        profile_add_sample(profile, &samples[i % 2]);
    }
    uint64_t thinning = export_firefox_thinning(profile);
    assert_in_range(thinning, 3, 4); /* of one row for each sample, and two more for every second */
    struct buffer out = {0};
    struct error error;
    assert_int_equal(export_to_buffer(&export_firefox, profile, NULL, false, &out, &error), 0);
    assert_true(out.size < 200000000);
    buffer_u8(&out, 0);
    size_t rows;
    double sum = sum_of_weights((const char *)out.bytes, &rows);
    assert_int_equal(rows, (2 * SAMPLES - 2 + thinning - 1) / thinning);
    double expected = (SAMPLES * 2000.0 - 2000) / 1e6; /* ms */
    assert_true(sum > expected * 0.999 && sum < expected * 1.001);
    assert_non_null(strstr((const char *)out.bytes, "Samples per row"));
    buffer_free(&out);
    profile_free(profile);
}

static void firefox_rows_are_periods_weighed_in_ms(void **state)
{
    (void)state;
    struct profile *profile = profile_of_samples(1);
    build_sample(profile, 0, "main", 3001);
    profile_link_stacks(profile);
    struct buffer out = {0};
    struct error error;
    assert_int_equal(export_to_buffer(&export_firefox, profile, NULL, false, &out, &error), 0);
    buffer_u8(&out, 0);
    assert_non_null(strstr((const char *)out.bytes, "\"weightType\":\"tracing-ms\","
                                                    "\"weight\":[0.001,0.001,0.001,0.001001],"
                                                    "\"threadCPUDelta\":[1000,1000,1000,1001],"
                                                    "\"length\":4}"));
    buffer_free(&out);
    profile_free(profile);
}

static void the_program_s_own_lib_is_found(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    profile_lib_id(profile, "/lib/libc.so.6", NULL, 0);
    uint32_t app = profile_lib_id(profile, "/opt/app", NULL, 0);
    assert_int_equal(export_main_lib(profile), 0);
    profile->product = profile_string(profile, "app");
    assert_int_equal(export_main_lib(profile), app);
    profile->product = profile_string(profile, "/opt/app");
    assert_int_equal(export_main_lib(profile), app);

    profile->is_product_executed = true;
    assert_int_equal(export_main_lib(profile), app);
    profile->product = profile_string(profile, "script.sh");
    assert_int_equal(export_main_lib(profile), PROFILE_NONE);

    uint32_t long_name = profile_lib_id(profile, "/opt/a-name-of-16-by", NULL, 0);
    profile->product = profile_string(profile, "a-name-of-16-b"); /* shorter than the kernel cuts */
    assert_int_equal(export_main_lib(profile), PROFILE_NONE);
    profile->product = profile_string(profile, "a-name-of-16-by");
    assert_int_equal(export_main_lib(profile), long_name);
    uint32_t longer_name = profile_lib_id(profile, "/opt/quite-a-long-name-of-a-file", NULL, 0);
    profile->product = profile_string(profile, "quite-a-long-na");
    assert_int_equal(export_main_lib(profile), longer_name);

    /* The recording began later, and the name is not that of a lib: then the lib that holds the
     * program's code. */
    profile->is_product_executed = false;
    profile->product = profile_string(profile, "script.sh");
    profile_add_frame(profile, &(struct profile_frame){.lib = 0, .category = PROFILE_LIBRARY});
    profile_add_frame(profile, &(struct profile_frame){.lib = app, .category = PROFILE_USER});
    assert_int_equal(export_main_lib(profile), app);
    profile_free(profile);
}

static void no_kernel_is_taken_for_the_program(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    uint32_t kernel = profile_lib_id(profile, "[kernel.kallsyms]", NULL, 0);
    uint32_t library = profile_lib_id(profile, "/lib/libsqlite3.so.0", NULL, 0);
    profile->libs[kernel].category = PROFILE_KERNEL;
    profile->libs[library].category = PROFILE_LIBRARY;
    profile->product = profile_string(profile, "sqlite3");
    assert_int_equal(export_main_lib(profile), library);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_suffix_decides_format_and_compression),
        cmocka_unit_test(every_exporter_is_found_by_its_name_and_its_usual_suffix),
        cmocka_unit_test(compressed_output_is_the_plain_output),
        cmocka_unit_test(any_amount_is_one_member),
        cmocka_unit_test(an_empty_profile_can_be_written_in_every_format),
        cmocka_unit_test(an_incomplete_profile_is_refused),
        cmocka_unit_test(a_firefox_file_for_no_browser_is_thinned),
        cmocka_unit_test(firefox_rows_are_periods_weighed_in_ms),
        cmocka_unit_test(the_program_s_own_lib_is_found),
        cmocka_unit_test(no_kernel_is_taken_for_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

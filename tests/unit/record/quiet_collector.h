/* SPDX-License-Identifier: MIT */
/* A collector without a thread: the test runs its steps. */
#pragma once

#include "record/collector/collector_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "own_memory.h"

struct fixture {
    struct session session;
    struct open_file_cache kept;
    struct record_options options;
    struct record_summary summary;
    struct collector *collector;
    FILE *file;
    struct own_memory memory; /* of a process of the test */
};

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct session_config config = {.period_ns = 1000000, .kernel_interval_ns = 20000000};
    struct perfdata_config file_config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    struct error error = {""};
    assert_non_null(fixture);
    assert_int_equal(session_open(&fixture->session, &config, &error), 0);
    fixture->options.engine = RECORD_ENGINE_TIMER;
    struct collector *collector = collector_new();
    struct compiler *compiler;
    struct perfdata_writer *writer;
    assert_non_null(collector);
    assert_int_equal(compiler_start(&compiler, &fixture->session, &fixture->kept, &error), 0);
    fixture->file = tmpfile();
    assert_non_null(fixture->file);
    assert_int_equal(perfdata_writer_open(&writer, fileno(fixture->file), &file_config), 0);
    const struct collector_config parts = {.session = &fixture->session,
                                           .compiler = compiler,
                                           .writer = writer,
                                           .options = &fixture->options,
                                           .summary = &fixture->summary};
    assert_int_equal(collector_init(collector, &parts), 0);
    round_begin(&collector->round);
    fixture->collector = collector;
    fixture->memory = own_memory_make();
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct compiler *compiler = fixture->collector->config.compiler;
    perfdata_writer_close(fixture->collector->config.writer);
    collector_free(fixture->collector);
    compiler_stop(compiler);
    open_file_cache_free(&fixture->kept);
    session_close(&fixture->session);
    record_summary_free(&fixture->summary);
    fclose(fixture->file);
    own_memory_free(&fixture->memory);
    free(fixture);
    return 0;
}

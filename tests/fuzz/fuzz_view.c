/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary bytes to `rec view`; the first one is the kind of the rest: the body of one of the three
 * requests of the Firefox Profiler, or all bytes of a connection to the HTTP server. The capture
 * has a function of this program, with source.
 */
#include "base/containers/array.h"
#include "view/server/server.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE = 1, KINDS = 4, PORT = 3000, ROUNDS_MAX = 64 };

/* Of the seeds in make_corpus.py. */
static const char path_of_lib[] = "/proc/self/exe", file[] = "/usr/include/stdio.h";
static const uint64_t code_svma = 0x1000;

static struct capture_index capture;
static struct http_server *http;
static int listen_fd;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct profile *make_profile(void)
{
    struct profile *profile = profile_new();
    const struct profile_event event = {.name = profile_string(profile, "cpu-clock"),
                                        .unit = PROFILE_NANOSECONDS};
    ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity);
    ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    profile_add_event(profile, &event);
    uint32_t lib = profile_lib_id(profile, path_of_lib, NULL, 0);
    uint32_t text = profile_string(profile, "work");
    const struct profile_symbol symbol = {.lib = lib, .name = text, .svma = code_svma, .bytes = 64};
    const struct profile_func func = {
        .name = text, .system_name = text, .lib = lib, .file = profile_string(profile, file)};
    const struct profile_frame frame = {.func = profile_func_id(profile, &func),
                                        .lib = lib,
                                        .svma = code_svma,
                                        .file = func.file,
                                        .line = LINE,
                                        .symbol = profile_symbol_id(profile, &symbol)};
    uint32_t address = profile_address_id(profile, lib, code_svma);
    profile->addresses[address].first_frame = profile_add_frame(profile, &frame);
    profile->addresses[address].frame_count = 1;
    const struct profile_sample sample = {.weight = 1,
                                          .call = profile_call_id(profile, PROFILE_NONE, address)};
    if (profile_add_sample(profile, &sample) != 0 || profile_finish_samples(profile) != 0)
        __builtin_trap();
    profile_link_stacks(profile);
    return profile;
}

/* A local socket, at an address that the kernel chooses. */
static void start(const struct http_handler *handler)
{
    const struct sockaddr address = {.sa_family = AF_UNIX};
    struct error error;
    listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listen_fd, &address, sizeof(address.sa_family)) != 0 || listen(listen_fd, 8) != 0 ||
        http_start(&http, listen_fd, handler, &error) != 0)
        __builtin_trap();
}

static struct request_context *context(void)
{
    static struct convert_options options = {.debug_directory = "/nonexistent"};
    static struct source_dirs dirs;
    static struct listener listener = {.port = PORT, .host = "127.0.0.1"};
    static struct server server = {
        .listener = &listener,
        .capture = "rec.data",
        .token.text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        .first_view = "http://127.0.0.1:3000/",
        .addresses = {.base = "http://127.0.0.1:3000/a", .profiler = "https://profiler.test"},
        .requests = {.index = &capture, .options = &options, .dirs = &dirs},
        .speedscope = -1};
    static const struct http_handler handler = {
        .accept = server_accept, .answer = server_answer, .context = &server};
    if (!capture.profile) {
        if (capture_index_open(&capture, make_profile()) != 0)
            __builtin_trap();
        start(&handler);
    }
    return &server.requests;
}

static int connect_to_server(void)
{
    struct sockaddr_un address;
    socklen_t length = sizeof(address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (getsockname(listen_fd, (struct sockaddr *)&address, &length) != 0 ||
        connect(fd, (struct sockaddr *)&address, length) != 0)
        __builtin_trap();
    return fd;
}

/* A whole request has its reply after a few rounds; part of one never has. */
static void exchange(const uint8_t *bytes, size_t size)
{
    char reply[4096];
    int fd = connect_to_server();
    (void)send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(fd, SHUT_WR);
    for (int i = 0; i < ROUNDS_MAX; i++) {
        http_run(http);
        if (recv(fd, reply, sizeof(reply), MSG_DONTWAIT) == 0)
            break;
    }
    close(fd);
    http_run(http);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const paths[] = {"symbolicate/v5", "source/v1", "asm/v1"};
    struct request_context *requests = context();
    if (size == 0)
        return 0;
    unsigned kind = bytes[0] % KINDS;
    if (kind == KINDS - 1) {
        exchange(bytes + 1, size - 1);
        return 0;
    }
    struct buffer body = {0}, reply = {0};
    buffer_append(&body, bytes + 1, size - 1);
    buffer_u8(&body, 0);
    if (!requests_answer(requests, paths[kind], &body, &reply))
        __builtin_trap();
    buffer_free(&body);
    buffer_free(&reply);
    return 0;
}

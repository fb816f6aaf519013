/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod_client.h"

#include "base/files/io.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint8_t build_id[20] = {1, 2, 3};

static struct debuginfod_fetch fetch_of(const char *source)
{
    return (struct debuginfod_fetch){.build_id = build_id,
                                     .build_id_bytes = sizeof(build_id),
                                     .source = source,
                                     .largest_bytes = 1 << 20,
                                     .seconds = 5};
}

/* The error of a download. No server is configured. */
static int error_of_download(const char *source)
{
    struct buffer reply = {0};
    struct debuginfod_fetch fetch = fetch_of(source);
    int fd = debuginfod_client_request(&fetch);
    assert_true(fd >= 0);
    assert_int_equal(io_read_all(fd, &reply, PATH_MAX), 0);
    close(fd);
    int err = debuginfod_client_take_reply(&reply);
    buffer_free(&reply);
    return err;
}

/* The only socket of this process. */
static int socket_to_the_process(void)
{
    int type;
    socklen_t bytes = sizeof(type);
    for (int fd = 3; fd < 64; fd++)
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET)
            return fd;
    return -1;
}

static void a_request_needs_the_process(void **state)
{
    (void)state;
    struct debuginfod_fetch fetch = fetch_of(NULL);
    assert_int_equal(debuginfod_client_request(&fetch), -ENOTCONN);
}

static void send_with_descriptor(int socket_fd, void *bytes, size_t size, int sent_fd)
{
    union {
        struct cmsghdr first;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {
        {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.first), &sent_fd, sizeof(sent_fd));
    struct iovec part = {bytes, size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    assert_int_equal(sendmsg(socket_fd, &message, MSG_NOSIGNAL), size);
}

/* Without a download, the pipe closes and has no byte. */
static void assert_no_download(int socket_fd, void *bytes, size_t size)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    send_with_descriptor(socket_fd, bytes, size, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static void damaged_requests_start_no_download(void **state)
{
    (void)state;
    static uint8_t bytes[2 * PATH_MAX];
    assert_int_equal(debuginfod_client_start(), 0);
    int fd = socket_to_the_process();
    memset(bytes, 0xff, sizeof(bytes)); /* a build-id of 255 bytes, a source without end */
    for (size_t size = 1; size < sizeof(bytes); size = size * 3 / 2 + 1)
        assert_no_download(fd, bytes, size);
    memset(bytes, 20, sizeof(bytes));
    assert_no_download(fd, bytes, sizeof(bytes));
    assert_int_equal(send(fd, bytes, 64, MSG_NOSIGNAL), 64); /* no descriptor */
    int err = error_of_download(NULL);
    assert_true(err < 0 && err != -EIO);
    err = error_of_download("/src/main.c");
    assert_true(err < 0 && err != -EIO);
}

static void names_beyond_the_room_are_refused(void **state)
{
    (void)state;
    static char source[PATH_MAX + 1];
    memset(source, 'x', PATH_MAX);
    struct debuginfod_fetch fetch = fetch_of(source);
    assert_int_equal(debuginfod_client_request(&fetch), -ENAMETOOLONG);
    fetch = fetch_of(NULL);
    fetch.build_id_bytes = 21;
    assert_int_equal(debuginfod_client_request(&fetch), -ENAMETOOLONG);
}

static int error_of_reply(const char *bytes, size_t size, const char *path)
{
    struct buffer reply = {0};
    buffer_append(&reply, bytes, size);
    int err = debuginfod_client_take_reply(&reply);
    if (path)
        assert_string_equal(reply.bytes, path);
    buffer_free(&reply);
    return err;
}

static void a_reply_is_an_error_or_an_absolute_path(void **state)
{
    (void)state;
    assert_int_equal(error_of_reply("", 0, NULL), -EIO);
    assert_int_equal(error_of_reply("\0", 1, NULL), -EIO);
    assert_int_equal(error_of_reply("\0rel", 4, NULL), -EIO);
    assert_int_equal(error_of_reply((char[]){ENOENT, '/'}, 2, NULL), -ENOENT);
    assert_int_equal(error_of_reply("\0/a/b", 5, "/a/b"), 0);
}

int main(void)
{
    unsetenv("DEBUGINFOD_URLS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_needs_the_process),
        cmocka_unit_test(damaged_requests_start_no_download),
        cmocka_unit_test(names_beyond_the_room_are_refused),
        cmocka_unit_test(a_reply_is_an_error_or_an_absolute_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

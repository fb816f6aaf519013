/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod_client.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BUILD_ID_BYTES_MAX = 20, SERVER_FD = STDERR_FILENO + 1, REPLY_FD = SERVER_FD + 1 };

struct request {
    uint64_t largest_bytes;
    uint32_t seconds;
    uint8_t build_id_bytes;
    uint8_t build_id[BUILD_ID_BYTES_MAX];
    char source[PATH_MAX]; /* with a NUL, the last bytes sent; empty: the debug file */
};

/* A message with one descriptor: unix(7), SCM_RIGHTS. */
struct message {
    struct msghdr header;
    struct iovec bytes;
    union {
        struct cmsghdr first;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
};

static int client_fd = -1;

static void message_prepare(struct message *message, struct request *request, size_t size)
{
    *message = (struct message){.bytes = {.iov_base = request, .iov_len = size}};
    message->header = (struct msghdr){.msg_iov = &message->bytes,
                                      .msg_iovlen = 1,
                                      .msg_control = &message->control,
                                      .msg_controllen = sizeof(message->control)};
}

/* ---- download process ---- */

static bool is_valid(const struct request *request, size_t size)
{
    const size_t head = offsetof(struct request, source);
    return size > head && request->build_id_bytes > 0 &&
           request->build_id_bytes <= BUILD_ID_BYTES_MAX &&
           memchr(request->source, '\0', size - head) != NULL;
}

/* The descriptor for the reply; -1: none. */
static int sent_descriptor(struct message *message)
{
    const struct cmsghdr *control = CMSG_FIRSTHDR(&message->header);
    int fd = -1;
    if (control && control->cmsg_type == SCM_RIGHTS && control->cmsg_len == CMSG_LEN(sizeof(fd)))
        memcpy(&fd, CMSG_DATA(control), sizeof(fd));
    return fd;
}

/* The child keeps the standard streams and the pipe. */
static void start_download(const struct request *request, int out)
{
    const struct debuginfod_fetch fetch = {
        .build_id = request->build_id,
        .build_id_bytes = request->build_id_bytes,
        .source = request->source[0] ? request->source : NULL,
        .largest_bytes = request->largest_bytes,
        .seconds = request->seconds,
    };
    if (fork() != 0)
        return;
    if (dup2(out, SERVER_FD) < 0 || close_range(REPLY_FD, ~0u, 0) != 0)
        _exit(1);
    debuginfod_fetch_run(&fetch, SERVER_FD);
}

/* Ends with the last descriptor of the other end. */
__attribute__((noreturn)) static void serve(void)
{
    for (;;) {
        struct request request;
        struct message message;
        message_prepare(&message, &request, sizeof(request));
        ssize_t size = recvmsg(SERVER_FD, &message.header, MSG_CMSG_CLOEXEC);
        if (size == 0 || (size < 0 && errno != EINTR))
            _exit(0);
        int out = size < 0 ? -1 : sent_descriptor(&message);
        if (out >= 0 && is_valid(&request, (size_t)size))
            start_download(&request, out);
        if (out >= 0)
            close(out);
    }
}

/* Closes every other descriptor: the capture and the outputs may be open for writing. */
__attribute__((noreturn)) static void run(int fd)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps the downloads */
    /* SERVER_FD is the descriptor behind the standard streams: one call closes all others. */
    if (dup2(fd, SERVER_FD) < 0 || close_range(REPLY_FD, ~0u, 0) != 0)
        _exit(1);
    serve();
}

/* ---- converting process ---- */

int debuginfod_client_start(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    pid_t pid = fork();
    int err = pid < 0 ? -errno : 0;
    if (pid == 0)
        run(ends[1]);
    close(ends[1]);
    if (err)
        close(ends[0]);
    else
        client_fd = ends[0];
    return err;
}

static int send_request(const struct debuginfod_fetch *fetch, int out)
{
    struct request request = {.largest_bytes = fetch->largest_bytes, .seconds = fetch->seconds};
    struct message message;
    size_t length = fetch->source ? strlen(fetch->source) : 0;
    if (fetch->build_id_bytes > BUILD_ID_BYTES_MAX || length >= sizeof(request.source))
        return -ENAMETOOLONG;
    request.build_id_bytes = fetch->build_id_bytes;
    memcpy(request.build_id, fetch->build_id, fetch->build_id_bytes);
    memcpy(request.source, fetch->source ?: "", length);
    message_prepare(&message, &request, offsetof(struct request, source) + length + 1);
    struct cmsghdr *control = CMSG_FIRSTHDR(&message.header);
    *control = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(out)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(control), &out, sizeof(out));
    return sendmsg(client_fd, &message.header, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int debuginfod_client_request(const struct debuginfod_fetch *fetch)
{
    int ends[2];
    if (client_fd < 0)
        return -ENOTCONN;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    int err = send_request(fetch, ends[1]);
    close(ends[1]);
    if (err)
        close(ends[0]);
    return err ? err : ends[0];
}

int debuginfod_client_take_reply(struct buffer *reply)
{
    int err = reply->failed ? -ENOMEM : reply->size == 0 ? -EIO : -(int)reply->bytes[0];
    if (err)
        return err;
    memmove(reply->bytes, reply->bytes + 1, --reply->size);
    buffer_u8(reply, 0);
    if (reply->failed)
        return -ENOMEM;
    return reply->bytes[0] == '/' ? 0 : -EIO;
}

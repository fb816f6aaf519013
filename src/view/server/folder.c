/* SPDX-License-Identifier: MIT */
#include "view/server/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *suffix, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".wasm", "application/wasm"},
    {".md", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t suffix = strlen(types[i].suffix);
        if (length > suffix && strcmp(path + length - suffix, types[i].suffix) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* A FIFO in the folder does not block the server. openat2(2): Linux 5.6. */
static int open_below(int folder, const char *path)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
    return fd < 0 ? -errno : fd;
}

int folder_open(const char *path, const char *what, struct error *error)
{
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 ? error_set(error, -errno, "%s: cannot open the folder of %s: %s", path, what,
                                  strerror(errno))
                      : folder_check(folder, path, what, error);
}

int folder_check(int folder, const char *path, const char *what, struct error *error)
{
    struct stat page;
    if (fstatat(folder, "index.html", &page, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(page.st_mode))
        return folder;
    close(folder);
    return error_set(error, -ENOENT, "%s: no index.html: not a built copy of %s", path, what);
}

bool folder_reply(int folder, const char *path, struct http_reply *reply)
{
    struct stat status;
    while (*path == '/')
        path++;
    if (!*path)
        path = "index.html";
    int fd = open_below(folder, path);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return false;
    }
    reply->status = 200;
    reply->type = type_of(path);
    reply->file = fd;
    reply->file_bytes = (uint64_t)status.st_size;
    return true;
}

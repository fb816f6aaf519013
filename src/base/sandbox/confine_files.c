/* SPDX-License-Identifier: MIT */
/* Landlock through syscall(): the C library has no wrappers. Constants are from
 * include/uapi/linux/landlock.h; the headers of older kernels lack the newer constants. */
#include "base/sandbox/confine_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CALL_CREATE_RULESET = 444, /* the same on every architecture */
    CALL_ADD_RULE = 445,
    CALL_RESTRICT_SELF = 446,
    CREATE_RULESET_VERSION = 1, /* a flag: the ABI is returned */
    RULE_PATH_BENEATH = 1,
    /* LANDLOCK_ACCESS_FS_… */
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_REG = 1 << 8,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    IOCTL_DEV = 1 << 15,
    SCOPE_ABSTRACT_SOCKETS = 1,
};

struct ruleset { /* landlock_ruleset_attr, ABI 6; older kernels accept zero excess */
    uint64_t files, net, scopes;
};

struct path_rule { /* struct landlock_path_beneath_attr */
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

int confine_files_abi(void)
{
    long abi = syscall(CALL_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : -errno;
}

/* All rights of the ABI: later ABIs add higher bits. */
static struct ruleset everything(int abi)
{
    /* ABI 1: 13 rights; 2: REFER; 3: TRUNCATE; 5: IOCTL_DEV */
    static const unsigned char file_rights[] = {0, 13, 14, 15, 15, 16};
    int known = abi < 5 ? abi : 5;
    return (struct ruleset){
        .files = (UINT64_C(1) << file_rights[known]) - 1,
        .net = abi >= 4 ? 3 : 0,    /* bind, connect of TCP */
        .scopes = abi >= 6 ? 3 : 0, /* abstract unix sockets, signals */
    };
}

static int allow(int ruleset_fd, int fd, uint64_t rights)
{
    struct path_rule rule = {.allowed = rights, .parent_fd = fd};
    return syscall(CALL_ADD_RULE, ruleset_fd, RULE_PATH_BENEATH, &rule, 0) == 0 ? 0 : -errno;
}

static int allow_reading(int ruleset_fd, int directory_fd, const char *path, int flags)
{
    int fd = openat(directory_fd, path, O_PATH | O_CLOEXEC | flags);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? -errno : 0; /* nothing there is read */
    int err = allow(ruleset_fd, fd, READ_FILE);
    close(fd);
    return err;
}

/* Devices, views of processes and the kernel, secrets of the system; no programs. */
static bool is_withheld(const char *name)
{
    static const char *const withheld[] = {".", "..", "proc", "sys", "dev", "etc"};
    for (size_t i = 0; i < sizeof(withheld) / sizeof(withheld[0]); i++)
        if (strcmp(name, withheld[i]) == 0)
            return true;
    return false;
}

/* Landlock rules only grant rights, so every permitted entry of "/" has a rule. Links are
 * skipped: their targets have rules. */
static int allow_usual_places(int ruleset_fd)
{
    DIR *root = opendir("/");
    if (!root)
        return -errno;
    int err = 0;
    for (const struct dirent *entry; err == 0 && (entry = readdir(root));)
        if (entry->d_type != DT_LNK && !is_withheld(entry->d_name))
            err = allow_reading(ruleset_fd, dirfd(root), entry->d_name, O_NOFOLLOW);
    closedir(root);
    return err ? err : allow_reading(ruleset_fd, AT_FDCWD, "/dev/shm", O_NOFOLLOW);
}

int confine_files_rules(int landlock_abi, const struct confine_limits *limits)
{
    struct ruleset ruleset = everything(landlock_abi);
    long fd = syscall(CALL_CREATE_RULESET, &ruleset, sizeof(ruleset), 0);
    if (fd < 0)
        return -errno;
    int err = allow_usual_places((int)fd);
    for (size_t i = 0; err == 0 && i < CONFINE_DIRECTORIES; i++)
        if (limits->directories[i])
            err = allow_reading((int)fd, AT_FDCWD, limits->directories[i], 0);
    for (size_t i = 0; err == 0 && i < limits->file_count; i++)
        err = allow((int)fd, limits->files[i], READ_FILE);
    if (err != 0)
        close((int)fd);
    return err ? err : (int)fd;
}

/* Workers open /dev/null in place of the standard streams. */
static int allow_outputs(int ruleset_fd, uint64_t handled, const int *directories, size_t count)
{
    const uint64_t rights = WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE | REFER;
    int null = open("/dev/null", O_PATH | O_CLOEXEC);
    int err = null < 0 ? 0 : allow(ruleset_fd, null, WRITE_FILE);
    if (null >= 0)
        close(null);
    for (size_t i = 0; err == 0 && i < count; i++)
        err = allow(ruleset_fd, directories[i], rights & handled);
    return err;
}

int confine_files_output_rules(int landlock_abi, const int *directories, size_t count)
{
    struct ruleset ruleset = everything(landlock_abi);
    ruleset.files &= ~(uint64_t)(READ_FILE | READ_DIR | IOCTL_DEV);
    ruleset.scopes &= SCOPE_ABSTRACT_SOCKETS;
    long fd = syscall(CALL_CREATE_RULESET, &ruleset, sizeof(ruleset), 0);
    if (fd < 0)
        return -errno;
    int err = allow_outputs((int)fd, ruleset.files, directories, count);
    if (err != 0)
        close((int)fd);
    return err ? err : (int)fd;
}

int confine_files(int rules_fd)
{
    int err = syscall(CALL_RESTRICT_SELF, rules_fd, 0) == 0 ? 0 : -errno;
    close(rules_fd);
    return err;
}

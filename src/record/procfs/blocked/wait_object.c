/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/wait_object.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct address {
    char text[INET6_ADDRSTRLEN + 8]; /* with the port */
    bool is_none;                    /* no peer */
};

/* Words of 32 bits in the byte order of the machine, as the kernel prints them; then the port. */
static bool parse_address(const char *hex, struct address *address)
{
    uint32_t words[4] = {0};
    unsigned port;
    char host[INET6_ADDRSTRLEN] = "?";
    size_t digits = strcspn(hex, ":");
    if ((digits != 8 && digits != 32) || sscanf(hex + digits, ":%x", &port) != 1)
        return false;
    for (size_t i = 0; i < digits / 8; i++)
        if (sscanf(hex + 8 * i, "%8x", &words[i]) != 1)
            return false;
    inet_ntop(digits == 8 ? AF_INET : AF_INET6, words, host, sizeof(host));
    snprintf(address->text, sizeof(address->text), digits == 8 ? "%s:%u" : "[%s]:%u", host, port);
    address->is_none = port == 0;
    return true;
}

/* sl local remote st queues timer retransmits uid timeout inode */
static bool parse_internet(const char *line, const char *protocol, unsigned long inode, char *text,
                           size_t size)
{
    char local_hex[64], remote_hex[64];
    unsigned long found;
    struct address local, remote;
    if (sscanf(line, " %*[^:]: %63s %63s %*s %*s %*s %*s %*s %*s %lu", local_hex, remote_hex,
               &found) != 3 ||
        found != inode || !parse_address(local_hex, &local) || !parse_address(remote_hex, &remote))
        return false;
    snprintf(text, size, "%.3s socket %s%s%s", protocol, local.text, remote.is_none ? "" : " to ",
             remote.is_none ? "" : remote.text);
    return true;
}

/* Num: RefCount Protocol Flags Type St Inode Path */
static bool parse_unix(const char *line, unsigned long inode, char *text, size_t size)
{
    unsigned long found;
    int path = 0;
    if (sscanf(line, "%*[^:]: %*s %*s %*s %*s %*s %lu%n", &found, &path) != 1 || found != inode)
        return false;
    size_t length = strcspn(line + path, "\n");
    snprintf(text, size, "unix socket%.*s", (int)length, line + path);
    return true;
}

bool wait_object_parse_socket(const char *line, const char *protocol, unsigned long inode,
                              char *text, size_t size)
{
    return strcmp(protocol, "unix") == 0 ? parse_unix(line, inode, text, size)
                                         : parse_internet(line, protocol, inode, text, size);
}

/* In the network namespace of the process. */
static bool find_socket(pid_t pid, const char *protocol, unsigned long inode, char *text,
                        size_t size)
{
    char path[64], line[512];
    bool is_found = false;
    snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, protocol);
    FILE *file = fopen(path, "re");
    while (file && !is_found && fgets(line, sizeof(line), file))
        is_found = wait_object_parse_socket(line, protocol, inode, text, size);
    if (file)
        fclose(file);
    return is_found;
}

/* Inode numbers of sockets are common to all families: the first table with the number is right. */
static void describe_socket(pid_t pid, unsigned long inode, char *text, size_t size)
{
    static const char *const protocols[] = {"unix", "tcp", "tcp6", "udp", "udp6"};
    snprintf(text, size, "socket");
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
        if (find_socket(pid, protocols[i], inode, text, size))
            return;
}

/* "[eventfd]", "inotify" */
static void describe_anonymous(const char *name, char *text, size_t size)
{
    name += *name == '[';
    snprintf(text, size, "%.*s", (int)strcspn(name, "]"), name);
}

bool wait_object_link(pid_t pid, int descriptor, char *target, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, descriptor);
    ssize_t length = readlink(path, target, size - 1);
    target[length > 0 ? length : 0] = '\0';
    return length > 0;
}

void wait_object_describe_link(pid_t pid, const char *target, char *text, size_t size)
{
    static const char anonymous[] = "anon_inode:";
    if (strncmp(target, "socket:[", 8) == 0)
        describe_socket(pid, strtoul(target + 8, NULL, 10), text, size);
    else if (strncmp(target, "pipe:", 5) == 0)
        snprintf(text, size, "pipe");
    else if (strncmp(target, anonymous, sizeof(anonymous) - 1) == 0)
        describe_anonymous(target + sizeof(anonymous) - 1, text, size);
    else
        snprintf(text, size, "%s", target);
}

void wait_object_describe(pid_t pid, int descriptor, char *text, size_t size)
{
    char target[512];
    text[0] = '\0';
    if (wait_object_link(pid, descriptor, target, sizeof(target)))
        wait_object_describe_link(pid, target, text, size);
}

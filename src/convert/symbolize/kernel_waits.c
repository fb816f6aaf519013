/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/kernel_waits.h"

#include "convert/addresses.h"
#include "convert/frames.h"
#include "profile/waits.h"

#include <string.h>

struct reason {
    const char *function; /* up to a dot: the compiler appends ".constprop.0" */
    const char *leaf;
};

static const char futex[] = "[waiting: futex]";

/* Linux 5.10 to 6.18. Inner functions end up in outer ones: sock_recvmsg() in vfs_read(). */
static const struct reason kernel_reasons[] = {
    {"do_nanosleep", "[waiting: sleep]"},
    {"futex_do_wait", futex},
    {"futex_wait_queue", futex},
    {"futex_wait_queue_me", futex},
    {"futex_wait_multiple", futex},
    {"futex_wait_requeue_pi", futex},
    {"futex_lock_pi", "[waiting: lock]"},
    {"ep_poll", "[waiting: poll]"},
    {"do_epoll_wait", "[waiting: poll]"},
    {"poll_schedule_timeout", "[waiting: poll]"},
    {"do_sys_poll", "[waiting: poll]"},
    {"do_select", "[waiting: poll]"},
    {"do_wait", "[waiting: child]"},
    {"do_sigtimedwait", "[waiting: signal]"},
    {"sigsuspend", "[waiting: signal]"},
    {"__do_sys_pause", "[waiting: signal]"},
    {"do_accept", "[waiting: accept]"},
    {"inet_csk_accept", "[waiting: accept]"},
    {"__sys_connect", "[waiting: connect]"},
    {"sock_recvmsg", "[waiting: receive]"},
    {"__sys_recvfrom", "[waiting: receive]"},
    {"sock_sendmsg", "[waiting: send]"},
    {"__sys_sendto", "[waiting: send]"},
    {"sock_write_iter", "[waiting: send]"},
    {"fcntl_setlk", "[waiting: file lock]"},
    {"__do_sys_flock", "[waiting: file lock]"},
    {"do_semtimedop", "[waiting: semaphore]"},
    {"do_msgrcv", "[waiting: message]"},
    {"do_msgsnd", "[waiting: message]"},
    {"read_events", "[waiting: asynchronous IO]"},
    {"io_cqring_wait", "[waiting: asynchronous IO]"},
    {"fifo_open", "[waiting: open]"},
    {"vfs_read", "[waiting: read]"},
    {"vfs_readv", "[waiting: read]"},
    {"vfs_write", "[waiting: write]"},
    {"vfs_writev", "[waiting: write]"},
};

/* The use of a futex, by functions of the C library; prefixes, as versions have other endings. */
static const struct reason library_reasons[] = {
    {"___pthread_mutex_", "[waiting: lock]"},
    {"__pthread_mutex_", "[waiting: lock]"},
    {"pthread_mutex_", "[waiting: lock]"},
    {"__lll_lock_wait", "[waiting: lock]"},
    {"___pthread_cond_", "[waiting: condition variable]"},
    {"__pthread_cond_", "[waiting: condition variable]"},
    {"pthread_cond_", "[waiting: condition variable]"},
    {"___pthread_rwlock_", "[waiting: read-write lock]"},
    {"__pthread_rwlock_", "[waiting: read-write lock]"},
    {"pthread_rwlock_", "[waiting: read-write lock]"},
    {"__new_sem_", "[waiting: semaphore]"},
    {"sem_", "[waiting: semaphore]"},
    {"__pthread_barrier_", "[waiting: barrier]"},
    {"pthread_barrier_", "[waiting: barrier]"},
    {"__pthread_clockjoin", "[waiting: join]"},
    {"pthread_join", "[waiting: join]"},
    {"__pthread_once", "[waiting: one-time initialization]"},
};

/* Frames of the C library, from the system call outwards. */
enum { LIBRARY_FRAMES = 5 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The system name of the machine function of a call; "": none. */
static const char *function_of(const struct profile *profile, uint32_t call)
{
    const struct profile_address *address = &profile->addresses[profile->calls[call].address];
    if (address->frame_count == 0)
        return "";
    uint32_t func = profile->frames[address->first_frame].func;
    return profile_text(profile, profile->funcs[func].system_name);
}

/* An inlined or cloned function has a suffix behind a dot. */
static const char *kernel_reason(const char *function)
{
    size_t length = strcspn(function, ".");
    for (size_t i = 0; i < COUNT(kernel_reasons); i++)
        if (strncmp(kernel_reasons[i].function, function, length) == 0 &&
            kernel_reasons[i].function[length] == '\0')
            return kernel_reasons[i].leaf;
    return NULL;
}

static const char *library_reason(const struct profile *profile, uint32_t call)
{
    for (size_t n = 0; n < LIBRARY_FRAMES && call != PROFILE_NONE; n++) {
        const char *function = function_of(profile, call);
        for (size_t i = 0; i < COUNT(library_reasons); i++)
            if (strncmp(library_reasons[i].function, function,
                        strlen(library_reasons[i].function)) == 0)
                return library_reasons[i].leaf;
        call = profile->calls[call].parent;
    }
    return NULL;
}

/* From the innermost frame outwards. NULL: no frame of the kernel names a reason. */
static const char *reason_of(const struct profile *profile, uint32_t call)
{
    const char *reason = NULL;
    while (call != PROFILE_NONE &&
           addresses_are_of_kernel(profile, profile->addresses[profile->calls[call].address].lib)) {
        if (!reason)
            reason = kernel_reason(function_of(profile, call));
        call = profile->calls[call].parent;
    }
    const char *use = reason == futex ? library_reason(profile, call) : NULL;
    return use ? use : reason;
}

static bool is_unknown_wait(const struct profile *profile, uint32_t lib)
{
    return lib != PROFILE_NONE && profile->libs[lib].is_synthetic &&
           strcmp(profile_text(profile, profile->libs[lib].name), WAITS_UNKNOWN) == 0;
}

static uint32_t leaf_address(struct profile *profile, const char *name)
{
    uint32_t lib = profile_lib_id(profile, name, NULL, 0);
    if (lib == PROFILE_NONE)
        return PROFILE_NONE;
    profile->libs[lib].category = PROFILE_SYNTHETIC;
    uint32_t address = profile_address_id(profile, lib, 0);
    if (!profile->failed && profile->addresses[address].frame_count == 0)
        frames_add_bare(profile, &profile->addresses[address], name);
    return profile->failed ? PROFILE_NONE : address;
}

void kernel_waits_name(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->call_count && !profile->failed; i++) {
        const struct profile_call *call = &profile->calls[i];
        if (!is_unknown_wait(profile, profile->addresses[call->address].lib))
            continue;
        const char *reason = reason_of(profile, call->parent);
        uint32_t address = reason ? leaf_address(profile, reason) : PROFILE_NONE;
        if (address != PROFILE_NONE)
            profile->calls[i].address = address;
    }
}

/* SPDX-License-Identifier: MIT */
#include "base/files/rights.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct rights *reader;

/* setgroups() of the C library changes every thread of the process. */
static int set_groups(const struct rights *rights)
{
    return syscall(SYS_setgroups, rights->group_count, rights->groups) == 0 ? 0 : -errno;
}

/* setfsuid() and setfsgid() report no failure; given an invalid id, they return the current one. */
static int set_ids(uid_t uid, gid_t gid)
{
    setfsgid(gid);
    setfsuid(uid);
    bool is_set = (gid_t)setfsgid((gid_t)-1) == gid && (uid_t)setfsuid((uid_t)-1) == uid;
    return is_set ? 0 : -EPERM;
}

static int get_own(struct rights *own)
{
    *own = (struct rights){.uid = geteuid(), .gid = getegid()};
    int count = getgroups(RIGHTS_GROUPS_MAX, own->groups);
    own->group_count = count < 0 ? 0 : (size_t)count;
    return count < 0 ? -errno : 0;
}

/* The kernel makes a process undumpable when its file system ids change (kernel/cred.c,
 * commit_creds()). Recorded processes of root without CAP_SYS_PTRACE could then not open the
 * session through /proc/PID/fd. */
static bool was_dumpable(void)
{
    static int known = -1;
    int unknown = -1;
    if (__atomic_load_n(&known, __ATOMIC_RELAXED) == unknown)
        __atomic_compare_exchange_n(&known, &unknown, prctl(PR_GET_DUMPABLE), false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return __atomic_load_n(&known, __ATOMIC_RELAXED) == 1;
}

/* With SECBIT_NO_SETUID_FIXUP the capabilities over files would stay. */
static bool keeps_capabilities(void)
{
    int bits = prctl(PR_GET_SECUREBITS);
    return bits < 0 || (bits & SECBIT_NO_SETUID_FIXUP);
}

static bool are_others(const struct rights *rights)
{
    return rights && rights->uid != 0 && geteuid() == 0;
}

static int take(const struct rights *rights)
{
    int err = keeps_capabilities() ? -EPERM : set_groups(rights);
    return err ? err : set_ids(rights->uid, rights->gid);
}

int rights_borrow(struct rights_loan *loan, const struct rights *rights)
{
    loan->is_taken = are_others(rights);
    if (!loan->is_taken)
        return 0;
    (void)was_dumpable(); /* before the first change */
    int err = get_own(&loan->own);
    if (err == 0 && (err = take(rights)) != 0)
        rights_return(loan);
    loan->is_taken = err == 0;
    return err;
}

void rights_return(const struct rights_loan *loan)
{
    if (!loan->is_taken)
        return;
    (void)set_ids(loan->own.uid, loan->own.gid);
    (void)set_groups(&loan->own);
    if (was_dumpable())
        prctl(PR_SET_DUMPABLE, 1);
}

void rights_set_reader(const struct rights *rights)
{
    reader = rights;
}

const struct rights *rights_reader(void)
{
    return reader;
}

/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/lookup_ahead.h"

#include "base/sandbox/workers.h"
#include "convert/symbolize/lib_symbols.h"

#include <string.h>
#include <sys/resource.h>

enum { ADDRESSES_OF_MESSAGE = 256 };
enum { FILES_OF_LIB = 2, OTHER_FILES = 16 }; /* itself and its debug file; what there is anyway */

/* Where a lib, or its debug file, is one file too many, it would be answered without names, or with fewer. */
static bool may_have_all_open(void)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 &&
           files.rlim_cur >= LOOKUP_SERVER_LIBS * FILES_OF_LIB + OTHER_FILES;
}

void lookup_ahead_start(struct lookup_ahead *ahead, const struct convert_options *options)
{
    if (!options->symbols_only || options->use_debuginfod || options->find_gone ||
        !may_have_all_open())
        return;
    struct lookup_server server;
    struct workers usual;
    workers_set_limits(&usual);
    lib_symbols_set_directories(&usual.limits, options);
    if (lookup_server_init(&server, options) == 0)
        subprocess_start(&ahead->worker, &(struct subprocess_work){
                                             .take = lookup_server_take,
                                             .finish = lookup_server_finish,
                                             .context = &server,
                                             .limits = usual.limits,
                                             .wall_s = usual.wall_s,
                                             .answer_limit_bytes = usual.answer_limit_bytes,
                                         });
    lookup_server_free(&server);
}

static bool is_wanted(const struct profile *profile, uint32_t lib)
{
    if (lib >= LOOKUP_SERVER_LIBS)
        return false;
    const struct profile_lib *it = &profile->libs[lib];
    return !it->is_synthetic && (it->category == PROFILE_USER || it->category == PROFILE_LIBRARY);
}

/* False: not now. What is too long for a message is left to others. */
static bool tell_lib(struct lookup_ahead *ahead, const struct profile *profile, uint32_t lib)
{
    uint8_t message[SUBPROCESS_MESSAGE_BYTES];
    size_t size = lookup_server_lib(message, lib, profile_text(profile, profile->libs[lib].path),
                                    profile->libs[lib].build_id, profile->libs[lib].build_id_bytes);
    if (size && !subprocess_send(&ahead->worker, message, size))
        return false;
    ahead->is_told[lib] = true;
    return true;
}

/* False: not now. */
static bool tell_some(struct lookup_ahead *ahead, const struct profile *profile, size_t end)
{
    struct lookup_question questions[ADDRESSES_OF_MESSAGE];
    size_t count = 0;
    for (size_t i = ahead->told_addresses; i < end; i++) {
        const struct profile_address *address = &profile->addresses[i];
        if (!is_wanted(profile, address->lib))
            continue;
        if (!ahead->is_told[address->lib] && !tell_lib(ahead, profile, address->lib))
            return false;
        questions[count++] = (struct lookup_question){.lib = address->lib, .svma = address->svma};
    }
    if (count && !subprocess_send(&ahead->worker, questions, count * sizeof(questions[0])))
        return false;
    ahead->told_addresses = end;
    return true;
}

static size_t untold(const struct lookup_ahead *ahead, const struct profile *profile)
{
    return profile->address_count - ahead->told_addresses;
}

/* False: not all of them now. */
static bool tell_all(struct lookup_ahead *ahead, const struct profile *profile)
{
    for (size_t left; ahead->worker.pid && (left = untold(ahead, profile)) > 0;) {
        size_t count = left < ADDRESSES_OF_MESSAGE ? left : ADDRESSES_OF_MESSAGE;
        if (!tell_some(ahead, profile, ahead->told_addresses + count))
            return false;
    }
    return true;
}

void lookup_ahead_tell(struct lookup_ahead *ahead, const struct profile *profile)
{
    bool has_new_lib = profile->lib_count != ahead->told_libs;
    if (!ahead->worker.pid || (!has_new_lib && profile->address_count < ahead->next_addresses))
        return;
    ahead->told_libs = profile->lib_count;
    (void)tell_all(ahead, profile);
    ahead->next_addresses = profile->address_count + ADDRESSES_OF_MESSAGE;
}

void lookup_ahead_tell_rest(struct lookup_ahead *ahead, const struct profile *profile)
{
    while (!tell_all(ahead, profile))
        subprocess_wait_writable(&ahead->worker);
    subprocess_end_input(&ahead->worker);
}

/* Of each lib: its number, the answer's size, the answer. */
void lookup_ahead_finish(struct lookup_ahead *ahead)
{
    if (!subprocess_receive(&ahead->worker, &ahead->answer))
        return;
    struct cursor c = cursor_of(ahead->answer.bytes, ahead->answer.size);
    while (cursor_left(&c) && !c.failed) {
        uint32_t lib = cursor_u32(&c);
        struct cursor answer = cursor_sub(&c, cursor_u32(&c));
        if (!c.failed && lib < LOOKUP_SERVER_LIBS)
            ahead->answers[lib] = answer;
    }
}

/* When the recording ended was not known when the file was opened. */
bool lookup_ahead_find(const struct lookup_ahead *ahead, const struct profile *profile,
                       uint32_t lib, struct cursor *answer)
{
    if (lib >= LOOKUP_SERVER_LIBS || !cursor_left(&ahead->answers[lib]) ||
        lib_symbols_is_judged_by_time(profile, lib))
        return false;
    *answer = ahead->answers[lib];
    return true;
}

void lookup_ahead_free(struct lookup_ahead *ahead)
{
    subprocess_stop(&ahead->worker);
    buffer_free(&ahead->answer);
    *ahead = (struct lookup_ahead){0};
}

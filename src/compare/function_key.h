/* SPDX-License-Identifier: MIT */
/*
 * The identity of a function across builds: module and name.
 *
 *     libfoo.so.1.2.3, libfoo-1.2.so   libfoo.so         generated code of all processes: [jit]
 *     work.constprop.0, work.part.1    work              also .isra, .cold, .lto_priv, .llvm
 *     work(int) [clone .cold]          work(int)
 *     core::write::h0123456789abcdef   core::write       Rust's hash
 *
 * The recorded program is one module under all names of its file: app.old, app.new.
 * Code without a name matches only with the same build-id; without build-ids, at the same path.
 */
#pragma once

#include "base/containers/buffer.h"
#include "profile/profile.h"

/* Appends the bytes of the key; they differ for different functions. module: replaces the
 * name of the function's file; NULL: the file. */
void function_key_append(struct buffer *out, const struct profile *profile, uint32_t func,
                         const char *module);

/* Append the parts for people: the name without the compiler's suffixes, the module's file name. */
void function_key_append_name(struct buffer *out, const struct profile *profile, uint32_t func);
void function_key_append_module(struct buffer *out, const struct profile *profile, uint32_t func);

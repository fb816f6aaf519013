/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/containers/buffer.h"

/*
 * Appends the readable form of a mangled name (C++, Rust, D) without return type, template
 * arguments and parameters; nested names stay:
 *
 *     int std::max<int>(int, int)                      std::max
 *     (anonymous namespace)::f(int)::{lambda(int)#1}   (anonymous namespace)::f::{lambda#1}
 *     <alloc::vec::Vec<T> as core::ops::Drop>::drop    <alloc::vec::Vec as core::ops::Drop>::drop
 *
 * linkage: the mangled form. Unmangled names (C, JIT code) are appended unchanged.
 */
void short_name_append(struct buffer *out, const char *name, const char *linkage);

# SPDX-License-Identifier: MIT
# What rec is built with, and nothing else: libelf and libdw (symbols), zlib (output), libiberty
# (demangling). Each with its reason in README.md.
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)

function(rec_find_library variable name header package)
  find_library(${variable} ${name})
  find_path(${variable}_INCLUDE ${header})
  if(NOT ${variable} OR NOT ${variable}_INCLUDE)
    message(FATAL_ERROR "${name} is missing: install ${package}")
  endif()
endfunction()

rec_find_library(REC_LIBELF elf libelf.h libelf-dev)
rec_find_library(REC_LIBDW dw elfutils/libdw.h libdw-dev)
rec_find_library(REC_LIBIBERTY iberty libiberty/demangle.h libiberty-dev)

# Optional: reading what perf record -z compressed. `rec --version` says when it is not there.
find_library(REC_ZSTD zstd)
find_path(REC_ZSTD_INCLUDE zstd.h)

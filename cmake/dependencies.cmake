# SPDX-License-Identifier: MIT
# What rec is built with, and nothing else: libelf and libdw (symbols), zlib (output), libiberty
# (demangling), microhttpd and json-c (rec view); optional, named by `rec --version` when missing: zstd (debug info, perf record -z), lzma
# (.gnu_debugdata), deflate (zlib sections and .gz files, faster), isal (zlib
# sections in little memory), Zydis and capstone (machine code). Each with its reason in README.md.
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

rec_find_library(REC_MICROHTTPD microhttpd microhttpd.h libmicrohttpd-dev)
rec_find_library(REC_JSON_C json-c json-c/json.h libjson-c-dev)

# Sets VARIABLE and VARIABLE_INCLUDE when both are there, and says so when not.
function(rec_find_optional variable name header package)
  find_library(${variable} ${name})
  find_path(${variable}_INCLUDE ${header})
  if(NOT ${variable} OR NOT ${variable}_INCLUDE)
    message(STATUS "${name} is missing (${package}): built without it")
    set(${variable} "" PARENT_SCOPE)
  endif()
endfunction()

rec_find_optional(REC_ZSTD zstd zstd.h libzstd-dev)
rec_find_optional(REC_LZMA lzma lzma.h liblzma-dev)
rec_find_optional(REC_DEFLATE deflate libdeflate.h libdeflate-dev)
rec_find_optional(REC_ISAL isal isa-l/igzip_lib.h libisal-dev)
rec_find_optional(REC_ZYDIS Zydis Zydis/Zydis.h libzydis-dev)
rec_find_optional(REC_CAPSTONE capstone capstone/capstone.h libcapstone-dev)

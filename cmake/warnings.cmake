# SPDX-License-Identifier: MIT
# The warning set of every target that is ours; both gcc 12 and clang 14 are silent under it.
add_library(rec_warnings INTERFACE)
target_compile_options(rec_warnings INTERFACE
  -Wall -Wextra -Wundef -Wshadow -Wvla -Wcast-align -Wpointer-arith -Wimplicit-fallthrough
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wconversion>)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  target_compile_options(rec_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-variable-declarations>)
else()
  target_compile_options(rec_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wredundant-decls>)
endif()
if(REC_WERROR)
  target_compile_options(rec_warnings INTERFACE -Werror)
endif()

# What every host-side target is compiled with; the sampler has flags of its own.
add_library(rec_host INTERFACE)
target_link_libraries(rec_host INTERFACE rec_warnings)
target_include_directories(rec_host INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/formats ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(rec_host INTERFACE _GNU_SOURCE)
if(REC_SANITIZE)
  target_compile_options(rec_host INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rec_host INTERFACE -fsanitize=address,undefined)
endif()
if(REC_TSAN)
  if(REC_SANITIZE)
    message(FATAL_ERROR "REC_TSAN and REC_SANITIZE exclude each other: build in two directories")
  endif()
  # gcc warns of fences, which the sanitizer does not model; no report of the unit tests comes from them.
  target_compile_options(rec_host INTERFACE
    -fsanitize=thread -fno-omit-frame-pointer $<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
  target_link_options(rec_host INTERFACE -fsanitize=thread)
endif()
if(REC_COVERAGE)
  # Atomic counters: threads, and workers forked from the launcher, add to the same files.
  target_compile_options(rec_host INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(rec_host INTERFACE --coverage)
endif()
if(REC_FUZZ)
  target_compile_options(rec_host INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(rec_host INTERFACE -fsanitize=fuzzer-no-link)
endif()

# One static library a folder: its files are all .c files of the folder and of its sub-folders.
function(rec_layer name)
  cmake_parse_arguments(ARG "" "" "EXCLUDE;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  foreach(excluded IN LISTS ARG_EXCLUDE)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${excluded})
  endforeach()
  add_library(rec_${name} STATIC ${sources})
  target_link_libraries(rec_${name} PUBLIC rec_host ${ARG_LINK})
endfunction()

# SPDX-License-Identifier: MIT
# Files as C arrays: NAME.EXT becomes NAME_EXT and NAME_EXT_bytes, declared in HEADER.
#
#     cmake "-DFILES=a.js;b.css" -DHEADER=view/page/page.h -DOUT=page.c -P embed_files.cmake
file(WRITE ${OUT} "#include \"${HEADER}\"\n")
foreach(path IN LISTS FILES)
  get_filename_component(name ${path} NAME)
  string(REPLACE "." "_" name ${name})
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  file(APPEND ${OUT} "const unsigned char ${name}[] = {${bytes}};\n"
    "const size_t ${name}_bytes = sizeof(${name});\n")
endforeach()

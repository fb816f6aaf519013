# SPDX-License-Identifier: MIT
# Joins the parts of the HTML output's page into two C arrays, in front of and behind the profile's data.
#
#     cmake -DFOLDER=formats/export/flame/page -DSCRIPTS=a.js;b.js -DOUT=page.c -P embed_page.cmake
#
# page.html holds @STYLE@, @SCRIPT@ and their SHA-256 hashes for the Content-Security-Policy
# (CSP level 3, section 2.3.1: base64), and @DATA@.
set(base64_letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

# Of 32 bytes in hexadecimal: three bytes are four letters, the last two bytes three letters and "=".
function(to_base64 hex out)
  set(text "")
  set(padded "${hex}00")
  foreach(group RANGE 0 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${padded}" ${at} 6 bytes)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${bytes} >> ${shift}) & 63")
      string(SUBSTRING "${base64_letters}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

function(write_array name text)
  file(WRITE ${OUT}.tmp "${text}")
  file(READ ${OUT}.tmp hex HEX)
  file(REMOVE ${OUT}.tmp)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  file(APPEND ${OUT} "const unsigned char ${name}[] = {\n${bytes}};\n"
    "const size_t ${name}_bytes = sizeof(${name});\n")
endfunction()

file(READ ${FOLDER}/page.css style)
set(script "")
foreach(name IN LISTS SCRIPTS)
  file(READ ${FOLDER}/${name} part)
  string(REGEX REPLACE "^// SPDX[^\n]*\n" "" part "${part}")
  string(APPEND script "${part}")
endforeach()
set(script "(() => {\n'use strict';\n${script}})();\n")
string(SHA256 style_hash "${style}")
string(SHA256 script_hash "${script}")
to_base64(${style_hash} style_hash)
to_base64(${script_hash} script_hash)

file(READ ${FOLDER}/page.html page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(FIND "${page}" "@DATA@" at)
string(SUBSTRING "${page}" 0 ${at} head)
math(EXPR behind "${at} + 6")
string(SUBSTRING "${page}" ${behind} -1 tail)
file(WRITE ${OUT} "#include \"export/flame/page.h\"\n")
write_array(page_head "${head}")
write_array(page_tail "${tail}")

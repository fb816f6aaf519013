# SPDX-License-Identifier: MIT
# Read by cpack for each generator. Debian's package sox owns /usr/bin/rec and its manual page, so the
# Debian package has a prefix of its own; package/postinst makes links below /usr/local. The archive
# has a single directory, and runs from any place.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /opt/rec)
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()

# SPDX-License-Identifier: MIT
# Packages: `cpack -G DEB` and `cpack -G TGZ` in the build directory. The prefix is set in
# package/generator.cmake.
set(CPACK_PACKAGE_NAME rec)
set(CPACK_PACKAGE_VENDOR "rec maintainers")
set(CPACK_PACKAGE_CONTACT "rec maintainers <maintainers@rec.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sampling profiler for unmodified native programs")
set(CPACK_PACKAGE_DESCRIPTION "rec records where a native program spends CPU time, without privileges, and writes
profiles for pprof, the Firefox Profiler, speedscope and flame graphs.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package/generator.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded at need, so dpkg-shlibdeps does not find them.
if(REC_ISAL)
  list(APPEND loaded_at_need "libisal2")
endif()
if(REC_ZSTD)
  list(APPEND loaded_at_need "libzstd1")
endif()
if(REC_DEFLATE)
  list(APPEND loaded_at_need "libdeflate0")
endif()
if(REC_ZYDIS)
  list(APPEND loaded_at_need "libzydis4.0")
endif()
list(JOIN loaded_at_need ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libdebuginfod1, libcapstone4")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/postinst
  ${PROJECT_SOURCE_DIR}/cmake/package/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

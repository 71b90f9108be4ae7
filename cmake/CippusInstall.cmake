# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where. Everything finds its parts by its own place, so that an
# installed tree can be moved.
include(CMakePackageConfigHelpers)

set(cmakedir ${CMAKE_INSTALL_LIBDIR}/cmake/cippus)

install(DIRECTORY include/cippus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(kind static shared)
    set(target cippus)
    if(kind STREQUAL static)
        set(target cippus_static)
    endif()
    if(TARGET ${target})
        install(TARGETS ${target} EXPORT cippus-${kind})
        install(EXPORT cippus-${kind} NAMESPACE cippus:: DESTINATION ${cmakedir})
    endif()
endforeach()

set(CIP_OPTIONS_SET "") # what the libraries of the static one depend on
get_property(options GLOBAL PROPERTY CIP_OPTIONS)
list(REMOVE_DUPLICATES options)
foreach(option IN LISTS options)
    string(APPEND CIP_OPTIONS_SET "        set(CIP_WITH_${option} ${CIP_WITH_${option}})\n")
endforeach()
configure_package_config_file(cmake/cippus-config.cmake.in ${PROJECT_BINARY_DIR}/cippus-config.cmake
    INSTALL_DESTINATION ${cmakedir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cippus-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cippus-config.cmake
    ${PROJECT_BINARY_DIR}/cippus-config-version.cmake cmake/CippusLibraries.cmake
    DESTINATION ${cmakedir})

# cippus.pc: prefix is found from the file's own folder
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_requires "")
set(pc_libs "")
get_property(names GLOBAL PROPERTY CIP_LIBS)
list(REMOVE_DUPLICATES names)
cip_libraries(libs ${names})
foreach(lib IN LISTS libs)
    get_target_property(requires ${lib} CIP_PC_REQUIRES)
    get_target_property(plain ${lib} CIP_PC_LIBS)
    if(requires)
        list(APPEND pc_requires ${requires})
    else()
        list(APPEND pc_libs ${plain})
    endif()
endforeach()
list(APPEND pc_libs ${CMAKE_THREAD_LIBS_INIT} -lm)
list(JOIN pc_requires " " pc_requires)
list(JOIN pc_libs " " pc_libs)
configure_file(cmake/cippus.pc.in ${PROJECT_BINARY_DIR}/cippus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cippus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

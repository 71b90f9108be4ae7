# SPDX-License-Identifier: BSD-3-Clause
# cip_add_module: a folder of src/ becomes an object library that is folded into libcippus;
# its unit tests and fuzz targets are declared beside its sources.

include(CheckCCompilerFlag)

add_library(cip_warnings INTERFACE)
if(CIP_WERROR)
    target_compile_options(cip_warnings INTERFACE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
        -Wvla -Wwrite-strings -Wno-sign-conversion -Werror)
endif()

set_property(GLOBAL PROPERTY CIP_MODULES "")
set_property(GLOBAL PROPERTY CIP_FORMATS "")

# cip_add_module(base SOURCES a.c b.c [USES cip_array ...] [LIBS libyaml] [TESTS test_a.c] [FUZZ fuzz_a.c])
function(cip_add_module name)
    cmake_parse_arguments(M "" "" "SOURCES;USES;LIBS;TESTS;FUZZ" ${ARGN})
    add_library(cip_${name} OBJECT ${M_SOURCES})
    target_include_directories(cip_${name} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/src)
    target_compile_definitions(cip_${name} PRIVATE _GNU_SOURCE)
    set_target_properties(cip_${name} PROPERTIES
        C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_link_libraries(cip_${name} PRIVATE cip_warnings ${M_LIBS})
    set_property(GLOBAL APPEND PROPERTY CIP_MODULES cip_${name})
    set_property(GLOBAL APPEND PROPERTY CIP_LIBS ${M_LIBS})
    set_property(GLOBAL PROPERTY CIP_USES_cip_${name} "${M_USES}")
    foreach(t IN LISTS M_TESTS)
        cip_add_test(${t} USES cip_${name} LIBS ${M_LIBS})
    endforeach()
    foreach(f IN LISTS M_FUZZ)
        set_property(GLOBAL APPEND PROPERTY CIP_FUZZERS ${CMAKE_CURRENT_SOURCE_DIR}/${f})
    endforeach()
endfunction()

# A format is a folder of src/format with one `const cip_format cip_format_<name>`.
function(cip_add_format name)
    cip_add_module(format_${name} ${ARGN})
    set_property(GLOBAL APPEND PROPERTY CIP_FORMATS ${name})
endfunction()

# All modules that a module needs, itself included.
function(cip_closure out)
    set(todo ${ARGN})
    set(done "")
    while(todo)
        list(POP_FRONT todo m)
        if(NOT m IN_LIST done)
            list(APPEND done ${m})
            get_property(uses GLOBAL PROPERTY CIP_USES_${m})
            list(APPEND todo ${uses})
        endif()
    endwhile()
    set(${out} ${done} PARENT_SCOPE)
endfunction()

# A cmocka program: cip_add_test(test_x.c USES modules... LIBS ...). It links just the modules it
# uses, so that a module's tests say what the module needs.
function(cip_add_test source)
    if(NOT CIP_TESTS)
        return()
    endif()
    cmake_parse_arguments(T "" "" "USES;LIBS;SOURCES" ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    cip_closure(mods ${T_USES})
    set(objects "")
    foreach(m IN LISTS mods)
        list(APPEND objects $<TARGET_OBJECTS:${m}>)
    endforeach()
    add_executable(${name} ${source} ${T_SOURCES} ${objects})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/src)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE CIP_STATIC
        CIP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    set_target_properties(${name} PROPERTIES C_STANDARD 17 C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    get_property(libs GLOBAL PROPERTY CIP_LIBS)
    target_link_libraries(${name} PRIVATE cip_warnings cmocka ${libs} Threads::Threads m)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

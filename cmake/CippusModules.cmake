# SPDX-License-Identifier: BSD-3-Clause
# cip_add_module: a folder of src/ becomes an object library that is folded into libcippus;
# its unit tests and fuzz targets are declared beside its sources.

set_property(GLOBAL PROPERTY CIP_MODULES "")  # targets folded into the library
set_property(GLOBAL PROPERTY CIP_FORMATS "")  # names of the rows of the format table
set_property(GLOBAL PROPERTY CIP_FORMATS_ABSENT "") # rows of those that are left out, as C text
set_property(GLOBAL PROPERTY CIP_FUZZERS "")  # paths of the fuzz targets' sources
set_property(GLOBAL PROPERTY CIP_LIBS "")     # short names of the libraries used (CippusLibraries)

set(cip_definitions _GNU_SOURCE)
set(cip_complete ON) # without a codec the samples cannot be read: the command and examples are not tested
foreach(codec LZ4 ZSTD BZIP2 SNAPPY ZFP AEC MSGPACK PNG)
    if(NOT CIP_WITH_${codec})
        set(cip_complete OFF)
    endif()
    list(APPEND cip_definitions CIP_WITH_${codec}=$<BOOL:${CIP_WITH_${codec}}>)
endforeach()
set(cip_sources_dirs ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/src)

add_library(cip_warnings INTERFACE)
if(CIP_WERROR)
    target_compile_options(cip_warnings INTERFACE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wvla -Wwrite-strings
        $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
        -Werror)
endif()

# The targets of the libraries named as in `LIBS yaml lz4`; what is switched off has none.
function(cip_libraries out)
    set(found "")
    get_property(known GLOBAL PROPERTY CIP_KNOWN)
    foreach(name IN LISTS ARGN)
        if(TARGET cip::${name})
            list(APPEND found cip::${name})
        elseif(NOT name IN_LIST known AND NOT name STREQUAL "m") # m is linked anyway
            message(FATAL_ERROR "cmake/CippusLibraries.cmake knows no library '${name}'")
        endif()
    endforeach()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

function(cip_c17 target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
endfunction()

# Objects with our include paths; USES and LIBS are kept for those that link them.
function(cip_add_objects target)
    cmake_parse_arguments(M "" "" "SOURCES;USES;LIBS" ${ARGN})
    cip_libraries(libs ${M_LIBS})
    add_library(${target} OBJECT ${M_SOURCES})
    cip_c17(${target})
    target_include_directories(${target} PRIVATE ${cip_sources_dirs})
    target_compile_definitions(${target} PRIVATE ${cip_definitions})
    set_target_properties(${target} PROPERTIES
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_link_libraries(${target} PRIVATE cip_warnings ${libs} Threads::Threads)
    set_property(GLOBAL PROPERTY CIP_USES_${target} "${M_USES}")
    set_property(GLOBAL PROPERTY CIP_LIBS_${target} "${M_LIBS}")
endfunction()

# cip_add_module(base SOURCES a.c b.c [USES cip_array ...] [LIBS yaml] [TESTS test_a.c] [FUZZ fuzz_a.c])
function(cip_add_module name)
    cmake_parse_arguments(M "" "" "SOURCES;USES;LIBS;TESTS;FUZZ" ${ARGN})
    cip_add_objects(cip_${name} SOURCES ${M_SOURCES} USES ${M_USES} LIBS ${M_LIBS})
    set_property(GLOBAL APPEND PROPERTY CIP_MODULES cip_${name})
    set_property(GLOBAL APPEND PROPERTY CIP_LIBS ${M_LIBS})
    foreach(t IN LISTS M_TESTS)
        cip_add_test(${t} USES cip_${name})
    endforeach()
    foreach(f IN LISTS M_FUZZ)
        set_property(GLOBAL APPEND PROPERTY CIP_FUZZERS ${CMAKE_CURRENT_SOURCE_DIR}/${f})
    endforeach()
endfunction()

# A format is a folder of src/format with one `const cip_format cip_format_<name>`, in <name>.c, and
# an option of the build. Without it (-DCIP_WITH_<NAME>=OFF) its code stays only where another format
# USES it, and its files are named and refused: they are known by the extensions, by what they begin
# with (MARKS, as in a string of C) and by what a folder holds (MEMBERS).
function(cip_add_format name)
    cmake_parse_arguments(F "" "" "MARKS;MEMBERS;SOURCES;USES;LIBS;TESTS;FUZZ" ${ARGN})
    string(TOUPPER CIP_WITH_${name} option)
    foreach(key title extensions)
        file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.c ${key} REGEX "^    \\.${key} = \".*\",$")
        string(REGEX REPLACE ".*= (\".*\"),$" "\\1" ${key} "${${key}}")
        if(NOT ${key})
            message(FATAL_ERROR "${name}.c has no line .${key} = \"...\",")
        endif()
    endforeach()
    option(${option} "The format ${title}" ON)
    if(${option})
        cip_add_module(format_${name} SOURCES ${F_SOURCES} USES ${F_USES} LIBS ${F_LIBS}
            TESTS ${F_TESTS} FUZZ ${F_FUZZ})
        set_property(GLOBAL APPEND PROPERTY CIP_FORMATS ${name})
        return()
    endif()
    cip_add_objects(cip_format_${name} SOURCES ${F_SOURCES} USES ${F_USES} LIBS ${F_LIBS})
    set_target_properties(cip_format_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    set(row "    { \"${name}\", ${title}, ${extensions},\n      (const cip_format_mark[]){ ")
    foreach(mark IN LISTS F_MARKS)
        string(APPEND row "MARK(\"${mark}\"), ")
    endforeach()
    string(APPEND row "{ NULL, 0 } },\n      (const char *const[]){ ")
    foreach(member IN LISTS F_MEMBERS)
        string(APPEND row "\"${member}\", ")
    endforeach()
    set_property(GLOBAL APPEND_STRING PROPERTY CIP_FORMATS_ABSENT "${row}NULL } },\n")
endfunction()

# Objects that several tests share, never part of the library:
# cip_add_test_support(fake SOURCES fake_table.c USES cip_space) is USES cip_fake in cip_add_test.
function(cip_add_test_support name)
    if(CIP_TESTS)
        cip_add_objects(cip_${name} ${ARGN})
        target_include_directories(cip_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        target_compile_definitions(cip_${name} PRIVATE CIP_STATIC
            CIP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
endfunction()

# All modules that some modules need, themselves included.
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

# Links just the modules that USES reaches, so that a module's tests say what the module needs.
function(cip_link_modules target)
    cip_closure(mods ${ARGN})
    set(names "")
    foreach(m IN LISTS mods)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${m}>)
        get_property(libs GLOBAL PROPERTY CIP_LIBS_${m})
        list(APPEND names ${libs})
    endforeach()
    list(REMOVE_DUPLICATES names)
    cip_libraries(libs ${names})
    target_link_libraries(${target} PRIVATE cip_warnings ${libs} Threads::Threads m)
    target_include_directories(${target} PRIVATE ${cip_sources_dirs} ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${target} PRIVATE ${cip_definitions} CIP_STATIC
        CIP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    cip_c17(${target})
endfunction()

# What every test has: run from the project's root, 77 means skipped, and a time limit. Those that take
# over half a minute say so (COST, seconds with sanitizers): they start first, and none is left alone.
function(cip_register_test name)
    add_test(NAME ${name} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

# A cmocka program: cip_add_test(test_x.c USES modules... [LIBS ...] [SOURCES ...] [LABELS ...]).
# One that starts threads has the label `threads` and runs under ThreadSanitizer too.
function(cip_add_test source)
    if(NOT CIP_TESTS)
        return()
    endif()
    cmake_parse_arguments(T "" "" "USES;LIBS;SOURCES;LABELS" ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source} ${T_SOURCES})
    cip_link_modules(${name} ${T_USES})
    cip_libraries(libs ${T_LIBS})
    target_link_libraries(${name} PRIVATE ${libs} cmocka)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    cip_register_test(${name} COMMAND ${name})
    file(STRINGS ${source} threaded REGEX "cip_pool_|pthread_create|thrd_create")
    if(threaded OR "threads" IN_LIST T_LABELS)
        list(APPEND T_LABELS threads)
        add_dependencies(thread_tests ${name})
    endif()
    set_property(TEST ${name} PROPERTY LABELS ${T_LABELS})
endfunction()

# The files of CIP_FUZZERS: with CIP_FUZZ under libFuzzer; in the other builds with a driver that
# runs the files of corpus/fuzz_x beside the source, as the test fuzz_x_corpus.
function(cip_add_fuzzers)
    get_property(sources GLOBAL PROPERTY CIP_FUZZERS)
    get_property(modules GLOBAL PROPERTY CIP_MODULES)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        get_filename_component(folder ${source} DIRECTORY)
        set(corpus ${folder}/corpus/${name})
        if(CIP_FUZZ)
            add_executable(${name} ${source})
            target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        elseif(CIP_TESTS AND EXISTS ${PROJECT_SOURCE_DIR}/tests/support/fuzz_driver.c)
            add_executable(${name} ${source} ${PROJECT_SOURCE_DIR}/tests/support/fuzz_driver.c)
            if(IS_DIRECTORY ${corpus})
                cip_register_test(${name}_corpus COMMAND ${name} ${corpus})
            endif()
        else()
            continue()
        endif()
        get_property(uses GLOBAL PROPERTY CIP_USES_${name}) # of a target outside src/
        cip_link_modules(${name} ${modules} ${uses})
        set_target_properties(${name} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    endforeach()
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# CMake's toolchain file for another processor under Debian: scripts/cross.sh gives CIP_CROSS_ARCH
# (Debian's name, "s390x") and CIP_CROSS_ROOT, a folder with that architecture's packages unpacked.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CIP_CROSS_ARCH})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CIP_CROSS_ARCH CIP_CROSS_ROOT)

set(CMAKE_C_COMPILER ${CIP_CROSS_ARCH}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER NOTFOUND) # else the host's is taken; the tests in C++ are left out
set(CMAKE_SYSROOT ${CIP_CROSS_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${CIP_CROSS_ARCH}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${CIP_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# What the libraries found need of each other, which are nobody's link line.
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${CIP_CROSS_ROOT}/usr/lib/${CIP_CROSS_ARCH}-linux-gnu:${CIP_CROSS_ROOT}/lib/${CIP_CROSS_ARCH}-linux-gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})

set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CIP_CROSS_ROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${CIP_CROSS_ROOT}/usr/lib/${CIP_CROSS_ARCH}-linux-gnu/pkgconfig:${CIP_CROSS_ROOT}/usr/share/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CIP_CROSS_ARCH}-static -L ${CIP_CROSS_ROOT})

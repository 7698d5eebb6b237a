# SPDX-License-Identifier: Apache-2.0
# Cross-compiling for 64-bit ARM on Debian, with libraries that scripts/aarch64-sysroot has put into a folder:
#
#   scripts/aarch64-sysroot build-aarch64/sysroot
#   cmake -S . -B build-aarch64 -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DHF_SYSROOT=$PWD/build-aarch64/sysroot

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HF_SYSROOT)

# The compiler brings the C library; everything else lies in the folder, and nothing of this machine is taken.
set(CMAKE_FIND_ROOT_PATH ${HF_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${HF_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${HF_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${HF_SYSROOT})
set(HF_FOREIGN ${HF_SYSROOT}/usr/lib/aarch64-linux-gnu:${HF_SYSROOT}/usr/lib/aarch64-linux-gnu/openblas-pthread)
string(REPLACE ":" ",-rpath-link," rpath_link ${HF_FOREIGN})
set(CMAKE_C_FLAGS_INIT "-isystem ${HF_SYSROOT}/usr/include -isystem ${HF_SYSROOT}/usr/include/aarch64-linux-gnu")
foreach(kind EXE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${HF_SYSROOT}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${rpath_link}")
endforeach()
# One thread each: an emulated thread that waits burns a processor.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${HF_FOREIGN}
    -E OMP_NUM_THREADS=1 -E OPENBLAS_NUM_THREADS=1)

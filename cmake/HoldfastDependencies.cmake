# SPDX-License-Identifier: Apache-2.0
# Everything the library stands on but BLAS, as the interface library hf_dependencies.

find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_path(HF_RANDOM123_INCLUDE_DIR Random123/philox.h
          DOC "Folder that holds Random123/philox.h (Debian: librandom123-dev)")
if(NOT HF_RANDOM123_INCLUDE_DIR)
  message(FATAL_ERROR "Random123/philox.h not found; install librandom123-dev or set HF_RANDOM123_INCLUDE_DIR")
endif()

add_library(hf_dependencies INTERFACE)
target_include_directories(hf_dependencies SYSTEM INTERFACE ${HF_RANDOM123_INCLUDE_DIR})
target_link_libraries(hf_dependencies INTERFACE PkgConfig::NLOPT PkgConfig::SQLITE PkgConfig::JANSSON
                                                OpenMP::OpenMP_C m)

# Packed tables: either is used where it is there (Debian: zlib1g-dev, libzstd-dev), and never required.
set(HF_PACKER_LIBRARIES)
option(HF_ZLIB "Read tables that gzip packed, where zlib is there" ON)
option(HF_ZSTD "Read tables that zstd packed, where libzstd is there" ON)
if(HF_ZLIB)
  pkg_check_modules(ZLIB QUIET IMPORTED_TARGET zlib)
endif()
if(HF_ZSTD)
  pkg_check_modules(ZSTD QUIET IMPORTED_TARGET libzstd)
endif()
foreach(packer ZLIB ZSTD)
  if(HF_${packer} AND ${packer}_FOUND)
    target_compile_definitions(hf_dependencies INTERFACE HF_WITH_${packer})
    target_link_libraries(hf_dependencies INTERFACE PkgConfig::${packer})
    list(APPEND HF_PACKER_LIBRARIES ${${packer}_LINK_LIBRARIES})
  endif()
endforeach()

# Ipopt is used by a benchmark and experiments where it is there (Debian: coinor-libipopt-dev), and never required.
pkg_check_modules(IPOPT QUIET IMPORTED_TARGET ipopt)
add_library(hf_ipopt INTERFACE)
if(IPOPT_FOUND)
  target_compile_definitions(hf_ipopt INTERFACE HF_WITH_IPOPT)
  target_link_libraries(hf_ipopt INTERFACE PkgConfig::IPOPT)
endif()

# Several processes, as the interface library hf_mpi: an extra that everything else does without.
set(HF_MPI_LIBRARIES)
if(HF_MPI OR HF_PROCESSES)
  find_package(MPI REQUIRED COMPONENTS C)
  find_library(HF_SCALAPACK_LIBRARY NAMES scalapack-openmpi scalapack-mpich scalapack
               DOC "ScaLAPACK (Debian: libscalapack-openmpi-dev)")
  if(NOT HF_SCALAPACK_LIBRARY)
    message(FATAL_ERROR "ScaLAPACK not found; install libscalapack-openmpi-dev or set HF_SCALAPACK_LIBRARY")
  endif()
  add_library(hf_mpi INTERFACE)
  target_compile_definitions(hf_mpi INTERFACE HF_WITH_MPI)
  target_link_libraries(hf_mpi INTERFACE ${HF_SCALAPACK_LIBRARY} MPI::MPI_C)
endif()
if(HF_MPI)
  set(HF_MPI_LIBRARIES ${HF_SCALAPACK_LIBRARY} ${MPI_C_LIBRARIES})
  target_link_libraries(hf_dependencies INTERFACE hf_mpi)
endif()

# The same for whoever links the installed static library: plain names that any linker finds.
set(HF_STATIC_LINK_LIBRARIES ${NLOPT_LINK_LIBRARIES} ${SQLITE_LINK_LIBRARIES} ${JANSSON_LINK_LIBRARIES} ${HF_PACKER_LIBRARIES} ${HF_MPI_LIBRARIES})

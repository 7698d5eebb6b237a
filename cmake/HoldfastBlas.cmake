# SPDX-License-Identifier: Apache-2.0
# Which BLAS and LAPACK. The parallelism is ours (OpenMP over tiles, restarts and blocks of queries), so what we want below
# is a fast BLAS that several threads may call at once and that makes no threads of its own while they do. That is OpenBLAS
# in its pthread flavour, which the linalg room holds at one thread. The serial flavour sounds better and is not: it has no
# locks around its work buffers, concurrent calls return wrong numbers, and the room must let one call in at a time.
# docs/building.md has the measurements.
#
# Debian's flavours are taken by their own folders, because the name libopenblas.so.0 alone follows the "alternatives" and
# may mean another flavour tomorrow.
#
#   -DHF_BLAS_LIBRARIES="/path/libA.so;/path/libB.so"   any other one: Fortran names, 32-bit integers, LAPACK included

set(HF_BLAS_LIBRARIES "" CACHE STRING "Libraries that hold BLAS and LAPACK (Fortran ABI, LP64); empty: search")

set(HF_BLAS "${HF_BLAS_LIBRARIES}")
if(NOT HF_BLAS)
  foreach(flavour pthread serial)
    if(NOT HF_BLAS AND CMAKE_LIBRARY_ARCHITECTURE)
      find_library(HF_OPENBLAS_${flavour} NAMES openblas NO_DEFAULT_PATH
                   PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-${flavour})
      mark_as_advanced(HF_OPENBLAS_${flavour})
      if(HF_OPENBLAS_${flavour})
        set(HF_BLAS ${HF_OPENBLAS_${flavour}})
      endif()
    endif()
  endforeach()
endif()
if(NOT HF_BLAS)
  find_library(HF_OPENBLAS NAMES openblas)
  mark_as_advanced(HF_OPENBLAS)
  if(HF_OPENBLAS)
    set(HF_BLAS ${HF_OPENBLAS})
  else()
    find_package(LAPACK REQUIRED)
    set(HF_BLAS ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
    list(REMOVE_DUPLICATES HF_BLAS)
  endif()
endif()

# Ask the library itself what it is.
if(CMAKE_CROSSCOMPILING)
  set(HF_BLAS_DESCRIPTION "not run (cross-compiling)")
elseif(NOT "${HF_BLAS}" STREQUAL "${HF_BLAS_PROBED}")
  try_run(HF_BLAS_PROBE_RESULT HF_BLAS_PROBE_COMPILED ${CMAKE_BINARY_DIR}/blas_probe
          ${CMAKE_CURRENT_LIST_DIR}/blas_probe.c
          LINK_LIBRARIES ${HF_BLAS} m ${CMAKE_DL_LIBS}
          COMPILE_OUTPUT_VARIABLE probe_compile_output RUN_OUTPUT_VARIABLE probe_output)
  set(compiled ${HF_BLAS_PROBE_COMPILED})
  set(result ${HF_BLAS_PROBE_RESULT})
  unset(HF_BLAS_PROBE_RESULT CACHE) # so that the next configure with another BLAS asks again
  unset(HF_BLAS_PROBE_COMPILED CACHE)
  if(NOT compiled)
    message(FATAL_ERROR "No BLAS with LAPACK (Fortran names) in: ${HF_BLAS}\n${probe_compile_output}")
  elseif(NOT result EQUAL 0)
    message(FATAL_ERROR "BLAS ${HF_BLAS} does not work: ${probe_output}")
  endif()
  string(STRIP "${probe_output}" probe_output)
  set(HF_BLAS_DESCRIPTION "${probe_output}" CACHE INTERNAL "")
  set(HF_BLAS_PROBED "${HF_BLAS}" CACHE INTERNAL "")
endif()
message(STATUS "BLAS: ${HF_BLAS_DESCRIPTION}")
if(HF_BLAS_DESCRIPTION MATCHES "^reference")
  message(WARNING "This is the reference BLAS, about nine times slower than OpenBLAS. "
                  "Install libopenblas-pthread-dev, or set HF_BLAS_LIBRARIES.")
elseif(HF_BLAS_DESCRIPTION MATCHES ", serial")
  message(WARNING "This OpenBLAS is built without locks: results are right, but only one thread at a time may be in it. "
                  "Install libopenblas-pthread-dev to use all processors.")
elseif(HF_BLAS_DESCRIPTION MATCHES ", OpenMP")
  message(WARNING "This OpenBLAS shares OpenMP with us and is many times slower when processors are busy. "
                  "Install libopenblas-pthread-dev.")
endif()

# First: the dynamic linker resolves some 13 000 names inside OpenBLAS, and looks for each in all libraries before it.
get_target_property(others hf_dependencies INTERFACE_LINK_LIBRARIES)
set_property(TARGET hf_dependencies PROPERTY INTERFACE_LINK_LIBRARIES ${HF_BLAS} ${others})
list(APPEND HF_STATIC_LINK_LIBRARIES ${HF_BLAS} m)

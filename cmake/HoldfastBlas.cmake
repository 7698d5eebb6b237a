# SPDX-License-Identifier: Apache-2.0
# Which BLAS and LAPACK. Ours is the parallelism (OpenMP over tiles, restarts and blocks of queries), so the BLAS below
# should be single-threaded and fast: OpenBLAS's serial flavour if it is there, by its own folder, because on Debian the
# name libopenblas.so.0 alone follows the "alternatives" and may mean another flavour tomorrow.
#
#   -DHF_BLAS_LIBRARIES="/path/libA.so;/path/libB.so"   any other one: Fortran names, 32-bit integers, LAPACK included

set(HF_BLAS_LIBRARIES "" CACHE STRING "Libraries that hold BLAS and LAPACK (Fortran ABI, LP64); empty: search")

set(HF_BLAS "${HF_BLAS_LIBRARIES}")
if(NOT HF_BLAS)
  set(flavours)
  if(CMAKE_LIBRARY_ARCHITECTURE)
    set(flavours /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial)
  endif()
  find_library(HF_OPENBLAS_SERIAL NAMES openblas PATHS ${flavours} NO_DEFAULT_PATH)
  find_library(HF_OPENBLAS NAMES openblas)
  mark_as_advanced(HF_OPENBLAS_SERIAL HF_OPENBLAS)
  if(HF_OPENBLAS_SERIAL)
    set(HF_BLAS ${HF_OPENBLAS_SERIAL})
  elseif(HF_OPENBLAS)
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
                  "Install libopenblas-serial-dev, or set HF_BLAS_LIBRARIES.")
elseif(HF_BLAS_DESCRIPTION MATCHES "threads")
  message(WARNING "This BLAS makes threads of its own, which fight with ours for the processors. "
                  "A single-threaded one (libopenblas-serial-dev) is many times faster here.")
endif()

target_link_libraries(hf_dependencies INTERFACE ${HF_BLAS})
list(APPEND HF_STATIC_LINK_LIBRARIES ${HF_BLAS} m)

# SPDX-License-Identifier: Apache-2.0
# How our own code is compiled, as the interface library hf_flags: warnings, optimisation, HF_SANITIZERS.
# No -march: the library runs on any x86-64, and hot loops choose their width at run time (target_clones).
# No -ffast-math: a shared library linked with it changes the rounding of the whole process that loads it.

add_library(hf_flags INTERFACE)
target_compile_options(hf_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                       -fno-math-errno -fno-trapping-math -fvisibility=hidden
                       $<$<NOT:$<CONFIG:Debug>>:-O3>)
target_compile_definitions(hf_flags INTERFACE _POSIX_C_SOURCE=200809L)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  # Under a sanitizer or without optimisation no loop is vectorised, whatever a pragma asks for.
  target_compile_options(hf_flags INTERFACE -Wno-pass-failed)
endif()
if(HF_WERROR)
  target_compile_options(hf_flags INTERFACE -Werror)
endif()

set(HF_SANITIZERS ${HF_SANITIZE})
if(HF_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HF_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
  endif()
  list(APPEND HF_SANITIZERS address undefined)
  # Only the fuzzers get libFuzzer's main; everything gets its coverage counters.
  target_compile_options(hf_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
string(REPLACE "," ";" HF_SANITIZERS "${HF_SANITIZERS}")
list(REMOVE_DUPLICATES HF_SANITIZERS)
foreach(sanitizer IN LISTS HF_SANITIZERS)
  if(NOT sanitizer MATCHES "^(address|undefined|thread)$")
    message(FATAL_ERROR "HF_SANITIZE: '${sanitizer}' is none of address, undefined, thread")
  endif()
endforeach()
if("address" IN_LIST HF_SANITIZERS AND "thread" IN_LIST HF_SANITIZERS)
  message(FATAL_ERROR "HF_SANITIZE: address and thread cannot be in one program; make two build directories")
endif()
if("thread" IN_LIST HF_SANITIZERS AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(WARNING "ThreadSanitizer does not know gcc's OpenMP run-time and reports races that are none: use clang")
endif()
if(HF_SANITIZERS)
  string(REPLACE ";" "," list "${HF_SANITIZERS}")
  set(flags -fsanitize=${list} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if("address" IN_LIST HF_SANITIZERS AND "undefined" IN_LIST HF_SANITIZERS)
    # AddressSanitizer stops at a null pointer and beyond an object anyway; these checks of every access take half of the compiler's time.
    list(APPEND flags -fno-sanitize=null,object-size,alignment)
  endif()
  target_compile_options(hf_flags INTERFACE ${flags})
  target_link_options(hf_flags INTERFACE ${flags})
endif()

# True also when the flags came by CMAKE_C_FLAGS.
set(HF_SANITIZED OFF)
if(HF_SANITIZERS OR CMAKE_C_FLAGS MATCHES "-fsanitize=")
  set(HF_SANITIZED ON)
endif()

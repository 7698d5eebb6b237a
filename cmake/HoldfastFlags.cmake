# SPDX-License-Identifier: Apache-2.0
# How our own code is compiled, as the interface library hf_flags: warnings, optimisation, hardening, HF_SANITIZERS.
# No -march: the library runs on any x86-64, and hot loops choose their width at run time (target_clones).
# -O1 for targets with the property HF_QUICK_TO_BUILD, programs that wait for the library, not for themselves; -O0 for
# those with HF_NOT_OPTIMISED, the tests: the compiler would take three times as long as it saves.
# No -ffast-math: a shared library linked with it changes the rounding of the whole process that loads it.

add_library(hf_flags INTERFACE)
target_compile_options(hf_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                       -fno-math-errno -fno-trapping-math -fvisibility=hidden
                       $<$<NOT:$<CONFIG:Debug>>:$<IF:$<BOOL:$<TARGET_PROPERTY:HF_QUICK_TO_BUILD>>,-O1,-O3>>
                       $<$<BOOL:$<TARGET_PROPERTY:HF_NOT_OPTIMISED>>:-O0>)
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
  if("undefined" IN_LIST HF_SANITIZERS AND HF_SANITIZERS MATCHES "address|thread")
    # AddressSanitizer, and the processor, stop at a null pointer anyway, and the former beyond an object; these checks of every access take half of the compiler's time.
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

# ---- hardening --------------------------------------------------------------------------------------------------
# A mistake of ours in reading a stranger's file shall end the program, and not lend it: checked stack frames and calls of
# the C library, addresses bound before main() and read-only from then on, no stack that can be executed, and jumps that
# land where the processor allows. Each flag is asked for only where compiler and linker know it.
# tests/house/check_install.py looks for all of it in what is installed; docs/building.md says what it costs.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

function(hf_harden_compiler flag)
  string(MAKE_C_IDENTIFIER "HF_HAS${flag}" known)
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_c_compiler_flag(${flag} ${known})
  if(${known})
    target_compile_options(hf_flags INTERFACE ${flag})
  endif()
endfunction()

# Asks the C library whether it knows this level, with the optimisation that the checks need; a level that it does not know is a warning there.
function(hf_fortify level)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -Wp,-U_FORTIFY_SOURCE -Wp,-D_FORTIFY_SOURCE=${level}")
  check_c_source_compiles("#include <string.h>
    #if __USE_FORTIFY_LEVEL < ${level}
    #error unknown level
    #endif
    int main(int argc, char **argv) { char a[8]; memset(a, argc, sizeof a); return a[argc] + (argv == 0); }"
                          HF_HAS_FORTIFY_${level})
endfunction()

option(HF_HARDENING "Stack protector, fortified C library, full RELRO, CET and a position-independent tool, where they are known" ON)
if(HF_HARDENING)
  hf_harden_compiler(-fstack-protector-strong)
  hf_harden_compiler(-fcf-protection)
  foreach(flag relro now noexecstack)
    check_linker_flag(C -Wl,-z,${flag} HF_HAS_LINK_${flag})
    if(HF_HAS_LINK_${flag})
      target_link_options(hf_flags INTERFACE -Wl,-z,${flag})
    endif()
  endforeach()
  check_pie_supported(LANGUAGES C)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  # A sanitizer has its own versions of the calls that would be checked, and without optimisation there is nothing to check.
  if(NOT HF_SANITIZED)
    hf_fortify(3)
    if(NOT HF_HAS_FORTIFY_3)
      hf_fortify(2)
    endif()
    foreach(level 3 2)
      if(HF_HAS_FORTIFY_${level})
        set(optimised $<NOT:$<OR:$<CONFIG:Debug>,$<BOOL:$<TARGET_PROPERTY:HF_NOT_OPTIMISED>>>>)
        target_compile_options(hf_flags INTERFACE $<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=${level}>)
        break()
      endif()
    endforeach()
  endif()
endif()

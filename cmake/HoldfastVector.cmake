# SPDX-License-Identifier: Apache-2.0
# How wide the vectors of our own loops are. Files that include src/kernel/vector.h stand here and nowhere else; a loop is
# compiled for every width, and the loader takes the widest that the processor has, unless HF_VECTOR fixes one.

set(HF_VECTOR auto CACHE STRING "Vectors of our own loops: auto (chosen at run time), generic, avx2, avx512")
set_property(CACHE HF_VECTOR PROPERTY STRINGS auto generic avx2 avx512)

set(HF_LOOPS_kernel src/kernel/loops.c src/kernel/nonradial.c src/kernel/planes.c src/kernel/block_radial.c
    src/kernel/block_strip.c src/kernel/block_single.c src/kernel/vector.c)
set(HF_LOOPS_envelope src/envelope/loops.c)
set(HF_LOOPS_taylor src/taylor/loops.c)
set(HF_LOOPS_softmax src/softmax/classes_loops.c)
set(HF_LOOPS_REGEX "/(${HF_LOOPS_kernel};${HF_LOOPS_envelope};${HF_LOOPS_taylor};${HF_LOOPS_softmax})$")
string(REPLACE ";" "|" HF_LOOPS_REGEX "${HF_LOOPS_REGEX}")

# Numbers that vector.h has for the widths.
set(HF_WIDTH_auto 0)
set(HF_WIDTH_generic 128)
set(HF_WIDTH_avx2 256)
set(HF_WIDTH_avx512 512)
set(HF_WIDTHS generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND HF_WIDTHS avx2 avx512)
endif()
if(NOT HF_VECTOR MATCHES "^(auto|generic|avx2|avx512)$")
  message(FATAL_ERROR "HF_VECTOR: '${HF_VECTOR}' is none of auto, generic, avx2, avx512")
elseif(NOT "auto;${HF_WIDTHS}" MATCHES "(^|;)${HF_VECTOR}(;|$)")
  message(FATAL_ERROR "HF_VECTOR: '${HF_VECTOR}' is for x86-64, and this is ${CMAKE_SYSTEM_PROCESSOR}; take auto or generic")
endif()

# Those that programs_processor_WIDTH are made of beside the plain ones, which are AVX-512's where there is a processor for it.
set(HF_PROCESSOR_WIDTHS)
if(HF_PROCESSORS)
  set(HF_PROCESSOR_WIDTHS ${HF_WIDTHS})
  list(REMOVE_ITEM HF_PROCESSOR_WIDTHS avx512)
endif()

# An object library of ours.
function(hf_objects target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PUBLIC include PRIVATE src)
  target_link_libraries(${target} PRIVATE hf_flags hf_dependencies)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# One of loops, of a width.
function(hf_loop_objects target width)
  hf_objects(${target} ${ARGN})
  target_compile_definitions(${target} PRIVATE HFI_VECTOR=${HF_WIDTH_${width}})
endfunction()

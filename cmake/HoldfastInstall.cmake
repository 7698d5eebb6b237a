# SPDX-License-Identifier: Apache-2.0
# Files that `cmake --install` lays down, and `uninstall` takes away again.
include(CMakePackageConfigHelpers)

install(TARGETS holdfast_shared EXPORT holdfast_shared_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS holdfast_static EXPORT holdfast_static_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET holdfast)
  install(TARGETS holdfast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Small tables: the README's commands use them, and experiments.
foreach(folder data data/bed)
  file(GLOB tables CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.csv)
  install(FILES ${tables} ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/README.md
          DESTINATION ${CMAKE_INSTALL_DATADIR}/holdfast/${folder})
endforeach()
foreach(section 1 3 5)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
file(GLOB completion CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/completions/holdfast)
if(completion)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

# find_package(holdfast [COMPONENTS static]) -> holdfast::holdfast, holdfast::holdfast_static
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
foreach(kind shared static)
  install(EXPORT holdfast_${kind}_targets FILE holdfast-${kind}.cmake NAMESPACE holdfast:: DESTINATION ${package_dir})
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/holdfast-config.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config-version.cmake
        DESTINATION ${package_dir})

# pkg-config: paths relative to the file itself, so that a moved or staged prefix still works.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(HF_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  set(HF_PC_PREFIX "\${pcfiledir}/${to_prefix}")
endif()
foreach(dir LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(HF_PC_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(HF_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
set(HF_PC_PRIVATE_LIBS)
foreach(library IN LISTS HF_STATIC_LINK_LIBRARIES)
  if(IS_ABSOLUTE "${library}")
    # The folder goes into the program too: see HoldfastBlas.cmake for why a name alone is not enough.
    get_filename_component(folder "${library}" DIRECTORY)
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
      string(APPEND HF_PC_PRIVATE_LIBS " -Wl,-rpath,${folder}")
    endif()
    string(APPEND HF_PC_PRIVATE_LIBS " ${library}")
  elseif(library MATCHES "^-")
    string(APPEND HF_PC_PRIVATE_LIBS " ${library}")
  else()
    string(APPEND HF_PC_PRIVATE_LIBS " -l${library}")
  endif()
endforeach()
string(APPEND HF_PC_PRIVATE_LIBS " ${OpenMP_C_FLAGS}")
string(STRIP "${HF_PC_PRIVATE_LIBS}" HF_PC_PRIVATE_LIBS)
configure_file(${CMAKE_CURRENT_LIST_DIR}/holdfast.pc.in ${CMAKE_CURRENT_BINARY_DIR}/holdfast.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/holdfast.pc DESTINATION ${pkgconfig_dir})

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D MANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
                                    -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake)

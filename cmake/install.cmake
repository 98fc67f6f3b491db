# `cmake --install build` puts the program, the headers and the library where find_package(redoubt) finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/redoubt)

install(TARGETS redoubt EXPORT redoubtTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS redoubt_io EXPORT redoubtIoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/redoubt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT redoubtTargets NAMESPACE redoubt:: DESTINATION ${package})
install(EXPORT redoubtIoTargets NAMESPACE redoubt:: DESTINATION ${package})
if(REDOUBT_APP)
  install(TARGETS redoubt_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(REDOUBT_MPI)
    install(TARGETS redoubt_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

configure_package_config_file(cmake/redoubtConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/redoubtConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/redoubtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/redoubtConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/redoubtConfigVersion.cmake
        DESTINATION ${package})

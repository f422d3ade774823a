# `cmake --install build --prefix DIR`: the program, libcrisp, its headers, the shipped weights and a
# CMake package, so that another program says find_package(crispformer) and links crispformer::crisp.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(crispformer PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS crispformer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS crisp EXPORT crispformerTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY crisp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY weights DESTINATION ${CMAKE_INSTALL_DATADIR}/crispformer)

install(EXPORT crispformerTargets NAMESPACE crispformer:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crispformer)
install(FILES cmake/torch.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crispformer)
configure_package_config_file(cmake/crispformerConfig.cmake.in ${CMAKE_BINARY_DIR}/crispformerConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crispformer)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/crispformerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/crispformerConfig.cmake ${CMAKE_BINARY_DIR}/crispformerConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crispformer)

# The Debian package, by cpack.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME spark-reconcile)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${SPARK_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(CMAKE_CROSSCOMPILING)
  # Otherwise what dpkg says of this machine. Presets build for one other type.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${SPARK_PACKAGE_REVISION})
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "declarative configuration of NVIDIA DGX Spark clusters
One YAML file describes a cluster of DGX Spark machines. spark-reconcile
reads every node over SSH, shows what differs, changes that and nothing
else, reads the result back, and verifies that the fabric carries what the
file requires.
.
No agent stays on a node. Nodes revert an apply that fails, is killed or
cuts a node off.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${source}/debian/postinst ${source}/debian/prerm ${source}/debian/postrm)
configure_file(package_settings.cmake.in ${made}/package_settings.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${made}/package_settings.cmake)
configure_file(debian/lintian-overrides ${made}/lintian-overrides @ONLY)
install(FILES ${made}/lintian-overrides DESTINATION ${data}/lintian/overrides RENAME spark-reconcile)
include(CPack)
add_custom_target(debian-package COMMAND ${CMAKE_CPACK_COMMAND} -G DEB WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  COMMENT "Making the Debian package" VERBATIM)
add_dependencies(debian-package package-files)

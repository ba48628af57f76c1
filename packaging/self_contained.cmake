# Libraries whose names change with each release of Debian and Ubuntu (yaml-cpp, fmt, spdlog) become part of the program, so that one
# package fits several releases. libc, libstdc++, libssh and libcrypto keep theirs.
option(SPARK_SELF_CONTAINED "Make yaml-cpp, fmt and spdlog part of the program" OFF)
set(SPARK_FMT fmt::fmt)
set(SPARK_SPDLOG spdlog::spdlog)
if(SPARK_SELF_CONTAINED)
  set(SPARK_FMT fmt::fmt-header-only)
  set(SPARK_SPDLOG spark_spdlog)
  find_package(spdlog REQUIRED)
  find_path(SPARK_SPDLOG_HEADERS spdlog/spdlog.h REQUIRED)
  add_library(spark_spdlog INTERFACE)
  target_include_directories(spark_spdlog SYSTEM INTERFACE ${SPARK_SPDLOG_HEADERS})
  target_compile_definitions(spark_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
  target_link_libraries(spark_spdlog INTERFACE Threads::Threads fmt::fmt-header-only)
  # Debian's own target is the shared library.
  find_library(SPARK_YAML_CPP_ARCHIVE libyaml-cpp.a REQUIRED)
  set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION ${SPARK_YAML_CPP_ARCHIVE}
                        IMPORTED_LOCATION_NONE ${SPARK_YAML_CPP_ARCHIVE})
endif()

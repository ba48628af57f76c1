# spark-verify for nodes of the other type than the controller's: the target spark-verify-aarch64 on a PC, spark-verify-x86_64
# on a Spark, wherever a compiler for that is found (g++-aarch64-linux-gnu, g++-x86-64-linux-gnu). One call, no libraries but
# the compiler's own: those that it includes have headers only, the same for all types.
find_program(SPARK_OTHER_CXX ${SPARK_OTHER_TYPE}-linux-gnu-g++)
if(SPARK_OTHER_CXX)
  set(SPARK_VERIFY_OTHER spark-verify-${SPARK_OTHER_TYPE})
  set(cross_headers ${PROJECT_BINARY_DIR}/cross-headers)
  file(MAKE_DIRECTORY ${cross_headers})
  # By links: /usr/include itself also holds this machine's libc.
  foreach(header IN ITEMS fmt/core.h nlohmann/json.hpp tl/expected.hpp infiniband/verbs.h)
    get_filename_component(folder ${header} DIRECTORY)
    find_path(cross_${folder} ${header} NO_CACHE REQUIRED)
    file(CREATE_LINK ${cross_${folder}}/${folder} ${cross_headers}/${folder} SYMBOLIC)
  endforeach()
  file(GLOB_RECURSE cross_depends CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.h
       ${PROJECT_SOURCE_DIR}/reconciler/base/*.h)
  # A folder is compiled as one file, as in the build for this machine.
  set(cross_sources ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)
  foreach(folder IN ITEMS protocol io facts write nccl)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN sources "" text)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cross/${folder}.cpp CONTENT "${text}" @ONLY)
    list(APPEND cross_sources ${PROJECT_BINARY_DIR}/cross/${folder}.cpp)
  endforeach()
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/${SPARK_VERIFY_OTHER}
    COMMAND ${SPARK_OTHER_CXX} -std=c++20 -O2 -DFMT_HEADER_ONLY -I${PROJECT_SOURCE_DIR} -isystem ${cross_headers}
            -ffunction-sections -static-libstdc++ -static-libgcc -pthread -Wl,--gc-sections -s ${cross_sources} -ldl
            -o ${PROJECT_BINARY_DIR}/${SPARK_VERIFY_OTHER}
    DEPENDS ${cross_sources} ${cross_depends}
    COMMENT "Building spark-verify for ${SPARK_OTHER_TYPE}" VERBATIM)
  add_custom_target(${SPARK_VERIFY_OTHER} DEPENDS ${PROJECT_BINARY_DIR}/${SPARK_VERIFY_OTHER})
endif()

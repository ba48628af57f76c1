# The schemas become string constants, so that the program needs no file beside it.
set(SCHEMA_CPP ${PROJECT_BINARY_DIR}/embedded_schemas.cpp)
set(SCHEMAS ${PROJECT_SOURCE_DIR}/schema/cluster.schema.json ${PROJECT_SOURCE_DIR}/schema/facts.schema.json
    ${PROJECT_SOURCE_DIR}/schema/plan.schema.json ${PROJECT_SOURCE_DIR}/schema/report.schema.json)
add_custom_command(
  OUTPUT ${SCHEMA_CPP}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${SCHEMA_CPP}" "-DSCHEMAS=${SCHEMAS}"
          -P ${PROJECT_SOURCE_DIR}/schema/embed.cmake
  DEPENDS ${SCHEMAS} ${PROJECT_SOURCE_DIR}/schema/embed.cmake
  VERBATIM)
target_sources(reconciler_core PRIVATE ${SCHEMA_CPP})

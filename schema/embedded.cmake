# The schemas and the examples that `init` begins with become string constants, so that the program needs no file beside it.
set(SCHEMA_CPP ${PROJECT_BINARY_DIR}/embedded_schemas.cpp)
set(SCHEMAS ${PROJECT_SOURCE_DIR}/schema/cluster.schema.json ${PROJECT_SOURCE_DIR}/schema/facts.schema.json
    ${PROJECT_SOURCE_DIR}/schema/plan.schema.json ${PROJECT_SOURCE_DIR}/schema/report.schema.json)
set(EMBEDDED_MANIFESTS ${PROJECT_SOURCE_DIR}/manifests/pair.yaml ${PROJECT_SOURCE_DIR}/manifests/ring-3.yaml
    ${PROJECT_SOURCE_DIR}/manifests/switch-4.yaml)
add_custom_command(
  OUTPUT ${SCHEMA_CPP}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${SCHEMA_CPP}" "-DSCHEMAS=${SCHEMAS}" "-DMANIFESTS=${EMBEDDED_MANIFESTS}"
          -P ${PROJECT_SOURCE_DIR}/schema/embed.cmake
  DEPENDS ${SCHEMAS} ${EMBEDDED_MANIFESTS} ${PROJECT_SOURCE_DIR}/schema/embed.cmake
  VERBATIM)
target_sources(reconciler_core PRIVATE ${SCHEMA_CPP})

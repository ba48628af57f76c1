# The schemas, the diagnoses and the examples that `init` begins with become string constants, so that the program needs no file beside it.
set(SCHEMA_CPP ${PROJECT_BINARY_DIR}/embedded_schemas.cpp)
set(SCHEMAS "")
foreach(name IN ITEMS access cabling cluster comparison diagnosis discovery drill env event explain facts graph history host-keys hostfile lock plan report
        validation version)
  list(APPEND SCHEMAS ${PROJECT_SOURCE_DIR}/schema/${name}.schema.json)
endforeach()
set(EMBEDDED_MANIFESTS ${PROJECT_SOURCE_DIR}/manifests/pair.yaml ${PROJECT_SOURCE_DIR}/manifests/ring-3.yaml
    ${PROJECT_SOURCE_DIR}/manifests/switch-4.yaml)
add_custom_command(
  OUTPUT ${SCHEMA_CPP}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${SCHEMA_CPP}" "-DSCHEMAS=${SCHEMAS}" "-DMANIFESTS=${EMBEDDED_MANIFESTS}"
          -P ${PROJECT_SOURCE_DIR}/schema/embed.cmake
  DEPENDS ${SCHEMAS} ${EMBEDDED_MANIFESTS} ${PROJECT_SOURCE_DIR}/schema/embed.cmake
  VERBATIM)
set(DIAGNOSES_CPP ${PROJECT_BINARY_DIR}/embedded_diagnoses.cpp)
file(GLOB DIAGNOSES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/diagnosis/*/*.yaml)
add_custom_command(
  OUTPUT ${DIAGNOSES_CPP}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${DIAGNOSES_CPP}" "-DFOLDER=${PROJECT_SOURCE_DIR}/schema/diagnosis"
          -P ${PROJECT_SOURCE_DIR}/schema/embed_diagnoses.cmake
  DEPENDS ${DIAGNOSES} ${PROJECT_SOURCE_DIR}/schema/embed_diagnoses.cmake
  VERBATIM)
target_sources(reconciler_core PRIVATE ${SCHEMA_CPP} ${DIAGNOSES_CPP})
# clang's -Wpedantic counts how long a literal is that every compiler must take; ours take more.
set_source_files_properties(${SCHEMA_CPP} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)

# Writes OUTPUT: the definitions of schema/embedded.h, over the files in SCHEMAS and MANIFESTS.
set(text "#include \"schema/embedded.h\"\n\nnamespace reconciler {\n\n")

function(append_finder function suffix)
  string(APPEND text "std::string_view ${function}(std::string_view name) {\n")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    string(REPLACE "${suffix}" "" name ${name})
    file(READ ${file} content)
    string(APPEND text "  if (name == \"${name}\") return R\"embedded(${content})embedded\";\n")
  endforeach()
  string(APPEND text "  return {};\n}\n\n")
  set(text "${text}" PARENT_SCOPE)
endfunction()

append_finder(FindEmbeddedSchema .schema.json ${SCHEMAS})
append_finder(FindEmbeddedManifest .yaml ${MANIFESTS})
string(APPEND text "}  // namespace reconciler\n")
file(WRITE ${OUTPUT} "${text}")

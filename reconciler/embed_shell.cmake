# The shell that runs on nodes lies in .sh files beside the C++ that sends it, and is compiled into it: the program needs
# no file beside it, and a name that is misspelt does not compile. guard.sh in reconciler/apply/guard becomes the
# constant kGuardSh of "reconciler/apply/guard/guard.sh.h". The scripts by which shells complete our arguments are embedded
# alike: completion.zsh becomes kCompletionZsh.

if(CMAKE_SCRIPT_MODE_FILE)
  # Writes OUTPUT: the constant NAME with the text of INPUT.
  file(READ ${INPUT} shell)
  file(WRITE ${OUTPUT} "#pragma once\n\n#include <string_view>\n\nnamespace reconciler {\n\n\
inline constexpr std::string_view ${NAME} = R\"shell_text(${shell})shell_text\";\n\n\
}  // namespace reconciler\n")
  return()
endif()

# spark_embed_shell(TARGET folder…): every script below these folders, for TARGET and all that link it.
function(spark_embed_shell target)
  set(headers "")
  set(names "")
  foreach(folder IN LISTS ARGN)
    set(below ${PROJECT_SOURCE_DIR}/${folder})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${below}/*.sh ${below}/*.bash ${below}/*.zsh
         ${below}/*.fish)
    foreach(file IN LISTS files)
      get_filename_component(words ${file} NAME)
      string(REGEX REPLACE "[_.]" ";" words ${words})
      set(name k)
      foreach(word IN LISTS words)
        string(SUBSTRING ${word} 0 1 first)
        string(SUBSTRING ${word} 1 -1 rest)
        string(TOUPPER ${first} first)
        string(APPEND name ${first}${rest})
      endforeach()
      if(name IN_LIST names)
        message(FATAL_ERROR "${file}: another script is called ${name} already")
      endif()
      list(APPEND names ${name})
      set(header ${PROJECT_BINARY_DIR}/embedded/${file}.h)
      list(APPEND headers ${header})
      add_custom_command(
        OUTPUT ${header}
        COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/${file} -DOUTPUT=${header} -DNAME=${name}
                -P ${PROJECT_SOURCE_DIR}/reconciler/embed_shell.cmake
        DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/reconciler/embed_shell.cmake
        COMMENT "Embedding ${file}"
        VERBATIM)
    endforeach()
  endforeach()
  add_custom_target(embedded_shell DEPENDS ${headers})
  add_dependencies(${target} embedded_shell)
  target_include_directories(${target} PUBLIC ${PROJECT_BINARY_DIR}/embedded)
endfunction()

# Puts the report's asset files into a source file, one function a file: page.html becomes page_html().
set(text "// Made from crisp/report/assets by cmake/embed.cmake.\n#include \"crisp/report/assets.h\"\n\n")
string(APPEND text "namespace crisp::report {\n")
foreach(file page.html style.css)
  string(REPLACE "." "_" name ${file})
  file(READ "${ASSETS}/${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND text "\nstd::string_view ${name}() {\n  static constexpr char kBytes[] = {${bytes}};\n"
                     "  return {kBytes, sizeof(kBytes)};\n}\n")
endforeach()
string(APPEND text "\n}  // namespace crisp::report\n")
file(WRITE "${OUTPUT}" "${text}")

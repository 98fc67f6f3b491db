# The sources of each folder are compiled together, up to eight as one: headers are read once for all of them. Folders below
# src/LAYER/FOLDER/ count as that folder. So a name in an anonymous namespace must be the only one of its folder. REDOUBT_TOGETHER=OFF compiles each source alone, as clang-tidy wants it.
function(redoubt_compile_together target)
  if(NOT REDOUBT_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    cmake_path(ABSOLUTE_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REGEX MATCH "^[^/]*(/[^/]*)?(/[^/]*)?" folder "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR batch "${count_${folder}} / 8")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# The headers of other libraries that most sources read, and those that are named, are compiled once for a target. No header of ours
# is among them: a change of one compiles what includes it, not all.
function(redoubt_read_headers_once target)
  if(REDOUBT_TOGETHER)
    target_precompile_headers(${target} PRIVATE <fmt/format.h> <fmt/ranges.h> ${ARGN}
      <algorithm> <cmath> <filesystem> <functional> <map> <memory> <numeric> <optional> <span> <string> <vector>)
  endif()
endfunction()

# The same, where another target with the same flags has them.
function(redoubt_share_headers target other)
  if(REDOUBT_TOGETHER)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

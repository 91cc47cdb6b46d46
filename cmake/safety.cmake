# What the compiler adds for safety: hardening in every build, sanitizers where a preset names them.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

add_library(hondana_safety INTERFACE)
target_compile_options(hondana_safety INTERFACE -fstack-protector-strong -fstack-clash-protection)
target_compile_definitions(hondana_safety INTERFACE _GLIBCXX_ASSERTIONS)
# With -fcf-protection the linker notes in the program that it may run with IBT and shadow stacks, if the C library's start files
# do, too: those of Debian 12 do not.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(hondana_safety INTERFACE -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  target_compile_options(hondana_safety INTERFACE -mbranch-protection=standard)
endif()
# Binding everything at start costs 0.1 ms of the start-up budget of 15 ms.
if(HONDANA_LINKER)
  target_link_options(hondana_safety INTERFACE -fuse-ld=${HONDANA_LINKER})
endif()
target_link_options(hondana_safety INTERFACE -Wl,--as-needed -Wl,-z,relro,-z,now,-z,noexecstack)

if(HONDANA_SANITIZE)
  string(REPLACE ";" "," sanitizers "${HONDANA_SANITIZE}")
  target_compile_options(hondana_safety INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(HONDANA_SANITIZE_NOT)
    target_compile_options(hondana_safety INTERFACE -fno-sanitize=${HONDANA_SANITIZE_NOT})
  endif()
  target_link_options(hondana_safety INTERFACE -fsanitize=${sanitizers})
else()
  # _FORTIFY_SOURCE needs an optimising build and hides errors from the sanitizers.
  target_compile_options(hondana_safety INTERFACE "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
endif()

# The coverage the fuzzer steers by.
if(HONDANA_BUILD_FUZZ)
  target_compile_options(hondana_safety INTERFACE -fsanitize=fuzzer-no-link)
endif()

# ccache can hold what was compiled with a precompiled header only if the header's text and not its time decides.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(hondana_safety INTERFACE -fpch-preprocess)
  else()
    target_compile_options(hondana_safety INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

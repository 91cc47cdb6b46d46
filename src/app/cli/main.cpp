/// The program: parses its arguments and runs one command.

#include <cstdio>
#include <exception>
#include <string_view>
#include <variant>

#include "app/cli/arguments.hpp"
#include "app/cli/exit_codes.hpp"
#include "text/rendering/render_child.hpp"

int main(int count, char** arguments) {
  try {
    // Check for the rendering child first: it is confined and does not need the rest of the setup.
    if (count > 1 && std::string_view(arguments[1]) == hondana::rendering::render_verb)
      return hondana::rendering::render_as_child(count - 1, arguments + 1);
    return std::visit([](const auto& command) { return hondana::cli::run(command); },
                      hondana::cli::parse_arguments(count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hondana: stopped by an internal error or lack of memory: %s\n", error.what());
    return hondana::cli::exit_server;
  }
}

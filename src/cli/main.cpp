/// The program: parses its arguments and runs one command.
#include <cstdio>
#include <exception>
#include <variant>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"

int main(int count, char** arguments) {
  try {
    return std::visit([](const auto& what) { return hondana::cli::run(what); },
                      hondana::cli::parse_arguments(count, arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hondana: stopped by a defect or lack of memory: %s\n", error.what());
    return hondana::cli::exit_server;
  }
}

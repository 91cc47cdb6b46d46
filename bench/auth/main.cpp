/// What it costs to know who asks: small reads over HTTP with nobody asked, with tokens from a file, and with tokens of an
/// authorization server (ES256), of the real program in the same run.
///
/// Usage: auth_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Prints a Markdown table.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "../http/comparison.hpp"
#include "../process/scratch.hpp"
#include "issuer.hpp"

namespace {

namespace fs = std::filesystem;

std::string new_token(const std::string& program, const fs::path& file) {
  const auto said = file.string() + ".said";
  const auto command = '"' + program + "\" token new bench --scope shelf:read --file \"" + file.string() + "\" > \"" + said +
                       "\" 2> \"" + said + ".why\"";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("no token can be made: " + bench::text_in(said + ".why"));
  const auto text = bench::text_in(said);
  const auto begin = text.find("hondana_");
  if (begin == std::string::npos) throw std::runtime_error("`hondana token new` printed no token");
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  http_bench::comparison among(program);
  const auto tokens = among.folder() / "tokens";
  among.enter("nobody is asked", http_bench::free_port(), {});
  among.enter("tokens from a file", http_bench::free_port(),
              {.tables = "[auth]\ntokens = \"" + tokens.string() + "\"\n", .token = new_token(program, tokens)});
  const auth_bench::issuer issuer;
  const auto port = http_bench::free_port();
  const auto resource = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
  among.enter("JSON Web Tokens", port,
              {.tables = "[auth.oauth]\nissuer = \"" + issuer.url() + "\"\nresource = \"" + resource + "\"\n",
               .token = issuer.token(resource)});
  among.run("who asks", time, repetitions);
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "auth_bench", run); }

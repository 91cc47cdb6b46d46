/// The texts of the topics.
#include "app/cli/flags/topics.hpp"

#include <array>

namespace hondana::cli {
namespace {

constexpr std::array first_three{
    topic::term{"hondana serve [PATH...]", "serve folders on http://127.0.0.1:7325/mcp"},
    topic::term{"hondana ls [URI] --on TARGET", "list the resources of any MCP server"},
    topic::term{"hondana read URI --on TARGET", "print one; -o FILE writes it to a file"},
};
constexpr std::array target_kinds{
    topic::term{"https://HOST/PATH", "a server behind a URL, http or https"},
    topic::term{"unix:/PATH", "a server on a Unix socket, at /mcp"},
    topic::term{"NAME", "a [[source]] of type \"mcp\" in the configuration file"},
    topic::term{"FOLDER or FILE", "served by this very process; ./NAME where a NAME is configured too"},
    topic::term{"-- COMMAND ARGS", "instead of --on: a program that serves on its standard input and output"},
};
constexpr std::array variables{
    topic::term{"NO_COLOR", "When it is set and not empty nothing is coloured. Only terminals get colours anyway."},
    topic::term{"XDG_CONFIG_HOME", "Where hondana/config.toml and hondana/tokens are looked for; without it, ~/.config."},
    topic::term{"XDG_DATA_HOME", "Where hondana/credentials.json is kept; without it, ~/.local/share."},
    topic::term{"BROWSER", "The program that hondana login opens pages with, one name or path; without it, xdg-open."},
    topic::term{"DISPLAY, WAYLAND_DISPLAY", "Without them hondana login prints the address to visit."},
    topic::term{"HONDANA_GDRIVE_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS",
                "For sources of Google Drive that name none: the JSON itself; the path of its file."},
    topic::term{"http_proxy, https_proxy, no_proxy", "Proxies for targets behind URLs, as curl reads them."},
};
constexpr std::array files{
    topic::term{"~/.config/hondana/config.toml", "The names that --on takes. hondana config import --write adds to it."},
    topic::term{"~/.config/hondana/tokens", "Hashes of the tokens that hondana token makes; nobody else reads it."},
    topic::term{"~/.local/share/hondana/credentials.json",
                "Log-ins, readable by you alone, or which of them are in the desktop's keyring."},
};

}  // namespace

constexpr std::string_view program_summary =
    "hondana serves folders as Model Context Protocol resources, and reads those of any server.";

const topic& first_commands() {
  static constexpr topic three{"", "", first_three};
  return three;
}

const topic& targets() {
  static constexpr topic all{"Targets", "Without one the current folder is served by this very process and asked.",
                             target_kinds};
  return all;
}

std::span<const topic> surroundings() {
  static constexpr std::array all{topic{"Environment", "", variables}, topic{"Files", "", files}};
  return all;
}

}  // namespace hondana::cli

/// The texts of the topics.
#include "app/cli/flags/topics.hpp"

#include <array>

namespace hondana::cli {
namespace {

constexpr std::array first_three{
    topic::term{"hondana serve [PATH...]", "serve folders on http://127.0.0.1:7325/mcp"},
    topic::term{"hondana ls [URI] --on TARGET", "list the resources of any MCP server"},
    topic::term{"hondana read URI --on TARGET", "print a resource; -o FILE writes it to a file"},
};
constexpr std::array target_kinds{
    topic::term{"https://HOST/PATH", "a server behind a URL, http or https"},
    topic::term{"unix:/PATH", "a server on a Unix socket, at /mcp"},
    topic::term{"NAME", "a [[source]] of type \"mcp\" in the configuration file"},
    topic::term{"FOLDER or FILE", "served by this process; write ./NAME if NAME is also a configured name"},
    topic::term{"-- COMMAND ARGS", "instead of --on: a server program on standard input and output"},
};
constexpr std::array variables{
    topic::term{"NO_COLOR", "If it is not empty, output has no colours. Only terminals get colours."},
    topic::term{"XDG_CONFIG_HOME", "The folder of hondana/config.toml and hondana/tokens (default ~/.config)."},
    topic::term{"XDG_DATA_HOME", "The folder of hondana/credentials.json (default ~/.local/share)."},
    topic::term{"BROWSER", "The browser for hondana login, a name or path (default xdg-open)."},
    topic::term{"DISPLAY, WAYLAND_DISPLAY", "If neither is set, hondana login prints the address to visit."},
    topic::term{"HONDANA_GDRIVE_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS",
                "Credentials for Google Drive sources that name none: the JSON itself, or the path of its file."},
    topic::term{"http_proxy, https_proxy, no_proxy", "Proxies for targets behind URLs, as curl reads them."},
};
constexpr std::array files{
    topic::term{"~/.config/hondana/config.toml", "The names for --on. hondana config import --write adds to it."},
    topic::term{"~/.config/hondana/tokens", "Hashes of the tokens that hondana token creates (mode 0600)."},
    topic::term{"~/.local/share/hondana/credentials.json",
                "Logins (mode 0600), or a note of which are in the desktop's keyring."},
};

}  // namespace

constexpr std::string_view program_summary =
    "hondana serves folders as Model Context Protocol resources, and reads the resources of any server.";

const topic& first_commands() {
  static constexpr topic three{"", "", first_three};
  return three;
}

const topic& targets() {
  static constexpr topic all{"Targets", "Default: this process serves the current folder itself.", target_kinds};
  return all;
}

std::span<const topic> surroundings() {
  static constexpr std::array all{topic{"Environment", "", variables}, topic{"Files", "", files}};
  return all;
}

}  // namespace hondana::cli

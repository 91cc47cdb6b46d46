/// The fixture servers by name.
#include "transcripts/servers.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "support/must.hpp"
#include "transcripts/changing_servers.hpp"
#include "transcripts/demo_server.hpp"
#include "transcripts/entries.hpp"
#include "transcripts/handler_server.hpp"
#include "transcripts/list_servers.hpp"

namespace transcripts {

tl::expected<hondana::server, std::string> make_server(std::string_view name) {
  if (name == "demo") return demo();
  if (name == "hasty") return demo(std::chrono::milliseconds{50});
  if (name == "paged") return paged();
  if (name == "plain") return plain();
  if (name == "skilled") return skilled();
  if (name == "shelved") return shelved();
  if (name == "bridged") return bridged();
  if (name == "changing") return changing(true, true);
  if (name == "listing") return changing(true, false);
  if (name == "watching") return changing(false, true);
  if (name == "dialect") return dialect();
  if (name == "handlers") {
    auto options = options_of("Transcript Server");
    options.supports_list_changes = true;
    hondana::server made = must(hondana::server::create(std::move(options)));
    add_handlers(made);
    return made;
  }
  if (name == "empty") return must(hondana::server::create(options_of({})));
  return tl::unexpected("there is no fixture server " + std::string(name));
}

}  // namespace transcripts

/// Fixture servers whose resources change while they are talked to.
#pragma once

#include <hondana/server.hpp>

namespace transcripts {

/// Reading `news:///touch` changes `news:///item`, reading `news:///shuffle` changes the list. The arguments say what is
/// announced.
[[nodiscard]] hondana::server changing(bool lists, bool contents);
/// Versions: reading `shelf:///edit` changes `shelf:///note`, reading `shelf:///discard` removes it.
[[nodiscard]] hondana::server dialect();

}  // namespace transcripts

/// Journals made by systemd's own tools from the export format, and what journalctl says of them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/value.hpp>

#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {

/// An entry to be.
struct journal_line {
  records::instant time = noon;
  std::vector<std::pair<std::string, std::string>> fields;
};

/// In the binary form of the export format where it has to be.
inline std::string exported(const std::vector<journal_line>& all) {
  std::string out;
  // Within a boot, files are put in order by this clock.
  constexpr records::instant booted = noon - 100 * day;
  for (const auto& one : all) {
    out += "__REALTIME_TIMESTAMP=" + std::to_string(one.time) + "\n__MONOTONIC_TIMESTAMP=" + std::to_string(one.time - booted) +
           "\n_BOOT_ID=11111111111111111111111111111111\n_MACHINE_ID=22222222222222222222222222222222\n";
    for (const auto& [name, value] : one.fields) {
      bool is_binary = false;
      for (const char c : value) is_binary = is_binary || (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
      if (!is_binary) {
        out += name + '=' + value + '\n';
        continue;
      }
      out += name + '\n';
      for (int i = 0; i < 8; ++i) out += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> (8 * i) & 0xFFU);
      out += value + '\n';
    }
    out += '\n';
  }
  return out;
}

/// What a program writes; the test fails when the program does.
inline std::string output_of(const std::string& command) {
  std::string out;
  std::FILE* const from = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (from == nullptr) return out;
  std::array<char, 65536> piece{};
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), from)) > 0;) out.append(piece.data(), got);
  EXPECT_EQ(::pclose(from), 0) << command;
  return out;
}

class made_journal {
 public:
  explicit made_journal(const std::vector<journal_line>& all) {
    std::filesystem::create_directory(folder());
    add(all);
  }
  [[nodiscard]] std::string folder() const { return place_.path("journal"); }
  /// By systemd-journal-remote, as another file of the journal.
  void add(const std::vector<journal_line>& all) {
    const auto from = "entries-" + std::to_string(++files_);
    place_.append(from, exported(all));
    (void)output_of("/lib/systemd/systemd-journal-remote -o " + place_.path(from + ".journal") + ' ' + place_.path(from));
    // Put in place whole, as a journal that was rotated is.
    std::filesystem::rename(place_.path(from + ".journal"), folder() + '/' + from + ".journal");
  }
  /// Entries by journalctl, the oldest first.
  [[nodiscard]] std::vector<value> by_journalctl(const std::string& arguments) const {
    const auto all = output_of("journalctl --no-pager --all -o json --directory " + folder() + ' ' + arguments);
    std::vector<value> out;
    for (std::size_t at = 0; at < all.size();) {
      const auto end = std::min(all.find('\n', at), all.size());
      auto one = value::parse(std::string_view(all).substr(at, end - at));
      EXPECT_TRUE(one);
      if (one) out.push_back(*one);
      at = end + 1;
    }
    return out;
  }

 private:
  made_folder place_;
  int files_ = 0;
};

}  // namespace hondana::logs

#include "model/goals.h"

#include <algorithm>
#include <array>
#include <vector>

#include "redoubt/goal.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr std::array<std::string_view, 7> kWords = {"reach", "avoid", "until", "steps",
                                                    "to",    "total", "of"};

struct Word {
  std::string text;
  bool quoted = false;
  bool is(std::string_view word) const { return !quoted && text == word; }
  bool names() const {
    return quoted || std::find(kWords.begin(), kWords.end(), text) == kWords.end();
  }
};

std::string quote(std::string_view name) {
  const bool plain = !name.empty() && name.find_first_of(" \"\\\t\n") == std::string_view::npos &&
                     Word{std::string(name)}.names();
  if (plain) return std::string(name);
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// None when a quote has no end.
std::optional<std::vector<Word>> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    Word word{"", text[i] == '"'};
    if (!word.quoted) {
      const std::size_t end = std::min(text.find(' ', i), text.size());
      word.text = text.substr(i, end - i);
      i = end;
    } else {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
        if (i < text.size()) word.text += text[i];
      }
      if (i >= text.size()) return {};
      ++i;
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

std::string reach(std::string_view label) { return "reach " + quote(label); }
std::string avoid(std::string_view label) { return "avoid " + quote(label); }
std::string until(std::string_view before, std::string_view label) {
  return quote(before) + " until " + quote(label);
}
std::string steps_to(std::string_view label) { return "steps to " + quote(label); }
std::string total_until(std::string_view signal, std::string_view label) {
  return "total of " + quote(signal) + " until " + quote(label);
}

std::optional<Goal> internal::parse_goal(std::string_view text) {
  const auto words = words_of(text);
  if (!words) return {};
  const auto& w = *words;
  using Kind = Goal::Kind;
  if (w.size() == 2 && w[0].is("reach") && w[1].names()) return Goal{Kind::reach, w[1].text};
  if (w.size() == 2 && w[0].is("avoid") && w[1].names()) return Goal{Kind::avoid, w[1].text};
  if (w.size() == 3 && w[0].is("steps") && w[1].is("to") && w[2].names())
    return Goal{Kind::steps, w[2].text};
  if (w.size() == 3 && w[1].is("until") && w[0].names() && w[2].names())
    return Goal{Kind::until, w[2].text, w[0].text};
  if (w.size() == 5 && w[0].is("total") && w[1].is("of") && w[2].names() && w[3].is("until") &&
      w[4].names())
    return Goal{Kind::total, w[4].text, {}, w[2].text};
  return {};
}

}  // namespace redoubt

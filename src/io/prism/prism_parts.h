#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/explicit/explicit_model.h"
#include "redoubt/io.h"

// PRISM's explicit files: transitions, states, labels and rewards, each in a file of its own
// (NAME.tra, NAME.sta, NAME.lab, NAME1.srew, NAME1.trew, ...) or one after the other in NAME.pexp.
namespace redoubt::internal::io {

enum class PrismKind { transitions, states, labels, state_rewards, transition_rewards };

struct PrismPart {
  PrismKind kind = PrismKind::transitions;
  std::string file;       // its name, for errors
  std::string_view text;  // after the comments at its head
  std::int64_t line = 1;  // of the file, on which the text begins
  std::string type;       // of transitions, as in "# Transitions (IMDP)"; "": not said
  std::string reward;     // the structure's name, where the file gives one
  std::string structure;  // what tells structures apart: their name or number
};

// The parts of files, which are told by their endings.
std::vector<PrismPart> prism_parts(const std::vector<TextFile>& files);

// Where a choice begins among the rows and its branches: what rewards refer to.
class PrismTransitions {
 public:
  explicit PrismTransitions(const PrismPart& part);

  ExplicitFile& file() { return file_; }
  bool nondeterministic() const { return nondeterministic_; }

 private:
  void read_size(TextLines& lines);
  void read_line(TextLines& lines);
  void read_row(TextLines& lines, const std::vector<std::string_view>& words);
  void go_to(TextLines& lines, State state, std::int64_t choice, std::string_view label);
  Bounds probability(const TextLines& lines, std::string_view text);

  ExplicitFile file_;
  bool nondeterministic_ = true;
  bool sized_ = false;  // false: Storm's own variant, which begins with "mdp" or "dtmc"
  std::int64_t choices_ = -1, branches_ = -1;
  std::size_t bytes_ = 0;
};

// The state that a word of a line is, of so many; an Error otherwise.
State state_of(const TextLines& lines, std::string_view word, State states);

// NAME.tra and the files beside it that belong to it: NAME.sta, NAME.lab, NAME.srew, NAME.trew, and
// NAME1.srew, NAME1.trew and so on, in the order of their numbers.
std::vector<TextFile> files_beside(const std::filesystem::path& tra);
// An Error where a file beside would be read together with those that are to be written.
void require_no_others(const std::filesystem::path& tra, const std::vector<TextFile>& written);

// Each an Error unless the part belongs to the model.
void read_prism_states(const PrismPart& part, ExplicitFile& file);
void read_prism_labels(const PrismPart& part, ExplicitFile& file);
std::vector<ExplicitReward> read_prism_rewards(const std::vector<PrismPart>& parts,
                                               const ExplicitFile& file, bool nondeterministic);

}  // namespace redoubt::internal::io

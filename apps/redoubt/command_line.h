#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The command line as verbs see it. command_line.cc alone includes CLI11, which takes the compiler
// several seconds.
namespace redoubt::app {

// Says what is wrong with the text of a value, or nothing. A transform may also change the text.
using Check = std::function<std::string(std::string& text)>;

// An option of a verb, which is described further by calls in a chain.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& group(const std::string& heading);   // under which --help lists it
  Option& type_name(const std::string& word);  // that stands for the value in --help
  Option& check(const Check& check);
  Option& transform(const Check& change);
  Option& delimiter(char between);  // two values of a list
  Option& repeated();               // each time with one value, which are kept all
  Option& each(std::function<void(const std::string& text)> tell);  // of every value
  Option& needs(Option other);

 private:
  CLI::Option* option_;
};

// The part of the command line that belongs to one verb.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(&app) {}

  // Where the value of an option goes.
  using Target = std::variant<std::string*, std::optional<std::string>*, std::vector<std::string>*,
                              double*, std::optional<double>*, std::vector<double>*, std::int32_t*,
                              std::optional<std::int32_t>*, std::vector<std::int32_t>*,
                              std::int64_t*, std::optional<std::int64_t>*, std::uint64_t*>;

  // Names without dashes are arguments.
  Option add_option(const std::string& names, Target target, const std::string& text);
  template <class Value>
  Option add_option(const std::string& names, Value& value, const std::string& text) {
    return add_option(names, Target(&value), text);
  }
  Option add_option_function(const std::string& names,
                             const std::function<void(const std::string& word)>& set,
                             const std::string& text);
  Option add_flag(const std::string& names, bool& value, const std::string& text);
  // Names with an exclamation mark set `false`. Not called unless the flag is given.
  Option add_flag_function(const std::string& names, const std::function<void(bool given)>& set,
                           const std::string& text);

  Option get_option(const std::string& name);
  bool has(const std::string& name) const;  // whether the option was given

 private:
  CLI::App* app_;
};

// What a verb does once its options have been read; returns the exit status.
using Action = std::function<int()>;

struct Verb {
  const char* name;
  const char* description;
  Action (*prepare)(CommandLine&);  // adds the options
  bool takes_ranks = false;         // mpirun may start it as several processes
};

struct Program {
  std::string name, description, version;
  std::string footer;  // of --help
  std::span<const Verb> verbs;
};

// Reads the command line and does what it says, which is to print help where it says nothing. An
// Error names what it does not understand.
int run(const Program& program, int argc, char** argv);

}  // namespace redoubt::app

#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "checks.h"
#include "redoubt/error.h"
#include "verbs.h"

namespace redoubt::app {

Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}
Option& Option::type_name(const std::string& word) {
  option_->type_name(word);
  return *this;
}
Option& Option::check(const Check& check) {
  option_->check(CLI::Validator(check, ""));
  return *this;
}
Option& Option::transform(const Check& change) {
  option_->transform(CLI::Validator(change, ""));
  return *this;
}
Option& Option::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}
Option& Option::repeated() {
  option_->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
  return *this;
}
Option& Option::each(std::function<void(const std::string& text)> tell) {
  option_->each(std::move(tell));
  return *this;
}
Option& Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option CommandLine::add_option(const std::string& names, Target target, const std::string& text) {
  return std::visit([&](auto* value) { return Option(app_->add_option(names, *value, text)); },
                    target);
}

Option CommandLine::add_option_function(const std::string& names,
                                        const std::function<void(const std::string& word)>& set,
                                        const std::string& text) {
  return Option(app_->add_option_function<std::string>(names, set, text));
}

Option CommandLine::add_flag(const std::string& names, bool& value, const std::string& text) {
  return Option(app_->add_flag(names, value, text));
}

Option CommandLine::add_flag_function(const std::string& names,
                                      const std::function<void(bool given)>& set,
                                      const std::string& text) {
  return Option(app_->add_flag_function(
      names, [set](std::int64_t count) { set(count > 0); }, text));
}

Option CommandLine::get_option(const std::string& name) { return Option(app_->get_option(name)); }

bool CommandLine::has(const std::string& name) const { return app_->count(name) > 0; }

namespace {

// CLI11 says what was left over; a person wants to know which option was meant.
std::string describe_extras(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  const CLI::App& part = chosen.empty() ? program : *chosen.front();
  const auto left = program.remaining(true);
  const auto flag = std::find_if(left.begin(), left.end(),
                                 [](const std::string& word) { return word.starts_with('-'); });
  if (flag == left.end())
    return fmt::format("argument '{}', {} takes no more of them", left.front(), part.get_name());
  std::vector<std::string> known;
  for (const CLI::Option* option : part.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string word = flag->substr(0, flag->find('='));
  return fmt::format("option '{}', {} has none of that name{}", word, part.get_name(),
                     did_you_mean(word, known));
}

}  // namespace

int run(const Program& described, int argc, char** argv) {
  CLI::App program(described.description, described.name);
  program.set_version_flag("--version", described.version, "Print versions and exit");
  program.require_subcommand(0, 1);
  program.footer(described.footer);
  std::vector<CommandLine> parts;  // verbs look at theirs when they run
  parts.reserve(described.verbs.size());
  Action action;
  for (const Verb& verb : described.verbs) {
    CLI::App* part = program.add_subcommand(verb.name, verb.description);
    part->footer("");
    parts.emplace_back(*part);
    part->final_callback([&action, prepared = verb.prepare(parts.back())] { action = prepared; });
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    throw Error(extras ? describe_extras(program) : error.what());
  }
  if (!action) {
    fmt::print("{}", program.help());
    return kFine;
  }
  return action();
}

}  // namespace redoubt::app

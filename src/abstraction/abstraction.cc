#include "redoubt/advanced/abstraction.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "abstraction/input.h"
#include "abstraction/pieces.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

std::uint64_t hash_of(const std::vector<State>& members) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const State s : members) {
    hash ^= static_cast<std::uint64_t>(s) + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdu;
  }
  return hash;
}

}  // namespace

std::int64_t Grid::cell(std::span<const double> point) const {
  std::int64_t number = 0;
  for (int axis = 0; axis < axes(); ++axis) {
    const auto& line = lines[axis];
    const auto above = std::upper_bound(line.begin(), line.end(), point[axis]) - line.begin();
    if (above == 0 || above > cells(axis)) return -1;
    number = number * cells(axis) + above - 1;
  }
  return number;
}

Abstraction::Abstraction(Input input) : input_(std::move(input)) {
  check_input(input_);
  require(input_.parts == 1, "images in {} parts, must be whole to be written out", input_.parts);
  pieces_.resize(input_.grid.axes());
  chosen_.resize(input_.grid.axes());
  state_rows_.push_back(0);
  row_outcomes_.push_back(0);
  std::size_t place = 0;
  for (State s = 0; s < input_.states; ++s) {
    if (place < input_.open.size() && input_.state_of_cell[input_.open[place]] == s) {
      for (int a = 0; a < input_.actions; ++a) {
        add_row((place * input_.actions + a) * input_.grid.axes());
        action_.push_back(a);
      }
      ++place;
    }
    state_rows_.push_back(static_cast<Row>(action_.size()));
  }
  require(place == input_.open.size(),
          "{} cells have rows, {} of them in the order of their states", input_.open.size(), place);
  add_groups();
}

double Abstraction::follows(int later, int earlier) const {
  return input_.follows.empty() ? 0.0 : input_.follows[later * input_.grid.axes() + earlier];
}

bool Abstraction::is_alone(int axis) const {
  for (int earlier = 0; earlier < axis; ++earlier)
    if (follows(axis, earlier) != 0) return false;
  return true;
}

bool Abstraction::is_followed(int axis) const {
  for (int later = axis + 1; later < input_.grid.axes(); ++later)
    if (follows(later, axis) != 0) return true;
  return false;
}

void Abstraction::cut_alone(std::size_t box, Pieces& pieces) const {
  for (int axis = 0; axis < input_.grid.axes(); ++axis)
    if (is_alone(axis)) cut(axis, input_.low[box + axis], input_.high[box + axis], pieces[axis]);
}

// An axis that follows others, given their pieces.
void Abstraction::cut_next(std::size_t box, int axis, const std::vector<NoisePiece>& chosen,
                           Pieces& pieces) const {
  if (is_alone(axis)) return;
  double low = input_.low[box + axis], high = input_.high[box + axis];
  for (int earlier = 0; earlier < axis; ++earlier) {
    const double share = follows(axis, earlier);
    const double begin = share * chosen[earlier].begin, end = share * chosen[earlier].end;
    low += std::min(begin, end);
    high += std::max(begin, end);
  }
  cut(axis, low, high, pieces[axis]);
}

void Abstraction::cut(int axis, double low, double high, std::vector<NoisePiece>& pieces) const {
  const AxisNoise& noise = input_.noise[axis];
  cut_noise(input_.grid.lines[axis], noise, low, high, input_.least_piece, pieces);
  if (is_followed(axis)) cut_wide_pieces(noise, input_.least_piece, pieces);
}

// Keys of all axes add up to one of the box of cells that is touched.
std::uint64_t Abstraction::key_of(int axis, const NoisePiece& piece) const {
  const auto numbers = [&](int of) {  // that a place along the axis may have
    return static_cast<std::uint64_t>(input_.grid.lines[of].size()) + 1;
  };
  std::uint64_t radix = 1;
  for (int before = 0; before < axis; ++before) radix *= numbers(before) * numbers(before);
  return radix * (static_cast<std::uint64_t>(piece.first) * numbers(axis) + piece.last);
}

void Abstraction::add_row(std::size_t box) {
  met_.clear();
  cut_alone(box, pieces_);
  add_outcomes(box, 0, 1.0, 0);
  std::sort(met_.begin(), met_.end());
  for (const State s : met_) {
    if (mass_[s] == 0) continue;  // so small that it is none
    next_.push_back(s);
    probability_.push_back(std::exchange(mass_[s], 0.0));
  }
  row_outcomes_.push_back(static_cast<std::int64_t>(next_.size()));
}

// Every combination of pieces of the axes from this one on; probability and key are those of the
// pieces that are chosen before it.
void Abstraction::add_outcomes(std::size_t box, int axis, double probability, std::uint64_t key) {
  if (axis == input_.grid.axes()) {
    const State next = find_state(key);
    if (static_cast<std::size_t>(next) >= mass_.size()) mass_.resize(next + 1, 0.0);
    if (mass_[next] == 0) met_.push_back(next);
    mass_[next] += probability;
    return;
  }
  cut_next(box, axis, chosen_, pieces_);
  for (const NoisePiece& piece : pieces_[axis]) {
    chosen_[axis] = piece;
    add_outcomes(box, axis + 1, probability * piece.probability, key + key_of(axis, piece));
  }
}

State Abstraction::find_state(std::uint64_t key) {
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  std::vector<State> members = members_of_chosen();
  const State found = members.size() == 1 ? members.front() : find_group(std::move(members));
  known_.emplace(key, found);
  return found;
}

std::vector<State> Abstraction::members_of_chosen() const {
  const Grid& grid = input_.grid;
  std::vector<State> members;
  std::vector<std::int64_t> cells = {0};  // of the axes so far
  for (int axis = 0; axis < grid.axes(); ++axis) {
    const NoisePiece& piece = chosen_[axis];
    const auto count = grid.cells(axis);
    if ((piece.first == 0 || piece.last > count) && members.empty())
      members.push_back(input_.outside);
    std::vector<std::int64_t> more;
    for (const auto cell : cells) {
      for (auto i = std::max(piece.first, 1); i <= std::min<std::int64_t>(piece.last, count); ++i)
        more.push_back(cell * count + i - 1);
    }
    cells = std::move(more);
  }
  for (const auto cell : cells) members.push_back(input_.state_of_cell[cell]);
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

State Abstraction::find_group(std::vector<State> members) {
  const std::uint64_t hash = hash_of(members);
  const auto [begin, end] = by_members_.equal_range(hash);
  for (auto same = begin; same != end; ++same)
    if (members_[same->second] == members) return input_.states + same->second;
  const auto group = groups();
  require(group < std::numeric_limits<State>::max() - input_.states,
          "{} groups of states, must be fewer", group);
  by_members_.emplace(hash, group);
  members_.push_back(std::move(members));
  return input_.states + group;
}

// Groups have a row each, which lists their members.
void Abstraction::add_groups() {
  for (const std::vector<State>& members : members_) {
    action_.push_back(0);
    for (const State s : members) {
      next_.push_back(s);
      probability_.push_back(1.0 / static_cast<double>(members.size()));
    }
    row_outcomes_.push_back(static_cast<std::int64_t>(next_.size()));
    state_rows_.push_back(static_cast<Row>(action_.size()));
  }
}

State Abstraction::next(std::int64_t place, int action, std::span<const double> noise) const {
  const auto axes = static_cast<std::size_t>(input_.grid.axes());
  require(place >= 0 && place < std::ssize(input_.open) && action >= 0 && action < input_.actions,
          "action {} in open cell {}, must be in 0..{} and 0..{}", action, place,
          input_.actions - 1, std::ssize(input_.open) - 1);
  const std::size_t box = (place * input_.actions + action) * axes;
  Pieces pieces(axes);
  std::vector<NoisePiece> chosen(axes);
  std::vector<double> own(axes);  // what no earlier axis explains
  std::uint64_t key = 0;
  cut_alone(box, pieces);
  for (int axis = 0; axis < input_.grid.axes(); ++axis) {
    cut_next(box, axis, chosen, pieces);
    own[axis] = noise[axis];
    for (int earlier = 0; earlier < axis; ++earlier)
      own[axis] -= follows(axis, earlier) * own[earlier];
    const auto holds = [&](const NoisePiece& piece) { return own[axis] <= piece.end; };
    auto piece = std::find_if(pieces[axis].begin(), pieces[axis].end(), holds);
    if (piece == pieces[axis].end()) --piece;  // beyond what is looked at
    chosen[axis] = *piece;
    key += key_of(axis, *piece);
  }
  return known_.at(key);
}

}  // namespace redoubt

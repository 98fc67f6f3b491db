#pragma once

#include <vector>

namespace redoubt::internal {

// maximise objective.x subject to rows[i].x <= limit[i] for each i, x >= 0, where limits are at
// least zero and the largest numbers are about one. For some tens of variables and rows that
// change from one call to the next; whoever uses the answer checks what it is worth, so it need not
// be exact to the last bit.
class Simplex {
 public:
  // Begins a problem in which all numbers are zero.
  void begin(int variables, int rows);
  double& objective(int variable) { return at(rows_, variable); }
  double& entry(int row, int variable) { return at(row, variable); }
  double& limit(int row) { return at(row, variables_); }

  void solve();

  double value(int variable) const { return value_[variable]; }
  double price(int row) const { return price_[row]; }  // of one unit of the limit

 private:
  // The tableau has a row for what is basic and a column for what is not, so that a slack takes no
  // room as long as its row is loose.
  double& at(int row, int column) {
    return tableau_[static_cast<std::size_t>(row) * (variables_ + 1) + column];
  }
  int entering(bool first) const;
  int leaving(int column);
  void pivot(int row, int column);

  int variables_ = 0, rows_ = 0;
  std::vector<double> tableau_;
  std::vector<int> basic_, free_;  // numbers of variables, and behind them of slacks
  std::vector<double> value_, price_;
};

}  // namespace redoubt::internal

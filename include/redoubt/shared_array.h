#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace redoubt {

// An array whose copies have one memory in common until one of them is changed: most stages of a
// policy decide as the stage after them.
template <class Value>
class SharedArray {
 public:
  using value_type = Value;

  SharedArray() = default;
  SharedArray(std::vector<Value> values)  // NOLINT: a list of values is an array
      : values_(std::make_shared<std::vector<Value>>(std::move(values))) {}

  bool empty() const { return !values_ || values_->empty(); }
  std::size_t size() const { return values_ ? values_->size() : 0; }
  const Value* data() const { return values_ ? values_->data() : nullptr; }
  const Value& operator[](std::size_t i) const { return (*values_)[i]; }
  const Value* begin() const { return data(); }
  const Value* end() const { return data() + size(); }

  // The values, to be changed; copied first where another array shares them.
  std::vector<Value>& edit() {
    if (!values_)
      values_ = std::make_shared<std::vector<Value>>();
    else if (values_.use_count() > 1)
      values_ = std::make_shared<std::vector<Value>>(*values_);
    return *values_;
  }

  friend bool operator==(const SharedArray& a, const SharedArray& b) {
    return a.values_ == b.values_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<std::vector<Value>> values_;
};

}  // namespace redoubt

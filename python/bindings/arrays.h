#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

// numpy arrays that look at a vector without copying it, and vectors filled from numpy arrays.
template <class T>
using Array =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using View = nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>;

// Read-only; `owner` keeps the vector alive.
template <class T>
View<T> view(const std::vector<T>& values, nanobind::handle owner) {
  return View<T>(values.data(), {values.size()}, owner);
}

// Owns what it shows.
template <class T>
nanobind::object owned(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(view(*kept, owner));
}

template <class T>
std::vector<T> to_vector(const Array<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.shape(0));
}

// A property that reads as a view of a vector member.
template <class Class, class Owner, class T>
void def_view(Class& cls, const char* name, std::vector<T> Owner::*member, const char* doc = "") {
  cls.def_prop_ro(
      name,
      [member](nanobind::pointer_and_handle<Owner> self) { return view(self.p->*member, self.h); },
      nanobind::rv_policy::reference, doc);
}

// The same, and assigning copies an array into it.
template <class Class, class Owner, class T>
void def_array(Class& cls, const char* name, std::vector<T> Owner::*member) {
  cls.def_prop_rw(
      name,
      [member](nanobind::pointer_and_handle<Owner> self) { return view(self.p->*member, self.h); },
      [member](Owner& self, const Array<T>& array) { self.*member = to_vector(array); },
      nanobind::rv_policy::reference);
}

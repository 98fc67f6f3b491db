#pragma once

#include <nanobind/nanobind.h>

// One function for each noun; module.cc calls them in the order in which they need each other.
void bind_uncertainty(nanobind::module_& m);
void bind_worst_case(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_problem(nanobind::module_& m);
void bind_environments(nanobind::module_& m);
void bind_abstraction(nanobind::module_& m);
void bind_io(nanobind::module_& m);
void bind_policy(nanobind::module_& m);
void bind_chance(nanobind::module_& m);
void bind_solution(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
void bind_frontier(nanobind::module_& m);
void bind_gradient(nanobind::module_& m);
void bind_controller(nanobind::module_& m);
void bind_worst_kernel(nanobind::module_& m);
void bind_shield(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_simulate(nanobind::module_& m);
void bind_sampling(nanobind::module_& m);
void bind_compare(nanobind::module_& m);

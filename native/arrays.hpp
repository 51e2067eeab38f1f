// Vectors as NumPy arrays without copying: the array owns what was the vector's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

#include "columns.hpp"

namespace schedlab {

template <class T>
nanobind::object to_array(std::vector<T> &&values) {
  auto *owned = new std::vector<T>(std::move(values));
  nanobind::capsule owner(owned, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(owned->data(), {owned->size()}, owner));
}

// A column of a batch as an array that keeps the batch's memory alive.
template <class T>
nanobind::object to_array(const Column<T> &column, const Batch &batch) {
  auto *held = new std::shared_ptr<Arena>(batch.memory());
  nanobind::capsule owner(held, [](void *p) noexcept { delete static_cast<std::shared_ptr<Arena> *>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(column.data(), {batch.rows()}, owner));
}

}  // namespace schedlab

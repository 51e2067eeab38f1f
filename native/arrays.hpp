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
inline nanobind::object to_array(const Batch::Laid &column, const Batch &batch) {
  auto *held = new std::shared_ptr<Arena>(batch.memory());
  nanobind::capsule owner(held, [](void *p) noexcept { delete static_cast<std::shared_ptr<Arena> *>(p); });
  const auto array = [&]<class T>(T *values) {
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(values, {batch.rows()}, owner));
  };
  switch (column.element) {
    case Element::Byte:
      return array(static_cast<std::uint8_t *>(column.values));
    case Element::Int32:
      return array(static_cast<std::int32_t *>(column.values));
    case Element::Int64:
      return array(static_cast<std::int64_t *>(column.values));
    case Element::Float:
      return array(static_cast<float *>(column.values));
    case Element::Double:
      return array(static_cast<double *>(column.values));
  }
  return nanobind::none();  // there are no others
}

}  // namespace schedlab

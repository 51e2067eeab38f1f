// Vectors as NumPy arrays without copying: the array owns what was the vector's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

namespace schedlab {

template <class T>
nanobind::object to_array(std::vector<T> &&values) {
  auto *owned = new std::vector<T>(std::move(values));
  nanobind::capsule owner(owned, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(owned->data(), {owned->size()}, owner));
}

}  // namespace schedlab

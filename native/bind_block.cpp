// Binds what browsers get: columns of numbers as bytes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "block_column.hpp"
#include "without_python.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace schedlab {

namespace {

using Numbers = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

BlockValues values_of(const Numbers &numbers, std::optional<double> null) {
  if (numbers.dtype() == nb::dtype<double>())
    return {std::span(static_cast<const double *>(numbers.data()), numbers.shape(0)), null};
  if (numbers.dtype() == nb::dtype<std::int64_t>())
    return {std::span(static_cast<const std::int64_t *>(numbers.data()), numbers.shape(0)), null};
  throw nb::type_error("neither doubles nor whole numbers of 8 bytes");
}

std::tuple<nb::dict, nb::object> column(const Numbers &numbers, int divisor, bool delta, std::optional<double> null,
                                        const std::optional<Numbers> &beside, std::optional<double> beside_null) {
  if (beside && beside->shape(0) != numbers.shape(0)) throw nb::value_error("columns of different lengths");
  const BlockValues own = values_of(numbers, null);
  const BlockValues other = beside ? values_of(*beside, beside_null) : BlockValues{};
  BlockColumn found = without_python([&] { return block_column(own, divisor, delta, beside ? &other : nullptr); });
  nb::dict head;
  head["kind"] = found.divisor ? "whole" : "floats";
  head["width"] = found.width;
  if (found.divisor) {
    head["divisor"] = found.divisor;
    head["base"] = found.base;
    head["nulls"] = static_cast<int>(found.nulls);
    if (delta && !found.bytes.empty()) head["first"] = found.first;
    head["relative"] = found.relative;
  }
  return {head, to_array(std::move(found.bytes))};
}

}  // namespace

}  // namespace schedlab

void bind_block(nb::module_ &module) {
  module.def(
      "block_divisor",
      [](const schedlab::Numbers &values) {
        const schedlab::BlockValues own = schedlab::values_of(values, std::nullopt);
        return schedlab::without_python([&] { return schedlab::block_divisor(own); });
      },
      "values"_a, nb::sig("def block_divisor(values: numpy.typing.NDArray[typing.Any]) -> int"),
      "The unit (1, or thousandths: 1000) of which all values but NaN are whole multiples, or 0.");
  module.def("block_column", &schedlab::column, "values"_a, "divisor"_a, "delta"_a, "null"_a = nb::none(),
             "beside"_a = nb::none(), "beside_null"_a = nb::none(),
             nb::sig("def block_column(values: numpy.typing.NDArray[typing.Any], divisor: int, delta: bool, "
                     "null: float | None = None, beside: numpy.typing.NDArray[typing.Any] | None = None, "
                     "beside_null: float | None = None) -> tuple[dict[str, typing.Any], object]"),
             "A column of a block (schedlab.web.block) of this unit: its head and its bytes. `null` means unknown, as "
             "NaN does; `beside` is the column to which it may be relative.");
}

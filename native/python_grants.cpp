// Allocations as granted, between Python and the core.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "python_parts.hpp"

namespace nb = nanobind;

namespace schedlab {

namespace {

std::string shown(nb::handle value) {
  const nb::object text = nb::steal(PyObject_Repr(value.ptr()));
  if (!text.is_valid()) return PyErr_Clear(), "what cannot be shown";
  return nb::cast<std::string>(text).substr(0, 60);
}

// A whole number, also NumPy's.
Amount whole(nb::handle value, const std::string &what) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (index.is_valid()) {
    const Amount number = PyLong_AsLongLong(index.ptr());
    if (!PyErr_Occurred()) return number;
  }
  PyErr_Clear();
  throw DecisionError(what + " cannot be " + shown(value) + ": a whole number is expected");
}

// {resource: amount}. (PyMapping_Check is true of everything with brackets, so also of lists and of NumPy's numbers.)
bool is_mapping(nb::handle value) { return PyDict_Check(value.ptr()) || nb::hasattr(value, "items"); }

bool is_list(nb::handle value) {
  return PyIter_Check(value.ptr()) || (PySequence_Check(value.ptr()) && !PyUnicode_Check(value.ptr()));
}

// What {resource: amount or devices} says of the last share.
void read_amounts(nb::handle given, Granted &granted, const Machine &machine, std::int32_t share) {
  const std::vector<std::string> &names = machine.resource_names();
  granted.amounts.resize(granted.amounts.size() + names.size());
  Amount *amounts = granted.on(static_cast<std::size_t>(share));
  const nb::object items = nb::steal(PyMapping_Items(given.ptr()));
  if (!items.is_valid()) throw nb::python_error();
  for (nb::handle item : items) {
    const std::string name = nb::cast<std::string>(item[nb::int_(0)]);
    const nb::object value = item[nb::int_(1)];
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) throw DecisionError("the machine has no resource " + name + " that could be granted");
    const auto resource = static_cast<std::int32_t>(known - names.begin());
    if (!is_list(value)) {
      amounts[resource] = whole(value, name);
      continue;
    }
    for (nb::handle one : value) {
      const Amount index = std::clamp<Amount>(whole(one, name), -1, INT32_MAX);
      granted.devices.push_back({share, resource, static_cast<std::int32_t>(index)});
      ++amounts[resource];
    }
  }
}

Grant read(nb::handle nodes, const View &view) {
  Grant grant;
  for (nb::handle one : nodes) {
    if (!PySequence_Check(one.ptr()) || nb::len(one) != 2)
      throw nb::type_error(("nodes are (node, chunks) or (node, amounts) pairs, not " + shown(one)).c_str());
    const nb::object node = one[nb::int_(0)], what = one[nb::int_(1)];
    const bool amounts = is_mapping(what);
    if (amounts && grant.shares.empty()) grant.granted = std::make_unique<Granted>(view.machine().resources());
    if (amounts != (grant.granted != nullptr))
      throw DecisionError("a job is given chunks on all of its nodes, or amounts on all of them, not both");
    const Amount number = std::clamp<Amount>(whole(node, "a node"), -1, INT32_MAX);
    const Amount chunks = amounts ? 1 : std::clamp<Amount>(whole(what, "a number of chunks"), -1, INT32_MAX);
    grant.shares.push_back({static_cast<std::int32_t>(number), static_cast<std::int32_t>(chunks)});
    if (amounts) read_amounts(what, *grant.granted, view.machine(), static_cast<std::int32_t>(grant.shares.size() - 1));
  }
  if (grant.granted) std::sort(grant.granted->devices.begin(), grant.granted->devices.end());
  return grant;
}

}  // namespace

std::optional<Grant> read_grant(nb::handle nodes, const View &view, const char *what, Slot slot) {
  if (nodes.is_none()) return std::nullopt;
  try {
    return read(nodes, view);
  } catch (const DecisionError &error) {
    view.refuse(what, slot, error.what());
  }
}

nb::list grant_list(const Job &job, const Machine &machine) {
  nb::list told;
  if (!job.granted) return told;
  const std::vector<std::string> &names = machine.resource_names();
  for (std::size_t i = 0; i < job.shares.size(); ++i) {
    nb::dict amounts;
    for (std::size_t r = 0; r < names.size(); ++r)
      if (const Amount amount = job.granted->on(i)[r]; amount != 0) amounts[names[r].c_str()] = amount;
    for (const Device &device : job.granted->devices) {
      if (device.share != static_cast<std::int32_t>(i)) continue;
      const char *name = names[static_cast<std::size_t>(device.resource)].c_str();
      if (!nb::isinstance<nb::list>(amounts[name])) amounts[name] = nb::list();
      nb::cast<nb::list>(amounts[name]).append(device.index);
    }
    told.append(nb::make_tuple(job.shares[i].node, amounts));
  }
  return told;
}

}  // namespace schedlab

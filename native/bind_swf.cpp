// The Python face of the SWF parser: binds and nothing more.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "swf.hpp"
#include "without_python.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace schedlab;

namespace {

// Logs hold any bytes; what is not UTF-8 becomes \xNN, so that different names stay different.
nb::object to_text(const std::string &bytes) {
  PyObject *text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

nb::list to_texts(const std::vector<std::string> &lines) {
  nb::list texts;
  for (const std::string &line : lines) texts.append(to_text(line));
  return texts;
}

nb::dict take(swf::Parser &parser) {
  swf::Columns columns = parser.take();
  nb::dict taken;
  taken["id"] = to_array(std::move(columns.id));
  taken["submit"] = to_array(std::move(columns.submit));
  taken["runtime"] = to_array(std::move(columns.runtime));
  taken["limit"] = to_array(std::move(columns.limit));
  taken["count"] = to_array(std::move(columns.count));
  taken["user"] = to_array(std::move(columns.user));
  taken["group"] = to_array(std::move(columns.group));
  taken["queue"] = to_array(std::move(columns.queue));
  taken["partition"] = to_array(std::move(columns.partition));
  taken["executable"] = to_array(std::move(columns.executable));
  taken["status"] = to_array(std::move(columns.status));
  taken["wait"] = to_array(std::move(columns.wait));
  taken["cancel"] = to_array(std::move(columns.cancel));
  taken["after"] = to_array(std::move(columns.after));
  taken["think"] = to_array(std::move(columns.think));
  taken["memory"] = to_array(std::move(columns.memory));
  if (parser.named()) taken["names"] = to_texts(columns.names);
  return taken;
}

// {name: count}, without the zeros.
template <std::size_t N>
nb::dict to_counts(const std::array<const char *, N> &names, const std::array<std::uint64_t, N> &counts) {
  nb::dict found;
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) found[names[i]] = counts[i];
  }
  return found;
}

using Place = std::pair<std::uint64_t, std::string>;  // line, problem
Place to_place(const swf::BadRow &row) { return {row.line, row.problem}; }

void construct(swf::Parser *self, const std::string &clean, const std::string &procs, double missing_limit,
               bool drop_bad_rows, std::int64_t max_procs, bool named, bool memory) {
  swf::Options options;
  if (clean == "none")
    options.clean = swf::Clean::None;
  else if (clean == "pwa")
    options.clean = swf::Clean::Pwa;
  else if (clean == "strict")
    options.clean = swf::Clean::Strict;
  else
    throw nb::value_error("clean: none, pwa or strict");
  if (procs != "requested" && procs != "allocated") throw nb::value_error("procs: requested or allocated");
  options.prefer_allocated = procs == "allocated";
  options.missing_limit = missing_limit;
  options.drop_bad_rows = drop_bad_rows;
  options.max_procs = max_procs;
  options.named = named;
  options.memory = memory;
  new (self) swf::Parser(options);
}

}  // namespace

void bind_swf(nb::module_ &module) {
  nb::class_<swf::Parser>(module, "SwfParser",
                          "A streaming parser of the Standard Workload Format: bytes in, columns of clean jobs out.")
      .def(
          "__init__", &construct, nb::kw_only(), "clean"_a = "pwa", "procs"_a = "requested", "missing_limit"_a = -1.0,
          "drop_bad_rows"_a = false, "max_procs"_a = 0, "named"_a = false, "memory"_a = false,
          "A negative `missing_limit` stands for the run time; `named` takes all job ids as names; `memory`: requested "
          "memory counts, and has to make sense.")
      .def(
          "feed",
          [](swf::Parser &parser, nb::bytes piece) {
            const std::string_view bytes(piece.c_str(), piece.size());
            const WithoutPython unlocked;
            return parser.feed(bytes);
          },
          "piece"_a, "The next piece of the file, cut anywhere. False: it stopped; see `failure` and `needs_names`.")
      .def("finish", &swf::Parser::finish, "The file is over. False as for `feed`.")
      .def("take", &take, nb::sig("def take(self) -> dict[str, object]"),
           "The jobs since the last call, in the order of the file, as NumPy columns (not copied).")
      .def_prop_ro("ready", &swf::Parser::ready, "How many jobs `take` would give.")
      .def_prop_ro("named", &swf::Parser::named, "Job ids are names; then `id` counts records from 1.")
      .def_prop_ro("needs_names", &swf::Parser::needs_names,
                   "A name came after ids that were taken for numbers: parse the file again with `named`.")
      .def_prop_ro("records", &swf::Parser::records, "Records seen: neither header lines nor empty ones.")
      .def_prop_ro("kept", &swf::Parser::kept, "Records that became jobs.")
      .def_prop_ro("out_of_order", &swf::Parser::out_of_order, "Records submitted before the record above them.")
      .def_prop_ro(
          "dropped", [](const swf::Parser &parser) { return to_counts(swf::kDropNames, parser.dropped()); },
          nb::sig("def dropped(self) -> dict[str, int]"), "How many records were dropped, by reason.")
      .def_prop_ro(
          "filled", [](const swf::Parser &parser) { return to_counts(swf::kFillNames, parser.filled()); },
          nb::sig("def filled(self) -> dict[str, int]"), "How many missing values were replaced, by what.")
      .def_prop_ro(
          "odd", [](const swf::Parser &parser) { return to_counts(swf::kFieldNames, parser.odd()); },
          nb::sig("def odd(self) -> dict[str, int]"),
          "How many jobs have a value that makes no sense and that they do not need, by field.")
      .def_prop_ro(
          "unkept", [](const swf::Parser &parser) { return to_counts(swf::kUnkeptNames, parser.unkept()); },
          nb::sig("def unkept(self) -> dict[str, int]"), "How many jobs have what the columns have no place for.")
      .def_prop_ro(
          "unknown", [](const swf::Parser &parser) { return to_counts(swf::kFieldNames, parser.unknown()); },
          nb::sig("def unknown(self) -> dict[str, int]"), "How many records have no value, by field.")
      .def_prop_ro(
          "failure",
          [](const swf::Parser &parser) -> std::optional<Place> {
            if (!parser.failure()) return std::nullopt;
            return to_place(*parser.failure());
          },
          "The bad row at which it stopped: line and problem.")
      .def_prop_ro(
          "bad_rows",
          [](const swf::Parser &parser) {
            std::vector<Place> places;
            for (const swf::BadRow &row : parser.bad_rows()) places.push_back(to_place(row));
            return places;
          },
          "The first few bad rows: line and problem.")
      .def_prop_ro(
          "header", [](const swf::Parser &parser) { return to_texts(parser.header()); },
          nb::sig("def header(self) -> list[str]"), "The lines that begin with a semicolon (the first 10,000).");
}

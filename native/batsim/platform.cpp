#include "platform.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "files.hpp"
#include "numbers.hpp"
#include "unsupported.hpp"
#include "xml.hpp"

namespace schedlab::batsim {

namespace {

constexpr std::int64_t kMostCores = 1'000'000'000;
constexpr const char *kClusterName = "cluster";  // property of a zone that names the whole: it is no property of hosts
constexpr const char *kGroupName = "group";      // property of a host, likewise
constexpr double kLargest = 1e200;               // what is more could be infinite in another unit
constexpr std::string_view kScales = "kKMGTPEZY";

void put(Properties &properties, const std::string &name, const std::string &value) {
  for (auto &[known, there] : properties)
    if (known == name) return there = value, void();
  properties.emplace_back(name, value);
}

// And what it was.
std::string take(Properties &properties, const std::string &name) {
  for (auto one = properties.begin(); one != properties.end(); ++one) {
    if (one->first != name) continue;
    std::string value = std::move(one->second);
    properties.erase(one);
    return value;
  }
  return {};
}

std::string stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n\r\v\f") - begin + 1));
}

std::vector<std::string> parts_of(const std::string &text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(stripped(std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
  return parts;
}

std::int64_t whole(const std::string &text, std::int64_t lowest, std::int64_t highest) {
  const auto value = whole_number(stripped(text), lowest, highest);
  if (!value) throw Unsupported("'" + text + "' is not the number expected");
  return *value;
}

// A number with one of these units, perhaps scaled (`100.0Mf`, `10Gbps`); words such as `megaflops` are rare.
double quantity(const std::string &text, const std::vector<std::string_view> &units, bool scaled) {
  const std::string value = stripped(text);
  std::size_t end = 0;
  while (end < value.size() && (std::isdigit(static_cast<unsigned char>(value[end])) || value[end] == '.')) ++end;
  if (end > 0 && end + 1 < value.size() && (value[end] == 'e' || value[end] == 'E')) {
    std::size_t after = end + 1;
    if (value[after] == '+' || value[after] == '-') ++after;
    const std::size_t digits = after;
    while (after < value.size() && std::isdigit(static_cast<unsigned char>(value[after]))) ++after;
    if (after > digits) end = after;
  }
  const auto number_end = value.begin() + static_cast<std::ptrdiff_t>(end);
  if (std::count(value.begin(), number_end, '.') > 1 || std::none_of(value.begin(), number_end, ::isdigit))
    throw Unsupported("'" + text + "' is no quantity");
  const double amount = std::strtod(value.c_str(), nullptr);
  std::string_view unit = std::string_view(value).substr(end);
  const bool known = unit.empty() || std::any_of(units.begin(), units.end(), [&](std::string_view one) {
                       return unit == one || (scaled && unit.size() == one.size() + 1 && unit.substr(1) == one &&
                                              kScales.find(unit[0]) != std::string_view::npos);
                     });
  if (!known || amount > kLargest) throw Unsupported("'" + text + "' is no quantity");
  return amount;
}
void check_bandwidth(const std::string &text) { quantity(text, {"Bps", "bps"}, true); }
void check_latency(const std::string &text) {
  quantity(text, {"w", "d", "h", "m", "s", "ms", "us", "ns", "ps"}, false);
}

// Hosts that are alike: one, or a stretch of a cluster.
struct Stretch {
  std::vector<std::string> names;
  std::set<std::string> roles;
  Properties properties, zone_properties;
};

class Platform {
 public:
  explicit Platform(const std::map<std::string, std::string> &roles) : roles_(roles) {}

  void walk(const Element &zone, const Properties &outer) {
    Properties properties = outer;
    for (const Element &child : zone.children) {
      if (child.tag == "prop") add_property(child, properties);
      if (child.tag == "link") link(child);
    }
    for (const Element &child : zone.children) {
      if (child.tag == "zone" || child.tag == "AS")
        walk(child, properties);
      else if (child.tag == "host")
        add(child, {named(child)}, properties);
      else if (child.tag == "cluster")
        cluster(child, properties);
      else if (!is_route(child) && child.tag != "prop" && child.tag != "link" && child.tag != "router")
        throw Unsupported("<" + child.tag + ">");
    }
    for (const Element &child : zone.children)
      if (is_route(child))
        for (const Element &part : child.children) route(part);
  }

  std::vector<Host> compute() {
    bool has_master = false;
    for (const Stretch &some : stretches_) {
      const bool computes = some.roles.empty() || some.roles.contains("compute_node");
      if (!computes && !some.roles.contains("master")) throw Unsupported("a storage");
      has_master |= !computes;
    }
    std::vector<Host> hosts;
    std::set<std::string> names;
    for (const Stretch &some : stretches_) {
      const bool computes = some.roles.contains("compute_node") ||
                            (some.roles.empty() && (has_master || !called_master(some.names.front())));
      for (const std::string &name : some.names) {
        if (!names.insert(name).second) throw Unsupported("a host of that name is there already");
        if (computes) hosts.push_back({name, some.properties, some.zone_properties});
      }
    }
    if (hosts.empty() || names.size() > kMostHosts) throw Unsupported("no hosts, or too many");
    std::sort(hosts.begin(), hosts.end(), [](const Host &a, const Host &b) { return a.name < b.name; });
    return hosts;
  }

 private:
  static std::string named(const Element &element) {
    std::string name = element.get("id");
    if (name.empty()) throw Unsupported("<" + element.tag + "> without a name");
    return name;
  }

  static void add_property(const Element &element, Properties &properties) {
    const std::string name = named(element);
    if (name != kClusterName) put(properties, name, element.get("value"));
  }

  // What a node set has a meaning for is in no name.
  static void check_name(const std::string &name) {
    for (const char c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("_.-").find(c) == std::string_view::npos)
        throw Unsupported("the name of a host");
  }

  static bool called_master(const std::string &name) {
    constexpr std::string_view kMaster = "master_host";
    return name.starts_with(kMaster) && name.find_first_not_of("0123456789", kMaster.size()) == std::string::npos;
  }

  void add(const Element &element, std::vector<std::string> names, const Properties &zone_properties) {
    Stretch some{std::move(names), {}, {}, zone_properties};
    for (const Element &child : element.children)
      if (child.tag == "prop") put(some.properties, named(child), child.get("value"));
    const auto given = roles_.find(some.names.front());
    for (const std::string &role :
         parts_of(take(some.properties, "role") + "," + (given == roles_.end() ? "" : given->second))) {
      if (role.empty()) continue;
      if (role != "master" && role != "compute_node" && role != "storage") throw Unsupported("a role");
      some.roles.insert(role);
    }
    take(some.properties, kGroupName);
    for (const auto &[name, _] : some.properties)
      if (name == "speeds" || name == "pstate" || name == "core" || name == "memory")
        throw Unsupported("a property that means something");
    const std::string *speed = element.attribute("speed");
    if (!speed) throw Unsupported("a host without a speed");
    const std::vector<std::string> speeds = parts_of(*speed);
    for (const std::string &one : speeds)
      if (!(quantity(one, {"f", "flops"}, true) > 0)) throw Unsupported("a host that does not compute");
    whole(element.get("pstate", "0"), 0, static_cast<std::int64_t>(speeds.size()) - 1);
    whole(element.get("core", "1"), 1, kMostCores);
    for (const std::string &name : some.names) check_name(name);
    stretches_.push_back(std::move(some));
  }

  // Each stretch of its numbers; one by one where some have roles of their own.
  void cluster(const Element &element, const Properties &zone_properties) {
    Properties properties = zone_properties;
    for (const Element &child : element.children)
      if (child.tag == "prop") add_property(child, properties);
    for (const char *key : {"bw", "bb_bw", "loopback_bw", "limiter_link"})
      if (const std::string *text = element.attribute(key)) check_bandwidth(*text);
    for (const char *key : {"lat", "bb_lat", "loopback_lat"})
      if (const std::string *text = element.attribute(key)) check_latency(*text);
    if (!element.get("bw").empty() && element.get("lat").empty()) throw Unsupported("a link without a latency");
    check_sharing(element, "sharing_policy"), check_sharing(element, "bb_sharing_policy");
    named(element);
    const std::string prefix = element.get("prefix"), suffix = element.get("suffix");
    for (const std::string &part : parts_of(element.get("radical"))) {
      const std::size_t dash = part.find('-');
      const std::int64_t first = whole(part.substr(0, dash), 0, kMostHosts);
      const std::int64_t last = dash == std::string::npos ? first : whole(part.substr(dash + 1), first, kMostHosts);
      std::vector<std::string> names;
      bool alone = false;
      for (std::int64_t one = first; one <= last; ++one) {
        names.push_back(prefix + std::to_string(one) + suffix);
        alone |= roles_.contains(names.back());
      }
      if (!alone) {
        add(element, std::move(names), properties);
        continue;
      }
      for (std::string &name : names) add(element, {std::move(name)}, properties);
    }
  }

  void link(const Element &element) {
    const std::string *bandwidth = element.attribute("bandwidth");
    if (!bandwidth || !links_.insert(named(element)).second) throw Unsupported("a link");
    check_bandwidth(*bandwidth);
    if (const std::string *latency = element.attribute("latency")) check_latency(*latency);
    check_sharing(element, "sharing_policy");
    if (element.get("sharing_policy").ends_with("DUPLEX")) throw Unsupported("a link that is split");
  }

  static void check_sharing(const Element &element, const char *attribute) {
    const std::string policy = element.get(attribute, "SHARED");
    if (policy != "SHARED" && policy != "FATPIPE" && policy != "SPLITDUPLEX" && policy != "FULLDUPLEX")
      throw Unsupported("how a link is shared");
  }

  static bool is_route(const Element &element) {
    return element.tag == "route" || element.tag == "zoneRoute" || element.tag == "ASroute";
  }
  // A part of one: along a link of its zone, or of those before and inside.
  void route(const Element &element) {
    if (element.tag != "link_ctn" || element.attribute("direction") || !links_.contains(named(element)))
      throw Unsupported("a part of a route");
  }

  const std::map<std::string, std::string> &roles_;
  std::vector<Stretch> stretches_;
  std::set<std::string> links_;
};

}  // namespace

std::vector<Host> read_platform(const std::string &path, const std::map<std::string, std::string> &roles) {
  const Element root = read_xml(read_file(path));
  if (root.tag != "platform") throw Unsupported("no platform");
  Platform platform(roles);
  platform.walk(root, {});
  return platform.compute();
}

}  // namespace schedlab::batsim

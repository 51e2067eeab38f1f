// Words that the whole core shares.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace schedlab {

using Time = double;  // seconds from the workload's origin
constexpr Time kNever = std::numeric_limits<double>::infinity();

using Amount = std::int64_t;  // of a resource

using Slot = std::uint32_t;  // where a live job is kept; reused after the job has left
constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

// A part of an allocation: this many chunks of the job on this node.
struct Share {
  std::int32_t node;
  std::int32_t chunks;
};
using Shares = std::vector<Share>;

// Why a node does or does not take jobs.
enum class NodeMode : std::uint8_t { Up, Down, Off, Booting, Maintenance, Drained };
constexpr std::size_t kNodeModes = 6;

// Whether a job started before one that was ahead of it. Built-in policies say; one in Python need not.
struct Backfilled {
  std::uint8_t code = 2;  // 0: no, 1: yes, 2: not said
  constexpr Backfilled() = default;
  constexpr Backfilled(bool yes) : code(yes) {}
  static constexpr Backfilled of(std::uint8_t code) {
    Backfilled found;
    found.code = code;
    return found;
  }
};

// A decider asked for something impossible.
struct DecisionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The engine found itself in an impossible state (validate=True).
struct InvariantError : std::logic_error {
  using std::logic_error::logic_error;
};

// splitmix64: a named random stream without state, so that the n-th number never depends on who asked before.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15ull + b + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

}  // namespace schedlab

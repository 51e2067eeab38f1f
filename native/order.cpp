#include "order.hpp"

#include <array>
#include <map>

#include "engine.hpp"

namespace schedlab {

enum class Order::Op : std::uint8_t {
  Const,
  // columns
  Submit,
  Eligible,
  Estimate,
  Limit,
  Cores,
  Count,
  Memory,
  Gpus,
  User,
  Group,
  Queue,
  Sequence,
  Wait,
  Now,
  Waiting,
  Fill,
  UserUsage,
  GroupUsage,
  Machine,
  Aged,
  Promised,
  Given0,
  Given1,
  // functions of one
  Neg,
  Abs,
  Sqrt,
  Log,
  Log2,
  Log10,
  Exp,
  Floor,
  // functions of two
  Add,
  Sub,
  Mul,
  Div,
  Pow,
  Min,
  Max,
  Mix,
};

namespace {
constexpr int kStack = 32;
}

Order::Order(const std::vector<std::pair<std::string, double>> &program) {
  static const std::map<std::string, Op> kOps = {{"const", Op::Const},
                                                 {"submit", Op::Submit},
                                                 {"eligible", Op::Eligible},
                                                 {"estimate", Op::Estimate},
                                                 {"limit", Op::Limit},
                                                 {"cores", Op::Cores},
                                                 {"count", Op::Count},
                                                 {"memory", Op::Memory},
                                                 {"gpus", Op::Gpus},
                                                 {"user", Op::User},
                                                 {"group", Op::Group},
                                                 {"queue", Op::Queue},
                                                 {"sequence", Op::Sequence},
                                                 {"wait", Op::Wait},
                                                 {"now", Op::Now},
                                                 {"waiting", Op::Waiting},
                                                 {"fill", Op::Fill},
                                                 {"user_usage", Op::UserUsage},
                                                 {"group_usage", Op::GroupUsage},
                                                 {"machine", Op::Machine},
                                                 {"aged", Op::Aged},
                                                 {"promised", Op::Promised},
                                                 {"given-order", Op::Given0},
                                                 {"given-scan", Op::Given1},
                                                 {"neg", Op::Neg},
                                                 {"abs", Op::Abs},
                                                 {"sqrt", Op::Sqrt},
                                                 {"log", Op::Log},
                                                 {"log2", Op::Log2},
                                                 {"log10", Op::Log10},
                                                 {"exp", Op::Exp},
                                                 {"floor", Op::Floor},
                                                 {"+", Op::Add},
                                                 {"-", Op::Sub},
                                                 {"*", Op::Mul},
                                                 {"/", Op::Div},
                                                 {"**", Op::Pow},
                                                 {"min", Op::Min},
                                                 {"max", Op::Max},
                                                 {"mix", Op::Mix}};
  int depth = 0;
  for (const auto &[name, number] : program) {
    const auto found = kOps.find(name);
    if (found == kOps.end()) throw std::invalid_argument("unknown operation in an order: " + name);
    const Op op = found->second;
    depth += op < Op::Neg ? 1 : op < Op::Add ? 0 : -1;
    if (depth < 1 || depth > kStack) throw std::invalid_argument("an order's formula is malformed or too deep");
    promises_ = promises_ || op == Op::Promised;
    dynamic_ = dynamic_ || (op >= Op::Wait && op <= Op::GroupUsage);
    if (op == Op::Aged) ages_after_ = std::min(ages_after_, number);
    by_usage_ = by_usage_ || op == Op::UserUsage || op == Op::GroupUsage;
    by_load_ = by_load_ || op == Op::Waiting || op == Op::Fill;
    steps_.push_back({op, number});
  }
  if (depth != 1) throw std::invalid_argument("an order's formula is malformed");
}

Order::Order(std::shared_ptr<KeySource> source, bool dynamic) : dynamic_(dynamic), source_(std::move(source)) {}

void Order::keys(const View &view, std::span<const Slot> slots, double *keys) const {
  if (!source_) {
    for (std::size_t i = 0; i < slots.size(); ++i) keys[i] = computed(view, view.job(slots[i]));
    return;
  }
  source_->keys(view, slots, keys);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (std::isnan(keys[i])) keys[i] = kNever;
}

double Order::key(const View &view, Slot slot) const {
  if (!source_) return computed(view, view.job(slot));
  double key;
  keys(view, {&slot, 1}, &key);
  return key;
}

// How much of the free cores a job takes: of those that fit, the one that leaves least goes first.
static double fill(double cores, double free) { return free <= 0 ? 1 : cores > free ? -1 : cores / free; }

double Order::computed(const View &view, const Job &job) const {
  std::array<double, kStack> stack;
  double *top = stack.data() - 1;
  const bool ranked = job.ranked();
  for (const Step &step : steps_) {
    if (step.op >= Op::Add) --top;  // top[0] and top[1] are its arguments
    switch (step.op) {
      case Op::Const:
        *++top = step.number;
        break;
      case Op::Submit:
        *++top = job.submit;
        break;
      case Op::Eligible:
        *++top = job.ranked_since();
        break;
      case Op::Estimate:
        *++top = ranked ? job.extra->rank_limit : job.estimate;
        break;
      case Op::Limit:
        *++top = ranked ? job.extra->rank_limit : job.limit;
        break;
      case Op::Cores:
        *++top = static_cast<double>(ranked ? job.extra->rank_cores : job.cores);
        break;
      case Op::Count:
        *++top = static_cast<double>(ranked ? job.extra->rank_cores : job.count);
        break;
      case Op::Memory:
        *++top = static_cast<double>(job.count) * static_cast<double>(job.request->memory);
        break;
      case Op::Gpus:
        *++top = static_cast<double>(job.count) * static_cast<double>(job.request->gpus);
        break;
      case Op::User:
        *++top = job.user;
        break;
      case Op::Group:
        *++top = job.group;
        break;
      case Op::Queue:
        *++top = job.queue;
        break;
      case Op::Sequence:
        *++top = static_cast<double>(job.sequence);
        break;
      case Op::Wait:
        *++top = view.now() - job.ranked_since();
        break;
      case Op::Now:
        *++top = view.now();
        break;
      case Op::Waiting:
        *++top = static_cast<double>(view.waiting());
        break;
      case Op::Fill:
        *++top = fill(static_cast<double>(job.cores), static_cast<double>(view.cluster().usable_cores()));
        break;
      case Op::UserUsage:
        *++top = view.usage() ? view.usage()->of_user(job.user, view.now()) : 0;
        break;
      case Op::GroupUsage:
        *++top = view.usage() ? view.usage()->of_group(job.group, view.now()) : 0;
        break;
      case Op::Machine:
        *++top = static_cast<double>(view.machine().cores());
        break;
      case Op::Aged:
        *++top = std::max(job.ranked_since(), view.now() - step.number);
        break;
      case Op::Promised:
        *++top = job.extra ? job.extra->promised : kNever;
        break;
      case Op::Given0:
        *++top = job.given_key[0];
        break;
      case Op::Given1:
        *++top = job.given_key[1];
        break;
      case Op::Neg:
        *top = -*top;
        break;
      case Op::Abs:
        *top = std::fabs(*top);
        break;
      case Op::Sqrt:
        *top = std::sqrt(*top);
        break;
      case Op::Log:
        *top = std::log(*top);
        break;
      case Op::Log2:
        *top = std::log2(*top);
        break;
      case Op::Log10:
        *top = std::log10(*top);
        break;
      case Op::Exp:
        *top = std::exp(*top);
        break;
      case Op::Floor:
        *top = std::floor(*top);
        break;
      case Op::Add:
        top[0] += top[1];
        break;
      case Op::Sub:
        top[0] -= top[1];
        break;
      case Op::Mul:
        top[0] *= top[1];
        break;
      case Op::Div:
        top[0] /= top[1];
        break;
      case Op::Pow:
        top[0] = std::pow(top[0], top[1]);
        break;
      case Op::Min:
        top[0] = std::fmin(top[0], top[1]);
        break;
      case Op::Max:
        top[0] = std::fmax(top[0], top[1]);
        break;
      case Op::Mix:
        top[0] =
            static_cast<double>(mix(static_cast<std::uint64_t>(top[0]), static_cast<std::uint64_t>(top[1])) >> 11) *
            0x1.0p-53;
        break;
    }
  }
  return std::isnan(*top) ? kNever : *top;
}

}  // namespace schedlab

// Compression where plans are numbers of cores (docs/architecture.md, "Compression by numbers").
#pragma once

#include "profile.hpp"
#include "reserved_list.hpp"
#include "view.hpp"

namespace schedlab {

// What a plan by numbers is: what is free when, and what has become free of it for good and was offered to nobody yet.
struct Counted {
  struct Span {
    Time from, until;
  };
  Profile free;
  std::vector<Span> freed;
};

// One pass over the reservations, in their order: each takes the earliest start that is possible beside all others.
// Before the event nobody could have moved, so only what has become free since then matters to anybody.
class Compression {
 public:
  Compression(View &view, Counted &plan, ReservedList &waiting);

  // Have starts of jobs been changed without a word to the jobs?
  bool run();

 private:
  using Position = ReservedList::Position;
  using Span = Counted::Span;
  struct Offer {
    Amount cores;
    Time duration;
  };
  struct Member {
    Time end;
    Amount cores;
  };

  void open(Time from, Time until);
  bool collect_offers(const Span &span);
  void collect_offers_anew();
  bool offer(Amount cores, Time duration);
  bool offered(Amount cores, Time duration) const;
  bool nothing_for_block(std::size_t block);

  Time new_start(const Reserved &who, Time start);
  Time next_to_it(Amount cores, Time start) const;
  Time search(const Reserved &who, Time start);
  Position move(Position p, Time to);

  void follow(Position p, Time from, Time to, const Reserved &who);
  void learn_ends(Position p);
  void bring_forward(Position p);

  View &view_;
  Profile &free_;
  ReservedList &waiting_;
  std::vector<Span> opened_;         // that offer something to somebody who waits
  std::vector<Offer> offers_;        // the largest rectangles of cores and time that touch one of them
  bool offers_may_be_less_ = false;  // by now
  Time until_;                       // nothing has become free beyond
  Amount least_cores_;               // that anybody wants
  Time longest_ = 0;                 // that anybody wants them
  std::vector<std::pair<Time, Amount>> rises_;

  // Those before the present one that were moved by the same time one after the other, and all others before it.
  bool few_;  // wait: they are tried one by one
  bool may_shift_, shifted_ = false;
  bool know_ends_ = false;
  Time last_end_ = 0;   // of those before, as far as it matters
  Time run_ = 0;        // by how much; 0: there are none
  Time run_alone_ = 0;  // from then on there are only those of the run
  std::vector<Member> members_;
};

}  // namespace schedlab

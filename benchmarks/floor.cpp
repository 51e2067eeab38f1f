// The floor: EASY backfilling on one pool of processors and nothing else, written for speed.
//
//   floor JOBS PROCESSORS STARTS
//
// JOBS holds four columns of int64, one after the other: submit (sorted), runtime, limit, count. Times are whole seconds,
// 0 < runtime <= limit, count <= PROCESSORS. Writes the start times (int64) to STARTS and prints wall and CPU seconds of the
// loop.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <vector>

namespace {

using Time = std::int64_t;
using Index = std::int32_t;
constexpr Time never = std::numeric_limits<Time>::max();

struct Jobs {
    std::vector<Time> submit, runtime, limit, count;
};

class Easy {
public:
    Easy(const Jobs& jobs, Time processors) : jobs_(jobs), free_(processors), starts_(jobs.submit.size()) {}

    std::vector<Time> run() {
        const auto total = static_cast<Index>(jobs_.submit.size());
        Index next = 0;
        while (next < total || !ends_.empty()) {
            const Time submit = next < total ? jobs_.submit[next] : never;
            now_ = ends_.empty() ? submit : std::min(submit, ends_.front().time);
            const bool ended = complete();
            const std::size_t waiting = queue_.size();
            for (; next < total && jobs_.submit[next] == now_; ++next) {
                queue_.push_back({next, static_cast<std::int32_t>(jobs_.count[next]), jobs_.limit[next]});
            }
            // While nothing ends the head stays blocked and its shadow time stays: only new jobs can start.
            if (ended || waiting == 0) {
                start_in_order();
            } else {
                backfill(waiting);
            }
        }
        return std::move(starts_);
    }

private:
    struct Waiting {
        Index job;
        std::int32_t count;
        Time limit;
    };

    struct End {
        Time time;
        Index job;
        bool operator<(const End& other) const { return time > other.time; }  // the earliest on top of the heap
    };

    struct Estimate {
        Time time;
        Time count;
        bool operator<(const Estimate& other) const { return time < other.time; }
    };

    bool complete() {
        bool any = false;
        while (!ends_.empty() && ends_.front().time == now_) {
            const Index job = ends_.front().job;
            std::pop_heap(ends_.begin(), ends_.end());
            ends_.pop_back();
            free_ += jobs_.count[job];
            const Estimate estimate{starts_[job] + jobs_.limit[job], jobs_.count[job]};
            auto found = std::lower_bound(estimates_.begin(), estimates_.end(), estimate);
            while (found->count != estimate.count) ++found;
            estimates_.erase(found);
            any = true;
        }
        return any;
    }

    void start(const Waiting& waiting) {
        free_ -= waiting.count;
        starts_[waiting.job] = now_;
        ends_.push_back({now_ + jobs_.runtime[waiting.job], waiting.job});
        std::push_heap(ends_.begin(), ends_.end());
        const Estimate estimate{now_ + waiting.limit, waiting.count};
        estimates_.insert(std::upper_bound(estimates_.begin(), estimates_.end(), estimate), estimate);
    }

    void start_in_order() {
        std::size_t started = 0;
        while (started < queue_.size() && queue_[started].count <= free_) start(queue_[started++]);
        queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(started));
        if (queue_.empty()) return;
        reserve_for_head();
        backfill(1);
    }

    void reserve_for_head() {
        Time available = free_;
        auto estimate = estimates_.begin();
        while (available < queue_.front().count) available += (estimate++)->count;
        shadow_ = std::prev(estimate)->time;
        while (estimate != estimates_.end() && estimate->time == shadow_) available += (estimate++)->count;
        extra_ = available - queue_.front().count;
    }

    void backfill(std::size_t first) {
        std::size_t kept = first, at = first;
        for (; at < queue_.size() && free_ > 0; ++at) {
            const Waiting& waiting = queue_[at];
            const bool in_time = now_ + waiting.limit <= shadow_;
            if (waiting.count <= free_ && (in_time || waiting.count <= extra_)) {
                if (!in_time) extra_ -= waiting.count;
                start(waiting);
            } else {
                queue_[kept++] = waiting;
            }
        }
        if (kept != at) queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(kept), queue_.begin() + static_cast<std::ptrdiff_t>(at));
    }

    const Jobs& jobs_;
    Time now_ = 0, free_, shadow_ = 0, extra_ = 0;
    std::vector<Time> starts_;
    std::vector<Waiting> queue_;       // in order of arrival
    std::vector<End> ends_;            // binary heap
    std::vector<Estimate> estimates_;  // sorted; a few hundred running jobs: faster than a tree
};

Jobs read_jobs(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (file == nullptr) std::exit(2);
    std::fseek(file, 0, SEEK_END);
    const auto total = static_cast<std::size_t>(std::ftell(file)) / sizeof(Time) / 4;
    std::rewind(file);
    Jobs jobs;
    for (auto* column : {&jobs.submit, &jobs.runtime, &jobs.limit, &jobs.count}) {
        column->resize(total);
        if (std::fread(column->data(), sizeof(Time), total, file) != total) std::exit(2);
    }
    std::fclose(file);
    return jobs;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const Jobs jobs = read_jobs(argv[1]);
    const auto wall = std::chrono::steady_clock::now();
    const auto cpu = std::clock();
    const std::vector<Time> starts = Easy(jobs, std::atoll(argv[2])).run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - wall;
    std::printf("%.6f %.6f\n", elapsed.count(), static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
    std::FILE* file = std::fopen(argv[3], "wb");
    if (file == nullptr) return 2;
    std::fwrite(starts.data(), sizeof(Time), starts.size(), file);
    std::fclose(file);
    return 0;
}

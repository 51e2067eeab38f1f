// Work during which other threads of Python go on: a server has more than one to answer.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

namespace schedlab {

// Without Python's lock as long as it lives.
class WithoutPython {
 public:
  WithoutPython() : state_(PyEval_SaveThread()) {}
  WithoutPython(const WithoutPython &) = delete;
  WithoutPython &operator=(const WithoutPython &) = delete;

  ~WithoutPython() {
    // An interpreter that is going ends a daemon's thread that comes back to it by unwinding its stack, which nothing
    // in C++ survives: it stays here until the process is gone.
    while (finalizing()) std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
  }

 private:
  static bool finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
  }

  PyThreadState *state_;
};

template <class Work>
auto without_python(const Work &work) {
  const WithoutPython released;
  return work();
}

}  // namespace schedlab

"""Schedulers and simulators that speak the protocol of Batsim."""

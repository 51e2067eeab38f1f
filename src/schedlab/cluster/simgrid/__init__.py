"""SimGrid platforms, as Batsim uses them."""

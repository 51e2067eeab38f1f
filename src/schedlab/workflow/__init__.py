"""Scientific workflows: from files, by shape, grouped into stages, and planned on one allocation."""

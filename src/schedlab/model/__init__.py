"""The nouns of the laboratory: jobs, requests, clusters, runs, and the errors about them."""

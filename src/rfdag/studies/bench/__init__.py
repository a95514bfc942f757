"""rfdag beside its peers: workloads, contenders, and the harness that runs them all on the same data."""

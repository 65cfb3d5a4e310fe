"""What things cost: first what does not depend on the machine, then times as ratios within one run."""

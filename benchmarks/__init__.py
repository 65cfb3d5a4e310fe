"""What things cost: first counts, which do not depend on the machine, then times as ratios within one run."""

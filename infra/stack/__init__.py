"""`make test-stack`: the template and its built artefacts, linted, built, started and deployed without AWS."""

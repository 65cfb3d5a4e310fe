"""`make test-stack`: lints, builds, starts and deploys the template and its built artefacts without AWS."""

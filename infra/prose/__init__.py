"""Rules for the prose of the documents; `python -m infra.prose` names each place that breaks one."""

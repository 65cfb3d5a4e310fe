"""`python -m infra.smoke URL`: one event in, a memory out, and for each part that does not work its cure."""
